/** The edge behind which there is more fades: without it, a phone gives no sign that a table goes on. */
import { type RefObject, useEffect } from "react";

/** Rounding leaves less than this at the end of a scroll. */
const tolerancePx = 2;

/** Marks sideways scrolling content with the sides that have more (`data-more`). No content moves, and no
 * style is needed where all is in sight. Sticky columns are not faded. */
export function useFadingEdges(scroller: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const mark = () => markEdges(element);
    const observer = new ResizeObserver(mark);
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    element.addEventListener("scroll", mark, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", mark);
    };
  }, [scroller]);
}

function markEdges(element: HTMLElement): void {
  const { scrollLeft, scrollWidth, clientWidth } = element;
  const sides = [
    ...(scrollLeft > tolerancePx ? ["left"] : []),
    ...(scrollWidth - clientWidth - scrollLeft > tolerancePx ? ["right"] : []),
  ].join(" ");
  if (sides === (element.dataset.more ?? "")) return;
  if (sides === "") {
    delete element.dataset.more;
    return;
  }
  element.style.setProperty("--kept", `${keptPx(element)}px`);
  element.dataset.more = sides;
}

/** The width of what stays at the left while the rest scrolls. */
function keptPx(element: HTMLElement): number {
  const first = element.querySelector("th");
  if (first === null) return 0;
  const { position, left } = getComputedStyle(first);
  if (position !== "sticky" || left === "auto") return 0;
  return Math.max(0, first.getBoundingClientRect().right - element.getBoundingClientRect().left);
}
