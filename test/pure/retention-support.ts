/** Questions about retention and counts of the warehouse, as tests of the table make them. */
import type { CohortRow } from "../../server/analytics/retention/cohorts.ts";
import { gridOf, type RetentionQuestion } from "../../server/analytics/retention/retention-question.ts";
import { retentionTable } from "../../server/analytics/retention/retention-table.ts";
import { parseDay } from "../../server/calendar/days.ts";
import type { Period } from "../../server/calendar/period-starts.ts";

/** A date in days since 1970-01-01. */
export const day = (text: string) => {
  const found = parseDay(text);
  if (found === undefined) throw new Error(`${text} is no date`);
  return found;
};

export const week: Period = { name: "week", weekStart: 1 };
export const sundays: Period = { name: "week", weekStart: 7 };
export const month: Period = { name: "month", weekStart: 1 };

/** A question about weeks of March 2026, but for what is given. */
export function question(more: Partial<RetentionQuestion> = {}): RetentionQuestion {
  return {
    organization: 1,
    entry: { kind: "firstEvent" },
    returnEvent: null,
    passiveEvents: [],
    horizonDays: 28,
    period: week,
    measure: "in",
    split: null,
    fromDay: day("2026-03-02"),
    toDay: day("2026-03-29"),
    periods: 10,
    today: day("2026-03-29"),
    transitions: [],
    ...more,
  };
}

/** The table of these counts. */
export function tableOf(
  rows: readonly CohortRow[],
  more: Partial<RetentionQuestion> = {},
  dataFrom: number | null = null,
) {
  const asked = question(more);
  return retentionTable(rows, asked, gridOf(asked), dataFrom);
}

/** The counts of one cohort, by its first day and those of its periods. */
export function cohortRow(
  start: string,
  members: number,
  active: readonly (readonly [string, number])[],
): CohortRow {
  const pairs = active.map(([text, users]) => [day(text), users] as const);
  return { kind: "all", value: null, cohort: day(start), members, active: pairs };
}
