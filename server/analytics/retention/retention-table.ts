/** The retention table made of counts: shares with their intervals, complete cells, the mean row and the
 * projection. Pure. */
import { periodsBetween, periodsLater } from "../../calendar/period-starts.ts";
import { neverRising } from "../../scoring/statistics/isotonic.ts";
import { fitSbg, projectFrom, projectSbg, type ShareAt } from "../../scoring/statistics/sbg.ts";
import { type Interval, wilson } from "../../scoring/statistics/wilson.ts";
import { alreadyHere } from "./already-here.ts";
import type { CohortRow, Group } from "./cohorts.ts";
import type { Grid, RetentionQuestion } from "./retention-question.ts";

export interface RetentionCell extends Group, Interval {
  /** The first day of the cohort's period. */
  readonly cohortDay: number;
  readonly cohortUsers: number;
  /** Periods after the cohort's own. */
  readonly period: number;
  readonly users: number;
  readonly share: number;
  /** Whether the period is over; for "in or after" also a churn horizon after it, because silent members may
   * come back. */
  readonly isComplete: boolean;
  /** Whether the cohort is of users from before the data begins. */
  readonly isAlreadyHere: boolean;
}

/** All cohorts of a group together whose period is complete, weighted by size. Users from before the data
 * begins are left out unless the question counts them. The share is users ÷ cohortUsers, but for "in or
 * after". */
export interface MeanCell extends Group, Interval {
  readonly period: number;
  readonly cohorts: number;
  readonly cohortUsers: number;
  readonly users: number;
  readonly share: number;
}

export interface Projection extends Group {
  /** Periods after the first that some cohort has completed. */
  readonly completePeriods: number;
  /** Null while fewer than five are complete. */
  readonly fit: ProjectionFit | null;
}

export interface ProjectionFit {
  readonly alpha: number;
  readonly beta: number;
  /** False when the search did not settle, the curve has no shape of this family (if no user leaves, for
   * example), or the model misses the mean by more than 5 points and its interval. */
  readonly isReliable: boolean;
  /** From the last complete share that is known well, which is the observed one; empty when the fit is not
   * reliable. */
  readonly shares: readonly ShareAt[];
}

export interface RetentionTable {
  /** By group, cohort and period. */
  readonly cells: readonly RetentionCell[];
  readonly mean: readonly MeanCell[];
  /** For "in or after" only: it never rises with age, because users who left do not come back. */
  readonly projections: readonly Projection[];
}

/** Projected periods beyond the observed ones. */
const projectedPeriods = 12;
/** A mean of this many cohorts is reliable: a single cohort may be unlike all others. */
const reliableCohorts = 3;
/** A fit that misses a share that is known well by more, and its interval, is bad. */
const maxMisfit = 0.05;

/** The table of the warehouse's counts. @param dataFrom the day of the organization's first engagement
 * event */
export function retentionTable(
  rows: readonly CohortRow[],
  question: RetentionQuestion,
  grid: Grid,
  dataFrom: number | null,
): RetentionTable {
  const early = alreadyHere(rows, question, grid, dataFrom);
  const groups = inOrder(rows).map((group) => group.map((row) => cellsOf(row, question, grid, early)));
  const counted = groups.map((group) =>
    group.map((ofCohort) => ofCohort.filter((cell) => question.countsAlreadyHere || !cell.isAlreadyHere)),
  );
  const cells = groups.flat(2);
  const mean = counted.flatMap((group) => meanOf(group.flat(), question.measure));
  const projections =
    question.measure === "in"
      ? []
      : counted.map((group, index) => ({ ...groupOf(groups[index]), ...projectionOf(group) }));
  return { cells, mean, projections };
}

/** The rows of each group, by cohort: values with the most users first, then the others, then none. */
function inOrder(rows: readonly CohortRow[]): CohortRow[][] {
  const groups = [...Map.groupBy(rows, ({ kind, value }) => `${kind} ${value}`).values()];
  const rank = { all: 0, value: 1, other: 2, none: 3 } as const;
  const ordered = groups.map((group) => ({
    group: group.toSorted((a, b) => a.cohort - b.cohort),
    rank: rank[group[0]?.kind ?? "all"],
    members: group.reduce((sum, { members }) => sum + members, 0),
    value: group[0]?.value ?? "",
  }));
  ordered.sort((a, b) => a.rank - b.rank || b.members - a.members || (a.value < b.value ? -1 : 1));
  return ordered.map(({ group }) => group);
}

