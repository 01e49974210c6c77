/** The days that an organization still has to be scored for: pure. */
import { isKept } from "../../warehouse/upkeep/thin-scores.ts";
import { historyDays } from "../scores/history-days.ts";
import { settingsOfKey } from "./population.ts";
import type { RunOfDay } from "./records.ts";

export interface DueDays {
  readonly isTodayDue: boolean;
  /** Whether today has scores by the present settings, which lack only events that came late. */
  readonly lacksOnlyLateEvents: boolean;
  /** Earlier days, in the order of `historyDays`, then others that have scores. */
  readonly days: readonly number[];
  /** How many earlier days have scores, or shall have. */
  readonly earlierDays: number;
}

/** The organization as it is now. */
interface Present {
  readonly today: number;
  readonly firstDay: number;
  /** Of the settings. */
  readonly key: string;
  /** The declared outages that a run of a day takes. */
  readonly declaredOn: (day: number) => string;
}

/**
 * Today's scores follow the present settings, but not the users that are excluded since: their rows are not
 * shown. Those of earlier days keep their settings, and are computed again only for new events. But scores of
 * past days that were first computed today, after an import for example, were never shown before, and follow
 * the present settings too. Scores of all days follow the declared outages.
 * @param stored all runs, in the order of days; upkeep deletes those of days that are not kept
 * @param isOfToday whether an instant is today
 */
export function dueDays(
  stored: readonly RunOfDay[],
  { today, firstDay, key, declaredOn }: Present,
  isOfToday: (firstPublishedAtMs: number) => boolean,
): DueDays {
  const newestDay = Math.max(...stored.map(({ day }) => day));
  const runs = stored.filter(({ day }) => isKept(day, newestDay));
  const hasOutages = ({ day, declaredOutages }: RunOfDay) => declaredOutages === declaredOn(day);
  const isRight = (run: RunOfDay) => !run.stale && hasOutages(run) && hasSettings(run);
  const hasSettings = ({ day, settingsKey, firstPublishedAtMs }: RunOfDay) =>
    settingsOfKey(settingsKey) === key || (day < today && !isOfToday(firstPublishedAtMs));
  const right = runs.filter(isRight);
  const isDone = (day: number) => right.filter((run) => run.day === day).length === 2;
  const wanted = new Set([...historyDays(today, firstDay), ...runs.map(({ day }) => day).toReversed()]);
  // A run as of the first day, or of before, has no event and stores nothing.
  const earlier = [...wanted].filter((day) => day < today && day > firstDay);
  const ofToday = runs.filter(({ day, settingsKey }) => day === today && settingsOfKey(settingsKey) === key);
  return {
    isTodayDue: !isDone(today),
    lacksOnlyLateEvents:
      ofToday.length === 2 && !runs.some((run) => !hasOutages(run) || (run.day < today && run.stale)),
    days: earlier.filter((day) => !isDone(day)),
    earlierDays: earlier.length,
  };
}
