/**
 * Whether the groups of a split differ: each group's share at one age, and each pair's difference with its
 * interval and its p-value. Users of one account come and leave together, so they count as fewer independent
 * users. Unlike the table, this reads a row for each user.
 */
import { periodsBetween, periodsLater } from "../../calendar/period-starts.ts";
import type { Steps } from "../../scoring/churn/steps.ts";
import { inSteps } from "../../scoring/run/in-steps.ts";
import {
  type ClusterHits,
  differenceProbability,
  effectiveSample,
  holm,
  newcombe,
  shareInterval,
} from "../../scoring/statistics/difference.ts";
import { type Lifetimes, logRank } from "../../scoring/statistics/log-rank.ts";
import type { Interval } from "../../scoring/statistics/wilson.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { engagementParameters } from "../../warehouse/schema/engagement.ts";
import { jsonSettings } from "../json-text.ts";
import { alreadyHere } from "./already-here.ts";
import { activityBitmaps, cohortBitmaps, type Group } from "./cohorts.ts";
import { firstDayOfData } from "./retention.ts";
import { type Grid, gridOf, type RetentionQuestion } from "./retention-question.ts";
import { isCompleteAt, sharesOf } from "./retention-table.ts";

export interface ComparedGroup extends Group, Interval {
  /** Cohorts that have completed the period, and their users. */
  readonly cohorts: number;
  readonly cohortUsers: number;
  readonly users: number;
  readonly share: number;
  /** The number of users of shared accounts that carry as much information as one independent user. */
  readonly designEffect: number;
}

export interface ComparedPair extends Interval {
  /** Places in the list of groups; the first has the higher share. */
  readonly first: number;
  readonly second: number;
  /** Of the two shares, first − second; low and high are its 95 % interval. */
  readonly difference: number;
  /** Of a difference at least as large by chance, corrected for the number of pairs. */
  readonly probability: number;
  /** The corrected probability of a difference at least as large between the whole curves; null for the
   * measure "in", which is no curve of departures. */
  readonly curveProbability: number | null;
}

export interface RetentionComparison {
  /** Periods after the cohorts' own. */
  readonly at: number;
  /** The highest share first. */
  readonly groups: readonly ComparedGroup[];
  readonly pairs: readonly ComparedPair[];
}

/** Members of a group and cohort with equal returns; of one account, or of none. */
interface Row extends Group {
  readonly cohort: number;
  readonly account: number;
  /** The starts of the periods with a return; for "in or after" only the last one. */
  readonly periods: readonly number[];
  readonly users: number;
}

/**
 * Compares the groups of a question's split.
 * @param at periods after the cohorts' own; undefined for the last that 30 users of every group have
 * completed
 * @throws Refusal when the question asks for too much
 * @throws WarehouseError
 */
export async function retentionComparison(
  warehouse: Warehouse,
  question: RetentionQuestion,
  at: number | undefined,
): Promise<RetentionComparison> {
  const grid = gridOf(question);
  const [rows, dataFrom] = await Promise.all([
    readRows(warehouse, question, grid),
    firstDayOfData(warehouse, question),
  ]);
  return inSteps(comparisonOf(counted(rows, question, grid, dataFrom), question, at));
}

async function readRows(warehouse: Warehouse, question: RetentionQuestion, grid: Grid): Promise<Row[]> {
  const cohorts = cohortBitmaps(question, grid);
  const activity = activityBitmaps(question);
  const came = question.measure === "in" ? "arraySort(groupArray(period))" : "[max(period)]";
  return warehouse.rows<Row>(
    `SELECT kind, value, cohort, account, periods, count() AS users
     FROM (SELECT kind, value, cohort, arrayJoin(bitmapToArray(members)) AS user FROM (${cohorts.text})) AS entered
     LEFT JOIN (
       SELECT user, ${came} AS periods
       FROM (SELECT period, arrayJoin(bitmapToArray(users)) AS user FROM (${activity.text})) GROUP BY user) AS active
     USING user
     LEFT JOIN (SELECT user, account FROM users FINAL WHERE organization = {organization:UInt32}) AS belonging
     USING user
     GROUP BY kind, value, cohort, account, periods
     ${jsonSettings}`,
    {
      ...cohorts.parameters,
      ...activity.parameters,
      ...engagementParameters(question.passiveEvents),
      activeFrom: grid.firstCohort,
      activeEnd: grid.endDay,
    },
  );
}

