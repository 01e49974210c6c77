/** MRR over time, of all payers or by group. */
import { type ReactElement, useCallback, useMemo } from "react";
import { barSeries, Chart, categoryAxis, gridWithin, valueAxis } from "../../charts/chart.tsx";
import type { Colours } from "../../charts/colours.ts";
import { tooltipOf } from "../../charts/tooltip.ts";
import { Panel } from "../../parts/panel.tsx";
import { classes } from "../../text/classes.ts";
import { dayText, numbers } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import { type Group, periodText, periodTitle } from "./periods.ts";
import { type Period, useChoices } from "./question.ts";

/** Groups with a colour of their own. The others are drawn as one. */
const maxSeries = 7;
/** Of a name in the drawing. */
const nameCharacters = 28;

interface Series {
  readonly name: string;
  /** By period, in minor units. */
  readonly mrrs: readonly number[];
}

export function MrrPanel({ groups, currency }: { groups: readonly Group[]; currency: string }): ReactElement {
  const [{ period }] = useChoices();
  const money = moneyIn(currency);
  const series = useMemo(() => seriesOf(groups), [groups]);
  const [first] = groups;
  const periods = first?.periods ?? [];
  const last = periods.at(-1);
  const total = groups.reduce((sum, group) => sum + (group.periods.at(-1)?.endMrr ?? 0), 0);
  const labels = periods.map((one) => periodText(one.fromDay, period));
  const label = `MRR at the end of each ${period}, ${money.short(total)} in the last`;
  const drawn = JSON.stringify({ series, labels });
  const option = useCallback(
    (colours: Colours) => optionOf(JSON.parse(drawn) as Drawn, colours, moneyIn(currency)),
    [drawn, currency],
  );
  return (
    <Panel title="MRR" note={noteOf(period, last?.isComplete === false ? last.toDay : undefined)}>
      {series.length > 1 && <Legend names={series.map(({ name }) => name)} />}
      <Chart label={label} option={option} height={340} table={tableOf(groups, period, money)} />
    </Panel>
  );
}

function noteOf(period: Period, toDay: string | undefined): string {
  const last = toDay === undefined ? "" : `; the last bar is of ${dayText(toDay)}`;
  return `At the end of each ${period}${last}`;
}

function seriesOf(groups: readonly Group[]): Series[] {
  const all = groups.map(({ label, periods }) => ({
    name: shortName(label),
    mrrs: periods.map(({ endMrr }) => endMrr),
  }));
  if (all.length <= maxSeries + 1) return all;
  const others = all.slice(maxSeries);
  const mrrs = (others[0]?.mrrs ?? []).map((_, at) =>
    others.reduce((sum, one) => sum + (one.mrrs[at] ?? 0), 0),
  );
  return [...all.slice(0, maxSeries), { name: `${numbers.count(others.length)} other groups`, mrrs }];
}

function shortName(label: string): string {
  const characters = [...label];
  return characters.length <= nameCharacters ? label : `${characters.slice(0, nameCharacters - 1).join("")}…`;
}

/** The colours of series, in their order. Written out, so that the styles are found. */
const swatches = [
  "bg-series-1",
  "bg-series-2",
  "bg-series-3",
  "bg-series-4",
  "bg-series-5",
  "bg-series-6",
  "bg-series-7",
  "bg-series-8",
];

/** Beside the drawing, because names of plans may take several lines on a phone. */
function Legend({ names }: { names: readonly string[] }): ReactElement {
  return (
    <ul aria-label="Groups in the chart" className="mb-2 flex flex-wrap gap-x-4 gap-y-1 text-sm text-soft">
      {names.map((name, index) => (
        <li key={name} className="flex items-center gap-1.5">
          <span aria-hidden="true" className={classes("size-2.5 shrink-0", swatches[index])} />
          {name}
        </li>
      ))}
    </ul>
  );
}

interface Drawn {
  readonly series: readonly Series[];
  readonly labels: readonly string[];
}

function optionOf({ series, labels }: Drawn, colours: Colours, money: Money) {
  return {
    tooltip: tooltipOf(money.exact),
    grid: gridWithin({}),
    xAxis: categoryAxis(colours, labels, { showsLast: true }),
    yAxis: { ...valueAxis(colours, money.compact), min: 0 },
    series: series.map(({ name, mrrs }, index) => ({
      ...barSeries(name, mrrs, colours.series[index], "30%", "mrr"),
      id: String(index),
    })),
  };
}

function tableOf(groups: readonly Group[], period: Period, money: Money) {
  const isOne = groups.length === 1;
  const periods = groups[0]?.periods ?? [];
  return {
    columns: ["Period", ...groups.map(({ label }) => (isOne ? "MRR" : label)), ...(isOne ? ["Payers"] : [])],
    rows: periods
      .map((one, at) => [
        periodTitle(one, period),
        ...groups.map((group) => money.exact(group.periods[at]?.endMrr)),
        ...(isOne ? [numbers.count(one.endPayers)] : []),
      ])
      .toReversed(),
  };
}
