/** The tooltip of a cell, under the pointer or with the focus. */
import { type ReactElement, type ReactNode, type RefObject, useLayoutEffect, useRef } from "react";
import type { Spot } from "./cohort-cell-keys.ts";

interface CellTipProps {
  readonly id: string;
  /** In which element the cells are. */
  readonly place: RefObject<HTMLElement | null>;
  readonly spot: Spot;
  readonly children: ReactNode;
}

export function CellTip({ id, place, spot, children }: CellTipProps): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another content is of another size
  useLayoutEffect(() => {
    const put = () => placeBeside(box.current, place.current, spot);
    put();
    addEventListener("scroll", put, { capture: true, passive: true });
    addEventListener("resize", put);
    return () => {
      removeEventListener("scroll", put, { capture: true });
      removeEventListener("resize", put);
    };
  }, [place, spot, children]);
  return (
    <div
      ref={box}
      id={id}
      role="tooltip"
      className="pointer-events-none fixed z-30 grid w-max max-w-[min(20rem,calc(100vw-1rem))] gap-1 rounded border border-line bg-raised px-3 py-2 text-sm shadow-float"
    >
      {children}
    </div>
  );
}

const gapPx = 6;

/** Puts the box below its cell, or above where there is no room. */
function placeBeside(box: HTMLElement | null, place: HTMLElement | null, { row, column }: Spot): void {
  const cell = place?.querySelector(`tr[data-row="${CSS.escape(row)}"] [data-column="${column}"]`);
  if (box === null || cell == null) return;
  const { left, right, top, bottom } = cell.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const most = document.documentElement.clientWidth - width - gapPx;
  const isBelow = bottom + gapPx + height < innerHeight;
  box.style.left = `${Math.max(gapPx, Math.min(most, (left + right - width) / 2))}px`;
  box.style.top = `${isBelow ? bottom + gapPx : top - gapPx - height}px`;
}