/** Without users from before the data begins. */
function counted(
  rows: readonly Row[],
  question: RetentionQuestion,
  grid: Grid,
  dataFrom: number | null,
): readonly Row[] {
  if (question.countsAlreadyHere) return rows;
  const members = rows.map((row) => ({ ...row, members: row.users, active: [] }));
  const early = alreadyHere(members, question, grid, dataFrom);
  return rows.filter(({ cohort }) => !early.has(cohort));
}

const keyOf = ({ kind, value }: Group) => `${kind} ${value}`;

/** Groups compared at most. Pairs, 66 of 12 groups, grow with the square. */
const maxCompared = 12;

/** Yields between two groups and between two pairs. Pure. */
function* comparisonOf(
  rows: readonly Row[],
  question: RetentionQuestion,
  asked: number | undefined,
): Steps<RetentionComparison> {
  const groups = [...Map.groupBy(rows, keyOf).values()]
    .map((of) => ({ of, users: of.reduce((sum, { users }) => sum + users, 0) }))
    .sort((a, b) => b.users - a.users)
    .slice(0, maxCompared)
    .map(({ of }) => of);
  const at = asked ?? lastReliableAge(groups, question);
  const shared = sharedAccounts(rows);
  const compared: (ReturnType<typeof groupAt> & { readonly lifetimes: Lifetimes[] | null })[] = [];
  for (const of of groups) {
    yield;
    const lifetimes = question.measure === "in" ? null : lifetimesOf(of, question, shared);
    const group = { ...groupAt(of, question, at, shared), lifetimes };
    if (group.answer.cohortUsers > 0) compared.push(group);
  }
  compared.sort((a, b) => b.answer.share - a.answer.share || b.answer.cohortUsers - a.answer.cohortUsers);
  const places = compared.flatMap((_, first) =>
    compared.slice(first + 1).map((_second, index) => ({ first, second: first + 1 + index })),
  );
  const tested = [];
  for (const { first, second } of places) {
    const [one, other] = [compared[first], compared[second]];
    if (one === undefined || other === undefined) continue;
    yield;
    const [a, b] = [one.sample, other.sample];
    const curve = one.lifetimes && other.lifetimes && logRank(one.lifetimes, other.lifetimes).probability;
    const difference = a.hits / a.count - b.hits / b.count;
    tested.push({ first, second, difference, ...newcombe(a, b), week: differenceProbability(a, b), curve });
  }
  const [weeks, curves] = [holm(tested.map(({ week }) => week)), holm(tested.map(({ curve }) => curve ?? 1))];
  return {
    at,
    groups: compared.map(({ answer }) => answer),
    pairs: tested.map(({ week: _, curve, ...pair }, index) => ({
      ...pair,
      probability: weeks[index] ?? 1,
      curveProbability: curve === null ? null : (curves[index] ?? 1),
    })),
  };
}

/** With fewer users the interval of a share is wider than 35 points. */
const reliableUsers = 30;

/** The last age that so many users of every group have completed. Groups that never had so many do not count;
 * without any other group, those of whom anybody has completed a period. 0 without one. */
function lastReliableAge(groups: readonly (readonly Row[])[], question: RetentionQuestion): number {
  const ageWith = (needed: number) => {
    const ages = groups.map((rows) => lastAgeOf(rows, question, needed)).filter((age) => age > 0);
    return ages.length === 0 ? 0 : Math.min(...ages);
  };
  return ageWith(reliableUsers) || ageWith(1);
}

function lastAgeOf(rows: readonly Row[], question: RetentionQuestion, needed: number): number {
  const users = new Map<number, number>();
  for (const row of rows) users.set(row.cohort, (users.get(row.cohort) ?? 0) + row.users);
  const completed = (at: number) =>
    [...users].reduce((sum, [cohort, of]) => sum + (isCompleteAt(question, cohort, at) ? of : 0), 0);
  let at = 0;
  while (at + 1 < question.periods && completed(at + 1) >= needed) at += 1;
  return at;
}

