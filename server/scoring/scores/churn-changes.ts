/**
 * A declared churn target as changes of an entity: when it was met, and when it was undone. The state on a
 * day and the label of a cut-off follow from them. `target-query.ts` is the same in SQL; a test compares the
 * two on random logs.
 */
import type { ChurnTarget } from "../../../contract/api/churn-targets.ts";

export interface ChurnChange {
  /** The day of the change, in days since 1970-01-01. */
  readonly day: number;
  readonly timeMs: number;
  /** Whether the target is met from then on. */
  readonly isChurned: boolean;
}

/** Whether the target is met at the start of a day. Of two changes at one time the churn counts: what undoes
 * it has to be later. */
export function hasLeftBy(changes: readonly ChurnChange[], day: number): boolean {
  return ordered(changes, day).at(-1)?.isChurned ?? false;
}

/** The change with which an entity left that has left by a day: the first churn that nothing undid. Undefined
 * for others. */
export function departureBy(changes: readonly ChurnChange[], day: number): ChurnChange | undefined {
  const known = ordered(changes, day);
  return known[known.findLastIndex(({ isChurned }) => !isChurned) + 1];
}

/** A span of days: `from` is part of it, `to` is not. */
export interface DaySpan {
  readonly from: number;
  readonly to: number;
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
