/** The state and the label that follow from changes of a declared churn target: what
 * `server/scoring/queries/target-query.ts` is compared with. */
import type { ChurnTarget } from "../../contract/api/churn-targets.ts";
import type { ChurnChange, DaySpan } from "../../server/scoring/scores/churn-changes.ts";

/** Whether the target is met at the start of a day. Of two changes at one time the churn counts: what undoes
 * it has to be later. */
export function hasLeftBy(changes: readonly ChurnChange[], day: number): boolean {
  return ordered(changes, day).at(-1)?.isChurned ?? false;
}

/**
 * Whether nobody saw the entity leave: the first value of a trait that is known at the end of the span is a
 * churned one, and it was said within the span. After an import such values are of departures long ago.
 */
export function wasUnseen(
  { by }: Pick<ChurnTarget, "by">,
  changes: readonly ChurnChange[],
  { from, to }: DaySpan,
): boolean {
  const first = ordered(changes, to)[0];
  return by === "trait" && first !== undefined && first.isChurned && first.day >= from;
}

function ordered(changes: readonly ChurnChange[], beforeDay: number): ChurnChange[] {
  return changes
    .filter(({ day }) => day < beforeDay)
    .sort((a, b) => a.day - b.day || a.timeMs - b.timeMs || Number(a.isChurned) - Number(b.isChurned));
}
