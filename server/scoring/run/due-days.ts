/** The days that an organization still has to be scored for: pure. */
import { historyDays } from "../scores/history-days.ts";
import type { RunOfDay } from "./records.ts";

export interface DueDays {
  readonly isTodayDue: boolean;
  /** Whether today has scores by the present settings, which lack only events that came late. */
  readonly lacksOnlyLateEvents: boolean;
  /** Earlier days, the newest first. */
  readonly days: readonly number[];
  /** How many earlier days have scores, or shall have. */
  readonly earlierDays: number;
}

/**
 * Today's scores follow the present settings. Those of earlier days keep their settings, and are computed again only
 * for new events. But scores of past days that were first computed today, after an import for example, were never
 * shown before, and follow the present settings too.
 * @param key of the present settings
 * @param isOfToday whether an instant is today
 */
export function dueDays(
  runs: readonly RunOfDay[],
  { today, firstDay, key }: { readonly today: number; readonly firstDay: number; readonly key: string },
  isOfToday: (firstPublishedAtMs: number) => boolean,
): DueDays {
  const isRight = ({ day, stale, settingsKey, firstPublishedAtMs }: RunOfDay) =>
    !stale && (settingsKey === key || (day < today && !isOfToday(firstPublishedAtMs)));
  const right = runs.filter(isRight);
  const isDone = (day: number) => right.filter((run) => run.day === day).length === 2;
  const wanted = new Set([...historyDays(today, firstDay), ...runs.map(({ day }) => day)]);
  const earlier = [...wanted].filter((day) => day < today);
  const ofToday = runs.filter(({ day, settingsKey }) => day === today && settingsKey === key);
  return {
    isTodayDue: !isDone(today),
    lacksOnlyLateEvents: ofToday.length === 2 && !runs.some(({ day, stale }) => day < today && stale),
    days: earlier.filter((day) => !isDone(day)).sort((a, b) => b - a),
    earlierDays: earlier.length,
  };
}
