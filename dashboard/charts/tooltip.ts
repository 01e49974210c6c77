/** The tooltip for the point under the pointer. It is built from elements and classes, because the security
 * policy forbids the style attributes of ECharts' own tooltips. */

interface Point {
  readonly name: string;
  readonly seriesName?: string;
  readonly dataIndex?: number;
  readonly value: unknown;
  readonly color?: unknown;
}

/** A value as text, by its series and its place on the axis, counted from 0. */
type ValueText = (value: number, series: string, at: number) => string;

type PlaceText = (name: string, value: unknown) => string;

/** The option of a tooltip about everything at one place of the axis. A series without a name is left out.
 * @param text formats a value @param title formats the place, from its name on the axis and its value */
export function tooltipOf(text: ValueText = String, title: PlaceText = (name) => name): object {
  return {
    trigger: "axis",
    confine: true,
    transitionDuration: 0,
    className: "chart-tooltip",
    borderWidth: 0,
    padding: 0,
    backgroundColor: "transparent",
    extraCssText: "box-shadow:none",
    axisPointer: { type: "line", lineStyle: { type: "solid", width: 1, opacity: 0.5 } },
    formatter: (points: Point | readonly Point[]) =>
      boxOf(Array.isArray(points) ? points : [points], text, title),
  };
}

function boxOf(points: readonly Point[], text: ValueText, title: PlaceText): HTMLElement {
  const box = element("div", "rounded border border-line bg-raised px-3 py-2 text-sm text-ink shadow-float");
  box.append(element("p", "font-medium", title(points[0]?.name ?? "", points[0]?.value)));
  for (const { seriesName, dataIndex, value, color } of points) {
    if (isUntold(seriesName)) continue;
    const row = element("p", "flex items-center gap-2");
    const dot = element("span", "inline-block size-2 rounded-full");
    if (typeof color === "string") dot.style.background = color;
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    const shown = typeof last === "number" ? text(last, seriesName ?? "", dataIndex ?? 0) : "–";
    row.append(
      dot,
      element("span", "text-soft", seriesName ?? ""),
      element("b", "ml-auto pl-4 font-medium", shown),
    );
    box.append(row);
  }
  return box;
}

/** A series without a name gets one from ECharts, with a zero byte in it: it only helps to draw another. */
function isUntold(name: string | undefined): boolean {
  return name?.startsWith("series\0") ?? false;
}

function element(tag: string, className: string, content = ""): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = content;
  return made;
}