function cellsOf(
  row: CohortRow,
  question: RetentionQuestion,
  grid: Grid,
  early: ReadonlySet<number>,
): RetentionCell[] {
  const { period, periods } = question;
  const shown = Math.min(periods, periodsBetween(row.cohort, grid.starts.at(-1) ?? row.cohort, period) + 1);
  const counts = countsOf(row, question, shown);
  return counts.map((users, k) => ({
    kind: row.kind,
    value: row.value,
    cohortDay: row.cohort,
    cohortUsers: row.members,
    period: k,
    users,
    share: users / row.members,
    ...wilson(users, row.members),
    isComplete: isCompleteAt(question, row.cohort, k),
    isAlreadyHere: early.has(row.cohort),
  }));
}

/** Whether a cohort's cell is final, this many periods after its own. Users who are silent in a period may
 * come back: "in or after" is final when they are not expected any more. */
export function isCompleteAt(
  { period, today, measure, horizonDays }: RetentionQuestion,
  cohort: number,
  at: number,
): boolean {
  return periodsLater(cohort, at + 1, period) + (measure === "in" ? 0 : horizonDays) <= today;
}

function countsOf(row: CohortRow, { period, measure }: RetentionQuestion, shown: number): number[] {
  const users = new Map(row.active);
  const counts: number[] = [];
  // Without a count of a period, all users of "in or after" were active in a later one.
  let later = row.active.find(([start]) => start >= periodsLater(row.cohort, shown, period))?.[1] ?? 0;
  for (let k = shown - 1; k >= 0; k -= 1) {
    const found = users.get(periodsLater(row.cohort, k, period));
    later = found ?? (measure === "in" ? 0 : later);
    counts[k] = later;
  }
  return counts;
}

/** The mean row. "In or after" never rises, although fewer cohorts have completed each period. */
function meanOf(cells: readonly RetentionCell[], measure: RetentionQuestion["measure"]): MeanCell[] {
  const byPeriod = Map.groupBy(
    cells.filter(({ isComplete }) => isComplete),
    ({ period }) => period,
  );
  const counted = [...byPeriod.entries()]
    .sort(([a], [b]) => a - b)
    .map(([period, ofPeriod]) => {
      const users = ofPeriod.reduce((sum, cell) => sum + cell.users, 0);
      const cohortUsers = ofPeriod.reduce((sum, cell) => sum + cell.cohortUsers, 0);
      const { kind, value } = ofPeriod[0] ?? { kind: "all", value: null };
      return { kind, value, period, cohorts: ofPeriod.length, cohortUsers, users };
    });
  const shares = sharesOf(
    counted.map(({ users, cohortUsers }) => ({ hits: users, count: cohortUsers })),
    measure,
  );
  return counted.map((cell, index) => {
    const share = shares[index] ?? 0;
    return { ...cell, share, ...wilson(share * cell.cohortUsers, cell.cohortUsers) };
  });
}

/** The shares of a mean row's periods. */
export function sharesOf(
  counted: readonly { readonly hits: number; readonly count: number }[],
  measure: RetentionQuestion["measure"],
): number[] {
  return measure === "in" ? counted.map(({ hits, count }) => hits / count) : neverRising(counted);
}

/** The mean's shares after the first period that enough cohorts have completed; all where none has. */
function reliableCells(mean: readonly MeanCell[]): readonly MeanCell[] {
  const later = mean.filter(({ period }) => period > 0);
  const reliable = later.filter(({ cohorts }) => cohorts >= reliableCohorts);
  return reliable.length === 0 ? later : reliable;
}

/** The group of these cohorts. */
function groupOf(cohorts: readonly (readonly RetentionCell[])[] = []): Group {
  const { kind, value } = cohorts[0]?.[0] ?? { kind: "all", value: null };
  return { kind, value };
}

function projectionOf(cohorts: readonly (readonly RetentionCell[])[]): Omit<Projection, keyof Group> {
  const remaining = cohorts.map((cells) =>
    cells
      .filter(({ isComplete }) => isComplete)
      // All members count at the beginning, whatever the event of return is.
      .map(({ period, users, cohortUsers }) => (period === 0 ? cohortUsers : users)),
  );
  const completePeriods = Math.max(0, ...remaining.map((counts) => counts.length - 1));
  const fit = fitSbg(remaining.filter((counts) => counts.length > 1));
  if (fit === null) return { completePeriods, fit };
  const known = reliableCells(meanOf(cohorts.flat(), "inOrAfter"));
  const model = projectSbg(fit, completePeriods);
  const isMissed = ({ period, share, low, high }: MeanCell) => {
    const expected = model[period] ?? 1;
    return Math.abs(share - expected) > maxMisfit && (expected < low || expected > high);
  };
  const last = known.at(-1);
  const isReliable = fit.isConverged && !fit.isAtBound && fit.covariance !== null && !known.some(isMissed);
  const shares =
    isReliable && last !== undefined ? projectFrom(fit, last, completePeriods + projectedPeriods) : [];
  return { completePeriods, fit: { alpha: fit.alpha, beta: fit.beta, isReliable, shares } };
}
