/** What a chart says of the point under the pointer. Elements and classes, because the security policy forbids the
 * style attributes of ECharts' own. */

interface Point {
  readonly name: string;
  readonly seriesName?: string;
  readonly value: unknown;
  readonly color?: unknown;
}

/** The option of a tooltip about everything at one place of the axis. @param text how a value is said
 * @param place how the place is said; its name on the axis without it */
export function tooltipOf(
  text: (value: number) => string = String,
  place: (value: unknown, name: string) => string = (_, name) => name,
): object {
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
      boxOf(Array.isArray(points) ? points : [points], text, place),
  };
}

function boxOf(
  points: readonly Point[],
  text: (value: number) => string,
  place: (value: unknown, name: string) => string,
): HTMLElement {
  const box = element("div", "rounded border border-line bg-raised px-3 py-2 text-sm text-ink shadow-float");
  box.append(element("p", "font-medium", place(points[0]?.value, points[0]?.name ?? "")));
  for (const { seriesName, value, color } of points) {
    const row = element("p", "flex items-center gap-2");
    const dot = element("span", "inline-block size-2 rounded-full");
    if (typeof color === "string") dot.style.background = color;
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    const said = typeof last === "number" ? text(last) : "–";
    row.append(
      dot,
      element("span", "text-soft", seriesName ?? ""),
      element("b", "ml-auto pl-4 font-medium", said),
    );
    box.append(row);
  }
  return box;
}

function element(tag: string, className: string, content = ""): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = content;
  return made;
}
