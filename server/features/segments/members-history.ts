/** The changes of a segment, and its size by day, from the stored evaluations. */
import type { SegmentCause } from "../../../contract/segments/segments.ts";
import { userNames } from "../../analytics/entities/timeline.ts";
import { jsonSettings } from "../../analytics/json-text.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { segmentChanges } from "../../warehouse/schema/segment-tables.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";

interface OfSegment {
  readonly organization: number;
  readonly segment: number;
}

/** A day with an evaluation. */
export interface SegmentDay {
  /** Of the organization's timezone, in days since 1970-01-01. */
  readonly day: number;
  /** At the last evaluation of the day. */
  readonly size: number;
  /** Without the members of the first evaluation. */
  readonly entered: number;
  readonly left: number;
  readonly causes: readonly SegmentCause[];
}

const evaluations = `(
  SELECT * FROM segment_evaluations FINAL WHERE organization = {organization:UInt32} AND segment = {segment:UInt32})`;

/** The days of a period that have an evaluation, in order. */
export function segmentDays(
  warehouse: Warehouse,
  question: OfSegment & { readonly fromDay: number; readonly toDay: number },
): Promise<SegmentDay[]> {
  return warehouse.rows<SegmentDay>(
    `SELECT toInt32(of.day) AS day, argMax(of.size, of.sequence) AS size, sum(of.entries) AS entered, sum(of.leaves) AS left,
       arraySort(groupUniqArrayIf(toString(of.cause), of.is_first OR of.entries + of.leaves > 0)) AS causes
     FROM ${evaluations} AS of
     WHERE of.day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
     GROUP BY of.day ORDER BY of.day`,
    { ...question },
  );
}

/** When a segment was evaluated first, and when last; undefined before the first time. */
export async function segmentEvaluated(
  warehouse: Warehouse,
  question: OfSegment,
): Promise<{ readonly firstAtMs: number; readonly lastAtMs: number } | undefined> {
  const [row] = await warehouse.rows<{ firstAtMs: number; lastAtMs: number }>(
    `SELECT toUnixTimestamp64Milli(argMin(at, sequence)) AS firstAtMs, toUnixTimestamp64Milli(argMax(at, sequence)) AS lastAtMs
     FROM ${evaluations} HAVING count() > 0`,
    { ...question },
  );
  return row;
}

/** A place in the changes of a segment: that of its evaluation and of its entity's number. */
export interface ChangePosition {
  readonly evaluation: number;
  readonly entity: number;
}

export interface SegmentChangeRow extends ChangePosition {
  /** The userId or the accountId. */
  readonly id: string;
  /** A name, else an e-mail address, else the id. */
  readonly label: string;
  readonly atMs: number;
  readonly entered: boolean;
  readonly cause: SegmentCause;
}

export interface ChangesQuestion extends OfSegment {
  readonly of: "user" | "account";
  readonly limit: number;
  /** Only changes behind this one; from the newest without it. */
  readonly before?: ChangePosition | undefined;
}

/** Beyond all places. */
const newest: ChangePosition = { evaluation: Number.MAX_SAFE_INTEGER, entity: 0 };

/** The changes of a segment, the newest first, without the members of its first evaluation. */
export function segmentChangesOf(
  warehouse: Warehouse,
  { of, before = newest, ...question }: ChangesQuestion,
): Promise<SegmentChangeRow[]> {
  return warehouse.rows<SegmentChangeRow>(
    `WITH page AS (
       SELECT evaluation, ${of} AS entity, at, entered, cause FROM ${segmentChanges[of].name}
       WHERE organization = {organization:UInt32} AND segment = {segment:UInt32} AND cause != 'first'
         AND evaluation <= {beforeEvaluation:UInt64} AND (evaluation, ${of}) < ({beforeEvaluation:UInt64}, {beforeEntity:UInt32})
         AND evaluation IN (SELECT evaluation FROM ${evaluations})
       ORDER BY evaluation DESC, ${of} DESC LIMIT {limit:UInt32})
     SELECT page.evaluation AS evaluation, page.entity AS entity, toUnixTimestamp64Milli(page.at) AS atMs,
       page.entered AS entered, page.cause AS cause, named.id AS id, named.label AS label
     FROM page LEFT JOIN (${namesOf[of]}) AS named ON named.entity = page.entity
     ORDER BY page.evaluation DESC, page.entity DESC ${jsonSettings}`,
    { ...question, beforeEvaluation: before.evaluation, beforeEntity: before.entity },
  );
}

const namesOf = {
  user: `SELECT user AS entity, user_id AS id, label FROM (${userNames("user IN (SELECT entity FROM page)")})`,
  account: `
    SELECT account AS entity, account_id AS id, if(name = '', account_id, name) AS label
    FROM accounts FINAL WHERE organization = {organization:UInt32} AND account IN (SELECT entity FROM page)`,
} as const;
