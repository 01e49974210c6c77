/** Revenue cohorts: the MRR that payers kept, by the period of their first MRR. */
import { type ReactElement, useMemo } from "react";
import { csvAddress, useRead } from "../../api/query.ts";
import { CohortGrid } from "../../charts/cohort-grid.tsx";
import { GridLegend } from "../../charts/cohort-legend.tsx";
import { atText, scaleOf } from "../../charts/cohort-model.ts";
import { openKeysIn, openKeysText } from "../../charts/cohort-open-keys.ts";
import type { Found } from "../../charts/cohort-places.ts";
import { Button } from "../../parts/form/button.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { counted, numbers } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import {
  type Cell,
  type CohortGroup,
  cohortGroups,
  gridOf,
  gridWords,
  type MeanCell,
  smallCohortPayers,
} from "./cohorts.ts";
import { periodText } from "./periods.ts";
import { cohortsQueryOf, isSplit, type Period, useChoices } from "./question.ts";

export function CohortsPanel(): ReactElement {
  const [choices] = useChoices();
  const query = cohortsQueryOf(choices);
  const asked = useRead("/api/revenue/cohorts", { query, keepsPrevious: true });
  const { period } = choices;
  return (
    <FigurePanel
      title="Revenue cohorts"
      note={
        <span className="block max-w-[108ch] text-pretty">
          Of the MRR that payers began with in a {period}, the part that they paid at the end of each {period}{" "}
          after. {capital(period)} 0 is the end of the {period} in which they began, and below 100% where some
          left within it. Above 100% the cohort grew.
          {isSplit(choices) && " Payers are in the group that they were in when their MRR began."}
        </span>
      }
      isFlush
      actions={<CsvLink address={csvAddress("/api/revenue/cohorts", query)} />}
      asked={asked}
      loading={<Loading rows={12} height={24} />}
      empty={({ cells }) =>
        cells.length === 0 && (
          <Empty title="No cohorts in these periods">No payer had MRR for the first time.</Empty>
        )
      }
    >
      {(answer) => <Grid answer={answer} />}
    </FigurePanel>
  );
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A few payers that grew much would make all other cells look alike. */
const mostColoured = 1.5;

function Grid({ answer }: { answer: Parameters<typeof cohortGroups>[0] }): ReactElement {
  const [choices, change] = useChoices();
  const { period, open } = choices;
  const groups = useMemo(() => cohortGroups(answer, choices), [answer, choices]);
  const grid = useMemo(() => gridOf(groups), [groups]);
  const scale = useMemo(() => scaleOf(grid, mostColoured), [grid]);
  const openKeys = useMemo(() => openKeysIn(open), [open]);
  const isOfGroups = groups.some(({ key }) => key !== "all");
  const isAllOpen = groups.every(({ key }) => openKeys.has(key));
  const money = moneyIn(answer.reportingCurrency);
  const tip = ({ group: { key }, cohort, cell: { period: at } }: Found) => {
    const group = groups.find((one) => one.key === key);
    const cells =
      cohort === undefined ? group?.mean : group?.cohorts.find(({ day }) => day === cohort)?.cells;
    const cell = cells?.find((one) => one.period === at);
    return group && cell && <Tip group={group} cell={cell} period={period} money={money} />;
  };
  return (
    <>
      {isOfGroups && (
        <div className="px-4 pb-2">
          <Button
            isSmall
            onClick={() => change({ open: isAllOpen ? "" : openKeysText(groups.map(({ key }) => key)) })}
          >
            {isAllOpen ? "Close all" : "Open all"}
          </Button>
        </div>
      )}
      <CohortGrid
        label="MRR kept by cohort"
        groups={grid}
        words={gridWords[period]}
        scale={scale}
        isSplit={isOfGroups}
        openKeys={openKeys}
        onToggle={(key) => change({ open: openKeysText(openKeys.symmetricDifference(new Set([key]))) })}
        tip={tip}
      />
      <GridLegend
        scale={scale}
        incomplete={`the ${period} goes on`}
        small={`fewer than ${smallCohortPayers} payers, which may be far off`}
      />
    </>
  );
}

interface TipProps {
  readonly group: CohortGroup;
  readonly cell: Cell | MeanCell;
  readonly period: Period;
  readonly money: Money;
}

function Tip({ group, cell, period, money }: TipProps): ReactElement {
  const { payers, entryMrr, mrr } = cell;
  const title =
    "cohortDay" in cell
      ? periodText(cell.cohortDay, period)
      : `Weighted mean of ${counted(cell.cohorts, "cohort")}`;
  return (
    <>
      <p className="text-soft [overflow-wrap:anywhere]">
        {group.key !== "all" && `${group.label}, `}
        {title}, {cell.period === 0 && "in "}
        {atText(cell.period, period)}
      </p>
      <p>
        <b className="font-medium">{numbers.share(mrr / entryMrr)}</b> of the MRR at entry: {money.exact(mrr)}{" "}
        of {money.exact(entryMrr)}, {counted(payers, "payer")}
      </p>
      {"cohortDay" in cell && <IntervalLine cell={cell} />}
      {"cohortDay" in cell && !cell.isComplete && <p className="text-watch">This {period} is not over.</p>}
      {payers < smallCohortPayers && (
        <p className="text-watch">Fewer than {smallCohortPayers} payers: the share may be far off.</p>
      )}
      {!("cohortDay" in cell) && (
        <p className="border-t border-line pt-1 text-soft">Only cohorts whose {period} is over</p>
      )}
    </>
  );
}

function IntervalLine({ cell: { low, high } }: { cell: Cell }): ReactElement {
  if (low === null || high === null) return <p className="text-soft">One payer has no interval.</p>;
  return (
    <p className="text-soft">
      95% interval: {numbers.share(low)} to {numbers.share(high)}
    </p>
  );
}