/** The share of a mean row at an age. */
function shareAt(rows: readonly Row[], question: RetentionQuestion, at: number): number {
  const counted = Array.from({ length: question.measure === "in" ? at + 1 : question.periods }, () => ({
    hits: 0,
    count: 0,
  }));
  for (const [cohort, of] of Map.groupBy(rows, (row) => row.cohort)) {
    const users = of.reduce((sum, row) => sum + row.users, 0);
    for (const [age, cell] of counted.entries()) {
      if (!isCompleteAt(question, cohort, age)) break;
      const start = periodsLater(cohort, age, question.period);
      cell.hits += of.reduce((sum, row) => sum + (wasThere(row, question, start) ? row.users : 0), 0);
      cell.count += users;
    }
  }
  return (
    sharesOf(
      counted.filter(({ count }) => count > 0),
      question.measure,
    )[at] ?? 0
  );
}

/** Accounts of more than one user. */
function sharedAccounts(rows: readonly Row[]): ReadonlySet<number> {
  const users = new Map<number, number>();
  for (const row of rows) users.set(row.account, (users.get(row.account) ?? 0) + row.users);
  return new Set(
    [...users].filter(([account, count]) => account !== 0 && count > 1).map(([account]) => account),
  );
}

/** @param start of the period that is asked about */
function wasThere({ periods }: Row, { measure }: RetentionQuestion, start: number): boolean {
  return measure === "in" ? periods.includes(start) : (periods[0] ?? start - 1) >= start;
}

function groupAt(rows: readonly Row[], question: RetentionQuestion, at: number, shared: ReadonlySet<number>) {
  const complete = rows.filter(({ cohort }) => isCompleteAt(question, cohort, at));
  const accounts = new Map<number, { hits: number; count: number; clusters: number }>();
  const alone: ClusterHits[] = [];
  for (const row of complete) {
    const hits = wasThere(row, question, periodsLater(row.cohort, at, question.period)) ? 1 : 0;
    if (!shared.has(row.account)) alone.push({ hits, count: 1, clusters: row.users });
    else {
      const sum = accounts.get(row.account) ?? { hits: 0, count: 0, clusters: 1 };
      sum.hits += hits * row.users;
      sum.count += row.users;
      accounts.set(row.account, sum);
    }
  }
  const sample = effectiveSample([...alone, ...accounts.values()]);
  const users = Math.round(sample.hits * sample.designEffect);
  const cohortUsers = Math.round(sample.count * sample.designEffect);
  const share = cohortUsers === 0 ? 0 : shareAt(rows, question, at);
  const known = { ...sample, hits: share * sample.count };
  const { kind, value } = rows[0] ?? { kind: "all", value: null };
  const answer: ComparedGroup = {
    kind,
    value,
    users,
    cohortUsers,
    cohorts: new Set(complete.map(({ cohort }) => cohort)).size,
    share,
    ...shareInterval(known),
    designEffect: sample.designEffect,
  };
  return { answer, sample: known };
}

/** When the members of a group left, as far as that is known; equal members are counted together. */
function lifetimesOf(
  rows: readonly Row[],
  question: RetentionQuestion,
  shared: ReadonlySet<number>,
): Lifetimes[] {
  const known = new Map<number, number>();
  const sums = new Map<string, Lifetimes>();
  for (const row of rows) {
    const until = known.get(row.cohort) ?? lastCompletePeriod(row.cohort, question);
    known.set(row.cohort, until);
    const { period, hasLeft } = departureOf(row, question, until);
    const cluster = shared.has(row.account) ? row.account : null;
    const key = `${cluster} ${period} ${hasLeft}`;
    const count = row.users + (sums.get(key)?.count ?? 0);
    sums.set(key, { cluster, period, hasLeft, count });
  }
  return [...sums.values()];
}

function lastCompletePeriod(cohort: number, question: RetentionQuestion): number {
  let last = 0;
  while (last + 1 < question.periods && isCompleteAt(question, cohort, last + 1)) last += 1;
  return last;
}

/** Members leave in the period after that of their last activity. @param until the last period that is
 * known */
function departureOf({ cohort, periods: [last] }: Row, { period }: RetentionQuestion, until: number) {
  const stayed = last === undefined ? 0 : Math.max(0, periodsBetween(cohort, last, period));
  return stayed < until ? { period: stayed + 1, hasLeft: true } : { period: until, hasLeft: false };
}
