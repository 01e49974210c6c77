/**
 * The judgements of a condition for all entities and days, in one statement for a range of entities. Only
 * entities that are ever inside, or followed, leave the engine: a few megabytes of 9 million rows.
 */

import { memberDigitsSql } from "../../../analytics/entities/recorded-days.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import { daysWithin, type Outages, windowStart } from "../../../scoring/scores/observed-days.ts";
import type { Parameter } from "../../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../../warehouse/schema/included.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import { conditionSql, type DailyCondition, isOfScores, type JudgedCondition } from "./conditions.ts";

/** A scored day. */
export interface JudgedDay {
  readonly day: number;
  readonly rowsVersion: number;
  readonly inFrom: number;
  readonly outFrom: number;
  /** The place of the earlier day that `before` is read from, from 1; 0 without an earlier day. */
  readonly base: number;
}

export interface JudgementsQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly condition: DailyCondition;
  /** In order, at most 255. */
  readonly days: readonly JudgedDay[];
  /** The place, from 1, of the first day that the rule decides. Earlier days are only compared with. */
  readonly fromPlace: number;
  readonly outages: Outages;
  /** The range of the numbers of entities. */
  readonly numbers: { readonly from: number; readonly below: number };
  /** Numbers of entities that are read although they are never inside. */
  readonly followed: readonly number[];
  /** Whether entities are read that churned on one of the days. */
  readonly withChurned: boolean;
}

/** The codes of judgements of an entity on a day. `newInside`: it is inside, and has no row of the scored day
 * before because it is new. */
export const judgements = { neither: "0", inside: "1", out: "2", churned: "3", newInside: "4" } as const;

/** The days of an entity that have a row: a digit of `judgements` each. */
export interface Judged {
  readonly entity: number;
  readonly codes: string;
  /** The places of the days, or only the first place where no day is missing. */
  readonly places: readonly number[];
}

interface Query {
  readonly sql: string;
  readonly parameters: Record<string, Parameter>;
}

/** Rows of `Judged`. */
export function judgementsQuery(question: JudgementsQuestion): Query {
  const { organization, days, fromPlace, numbers, followed, withChurned, condition } = question;
  const { inside, newInside, churned } = judgements;
  const judged = isOfScores(condition) ? ofScores(question, condition) : ofEvent(question, condition);
  return {
    sql: `
      SELECT entity, arrayStringConcat(arrayMap(each -> toString(each), codesOfDays)) AS codes,
        if(length(placesOfDays) = placesOfDays[-1] - placesOfDays[1] + 1, [placesOfDays[1]], placesOfDays) AS places
      FROM (SELECT entity, codes AS codesOfDays, places AS placesOfDays FROM (${judged.sql}))
      WHERE arrayExists((code, place) -> code IN (${inside}, ${newInside}) AND place >= {fromPlace:UInt8}, codesOfDays, placesOfDays)
        ${withChurned ? `OR (has(codesOfDays, ${churned}) AND arrayExists(code -> code != ${churned}, codesOfDays))` : ""}
        OR entity IN {followed:Array(UInt32)}`,
    parameters: {
      ...judged.parameters,
      organization,
      fromPlace,
      followed: followed.filter((one) => isWithin(one, numbers)),
      numbersFrom: numbers.from,
      numbersBelow: numbers.below,
      firstDay: days[0]?.day ?? 0,
      lastDay: days.at(-1)?.day ?? 0,
      days: days.map(({ day }) => day),
      places: days.map((_, at) => at + 1),
      versions: days.map(({ rowsVersion }) => rowsVersion),
    },
  };
}

function isWithin(number: number, { from, below }: JudgementsQuestion["numbers"]): boolean {
  return number >= from && number < below;
}

/** Rows (entity, place, state, risk, health, volume28, tenureDays, tenure_days) of the days; of accounts also
 * active_members_28, seats and pulse. */
function rowsSql(kind: EntityKind): string {
  return `
    SELECT ${kind} AS entity, toUInt8(transform(toInt32(day), {days:Array(Int32)}, {places:Array(UInt8)}, 0)) AS place,
      state, risk, health, volume_28 AS volume28, tenure_days AS tenureDays, tenure_days
      ${kind === "account" ? ", active_members_28, seats, pulse" : ""}
    FROM ${kind}_scores FINAL
    WHERE organization = {organization:UInt32}
      AND day >= ${dayParameter("firstDay")} AND day <= ${dayParameter("lastDay")}
      AND ${kind} >= {numbersFrom:UInt32} AND ${kind} < {numbersBelow:UInt32}
      AND place > 0 AND version >= {versions:Array(UInt64)}[place]
      ${kind === "user" ? `AND ${isIncluded("user")}` : ""}`;
}

/** The days of an entity as one array of pairs, packed into a number each, so that they are sorted as
 * numbers. */
