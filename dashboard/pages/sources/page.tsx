/** The sources: state, number of items, and set-up of each. */

import { type ReactElement, type ReactNode, useState } from "react";
import { type Reads, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { useMayAs } from "../../app/session.ts";
import { Badge } from "../../parts/figure/health.tsx";
import { Sparkline, Stat, Stats } from "../../parts/figure/stat.tsx";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { textFilter, useFilters } from "../../parts/list/filters.ts";
import { Notice, PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { counted, numbers } from "../../text/format.ts";
import { sourceName } from "../../text/source-names.ts";
import { presetEntries } from "./entries.ts";
import { PresetRow } from "./preset-row.tsx";
import { type ListState, Row } from "./row.tsx";
import type { NewTokens } from "./set-up.tsx";

type Answer = Reads["/api/sources"]["answer"];
type Source = Answer["sources"][number];

const filters = { open: textFilter() };
const everyMs = 5_000;
/** Problems first. */
const order: Readonly<Record<Source["state"], number>> = { silent: 0, sending: 1, retired: 2, never_sent: 3 };

export default function SourcesPage(): ReactElement {
  const asked = useRead("/api/sources", { everyMs });
  return (
    <>
      <PageHeader title="Sources">Already using Segment or PostHog? Point it here.</PageHeader>
      <Figures
        asked={asked}
        loading={
          <Panel>
            <Loading rows={6} height={40} />
          </Panel>
        }
      >
        {({ sources, imported, held }) => (
          <div className="grid gap-5">
            <Sources sources={sources} imported={imported} />
            <Held held={held} />
          </div>
        )}
      </Figures>
    </>
  );
}

function Sources({ sources, imported }: Pick<Answer, "sources" | "imported">): ReactElement {
  const [{ open }, change] = useFilters(filters);
  const [tokens, setTokens] = useState<NewTokens>({});
  const list: ListState = {
    open,
    onOpen: (entry) => change({ open: entry }),
    tokens,
    onToken: (made) => setTokens({ ...tokens, ...made }),
  };
  const rows = (shown: readonly Source[]) =>
    shown.map((source) => <SourceRow key={source.source} source={source} list={list} />);
  const known = sources
    .filter(({ state }) => state !== "never_sent")
    .toSorted((a, b) => order[a.state] - order[b.state]);
  const others = sources.filter(({ state, source }) => state === "never_sent" && source !== "api");
  return (
    <div className="grid gap-5">
      <Freezing sources={known.filter(({ freezesScores }) => freezesScores)} />
      <Panel
        title="Active sources"
        note="Accepted items in 24 hours and 7 days, and rejected items in 7 days"
        isFlush
      >
        {imported.lastAt !== null && (
          <p className="border-t border-line px-4 py-3 text-soft">
            Imported from files: {counted(imported.rows, "row")}, last{" "}
            <RelativeTime instant={imported.lastAt} />
          </p>
        )}
        {known.length === 0 ? (
          <Empty title={imported.lastAt === null ? "No data yet" : "No source sends yet"}>
            Connect one of the tools below, or use the write API as the Start page shows. Requests with an
            unknown token are rejected (401) and not shown.
          </Empty>
        ) : (
          <ul className="border-t border-line">{rows(known)}</ul>
        )}
      </Panel>
      <Panel
        title="Available sources"
        note="Use their own clients or webhooks with your address here. Nothing else changes in your code."
        isFlush
      >
        <ul className="border-t border-line">
          {rows(others.filter(({ source }) => source !== "webhook"))}
          {presetEntries.map((preset) => (
            <PresetRow key={preset} preset={preset} list={list} />
          ))}
          {rows(others.filter(({ source }) => source === "webhook"))}
        </ul>
      </Panel>
    </div>
  );
}

function Freezing({ sources }: { sources: readonly Source[] }): ReactElement | null {
  const [first] = sources;
  if (first === undefined) return null;
  const names = sources.map(({ source }) => sourceName(source)).join(", ");
  return (
    <Notice>
      <b className="font-medium">{names}</b> {sources.length === 1 ? "has" : "have"} sent nothing since{" "}
      <RelativeTime instant={first.silentSince} />, and scores wait. Without these events, users would look
      inactive. Scores continue when it sends again. If you removed it, retire it below.
    </Notice>
  );
}

/** Events of unidentified visitors. Undefined without any. */
function Held({ held }: { held: Answer["held"] }): ReactElement | null {
  const { people, items, oldestAt, droppedFull, droppedExpired, links } = held;
  if (people + droppedFull + droppedExpired + links === 0) return null;
  return (
    <Panel
      title="Unidentified visitors"
      note="Held events of visitors who are not identified yet. An identify or alias with the same id assigns them to a user. Stripe customers are also matched by e-mail. Held events are dropped after 30 days."
    >
      <Stats isDense>
        <Stat label="Visitors" value={numbers.count(people)} />
        <Stat
          label="Held events"
          value={numbers.count(items)}
          note={
            oldestAt !== null && (
              <>
                the oldest <RelativeTime instant={oldestAt} />
              </>
            )
          }
        />
        <Stat
          label="Linked ids"
          value={numbers.count(links)}
          hint="Ids linked to a visitor who is not identified yet. Forgotten after 30 days without a message."
        />
        <Stat label="Expired" value={numbers.count(droppedExpired)} hint="Not identified within 30 days" />
        <Stat
          label="Over the limit"
          value={numbers.count(droppedFull)}
          hint="More than 1,000 for one visitor"
        />
      </Stats>
    </Panel>
  );
}

function SourceRow({ source, list }: { source: Source; list: ListState }): ReactElement {
  return (
    <Row
      entry={source.source}
      list={list}
      badge={<State source={source} />}
      story={storyOf(source)}
      action={source.state === "silent" && <Retire source={source} />}
    >
      {source.state !== "never_sent" && <Amounts source={source} />}
    </Row>
  );
}

function State({ source }: { source: Source }): ReactElement | null {
  const { state } = source;
  if (isAllRejected(source)) return <Badge tone="bad">Rejected</Badge>;
  if (state === "sending") return <Badge tone="good">Sending</Badge>;
  if (state === "silent") return <Badge tone="bad">Silent</Badge>;
  return state === "retired" ? <Badge>Retired</Badge> : null;
}

/** Whether it sends and all of its items are rejected. */
function isAllRejected({ state, week }: Source): boolean {
  return state === "sending" && takenOf(week) === 0 && week.rejected > 0;
}

/** Its state in one line. */
function storyOf(source: Source): ReactNode {
  const { state, lastSentAt, silentSince, rhythm, silentFrom, retiredAt } = source;
  if (state === "never_sent") return "Not connected";
  if (state === "retired") {
    return (
      <>
        Retired <RelativeTime instant={retiredAt} />. Its next event makes it active again.
      </>
    );
  }
  if (state === "silent") {
    return (
      <>
        Nothing since <RelativeTime instant={silentSince} />
        {rhythm !== null && `. Usually sends ${rhythm}`}
        {lastSentAt !== silentSince && source.day.rejected > 0 && ". Everything that it sends is rejected"}
      </>
    );
  }
  if (isAllRejected(source)) {
    return (
      <>
        Last sent <RelativeTime instant={lastSentAt} /> · nothing of it is taken: the live view has the
        reasons
      </>
    );
  }
  return (
    <>
      Last sent <RelativeTime instant={lastSentAt} />
      {rhythm !== null ? ` · ${rhythm}` : " · active for less than a week"}
      {silentFrom !== null && (
        <>
          {" "}
          · counts as silent <RelativeTime instant={silentFrom} /> without new data
        </>
      )}
    </>
  );
}

function Amounts({ source: { source, day, week, hours } }: { source: Source }): ReactElement {
  const name = sourceName(source);
  return (
    <div className="flex items-center gap-4">
      <span className="*:mt-0" title={`Items of ${name} by the hour, 7 days`}>
        <Sparkline values={hours} width={112} height={36} />
      </span>
      <dl className="grid w-44 grid-cols-[3rem_1fr_auto] gap-x-3 text-sm">
        <Amount label="24 h" value={takenOf(day)} />
        <Amount label="7 days" value={takenOf(week)} />
        <div className="text-right">
          <dt className="text-soft">Rejected</dt>
          <dd className="font-medium">
            {week.rejected === 0 ? (
              "0"
            ) : (
              <PageLink
                to="/o/$organization/events"
                search={{ tab: "live", outcome: "rejected", source }}
                className="text-at-risk"
                title={`${numbers.count(day.rejected)} in 24 hours. See them with their reasons in the live view.`}
              >
                {numbers.compact(week.rejected)}
              </PageLink>
            )}
          </dd>
        </div>
        {(week.held > 0 || week.duplicate > 0 || week.ignored > 0) && (
          <div className="col-span-3 text-right text-soft">
            <dt className="sr-only">Of those of 7 days</dt>
            <dd>{asideOf(week)}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}

function Amount({ label, value }: { label: string; value: number }): ReactElement {
  return (
    <div className="text-right">
      <dt className="text-soft">{label}</dt>
      <dd className="font-medium" title={numbers.count(value)}>
        {numbers.compact(value)}
      </dd>
    </div>
  );
}

function takenOf({ accepted, held, duplicate, ignored }: Source["day"]): number {
  return accepted + held + duplicate + ignored;
}

/** Items that were accepted but not stored as usual. */
function asideOf({ held, duplicate, ignored }: Source["week"]): string {
  return [[held, "held"] as const, [duplicate, "sent twice"] as const, [ignored, "ignored"] as const]
    .filter(([items]) => items > 0)
    .map(([items, word]) => `${numbers.compact(items)} ${word}`)
    .join(", ");
}

function Retire({ source: { source, freezesScores } }: { source: Source }): ReactElement | null {
  const mayRetire = useMayAs("member");
  const retirement = useConfirmedChange("POST /api/sources/:source/retire");
  const name = sourceName(source);
  if (!mayRetire) return null;
  const retire = () =>
    retirement.ask(
      {
        title: `Retire ${name}?`,
        text: `Retire a source that you removed. ${
          freezesScores
            ? "Scores no longer wait for it and go on without its events."
            : "It is no longer reported as silent."
        } Its next event makes it active again.`,
        action: "Retire",
      },
      { path: { source } },
      `${name} is retired.`,
    );
  return (
    <Button isSmall isBusy={retirement.isPending} onClick={() => void retire()} aria-label={`Retire ${name}`}>
      Retire
    </Button>
  );
}
