/** The retention page: heat map, curves, comparison and the users of a cell. */
import { type ReactElement, useCallback, useDeferredValue, useMemo } from "react";
import { csvAddress, useRead } from "../../api/query.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { Button } from "../../parts/form/button.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { numbers } from "../../text/format.ts";
import { AlreadyHere } from "./already-here.tsx";
import { type Cell, type Group, groupsOf } from "./cohorts.ts";
import { Comparison } from "./comparison.tsx";
import { Controls } from "./controls.tsx";
import { Curves } from "./curves.tsx";
import { HeatLegend } from "./heat-legend.tsx";
import { HeatMap } from "./heat-map.tsx";
import { People } from "./people.tsx";
import { type Choices, queryOf, sentenceOf, useChoices } from "./question.ts";

/** How many names of events and traits are offered. */
const offered = { events: 500, traits: 100 } as const;

export default function RetentionPage(): ReactElement {
  const [choices] = useChoices();
  const query = queryOf(choices);
  const retention = useRead("/api/retention", {
    query: query ?? {},
    enabled: query !== undefined,
    keepsPrevious: true,
  });
  // The figures first: the engine answers one question after the other.
  const enabled = query === undefined || !retention.isPending;
  const events = useRead("/api/events", { query: { limit: offered.events }, enabled });
  const traits = useRead("/api/traits", { query: { limit: offered.traits }, enabled });
  return (
    <>
      <PageHeader
        title="Retention"
        actions={
          <>
            <CopyButton text={() => location.href} label="Copy link" />
            {query !== undefined && <CsvLink address={csvAddress("/api/retention", query)} />}
          </>
        }
      >
        <Freshness freshness={retention.data?.freshness} />
      </PageHeader>
      <div className="grid gap-5">
        <Controls events={events.data?.events ?? []} traits={traits.data?.traits ?? []} />
        <Figures
          asked={retention}
          loading={
            <Panel title="Cohorts" note={sentenceOf(choices)}>
              <Loading rows={14} height={24} />
            </Panel>
          }
          empty={({ cells }) => cells.length === 0 && <NoCohorts choices={choices} />}
        >
          {(answer) => <Cohorts answer={answer} />}
        </Figures>
      </div>
      <People />
    </>
  );
}

const titles = { day: "Daily cohorts", week: "Weekly cohorts", month: "Monthly cohorts" } as const;

function NoCohorts({ choices: { from, to, entry, entryEvent } }: { choices: Choices }): ReactElement {
  const isWhole = from === undefined && to === undefined;
  return (
    <Panel title="Cohorts">
      <Empty title={isWhole ? "No cohorts yet" : "No cohorts in these days"}>
        {entry === "event"
          ? `No user did “${entryEvent}” for the first time in these days.`
          : "No new users in these days."}
      </Empty>
    </Panel>
  );
}

const noKeys: ReadonlySet<string> = new Set();

function Cohorts({ answer }: { answer: Parameters<typeof groupsOf>[0] }): ReactElement {
  const [choices, change] = useChoices();
  const { trait, period, open } = choices;
  const groups = useMemo(() => groupsOf(answer, trait), [answer, trait]);
  const openKeys: ReadonlySet<string> = useMemo(
    () => new Set(open === "" ? [] : open.split(",").map(decoded)),
    [open],
  );
  // The means first: thousands of cells of open groups would hold up the first figure.
  const drawnKeys = useDeferredValue(openKeys, noKeys);
  const isSplit = groups.some(({ kind }) => kind !== "all");
  const onToggle = (key: string) => change({ open: written(openKeys.symmetricDifference(new Set([key]))) });
  const onPick = useCallback(
    ({ cohortDay, period: at, share }: Cell, { key }: Group) =>
      change({
        ...{ cohort: cohortDay, at, group: key === "all" ? "" : key },
        // The kind that was opened last. For a cohort whose users are all of one kind, that kind.
        ...(share === 0 && { side: "lost" as const }),
        ...(share === 1 && { side: "retained" as const }),
      }),
    [change],
  );
  const isAllOpen = groups.every(({ key }) => openKeys.has(key));
  const users = groups.reduce((sum, group) => sum + group.users, 0);
  return (
    <div className="grid gap-5">
      <Panel
        title={titles[period]}
        note={
          <span className="block max-w-[108ch] text-pretty">
            {sentenceOf(choices)} {numbers.count(users)} users.
          </span>
        }
        isFlush
        actions={
          isSplit && (
            <Button
              isSmall
              onClick={() => change({ open: isAllOpen ? "" : written(groups.map(({ key }) => key)) })}
            >
              {isAllOpen ? "Close all" : "Open all"}
            </Button>
          )
        }
      >
        <HeatMap {...{ groups, period, isSplit, onToggle, onPick }} openKeys={drawnKeys} />
        <HeatLegend groups={groups} />
        <AlreadyHere groups={groups} />
      </Panel>
      <Curves groups={groups} />
      {isSplit && <Comparison />}
    </div>
  );
}

/** Keys as the address has them: only commas and percent signs are escaped, so that a link can be read. */
function written(keys: Iterable<string>): string {
  return [...keys].map((key) => key.replace(/[%,]/g, encodeURIComponent)).join(",");
}

/** A key as the address has it. A text that is no key opens nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
