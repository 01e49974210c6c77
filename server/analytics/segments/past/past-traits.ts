/** Users by a trait, or accounts by an attribute, as of past days: the history has each value with its
 * time. */
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { EntitySet } from "../../entities/entity-sets.ts";
import { type TraitFilter, traitCondition } from "../../entities/trait-filter.ts";
import type { DaySets } from "./day-sets.ts";
import {
  bitsBelow,
  bitsBetween,
  daySetsOf,
  type PastDays,
  placeAfter,
  placeParameters,
} from "./past-days.ts";

/** Conditions that hold without any value, and those that hold for all others. */
const opposites = { isNot: "is", isEmpty: "isNotEmpty" } as const;

/** Those of whom the last value before the start of a day matches. */
export async function traitInPast(
  warehouse: Warehouse,
  of: EntitySet["of"],
  past: PastDays,
  { entities, filter }: { readonly entities: number; readonly filter: TraitFilter },
): Promise<DaySets> {
  const { match } = filter;
  if (match === "isNot" || match === "isEmpty") {
    const opposite = { ...filter, match: opposites[match] };
    return (await traitInPast(warehouse, of, past, { entities, filter: opposite })).not();
  }
  const holds = traitCondition(filter, 0);
  const ms = "toUnixTimestamp64Milli(at)";
  return daySetsOf(warehouse, entities, {
    text: `
      SELECT entity, groupBitOr(if(holds, ${bitsBetween("place", "nextPlace")}, toUInt128(0))) AS bits
      FROM (
        SELECT entity, place, holds,
          leadInFrame(place, 1, {days:UInt8}) OVER (
            PARTITION BY entity ORDER BY at, version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS nextPlace
        FROM (
          SELECT ${of} AS entity, at, version, toUInt8(${placeAfter(ms)}) AS place, ${holds.text} AS holds
          FROM ${of}_versions
          WHERE organization = {organization:UInt32} AND position(traits, {trait0Text:String}) > 0
            AND JSONHas(traits, {trait0:String})))
      GROUP BY entity`,
    parameters: {
      ...holds.parameters,
      ...placeParameters(past),
      ...bitsBelow(past),
      organization: past.organization,
      days: past.days.length,
    },
  });
}
