/** What sends: each source with its state, how much came of it, and how it is connected. */
import { type ReactElement, useState } from "react";
import type { Reads } from "../../api/paths.ts";
import { useRead } from "../../api/query.ts";
import { Stat, Stats } from "../../parts/figure/stat.tsx";
import { textFilter, useFilters } from "../../parts/list/filters.ts";
import { Notice, PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { Ago } from "../../parts/time.tsx";
import { numbers } from "../../text/format.ts";
import { sourceName } from "../../text/source-names.ts";
import type { NewTokens } from "./set-up.tsx";
import { SourceRow } from "./source-row.tsx";

type Answer = Reads["/api/sources"]["answer"];
export type Source = Answer["sources"][number];

const filters = { open: textFilter() };
const everyMs = 5_000;
/** What is wrong stands first. */
const order: Readonly<Record<Source["state"], number>> = { silent: 0, sending: 1, retired: 2, never_sent: 3 };

export function SourcesPage(): ReactElement {
  const asked = useRead("/api/sources", { everyMs });
  return (
    <>
      <PageHeader title="Sources">
        Tools that send already can send here as well: their own clients, another address.
      </PageHeader>
      <Figures
        of={asked}
        loading={
          <Panel>
            <Loading rows={6} height={40} />
          </Panel>
        }
      >
        {({ sources, held }) => (
          <div className="grid gap-5">
            <Sources of={sources} />
            <Held of={held} />
          </div>
        )}
      </Figures>
    </>
  );
}

function Sources({ of }: { of: readonly Source[] }): ReactElement {
  const [{ open }, change] = useFilters(filters);
  const [tokens, setTokens] = useState<NewTokens>({});
  const rows = (shown: readonly Source[]) => (
    <ul className="border-t border-line">
      {shown.map((source) => (
        <SourceRow
          key={source.source}
          of={source}
          isOpen={open === source.source}
          onOpen={(isOpen) => change({ open: isOpen ? source.source : "" })}
          tokens={tokens}
          onToken={(made) => setTokens({ ...tokens, ...made })}
        />
      ))}
    </ul>
  );
  const known = of
    .filter(({ state }) => state !== "never_sent")
    .toSorted((a, b) => order[a.state] - order[b.state]);
  const others = of.filter(({ state, source }) => state === "never_sent" && source !== "api");
  return (
    <div className="grid gap-5">
      <Freezing of={known.filter(({ freezesScores }) => freezesScores)} />
      <Panel
        title="What sends"
        note="Items that were taken in 24 hours and in 7 days, and those rejected in 7 days"
        isFlush
      >
        {known.length === 0 ? (
          <Empty title="Nothing has come yet">
            Connect one of the tools below, or send with the write API as the page Start shows. What has an
            unknown token is answered 401 and shown nowhere.
          </Empty>
        ) : (
          rows(known)
        )}
      </Panel>
      {others.length > 0 && (
        <Panel
          title="What can be connected"
          note="Their own clients with another address; nothing else changes in your code"
          isFlush
        >
          {rows(others)}
        </Panel>
      )}
    </div>
  );
}

function Freezing({ of }: { of: readonly Source[] }): ReactElement | null {
  const [first] = of;
  if (first === undefined) return null;
  const names = of.map(({ source }) => sourceName(source)).join(", ");
  return (
    <Notice>
      <b className="font-medium">{names}</b> {of.length === 1 ? "has" : "have"} sent nothing since{" "}
      <Ago instant={first.silentSince} />, and scores wait: without its events people would look as if they
      had left. Scores go on by themselves when it sends again. If it was removed, retire it below.
    </Notice>
  );
}

/** Who is not identified yet; nothing where nobody is and nothing was lost. */
function Held({ of }: { of: Answer["held"] }): ReactElement | null {
  const { people, items, oldestAt, droppedFull, droppedExpired, links } = of;
  if (people + droppedFull + droppedExpired + links === 0) return null;
  return (
    <Panel
      title="Waiting for a name"
      note="What was said of people who are not identified yet. It becomes theirs when an identify or an alias names them by the same id, a Stripe customer's also when a user has the e-mail address; after 30 days it is dropped"
    >
      <Stats isDense>
        <Stat label="People" value={numbers.count(people)} />
        <Stat
          label="Items"
          value={numbers.count(items)}
          note={
            oldestAt !== null && (
              <>
                the oldest <Ago instant={oldestAt} />
              </>
            )
          }
        />
        <Stat
          label="Linked ids"
          value={numbers.count(links)}
          hint="Said to be somebody who is not identified yet; forgotten after 30 days without a word"
        />
        <Stat label="Expired" value={numbers.count(droppedExpired)} hint="Nobody was named in 30 days" />
        <Stat
          label="Over the limit"
          value={numbers.count(droppedFull)}
          hint="More than 1,000 of one person"
        />
      </Stats>
    </Panel>
  );
}
