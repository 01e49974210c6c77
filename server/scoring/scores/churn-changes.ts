/** A declared churn target as changes of an entity: when it was met, and when it was undone. */

export interface ChurnChange {
  /** The day of the change, in days since 1970-01-01. */
  readonly day: number;
  readonly timeMs: number;
  /** Whether the target is met from then on. */
  readonly isChurned: boolean;
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

function ordered(changes: readonly ChurnChange[], beforeDay: number): ChurnChange[] {
  return changes
    .filter(({ day }) => day < beforeDay)
    .sort((a, b) => a.day - b.day || a.timeMs - b.timeMs || Number(a.isChurned) - Number(b.isChurned));
}
