/**
 * Which cohorts are made of users from before the data begins. A new installation sees all existing users
 * within some weeks. Those cohorts do not describe new users. Pure.
 */
import { periodsLater } from "../../calendar/period-starts.ts";
import type { CohortRow } from "./cohorts.ts";
import type { Grid, RetentionQuestion } from "./retention-question.ts";

/** Existing users are seen within this many days: users who are away for longer count as new. */
const firstDays = 28;
/** Usual: the median of new users a day in later complete cohorts. At least this many cohorts. */
const leastUsualCohorts = 4;
/** A cohort with more than this many times the usual number of new users a day has existing users. */
const timesUsual = 3;

/** The first days of the cohorts that are already here; none unless users enter by their first event.
 * @param dataFrom the day of the organization's first engagement event; null before there is one */
export function alreadyHere(
  rows: readonly CohortRow[],
  { entry, period, today }: RetentionQuestion,
  { firstCohort, endOfCohorts }: Grid,
  dataFrom: number | null,
): ReadonlySet<number> {
  if (entry.kind !== "firstEvent" || dataFrom === null) return new Set();
  const members = new Map<number, number>();
  for (const row of rows) members.set(row.cohort, (members.get(row.cohort) ?? 0) + row.members);
  const perDay = (start: number, end: number) =>
    (members.get(start) ?? 0) / (Math.min(end, today + 1) - Math.max(start, dataFrom));
  const first: { readonly start: number; readonly rate: number }[] = [];
  const later: number[] = [];
  for (let start = firstCohort; start < endOfCohorts && start <= today; ) {
    const end = periodsLater(start, 1, period);
    if (start >= dataFrom + firstDays) {
      if (end <= today) later.push(perDay(start, end));
    } else if (end > dataFrom) first.push({ start, rate: perDay(start, end) });
    start = end;
  }
  const usual = later.toSorted((a, b) => a - b)[later.length >> 1] ?? 0;
  if (later.length < leastUsualCohorts || usual === 0) return new Set();
  return new Set(first.filter(({ rate }) => rate > timesUsual * usual).map(({ start }) => start));
}
