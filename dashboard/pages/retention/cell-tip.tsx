/** The tooltip of a cell, under the pointer or with the focus. */
import { type ReactElement, type RefObject, useLayoutEffect, useRef } from "react";
import { useToday } from "../../parts/time.tsx";
import { counted, numbers } from "../../text/format.ts";
import type { Spot } from "./cell-keys.ts";
import { atText, cohortTitle, intervalText, missingText, smallCohortUsers } from "./cohorts.ts";
import type { Found } from "./grid-places.ts";
import { type Choices, periodsText } from "./question.ts";

interface CellTipProps {
  readonly id: string;
  /** In which element the cells are. */
  readonly place: RefObject<HTMLElement | null>;
  readonly spot: Spot | undefined;
  readonly found: Found | undefined;
  readonly period: Choices["period"];
}

export function CellTip({ id, place, spot, found, period }: CellTipProps): ReactElement | null {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (spot === undefined || found === undefined) return undefined;
    const put = () => placeBeside(box.current, place.current, spot);
    put();
    addEventListener("scroll", put, { capture: true, passive: true });
    addEventListener("resize", put);
    return () => {
      removeEventListener("scroll", put, { capture: true });
      removeEventListener("resize", put);
    };
  }, [place, spot, found]);
  if (found === undefined) return null;
  return (
    <div
      ref={box}
      id={id}
      role="tooltip"
      className="pointer-events-none fixed z-30 grid w-max max-w-[min(20rem,calc(100vw-1rem))] gap-1 rounded border border-line bg-raised px-3 py-2 text-sm shadow-float"
    >
      <Said found={found} period={period} />
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

function Said({ found, period }: { found: Found; period: Choices["period"] }): ReactElement {
  const today = useToday();
  const { group, cell } = found;
  const { share, users, cohortUsers } = cell;
  const whose = group.kind === "all" ? "" : `${group.label}, `;
  const missing = found.cohort === undefined ? undefined : missingText(found.cell, period, today);
  const title =
    found.cohort === undefined
      ? `${whose}weighted mean of ${counted(found.cell.cohorts, "cohort")}`
      : whose + cohortTitle(found.cohort, period);
  return (
    <>
      <p className="text-soft">
        {title}, {cell.period === 0 ? `in ${atText(0, period)}` : `${periodsText(cell.period, period)} after`}
      </p>
      <p>
        <b className="font-medium">{numbers.share(share)}</b> came back: {numbers.count(users)} of{" "}
        {numbers.count(cohortUsers)} users
      </p>
      <p className="text-soft">95% interval: {intervalText(cell)}</p>
      {missing !== undefined && <p className="text-watch">{missing}</p>}
      {cohortUsers < smallCohortUsers && (
        <p className="text-watch">Fewer than {smallCohortUsers} users: the share may be far off.</p>
      )}
      <p className="border-t border-line pt-1 text-soft">
        {found.cohort === undefined
          ? `Only cohorts whose ${period} is over`
          : "Click or press Enter to see the users"}
      </p>
    </>
  );
}
