/** Which days an organization has yet to be scored for: pure. */
import { historyDays } from "../scores/history-days.ts";
import type { RunOfDay } from "./records.ts";

export interface DueDays {
  readonly isTodayDue: boolean;
  /** Earlier days, the newest first. */
  readonly days: readonly number[];
  /** How many earlier days have scores, or shall have. */
  readonly earlierDays: number;
}

/**
 * Today's scores follow the settings of now. Those of earlier days stay as they were told, and are worked out again
 * only when they did not know of an event; but what was worked out today, of an imported past say, was told to nobody
 * before today, and follows too.
 * @param key of the settings of now
 * @param isOfToday of an instant
 */
export function dueDays(
  runs: readonly RunOfDay[],
  { today, firstDay, key }: { readonly today: number; readonly firstDay: number; readonly key: string },
  isOfToday: (toldAtMs: number) => boolean,
): DueDays {
  const isRight = ({ day, stale, settingsKey, toldAtMs }: RunOfDay) =>
    !stale && (settingsKey === key || (day < today && !isOfToday(toldAtMs)));
  const right = runs.filter(isRight);
  const isDone = (day: number) => right.filter((run) => run.day === day).length === 2;
  const wanted = new Set([...historyDays(today, firstDay), ...runs.map(({ day }) => day)]);
  const earlier = [...wanted].filter((day) => day < today);
  return {
    isTodayDue: !isDone(today),
    days: earlier.filter((day) => !isDone(day)).sort((a, b) => b - a),
    earlierDays: earlier.length,
  };
}
