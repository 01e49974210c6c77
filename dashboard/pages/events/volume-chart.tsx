/** Events or users over time, a series for each of the largest groups. */
import { type ReactElement, useCallback, useMemo } from "react";
import type { Reads } from "../../api/paths.ts";
import { barSeries, Chart, categoryAxis, lineSeries, valueAxis } from "../../charts/chart.tsx";
import type { Colours } from "../../charts/colours.ts";
import { tooltipOf } from "../../charts/tooltip.ts";
import { useToday } from "../../parts/time.tsx";
import { dayText, numbers } from "../../text/format.ts";

type Row = Reads["/api/events-over-time"]["answer"]["periods"][number];

interface VolumeChartProps {
  readonly rows: readonly Row[];
  readonly measure: "count" | "users";
  readonly period: "day" | "week" | "month";
  readonly split: "event" | "none" | "property" | "trait";
  /** Called with the name of an event that is chosen. */
  readonly onPick?: (event: string) => void;
}

interface Series {
  readonly name: string;
  /** The value by itself. Null for the rest and for events without a value. */
  readonly value: string | null;
  readonly isRest: boolean;
  readonly numbers: readonly number[];
}

export function VolumeChart({ rows, measure, period, split, onPick }: VolumeChartProps): ReactElement {
  const today = useToday();
  const { days, series, hasOpenPeriod } = useMemo(
    () => seriesOf(rows, measure, split, today),
    [rows, measure, split, today],
  );
  const said = useCallback(
    (row: Row) => {
      const text = dayText(row.fromDay, period === "month" ? "month" : "short");
      return isOpen(row, today) ? `${text} *` : text;
    },
    [period, today],
  );
  const option = useCallback(
    (colours: Colours) => ({
      tooltip: tooltipOf(numbers.count),
      xAxis: {
        ...categoryAxis(colours, days.map(said), { showsLast: hasOpenPeriod }),
        boundaryGap: measure === "count",
      },
      // Numbers of events are whole.
      yAxis: { ...valueAxis(colours, numbers.compact), minInterval: 1 },
      series: series.map(({ name, numbers: data, isRest }, index) => {
        const color = isRest ? colours.edge : colours.series[index];
        return measure === "count"
          ? barSeries(name, data, color, "25%", "all")
          : lineSeries(name, data, color, { width: 2 });
      }),
    }),
    [days, series, measure, said, hasOpenPeriod],
  );
  const what = measure === "count" ? "events" : "users";
  return (
    <>
      <Chart
        label={`Number of ${what} by ${period}, from ${dayText(days[0]?.fromDay)} to ${dayText(days.at(-1)?.toDay)}`}
        option={option}
        height={300}
        table={{
          columns: [
            period === "day" ? "Day" : `First day of the ${period}`,
            ...series.map(({ name }) => name),
          ],
          rows: days.map((row, index) => [
            `${dayText(row.fromDay)}${isOpen(row, today) ? " *" : ""}`,
            ...series.map((one) => numbers.count(one.numbers[index])),
          ]),
        }}
      />
      {split !== "none" && <Legend series={series} {...(onPick && { onPick })} />}
      <p className="mt-2 text-sm text-soft">
        {hasOpenPeriod && (period === "day" ? "* Today is not over. " : `* The ${period} is not over. `)}
        {measure === "users" &&
          split !== "none" &&
          "Users in several groups count in each, so the lines do not add up to all users."}
      </p>
    </>
  );
}

function Legend({
  series,
  onPick,
}: {
  series: readonly Series[];
  onPick?: (event: string) => void;
}): ReactElement {
  return (
    <ul aria-label="Groups, the largest first" className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-sm">
      {series.map(({ name, value, isRest }, index) => (
        <li key={name} className="flex min-w-0 items-center gap-1.5">
          <span
            aria-hidden="true"
            className="size-2.5 shrink-0"
            style={{ background: isRest ? "var(--color-edge)" : `var(--color-series-${index + 1})` }}
          />
          {onPick !== undefined && value !== null ? (
            <button
              type="button"
              onClick={() => onPick(value)}
              className="min-w-0 truncate hover:underline"
              title={`Show only ${name}`}
            >
              {name}
            </button>
          ) : (
            <span className="min-w-0 truncate text-soft">{name}</span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The rows as series. Days are one row of each period. */
function seriesOf(
  rows: readonly Row[],
  measure: "count" | "users",
  split: VolumeChartProps["split"],
  today: string,
): { days: readonly Row[]; series: readonly Series[]; hasOpenPeriod: boolean } {
  const groups = Map.groupBy(rows, ({ value, isRest }) => JSON.stringify([value, isRest]));
  const days = groups.values().next().value ?? [];
  const series = [...groups.values()].map((of) => {
    const { value, label, isRest } = of[0] ?? { value: null, label: null, isRest: false };
    const counts = of.map((row) => row[measure]);
    return { name: nameOf(label ?? value, isRest, split, measure), value, isRest, numbers: counts };
  });
  return { days, series, hasOpenPeriod: days.some((row) => isOpen(row, today)) };
}

/** Whether more may come: the period goes on, or its last day is today. */
function isOpen({ isComplete, toDay }: Row, today: string): boolean {
  return !isComplete || toDay >= today;
}

function nameOf(
  value: string | null,
  isRest: boolean,
  split: VolumeChartProps["split"],
  measure: "count" | "users",
): string {
  if (isRest) return split === "event" ? "Other events" : "Other values";
  if (split === "none") return measure === "count" ? "Events" : "Users";
  if (value === null) return `No such ${split}`;
  return value === "" ? "Empty text" : value;
}
