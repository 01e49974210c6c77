/** The stored evaluations of segments, and the changes of their members. See docs/decisions/0092. */
import { createHash } from "node:crypto";
import type { SegmentCause } from "../../../contract/segments/segments.ts";
import { bitmapText, boundBitmap, type EntitySet } from "../../analytics/entities/entity-sets.ts";
import { type Segment, segmentWithThoseBelow } from "../../ledger/rules/segment-rules.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { segmentChanges } from "../../warehouse/schema/segment-tables.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { isTouched, type Touched } from "./touched.ts";

/** What an evaluation was based on. A later evaluation compares it with its own ground. */
export interface EvaluationGround {
  /** The day in the organization's timezone. */
  readonly day: number;
  /** Keys of the segment with the segments in its filter, of settings and exclusions, and of the model and
   * settings of scores. */
  readonly content: string;
  readonly ground: string;
  readonly rules: string;
  /** The day of the newest scores, and when their run began; -1 and 0 without scores. */
  readonly scoredDay: number;
  readonly scoredAtMs: number;
  /** Everything that was acknowledged before this time was in the warehouse; 0 while that is not known. */
  readonly loadedUptoMs: number;
}

/** A finished evaluation of a segment. */
export interface Evaluation extends EvaluationGround {
  readonly segment: number;
  /** Counts the evaluations of the segment, from 1. */
  readonly sequence: number;
  readonly atMs: number;
  readonly size: number;
}

/** The last evaluation of each segment of an organization, and the segments that have stored rows. */
export interface StoredEvaluations {
  readonly last: ReadonlyMap<number, Evaluation>;
  readonly segments: ReadonlySet<number>;
}

/** The organizations with rows about segments. */
export async function organizationsWithEvaluations(warehouse: Warehouse): Promise<readonly number[]> {
  const rows = await warehouse.rows<{ organization: number }>(
    tables.map((table) => `SELECT DISTINCT organization FROM ${table}`).join(" UNION DISTINCT "),
    {},
    startLimits,
  );
  return rows.map(({ organization }) => organization);
}

/** The first read after a start may take long, because its rows grow with the history. */
const startLimits = { maxSeconds: 600 } as const;

/** The last evaluation of each segment of an organization. */
async function lastEvaluations(
  warehouse: Warehouse,
  organization: number,
): Promise<ReadonlyMap<number, Evaluation>> {
  const rows = await warehouse.rows<Evaluation>(
    `SELECT segment, sequence, toUnixTimestamp64Milli(at) AS atMs, size, toInt32(day) AS day, content, ground, rules,
       scored_day AS scoredDay, scored_at_ms AS scoredAtMs, loaded_upto_ms AS loadedUptoMs
     FROM (
       SELECT * FROM segment_evaluations FINAL WHERE organization = {organization:UInt32}
       ORDER BY segment, sequence DESC LIMIT 1 BY segment)`,
    { organization },
    startLimits,
  );
  return new Map(rows.map((row) => [row.segment, row]));
}

/** Members of each segment at its last evaluation, without segments that were edited since, or are new. */
export async function recordedSizes(
  warehouse: Warehouse,
  organization: number,
  segments: readonly Segment[],
): Promise<ReadonlyMap<number, number>> {
  const last = await lastEvaluations(warehouse, organization);
  const contentOf = contentKeys(segments);
  const counted = segments.flatMap((segment): [number, number][] => {
    const evaluation = last.get(segment.id);
    return evaluation?.content === contentOf(segment) ? [[segment.id, evaluation.size]] : [];
  });
  return new Map(counted);
}

/** Makes the `content` key of segments, which changes with an edit of the segment or of a segment in its
 * filter. Each filter is read once. */
export function contentKeys(segments: readonly Segment[]): (segment: Pick<Segment, "id">) => string {
  const own = new Map(segments.map((one) => [one.id, keyOf([one.id, one.contentAtMs, one.filter])]));
  return ({ id }) => keyOf(segmentWithThoseBelow(segments, id).map((one) => own.get(one.id)));
}

/** A short text that differs where values differ. */
export function keyOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

/** Reads the state from which evaluations go on. */
export async function storedEvaluations(
  warehouse: Warehouse,
  organization: number,
): Promise<StoredEvaluations> {
  const named = await warehouse.rows<{ segment: number }>(
    tables
      .map((table) => `SELECT DISTINCT segment FROM ${table} WHERE organization = {organization:UInt32}`)
      .join(" UNION DISTINCT "),
    { organization },
    startLimits,
  );
  return {
    last: await lastEvaluations(warehouse, organization),
    segments: new Set(named.map(({ segment }) => segment)),
  };
}

const evaluations = "segment_evaluations";
const tables = [segmentChanges.user.name, segmentChanges.account.name, evaluations] as const;

/** The members now, compared with the members of the last evaluation. */
export interface Difference {
  readonly size: number;
  readonly entries: number;
  readonly leaves: number;
  /** Bitmaps in base64: the members now, and the members of the last evaluation. */
  readonly now: string;
  readonly before: string;
  /** The highest number of an evaluation with changes, also of one that was cut off; 0 without any. */
  readonly newest: number;
}

interface OfSegment {
  readonly organization: number;
  readonly segment: number;
}

const ofSegment = "organization = {organization:UInt32} AND segment = {segment:UInt32}";

