/** The retention page: heat map, curves, comparison and the users of a cell. */
import { type ReactElement, useCallback, useDeferredValue, useMemo } from "react";
import { csvAddress, useRead } from "../../api/query.ts";
import { CohortGrid } from "../../charts/cohort-grid.tsx";
import { GridLegend } from "../../charts/cohort-legend.tsx";
import { scaleOf } from "../../charts/cohort-model.ts";
import { openKeysIn, openKeysText } from "../../charts/cohort-open-keys.ts";
import type { Found } from "../../charts/cohort-places.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { Button } from "../../parts/form/button.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { counted } from "../../text/format.ts";
import { useSegmentNames } from "../segments/segments.ts";
import { AlreadyHere } from "./already-here.tsx";
import { CohortTip } from "./cohort-tip.tsx";
import { cellAt, gridOf, gridWords, groupsOf } from "./cohorts.ts";
import { Comparison } from "./comparison.tsx";
import { Controls } from "./controls.tsx";
import { Curves } from "./curves.tsx";
import { People } from "./people.tsx";
import { type Choices, queryOf, sentenceOf, useChoices } from "./question.ts";
import { smallCohortUsers } from "./usual-period.ts";

/** How many names of events and traits are offered. */
const offered = { events: 500, traits: 100 } as const;

export default function RetentionPage(): ReactElement {
  const [choices] = useChoices();
  const query = queryOf(choices);
  const retention = useRead("/api/retention", {
    query: query ?? {},
    enabled: query !== undefined,
    // Cells of weeks are none of months.
    keepsPrevious: !(choices.isUsualPeriod && choices.period === "month"),
  });
  const segments = useSegmentNames();
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
            <Panel title="Cohorts" note={sentenceOf(choices, segments)}>
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
  const segments = useSegmentNames();
  const groups = useMemo(() => groupsOf(answer, trait), [answer, trait]);
  const grid = useMemo(() => gridOf(groups), [groups]);
  const scale = useMemo(() => scaleOf(grid), [grid]);
  const openKeys = useMemo(() => openKeysIn(open), [open]);
  // The means first: thousands of cells of open groups would hold up the first figure.
  const drawnKeys = useDeferredValue(openKeys, noKeys);
  const isSplit = groups.some(({ kind }) => kind !== "all");
  const onToggle = (key: string) =>
    change({ open: openKeysText(openKeys.symmetricDifference(new Set([key]))) });
  const onPick = useCallback(
    ({ cohort, cell: { period: at, share }, group: { key } }: Found) =>
      change({
        cohort,
        at,
        group: key === "all" ? "" : key,
        // The kind that was opened last. For a cohort whose users are all of one kind, that kind.
        ...(share === 0 && { side: "lost" as const }),
        ...(share === 1 && { side: "retained" as const }),
      }),
    [change],
  );
  const tip = (place: Found) => {
    const found = cellAt(groups, place);
    return found && <CohortTip found={found} period={period} />;
  };
  const isAllOpen = groups.every(({ key }) => openKeys.has(key));
  const users = groups.reduce((sum, group) => sum + group.users, 0);
  return (
    <div className="grid gap-5">
      <Panel
        title={titles[period]}
        note={
          <span className="block max-w-[108ch] text-pretty">
            {sentenceOf(choices, segments)} {counted(users, "user")}.
          </span>
        }
        isFlush
        actions={
          isSplit && (
            <Button
              isSmall
              onClick={() => change({ open: isAllOpen ? "" : openKeysText(groups.map(({ key }) => key)) })}
            >
              {isAllOpen ? "Close all" : "Open all"}
            </Button>
          )
        }
      >
        <CohortGrid
          label="Retention by cohort"
          groups={grid}
          words={gridWords[period]}
          scale={scale}
          isSplit={isSplit}
          onToggle={onToggle}
          onPick={onPick}
          tip={tip}
          openKeys={drawnKeys}
        />
        <GridLegend
          scale={scale}
          incomplete="the share may still rise"
          small={`fewer than ${smallCohortUsers} users, which may be far off`}
        />
        <AlreadyHere groups={groups} />
      </Panel>
      <Curves groups={groups} />
      {isSplit && <Comparison />}
    </div>
  );
}
