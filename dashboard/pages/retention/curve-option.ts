/** The drawing of retention curves: a line with its band, and the projection dashed. */
import type { EChartsCoreOption } from "echarts/core";
import { categoryAxis, gridBelowLegend, gridWithin, valueAxis } from "../../charts/chart.tsx";
import { periodsText } from "../../charts/cohort-model.ts";
import type { Colours } from "../../charts/colours.ts";
import { tooltipOf } from "../../charts/tooltip.ts";
import { numbers } from "../../text/format.ts";
import { intervalText, type MeanCell, type ProjectedShare } from "./cohorts.ts";
import type { Choices } from "./question.ts";

/** The lines that the chart draws for a group. */
export interface Curve {
  readonly name: string;
  readonly points: readonly MeanCell[];
  /** The projected shares, from the last reliable share on. Empty without a projection. */
  readonly projected: readonly ProjectedShare[];
}

const colourNames = ["series-1", "series-2"] as const;
const missing = "-";

/** ECharts' option for the curves. */
export function curveOption(
  curves: readonly Curve[],
  colours: Colours,
  period: Choices["period"],
): EChartsCoreOption {
  const last = Math.max(
    0,
    ...curves.flatMap(({ points, projected }) => [points.at(-1)?.period ?? 0, projected.at(-1)?.period ?? 0]),
  );
  const highest = Math.max(
    0,
    ...curves.flatMap(({ points, projected }) => [...points, ...projected].map(({ high }) => high)),
  );
  const shareText = (share: number, name: string, at: number) => {
    const curve = curves.find((one) => name === one.name || name === projectedName(one));
    const of = curve?.name === name ? curve.points : curve?.projected;
    const point = of?.find((one) => one.period === at);
    return numbers.share(share) + (point === undefined ? "" : ` (${intervalText(point)})`);
  };
  const ages = Array.from({ length: last + 1 }, (_, at) => at);
  return {
    legend: {
      show: curves.length > 1,
      top: 0,
      left: 0,
      icon: "rect",
      itemWidth: 12,
      itemHeight: 3,
      data: curves.map(({ name }) => name),
      textStyle: { color: colours.ink },
    },
    grid: curves.length > 1 ? gridBelowLegend : gridWithin({}),
    tooltip: tooltipOf(shareText, (at) => `${periodsText(Number(at), period)} after`),
    xAxis: { ...categoryAxis(colours, ages.map(String)), boundaryGap: false },
    yAxis: {
      ...valueAxis(colours, numbers.wholeShare),
      min: 0,
      ...(highest > 0.8 && { max: 1, interval: 0.25 }),
    },
    series: curves.flatMap((curve, index) =>
      seriesOf(curve, ages, colours[colourNames[index] ?? "series-3"]),
    ),
  };
}

/** The legend's name for the dashed line of a curve. */
function projectedName({ name }: Curve): string {
  return `${name}, projected`;
}

function seriesOf(curve: Curve, ages: readonly number[], colour: string) {
  const { name, points, projected } = curve;
  const observed = drawn({ name, points, colour, opacity: 0.16, lineStyle: { width: 2 } }, ages);
  if (projected.length === 0) return observed;
  const dashed = { width: 1.5, type: "dashed" };
  const ahead = { name: projectedName(curve), points: projected, colour, opacity: 0.08, lineStyle: dashed };
  return [...observed, ...drawn(ahead, ages)];
}

interface Drawn {
  readonly name: string;
  readonly points: readonly ProjectedShare[];
  readonly colour: string;
  /** Of the band. */
  readonly opacity: number;
  readonly lineStyle: object;
}

/** A line with its band. */
function drawn({ name, points, colour, opacity, lineStyle }: Drawn, ages: readonly number[]): object[] {
  const byAge = new Map(points.map((point) => [point.period, point]));
  const values = (of: (point: ProjectedShare) => number) =>
    ages.map((at) => {
      const point = byAge.get(at);
      return point === undefined ? missing : of(point);
    });
  const line = { type: "line", symbol: "none", itemStyle: { color: colour } };
  // The band is two lines on top of each other, of which the lower one is not seen.
  const band = {
    ...line,
    silent: true,
    stack: `${name} band`,
    stackStrategy: "all",
    lineStyle: { opacity: 0 },
  };
  return [
    { ...band, data: values(({ low }) => low) },
    { ...band, data: values(({ low, high }) => high - low), areaStyle: { color: colour, opacity } },
    { ...line, name, data: values(({ share }) => share), lineStyle: { color: colour, ...lineStyle } },
  ];
}