/** Compares members with the members of the last evaluation, which follow from the changes of finished
 * evaluations. Members who were erased since they were read are left out. */
export async function differenceOf(
  warehouse: Warehouse,
  { organization, segment }: OfSegment,
  { of, bitmap }: EntitySet,
): Promise<Difference> {
  const existing = `(SELECT groupBitmapState(${of}) FROM ${of}s WHERE organization = {organization:UInt32})`;
  const [row] = await warehouse.rows<Difference>(
    `SELECT bitmapCardinality(members) AS size, bitmapAndnotCardinality(members, earlier) AS entries,
       bitmapAndnotCardinality(earlier, members) AS leaves, newest,
       ${bitmapText("members")} AS now, ${bitmapText("earlier")} AS before
     FROM (
       SELECT bitmapAnd(${boundBitmap("bitmap")}, ${existing}) AS members,
         groupBitmapStateIf(entity, isIn) AS earlier, max(highest) AS newest
       FROM (
         SELECT entity, argMaxIf(entered, evaluation, isFinished) AS isIn, max(evaluation) AS highest
         FROM (
           SELECT ${of} AS entity, entered, evaluation,
             evaluation IN (SELECT evaluation FROM ${evaluations} FINAL WHERE ${ofSegment}) AS isFinished
           FROM ${segmentChanges[of].name} WHERE ${ofSegment})
         GROUP BY entity))`,
    { organization, segment, bitmap },
  );
  if (row === undefined) throw new Error("A comparison has no row.");
  return row;
}

/** An evaluation that is to be stored. */
export interface NewEvaluation extends Evaluation {
  readonly organization: number;
  readonly of: EntitySet["of"];
  readonly cause: SegmentCause;
  /** Entities whose changes are not their own behavior; undefined where no change is. */
  readonly touched: Touched | undefined;
}

/** Stores the changes first and the evaluation last. The number of an evaluation is higher than all numbers
 * before, also after one that was cut off and by a clock that went back. Users who are excluded by now did
 * not leave by themselves, and touched entities did not change by themselves. */
export async function storeEvaluation(
  warehouse: Warehouse,
  { organization, segment, of, cause, touched, atMs, sequence, size, ...ground }: NewEvaluation,
  { entries, leaves, now, before, newest }: Difference,
): Promise<void> {
  const evaluation = Math.max(atMs, newest + 1);
  const whose = { organization, segment, evaluation, atMs, cause };
  if (entries + leaves > 0) {
    const [members, earlier] = [boundBitmap("now"), boundBitmap("before")];
    const touch = touched && isTouched(of, touched);
    const doubts = [
      ...(of === "user" ? [`(NOT isIn AND NOT ${isIncluded("entity")})`] : []),
      ...(touch === undefined ? [] : [touch.sql]),
    ];
    const marked =
      doubts.length === 0 ? "{cause:String}" : `if(${doubts.join(" OR ")}, {bulk:String}, {cause:String})`;
    await warehouse.command(
      `INSERT INTO ${segmentChanges[of].name} (organization, segment, evaluation, ${of}, at, entered, cause)
       SETTINGS insert_deduplicate = 0
       SELECT {organization:UInt32}, {segment:UInt32}, {evaluation:UInt64}, entity, ${at}, isIn, ${marked}
       FROM (
         SELECT arrayJoin(bitmapToArray(bitmapAndnot(${members}, ${earlier}))) AS entity, true AS isIn
         UNION ALL SELECT arrayJoin(bitmapToArray(bitmapAndnot(${earlier}, ${members}))) AS entity, false AS isIn)`,
      { ...whose, now, before, ...touch?.parameters, ...(doubts.length > 0 && { bulk: "bulk" }) },
    );
  }
  const isFirst = cause === "first";
  await warehouse.command(
    `INSERT INTO ${evaluations} (organization, segment, sequence, evaluation, at, day, size, entries, leaves, cause, is_first,
       content, ground, rules, scored_day, scored_at_ms, loaded_upto_ms)
     SETTINGS insert_deduplicate = 0
     SELECT {organization:UInt32}, {segment:UInt32}, {sequence:UInt32}, {evaluation:UInt64}, ${at}, ${dayParameter("day")},
       {size:UInt32}, {entries:UInt32}, {leaves:UInt32}, {cause:String}, {isFirst:Bool}, {content:String}, {ground:String},
       {rules:String}, {scoredDay:Int32}, {scoredAtMs:UInt64}, {loadedUptoMs:UInt64}`,
    {
      ...whose,
      ...ground,
      sequence,
      size,
      isFirst,
      // Members of the first evaluation did not enter then.
      entries: isFirst ? 0 : entries,
      leaves,
    },
  );
}

const at = "fromUnixTimestamp64Milli({atMs:Int64}, 'UTC')";

/** Deletes all rows of segments. Rows of evaluations are deleted last, because they tell that there are other
 * rows. */
export async function deleteEvaluations(
  warehouse: Warehouse,
  organization: number,
  segments: readonly number[],
): Promise<void> {
  for (const table of tables) {
    await warehouse.command(
      `ALTER TABLE ${table} DELETE WHERE organization = {organization:UInt32} AND segment IN {segments:Array(UInt32)}`,
      { organization, segments },
      { maxSeconds: 0 },
    );
  }
}
