/**
 * A chart, drawn by ECharts in the colours of the theme. ECharts is loaded when the first chart is shown. A
 * table beside it has the same figures, for screen readers and for exact numbers.
 */
import { useRouter } from "@tanstack/react-router";
import type { EChartsCoreOption, EChartsType } from "echarts/core";
import { type MouseEvent, type ReactElement, type ReactNode, useEffect, useRef, useState } from "react";
import { useShownTheme } from "../app/theme.ts";
import { Scrollable } from "../parts/list/scrollable.tsx";
import { numbers } from "../text/format.ts";
import { type Colours, readColours } from "./colours.ts";
import { tooltipOf } from "./tooltip.ts";

interface ChartProps {
  /** The drawing's name: its content, with the main finding if there is one. */
  readonly label: string;
  /** ECharts' option, in these colours. It should not change but when the figures do. */
  readonly option: (colours: Colours) => EChartsCoreOption;
  /** The figures of the chart as a table. */
  readonly table: { readonly columns: readonly string[]; readonly rows: readonly (readonly ReactNode[])[] };
  /** In pixels. */
  readonly height?: number;
  /** The address behind a bar, by its series and its place on the axis. Undefined without one. The table
   * needs the same addresses as links, for the keyboard. */
  readonly addressOf?: (series: string, at: number) => string | undefined;
}

export function Chart({ label, option, table, height = 260, addressOf }: ChartProps): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<EChartsType>();
  const [isMissing, setMissing] = useState(false);
  const theme = useShownTheme();
  const [pointedAt, setPointedAt] = useState<{ readonly series: string; readonly at: number }>();
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let made: EChartsType | undefined;
    let isGone = false;
    const observer = new ResizeObserver(() => made?.resize());
    const load = import("./echarts.ts").then(({ init }) => {
      if (isGone) return;
      made = init(element);
      made.on("mouseover", ({ componentType, seriesType, seriesName, dataIndex }) => {
        if (componentType !== "series" || seriesType !== "bar") return;
        setPointedAt({ series: seriesName ?? "", at: dataIndex });
      });
      made.on("mouseout", () => setPointedAt(undefined));
      observer.observe(element);
      setChart(made);
    });
    load.catch(() => setMissing(true));
    return () => {
      isGone = true;
      observer.disconnect();
      made?.dispose();
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours that are read are those of the theme
  useEffect(() => {
    if (chart === undefined || chart.isDisposed()) return;
    const colours = readColours();
    chart.setOption({ ...base(colours), ...option(colours) }, { notMerge: true });
  }, [chart, option, theme]);
  return (
    <figure className="min-w-0">
      {isMissing ? (
        <p className="text-soft">The chart could not be loaded. Its figures are in the table.</p>
      ) : (
        <BarLink address={pointedAt && addressOf?.(pointedAt.series, pointedAt.at)}>
          <div
            ref={place}
            role="img"
            aria-label={label}
            style={{ height }}
            className={chart ? "" : "skeleton"}
          />
        </BarLink>
      )}
      <details className="mt-2 text-sm" open={isMissing}>
        <summary className="inline-block text-soft hover:text-ink">Show as a table</summary>
        <TableOf label={label} {...table} />
      </details>
    </figure>
  );
}

/** A link as long as the pointer is on a bar that has an address: it opens in a new tab, too, as any other
 * does. The keyboard finds it in the table. */
function BarLink({ address, children }: { address: string | undefined; children: ReactNode }): ReactElement {
  const router = useRouter();
  const open = (event: MouseEvent) => {
    if (address === undefined || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    router.history.push(address);
  };
  return (
    <a href={address} tabIndex={-1} onClick={open} draggable={false} className="block">
      {children}
    </a>
  );
}

/** Figures of a drawing as a table. */
export function TableOf({ label, columns, rows }: { label: string } & ChartProps["table"]): ReactElement {
  return (
    <Scrollable label={`${label}, as a table`} className="mt-2 max-h-72 overflow-auto border border-line">
      <table className="w-full">
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column}
                scope="col"
                className="sticky top-0 bg-surface px-3 py-1 text-left font-medium text-soft"
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the table is replaced whole
            <tr key={index} className="border-t border-line">
              {row.map((cell, at) => (
                <td key={columns[at]} className="px-3 py-1">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}

function base(colours: Colours): EChartsCoreOption {
  return {
    color: [...colours.series],
    textStyle: {
      fontFamily: "IBM Plex Sans Variable, system-ui, sans-serif",
      fontSize: 12,
      color: colours.soft,
    },
    animation: false,
    grid: gridWithin({}),
    tooltip: tooltipOf(),
    aria: { enabled: false },
  };
}

/** An axis of days or groups. @param showsLast whether the last label always shows, e.g. because it has a
 * mark */
export function categoryAxis(
  colours: Colours,
  data: readonly string[],
  { showsLast = false }: { readonly showsLast?: boolean } = {},
): object {
  return {
    type: "category",
    data,
    axisLine: { lineStyle: { color: colours.line } },
    axisTick: { show: false },
    axisLabel: { color: colours.soft, hideOverlap: true, ...(showsLast && { showMaxLabel: true }) },
  };
}

/** An axis of numbers, quiet. @param text a number as text */
export function valueAxis(colours: Colours, text: (value: number) => string): object {
  const isOfCounts = text === numbers.compact || text === numbers.count;
  return {
    type: "value",
    // There is no 0.3 of a user.
    ...(isOfCounts && { minInterval: 1 }),
    splitNumber: 4,
    splitLine: { lineStyle: { color: colours.line } },
    axisLabel: { color: colours.soft, formatter: text },
  };
}

/** Names of the series above the drawing. The drawing has to leave 28 pixels for it: `gridBelowLegend`. */
export function legendOf(colours: Colours): object {
  return {
    top: 0,
    left: 0,
    icon: "rect",
    itemWidth: 10,
    itemHeight: 10,
    itemGap: 16,
    selectedMode: false,
    textStyle: { color: colours.soft, fontSize: 12 },
  };
}

/** The place of a drawing with the labels of its axes. @param insets in pixels, where they are not the usual
 * ones */
export function gridWithin(insets: Partial<Record<"left" | "right" | "top" | "bottom", number>>): object {
  return {
    left: 4,
    right: 12,
    top: 12,
    bottom: 4,
    outerBoundsMode: "same",
    outerBoundsContain: "axisLabel",
    ...insets,
  };
}

/** The place of a drawing under its legend. */
export const gridBelowLegend = gridWithin({ top: 36 });

type Values = readonly unknown[];

/** A series as a line without symbols. @param style of the line: its width in pixels, and whether it is
 * dashed */
export function lineSeries(name: string, data: Values, color: string | undefined, style: object): object {
  return { name, type: "line", symbol: "none", data, lineStyle: { color, ...style }, itemStyle: { color } };
}

/** The base rate as a line across the drawing. @param data the rate, once for each place on the axis */
export function baseRateSeries(colours: Colours, data: Values): object {
  return lineSeries("Base rate", data, colours.soft, { type: "dashed", width: 1.5 });
}

/** A series as bars. @param gap between two of them, as a part of their width: "25%"
 * @param stack series with the same stack stand on each other */
export function barSeries(
  name: string,
  data: Values,
  color: string | undefined,
  gap: string,
  stack?: string,
): object {
  return { name, type: "bar", data, barCategoryGap: gap, itemStyle: { color }, ...(stack && { stack }) };
}
