/** The users behind a cell of a retention table: members of the cohort who returned, and members who did
 * not. */
import { startOfPeriod } from "../../calendar/period-starts.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { activeSpansOf, type PassiveEvents } from "../../warehouse/schema/engagement.ts";
import { jsonSettings } from "../json-text.ts";
import { engagementRows } from "../sql.ts";
import { activityBitmaps, cohortBitmaps, type Group } from "./cohorts.ts";
import { daysOfCell, gridOf, type RetentionQuestion } from "./retention-question.ts";

/** The users of a cell who were active, or those who were not. */
export interface RetentionCellQuestion extends RetentionQuestion {
  readonly group: Group;
  /** A day of the cohort's period. */
  readonly cohortDay: number;
  /** Periods after the cohort's own. */
  readonly at: number;
  readonly retained: boolean;
}

export interface RetentionPeopleQuestion extends RetentionCellQuestion {
  /** At most this many, up to 5,000. */
  readonly limit: number;
  /** Only users with higher numbers: `next` of the answer before. */
  readonly after: number;
}

export interface RetentionPeople {
  readonly cohortUsers: number;
  /** Members of the cohort who were active. */
  readonly users: number;
  readonly people: readonly Person[];
  /** Null on the last page. */
  readonly next: number | null;
}

interface Person {
  readonly userId: string;
  /** Null until it is known. */
  readonly email: string | null;
  readonly name: string | null;
  readonly lastSeenDay: number | null;
}

interface Found {
  readonly cohortUsers: number;
  readonly users: number;
  readonly numbers: readonly number[];
}

/**
 * A page of the users of a cell.
 * @throws Refusal when the question asks for too much
 * @throws WarehouseError
 */
export async function retentionPeople(
  warehouse: Warehouse,
  question: RetentionPeopleQuestion,
): Promise<RetentionPeople> {
  const { organization, limit, after, today, passiveEvents } = question;
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPeople) {
    throw new RangeError(`limit must be a whole number from 1 to ${maxPeople}`);
  }
  const { cohortUsers, users, numbers } = await foundIn(warehouse, question, { after, most: limit + 1 });
  const page = numbers.slice(0, limit);
  const people =
    page.length === 0
      ? []
      : await engagementRows<Person>(warehouse, peopleSql, {
          organization,
          passiveEvents,
          numbers: page,
          toDay: today,
        });
  const next = numbers.length > limit ? (page.at(-1) ?? null) : null;
  return { cohortUsers, users, people, next };
}

/**
 * The numbers of the users of a cell, ascending. @param most at most this many
 * @throws Refusal when the question asks for too much
 * @throws WarehouseError
 */
export async function retentionNumbers(
  warehouse: Warehouse,
  question: RetentionCellQuestion,
  most: number,
): Promise<readonly number[]> {
  return (await foundIn(warehouse, question, { after: 0, most })).numbers;
}

/** The values that a split shows depend on all cohorts, so the cell's whole table is computed again. */
async function foundIn(
  warehouse: Warehouse,
  question: RetentionCellQuestion,
  page: { readonly after: number; readonly most: number },
): Promise<Found> {
  const { group } = question;
  const cohorts = cohortBitmaps(question, gridOf(question));
  const activity = activityBitmaps(question);
  const side = question.retained ? "bitmapAnd" : "bitmapAndnot";
  const [found] = await warehouse.rows<Found>(
    `SELECT bitmapCardinality(members) AS cohortUsers, bitmapAndCardinality(members, active) AS users,
       bitmapToArray(bitmapSubsetLimit(${side}(members, active), {after:UInt32} + 1, {most:UInt32})) AS numbers
     FROM (SELECT members FROM (${cohorts.text})
           WHERE cohort = {cohort:Int32} AND kind = {kind:String} AND ifNull(value, '') = {value:String}) AS cohort
     CROSS JOIN (SELECT groupBitmapMergeState(users) AS active FROM (${activity.text})) AS activity
     ${jsonSettings}`,
    {
      ...cohorts.parameters,
      ...activity.parameters,
      ...daysOfCell(question, question.cohortDay, question.at),
      cohort: startOfPeriod(question.cohortDay, question.period),
      kind: group.kind,
      value: group.value ?? "",
      ...page,
    },
  );
  if (found === undefined) return { cohortUsers: 0, users: 0, numbers: [] };
  return { ...found, numbers: found.numbers.toSorted((a, b) => a - b) };
}

const maxPeople = 5_000;

const peopleSql = (passive: PassiveEvents) => `
  SELECT known.user_id AS userId, nullIf(known.email, '') AS email, known.name AS name, seen.lastDay AS lastSeenDay
  FROM (
    SELECT user, user_id, email, nullIf(JSONExtractString(traits, 'name'), '') AS name
    FROM users FINAL
    WHERE organization = {organization:UInt32} AND user IN {numbers:Array(UInt32)}) AS known
  LEFT JOIN (
    SELECT user, toNullable(lastDay) AS lastDay
    FROM ${activeSpansOf(passive, "user IN {numbers:Array(UInt32)}")}) AS seen
  ON seen.user = known.user
  ORDER BY known.user
  ${jsonSettings}`;
