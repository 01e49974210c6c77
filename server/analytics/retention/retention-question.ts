/** The parameters of a retention question, and their limits. */

import { Refusal } from "../../../contract/refusal.ts";
import { type Period, periodsBetween, periodsLater, startOfPeriod } from "../../calendar/period-starts.ts";
import type { OffsetTransition } from "../../calendar/zone.ts";
import type { PassiveEvents } from "../../warehouse/schema/engagement.ts";

/** The event or trait that starts a membership: a user is in the cohort of the period of the first
 * occurrence. */
export type Entry =
  | { readonly kind: "firstEvent" }
  | { readonly kind: "signUp" }
  | { readonly kind: "event"; readonly event: string };

/** Active in a period, or in it or any later one until today. */
export type Measure = "in" | "inOrAfter";

export interface Split {
  readonly trait: string;
  /** The user's trait, or a trait of the user's account. */
  readonly of: "user" | "account";
  /** As it was at the end of the day on which the user entered the cohort, or as it is now. */
  readonly asOf: "entry" | "now";
}

/** Days are in the organization's timezone, counted from 1970-01-01. */
export interface RetentionQuestion {
  readonly organization: number;
  readonly entry: Entry;
  /** The event that counts as a return; null for any. */
  readonly returnEvent: string | null;
  readonly period: Period;
  readonly measure: Measure;
  readonly split: Split | null;
  /** Cohorts of the periods from the one of the first day to the one of the last. */
  readonly fromDay: number;
  readonly toDay: number;
  /** Periods shown of a cohort at most, its own among them. */
  readonly periods: number;
  /** Whether users from before the data begins count in means and projections; by default they do not. */
  readonly countsAlreadyHere?: boolean;
  /** Nothing after this day counts: an event may carry a later time. */
  readonly today: number;
  /** The churn horizon, in days: after this long a silence a return is not expected. */
  readonly horizonDays: number;
  /** Of the organization's timezone. */
  readonly transitions: readonly OffsetTransition[];
  /** Names of events that are no engagement: they are no first event and no return, but may be chosen as
   * either. */
  readonly passiveEvents: PassiveEvents;
}

export const retentionLimits = { periods: 120, cohorts: 120, splitValues: 20, cells: 60_000 } as const;

/** The values of a split, "other" and "none". */
const maxGroups = retentionLimits.splitValues + 2;

/** Starts of the periods that a question is about, all ascending. */
export interface Grid {
  readonly firstCohort: number;
  readonly lastCohort: number;
  /** The first day after the last cohort's period. */
  readonly endOfCohorts: number;
  /** From the first cohort's own to the last that is looked at, none after today's. */
  readonly starts: readonly number[];
  /** Activity on and after this day is not looked at. */
  readonly endDay: number;
}

/**
 * The periods of a question. @throws Refusal when it asks for too many, or for none
 */
export function gridOf({ period, measure, split, fromDay, toDay, periods, today }: RetentionQuestion): Grid {
  const firstCohort = startOfPeriod(fromDay, period);
  const lastCohort = startOfPeriod(Math.min(toDay, today), period);
  if (lastCohort < firstCohort) throw new Refusal("from lies after to, or after today: send an earlier day.");
  const cohorts = periodsBetween(firstCohort, lastCohort, period) + 1;
  if (cohorts > retentionLimits.cohorts) {
    throw new Refusal(
      `${cohorts} cohorts are more than ${retentionLimits.cohorts}: send days that are closer together, or a longer period.`,
    );
  }
  if (cohorts * periods * (split === null ? 1 : maxGroups) > retentionLimits.cells) {
    throw new Refusal(
      `${cohorts} cohorts over ${periods} periods, split by a trait, are too much: send fewer periods, or days that are closer together.`,
    );
  }
  const afterLast = periodsLater(lastCohort, periods, period);
  // Activity after the last shown period also counts as "after".
  const last = startOfPeriod(today, period);
  const end = measure === "in" ? afterLast : periodsLater(afterLast, 1, period);
  const starts: number[] = [];
  for (let start = firstCohort; start <= last && start < end; start = periodsLater(start, 1, period)) {
    starts.push(start);
  }
  return {
    firstCohort,
    lastCohort,
    endOfCohorts: periodsLater(lastCohort, 1, period),
    starts,
    endDay: measure === "in" ? Math.min(end, today + 1) : today + 1,
  };
}

/** The days whose activity counts for one cell: the first, and the day after the last. */
export function daysOfCell(
  { period, measure, today }: RetentionQuestion,
  cohortDay: number,
  at: number,
): { readonly activeFrom: number; readonly activeEnd: number } {
  const cohort = startOfPeriod(cohortDay, period);
  const end = measure === "in" ? periodsLater(cohort, at + 1, period) : Number.POSITIVE_INFINITY;
  return { activeFrom: periodsLater(cohort, at, period), activeEnd: Math.min(end, today + 1) };
}
