/** The members of a segment on past days, from the evaluations that were recorded: for previews of alert
 * rules. See docs/decisions/0092. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { segmentChanges } from "../../warehouse/schema/segment-tables.ts";
import type { Sql } from "../sql.ts";
import type { EntitySet } from "./entity-sets.ts";

interface OfSegment {
  readonly organization: number;
  readonly segment: number;
}

/** A day on which the members of a segment were recorded. */
export interface RecordedDay {
  readonly day: number;
  /** The number of the first evaluation with the scores of the day. */
  readonly evaluation: number;
}

/** The days, in order, on which the members of a segment were recorded after the day's scores.
 * @param content key of the segment: earlier evaluations of another filter or other ids do not count */
export function recordedDays(
  warehouse: Warehouse,
  question: OfSegment & { readonly content: string },
): Promise<readonly RecordedDay[]> {
  return warehouse.rows<RecordedDay>(
    `SELECT toInt32(of.day) AS day, min(of.evaluation) AS evaluation
     FROM (
       SELECT * FROM segment_evaluations FINAL
       WHERE organization = {organization:UInt32} AND segment = {segment:UInt32}) AS of
     WHERE of.content = {content:String} AND of.scored_day >= toInt32(of.day)
     GROUP BY of.day ORDER BY of.day`,
    { ...question },
  );
}

/** Members of a segment at some of its evaluations. */
export interface MembersQuestion extends OfSegment {
  readonly of: EntitySet["of"];
  /** Numbers of evaluations in order, at most 128. */
  readonly evaluations: readonly number[];
}

/** A query of rows (entity, memberDigits: a text with a digit for each evaluation, `1` for a member) for
 * everybody who was a member at one of them. Digits that are missing at the end are 0. It binds
 * `organization`. An entity enters and leaves in turns, so each change flips the digits from its evaluation
 * on. @param and a condition on `entity` */
export function memberDigitsSql({ organization, segment, of, evaluations }: MembersQuestion, and = ""): Sql {
  const finished = `
    SELECT evaluation FROM segment_evaluations FINAL
    WHERE organization = {organization:UInt32} AND segment = {segment:UInt32}`;
  return {
    text: `
      SELECT entity, reverse(bin(groupBitXor(
        {bitsFrom:Array(UInt128)}[arrayCount(each -> each < evaluation, {evaluations:Array(UInt64)}) + 1]) AS bits)) AS memberDigits
      FROM (
        SELECT DISTINCT ${of} AS entity, evaluation FROM ${segmentChanges[of].name}
        WHERE organization = {organization:UInt32} AND segment = {segment:UInt32} AND evaluation IN (${finished}) ${and})
      GROUP BY entity HAVING bits != 0`,
    parameters: {
      organization,
      segment,
      evaluations,
      bitsFrom: [
        ...evaluations.map((_, place) => (1n << BigInt(evaluations.length)) - (1n << BigInt(place))),
        0n,
      ],
    },
  };
}

/** A condition on `memberDigits`: whether the entity was a member. @param place of the evaluation, from 0, an
 * expression */
export function wasMember(place: string): string {
  return `substring(memberDigits, ${place} + 1, 1) = '1'`;
}

/** The digits of `memberDigitsSql`, by entity. */
export async function memberDigits(
  warehouse: Warehouse,
  question: MembersQuestion,
): Promise<ReadonlyMap<number, string>> {
  const { text, parameters } = memberDigitsSql(question);
  const rows = await warehouse.rows<{ entity: number; memberDigits: string }>(text, parameters);
  return new Map(rows.map((row) => [row.entity, row.memberDigits]));
}
