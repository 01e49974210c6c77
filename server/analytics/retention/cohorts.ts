/**
 * Cohorts as bitmaps of the users who entered in a period, separately for each group of a split. And periods
 * as bitmaps of active users. A cell of a retention table is the size of an intersection.
 */
import {
  activeDaysTable,
  engagementParameters,
  type PassiveEvents,
} from "../../warehouse/schema/engagement.ts";
import { included } from "../../warehouse/schema/included.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import type { Sql } from "../sql.ts";
import { entriesOf } from "./cohort-entries.ts";
import { type Entry, type Grid, type RetentionQuestion, retentionLimits } from "./retention-question.ts";
import { splitValues } from "./trait-split.ts";

/** `value` is the text of a group's value, and null but for the kind "value". */
export interface Group {
  /** All users; those with a value; with one that few have; with none. */
  readonly kind: "all" | "value" | "other" | "none";
  readonly value: string | null;
}

/** The warehouse's counts of one cohort. */
export interface CohortRow extends Group {
  /** The first day of the cohort's period. */
  readonly cohort: number;
  readonly members: number;
  /** Pairs of a period's first day and the members active in it, or in it or later; those of no member are
   * left out. Ascending. */
  readonly active: readonly (readonly [period: number, users: number])[];
}

/** Rows of `kind`, `value`, `cohort` (its first day) and `members` (a bitmap). */
export function cohortBitmaps(question: RetentionQuestion, grid: Grid): Sql {
  const { organization, today } = question;
  const { text, parameters } = cohortsOf(question);
  const { firstCohort: firstDay, endOfCohorts, starts } = grid;
  return { text, parameters: { ...parameters, organization, today, firstDay, endOfCohorts, starts } };
}

function cohortsOf(question: RetentionQuestion): Sql {
  const { entry, split, transitions } = question;
  if (split === null && entry.kind !== "signUp") return newcomers(entry, question.passiveEvents);
  const entries = entriesOf(question);
  const within = `SELECT user, day FROM (${entries.text})
    WHERE day >= {firstDay:Int32} AND day < {endOfCohorts:Int32} AND day <= {today:Int32}`;
  const values = split === null ? undefined : splitValues(within, split, transitions);
  const { text, parameters } =
    values === undefined ? { text: together(within), parameters: {} } : ranked(values);
  return { text, parameters: { ...entries.parameters, ...parameters } };
}

const ofOrganization = "organization = {organization:UInt32}";
const period = (day: string) => `roundDown(toInt32(${day}), {starts:Array(Int32)})`;

function together(entries: string): string {
  return `
    SELECT 'all' AS kind, NULL AS value, ${period("day")} AS cohort, ${membersOf("user")} AS members
    FROM (${entries}) GROUP BY cohort`;
}

/** A bitmap of the included users: users without a cohort are counted nowhere. */
function membersOf(user: string): string {
  return included(`groupBitmapState(${user})`);
}

/**
 * The cohorts of first events, without a row for each user: users who are in a period's bitmap and in none
 * before it. One event of 20 million took 60 ms user by user.
 */
function newcomers(entry: FirstEvent, passive: PassiveEvents): Sql {
  const done = eventsOf(entry, passive);
  return {
    text: `
      SELECT 'all' AS kind, NULL AS value, period AS cohort, ${included("bitmapAndnot(users, earlier)")} AS members
      FROM (
        SELECT period, users, ${earlierUsers} AS earlier
        FROM (
          ${usersByPeriod(done.text, "{firstDay:Int32}", "least({endOfCohorts:Int32}, {today:Int32} + 1)")}
          UNION ALL ${usersBefore(entry, passive, done.text)}))
      WHERE cohort >= {firstDay:Int32}`,
    parameters: done.parameters,
  };
}

type FirstEvent = Exclude<Entry, { readonly kind: "signUp" }>;

const earlierUsers =
  "groupBitmapMergeState(users) OVER (ORDER BY period ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)";
const laterUsers =
  "groupBitmapMergeState(users) OVER (ORDER BY period ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)";

/** One row: all users who did it before the first cohort, in a period of their own. */
function usersBefore({ kind }: FirstEvent, passive: PassiveEvents, bitmaps: string): string {
  const before = `< ${dayParameter("firstDay")}`;
  // Of any event the users' first days are at hand: fewer bytes than the bitmaps of many years.
  const [state, from] =
    kind === "firstEvent" && passive.length === 0
      ? ["groupBitmapState(user)", `user_spans WHERE ${ofOrganization} AND first_day ${before}`]
      : ["groupBitmapMergeState(users)", `${bitmaps} AND day ${before}`];
  return `SELECT {firstDay:Int32} - 1 AS period, ${state} AS users FROM ${from}`;
}

/** The bitmaps of days of the event that starts a cohort's membership. */
function eventsOf(entry: FirstEvent, passive: PassiveEvents): Sql {
  if (entry.kind === "firstEvent") return anyEvent(passive);
  return {
    text: `event_days WHERE ${ofOrganization} AND event = {entryEvent:String}`,
    parameters: { entryEvent: entry.event },
  };
}