function ofScores({ kind, days }: JudgementsQuestion, condition: JudgedCondition): Query {
  const { value, inside, out, lookbackDays, parameters } = conditionSql(condition);
  const code = codeSql(
    inside({ value: "value", before: "before", from: "inFrom" }),
    out({ value: "value", before: "before", from: "outFrom" }),
  );
  const recorded =
    condition.kind === "wasInSegment"
      ? memberDigitsSql(
          condition.recorded,
          "AND entity >= {numbersFrom:UInt32} AND entity < {numbersBelow:UInt32}",
        )
      : undefined;
  const values = `
    SELECT entity, place, state = 'churned' AS isChurned, ifNull(${value}, nan) AS value, tenureDays
    FROM (${rowsSql(kind)}) AS scored ${recorded === undefined ? "" : `LEFT JOIN (${recorded.text}) AS recorded USING (entity)`}`;
  const rows = lookbackDays === 0 ? `SELECT *, 0. AS before FROM (${values})` : withBefore(values);
  return {
    sql: `
      SELECT entity, arraySort(groupArray(toUInt16(place * 256 + code))) AS packed,
        arrayMap(each -> toUInt8(intDiv(each, 256)), packed) AS places, arrayMap(each -> toUInt8(each % 256), packed) AS codes
      FROM (
        SELECT entity, place, ${code} AS judged,
          if(judged = ${judgements.inside} AND tenureDays <= {gaps:Array(Int32)}[place], ${judgements.newInside}, judged) AS code
        FROM (SELECT *, {inFroms:Array(Float64)}[place] AS inFrom, {outFroms:Array(Float64)}[place] AS outFrom FROM (${rows})))
      GROUP BY entity`,
    parameters: {
      ...parameters,
      ...recorded?.parameters,
      inFroms: days.map(({ inFrom }) => inFrom),
      outFroms: days.map(({ outFrom }) => outFrom),
      // A new entity has no value to compare with.
      gaps: days.map(({ day }, at) => (lookbackDays === 0 ? day - (days[at - 1]?.day ?? 0) : -1)),
      ...(lookbackDays > 0 && {
        comparing: days.map((_, at) =>
          days.flatMap(({ base }, other) => (base === at + 1 ? [other + 1] : [])),
        ),
      }),
    },
  };
}

/** Rows with the value of the day that they are compared with: each row is sent to its own day and to the
 * days that compare with it. Looking the value up in an array of an entity's values would copy the array for
 * each day: 500 MB for 8,000 entities and 90 days. */
function withBefore(values: string): string {
  return `
    SELECT entity, to AS place, anyIf(churnedOn, isOwn) AS isChurned, anyIf(valueOn, isOwn) AS value,
      if(countIf(NOT isOwn) = 0, nan, anyIf(valueOn, NOT isOwn)) AS before, anyIf(tenureOn, isOwn) AS tenureDays
    FROM (
      SELECT entity, isChurned AS churnedOn, value AS valueOn, tenureDays AS tenureOn,
        arrayJoin(arrayPushFront({comparing:Array(Array(UInt8))}[place], place)) AS to, to = place AS isOwn
      FROM (${values}))
    GROUP BY entity, to HAVING countIf(isOwn) > 0`;
}

function codeSql(inside: string, out: string): string {
  const { neither, churned } = judgements;
  return `toUInt8(multiIf(isChurned, ${churned}, isNaN(value) OR isNaN(before), ${neither},
    ${inside}, ${judgements.inside}, ${out}, ${judgements.out}, ${neither}))`;
}

/** An event is unseen when it was done before, and enough observed days passed since. */
function ofEvent(
  { kind, days, outages }: JudgementsQuestion,
  { event, days: unseenDays }: Extract<DailyCondition, { kind: "keyEventUnseen" }>,
): Query {
  const [firstDay = 0, lastDay = 0] = [days[0]?.day, days.at(-1)?.day];
  // Earlier days count as this one: the event is unseen for long enough since each of them.
  const earliestDay = windowStart(firstDay, unseenDays, outages);
  const observed = (cutoffDay: number) => cutoffDay - daysWithin(outages, earliestDay, cutoffDay);
  const { inside, out, churned } = judgements;
  return {
    sql: `
      SELECT entity, places,
        arrayMap(place -> arrayLast(each -> each < {days:Array(Int32)}[place], doneDays), places) AS lastDone,
        arrayMap((place, last, isChurned) -> toUInt8(multiIf(isChurned, ${churned}, last = 0, ${out},
          {cutoffs:Array(Int32)}[place] - {observed:Array(Int32)}[last - {earliestDay:Int32} + 1] >= {unseenDays:UInt16}, ${inside},
          ${out})), places, lastDone, churned) AS codes
      FROM (
        SELECT entity, groupArray(place) AS read, arraySort(read) AS places,
          arraySort((isChurned, place) -> place, groupArray(state = 'churned'), read) AS churned
        FROM (${rowsSql(kind)}) GROUP BY entity) AS scored
      LEFT JOIN (
        SELECT ${kind} AS entity, arraySort(groupUniqArray(greatest(toInt32(day), {earliestDay:Int32}))) AS doneDays
        FROM user_event_days
        WHERE organization = {organization:UInt32} AND event = {ruleEvent:String} AND day < ${dayParameter("lastDay")}
          AND ${kind} >= {numbersFrom:UInt32} AND ${kind} < {numbersBelow:UInt32} AND ${isIncluded("user")}
        GROUP BY entity) AS doings USING (entity)`,
    parameters: {
      ruleEvent: event,
      unseenDays,
      earliestDay,
      cutoffs: days.map(({ day }) => observed(day)),
      observed: Array.from(
        { length: lastDay - earliestDay + 1 },
        (_, at) => observed(earliestDay + at + 1) - 1,
      ),
    },
  };
}