const anyEvent = (passive: PassiveEvents): Sql => ({
  text: `${activeDaysTable(passive)} WHERE ${ofOrganization}`,
  parameters: engagementParameters(passive),
});

/** Rows of `period` and `users`, from a day (an expression) to the one before another. */
function usersByPeriod(bitmaps: string, fromDay: string, endDay: string): string {
  const date = (day: string) => `addDays(toDate32('1970-01-01'), ${day})`;
  return `
    SELECT ${period("day")} AS period, groupBitmapMergeState(users) AS users
    FROM ${bitmaps} AND day >= ${date(fromDay)} AND day < ${date(endDay)} GROUP BY period`;
}

/** The values with the most users are groups of their own, the others form one group. */
function ranked({ text, parameters }: Sql): Sql {
  return {
    text: `
      SELECT multiIf(isNull(said), 'none', place <= {splitValues:UInt32}, 'value', 'other') AS kind,
        if(kind = 'value', said, NULL) AS value, cohort, groupBitmapMergeState(some) AS members
      FROM (
        SELECT said, cohort, some, dense_rank() OVER (ORDER BY isNull(said), total DESC, said) AS place
        FROM (
          SELECT said, cohort, some, sum(bitmapCardinality(some)) OVER (PARTITION BY said) AS total
          FROM (
            SELECT value AS said, ${period("day")} AS cohort, ${membersOf("user")} AS some
            FROM (${text}) GROUP BY said, cohort)))
      GROUP BY kind, value, cohort`,
    parameters: { ...parameters, splitValues: retentionLimits.splitValues },
  };
}

/** Rows of `period` (its first day) and `users` (a bitmap of the users who returned in it). Binds
 * `organization`, `starts`, and `activeFrom` and `activeEnd`: the first day and the day after the last. */
export function activityBitmaps({ returnEvent, passiveEvents }: RetentionQuestion): Sql {
  const done =
    returnEvent === null
      ? anyEvent(passiveEvents)
      : {
          text: `event_days WHERE ${ofOrganization} AND event = {returnEvent:String}`,
          parameters: { returnEvent },
        };
  return {
    text: usersByPeriod(done.text, "{activeFrom:Int32}", "{activeEnd:Int32}"),
    parameters: done.parameters,
  };
}

/** The rows of `cohortBitmaps`, each with `periods`, an array of pairs: a period's first day, and a bitmap of
 * the users who returned in it, or in it or later. */
export function cohortsWithPeriods(question: RetentionQuestion, grid: Grid): Sql {
  const { entry, returnEvent, split } = question;
  if (split === null && entry.kind !== "signUp") {
    const entryEvent = entry.kind === "event" ? entry.event : null;
    if (entryEvent === returnEvent) return readOnce(question, entry, grid);
  }
  const users = question.measure === "in" ? "users" : laterUsers;
  const activity = activityBitmaps(question);
  const cohorts = cohortBitmaps(question, grid);
  const parameters = {
    ...cohorts.parameters,
    ...activity.parameters,
    activeFrom: grid.firstCohort,
    activeEnd: grid.endDay,
  };
  return {
    text: `
      SELECT kind, value, cohort, members, periods
      FROM (${cohorts.text}) AS cohorts
      CROSS JOIN (
        SELECT groupArray((period, users)) AS periods
        FROM (SELECT period, ${users} AS users FROM (${activity.text}) ORDER BY period)) AS activity`,
    parameters,
  };
}

/** The rows of `cohortsWithPeriods` where entry and return are one event. Its bitmaps are read once, and the
 * engine has less to plan, which is most of its work: 13.6 ms instead of 17.0. */
function readOnce(
  { organization, measure, passiveEvents }: RetentionQuestion,
  entry: FirstEvent,
  grid: Grid,
): Sql {
  const done = eventsOf(entry, passiveEvents);
  const active = measure === "in" ? "users" : laterUsers;
  return {
    text: `
      SELECT 'all' AS kind, NULL AS value, tupleElement(entered, 1) AS cohort, tupleElement(entered, 2) AS members, periods
      FROM (
        SELECT
          arrayJoin(groupArrayIf((period, newcomers), period >= {firstDay:Int32} AND period < {endOfCohorts:Int32})) AS entered,
          groupArrayIf((period, active), period >= {firstDay:Int32}) AS periods
        FROM (
          SELECT period, active, ${included("bitmapAndnot(users, earlier)")} AS newcomers
          FROM (
            SELECT period, users, ${earlierUsers} AS earlier, ${active} AS active
            FROM (
              ${usersByPeriod(done.text, "{firstDay:Int32}", "{activeEnd:Int32}")}
              UNION ALL ${usersBefore(entry, passiveEvents, done.text)}))
          ORDER BY period))`,
    parameters: {
      ...done.parameters,
      organization,
      firstDay: grid.firstCohort,
      endOfCohorts: grid.endOfCohorts,
      starts: grid.starts,
      activeEnd: grid.endDay,
    },
  };
}
