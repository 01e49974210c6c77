/** The days of a preview as bits of numbers, and the sets that queries give as such numbers. */
import type { Parameter, Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { Sql } from "../../sql.ts";
import { DaySets, maxDays } from "./day-sets.ts";

/** The days as of whose starts segments are evaluated. */
export interface PastDays {
  readonly organization: number;
  /** In order, at most 128. In days since 1970-01-01. */
  readonly days: readonly number[];
  /** The start of each day. */
  readonly startsMs: readonly number[];
}

/** The bits of those of the days that match. */
export function bitsOf({ days }: Pick<PastDays, "days">, matches: (day: number) => boolean): bigint {
  return days.reduce((bits, day, place) => (matches(day) ? bits | (1n << BigInt(place)) : bits), 0n);
}

/** For a row that makes its entity a member on some of the days: an expression, and its values.
 * @param day of the row, an expression; from `fromDay` to `toDay` @param isMember whether a row of this day
 * does so on one of the days */
export function bitsByDay(
  past: PastDays,
  { fromDay, toDay }: { readonly fromDay: number; readonly toDay: number },
  isMember: (rowDay: number, day: number) => boolean,
): (day: string, name?: string) => Sql {
  const bits = Array.from({ length: Math.max(1, toDay - fromDay + 1) }, (_, at) =>
    bitsOf(past, (day) => isMember(fromDay + at, day)),
  );
  return (day, name = "bits") => ({
    text: `{${name}:Array(UInt128)}[${day} - {${name}From:Int32} + 1]`,
    parameters: { [name]: bits, [`${name}From`]: fromDay },
  });
}

/** The place of the first day that starts after an instant, an expression over it in milliseconds. */
export function placeAfter(ms: string): string {
  return `if(${ms} < {startsMs:Array(Int64)}[1], 0,
    transform(roundDown(${ms}, {startsMs:Array(Int64)}), {startsMs:Array(Int64)}, {placesAfter:Array(UInt8)}, 0))`;
}

/** The values for `placeAfter`. */
export function placeParameters({ startsMs }: PastDays): Record<string, Parameter> {
  return { startsMs: [...startsMs], placesAfter: startsMs.map((_, at) => at + 1) };
}

/** The bits of the days between two places, the second excluded: an expression over them. */
export function bitsBetween(from: string, to: string): string {
  return `bitXor({bitsBelow:Array(UInt128)}[${to} + 1], {bitsBelow:Array(UInt128)}[${from} + 1])`;
}

/** The values for `bitsBetween`. */
export function bitsBelow({ days }: PastDays): Record<string, Parameter> {
  return { bitsBelow: Array.from({ length: days.length + 1 }, (_, place) => (1n << BigInt(place)) - 1n) };
}

/** Entities of a row of the answer. */
export const entitiesOfPart = 16_384;
const hexDigits = maxDays / 4;
const bytesOfEntity = maxDays / 8;

/** The sets of rows (entity, bits), an entity at most once.
 * @param entities highest number, and one; those beyond are left out */
export function daySetsOf(warehouse: Warehouse, entities: number, query: Sql): Promise<DaySets> {
  return daySetsOfParts(warehouse, entities, [query]);
}

/** The sets of rows (entity, bits) of several queries. An entity has all its rows in one query, and so have
 * the entities of a part of `entitiesOfPart` numbers. */
export async function daySetsOfParts(
  warehouse: Warehouse,
  entities: number,
  queries: readonly Sql[],
): Promise<DaySets> {
  const bytes = new Uint8Array(entities * bytesOfEntity);
  for (const query of queries) await readInto(bytes, warehouse, query);
  // Hexadecimal digits begin with the highest byte, and words with the lowest.
  for (let at = 0; at < bytes.length; at += bytesOfEntity) bytes.subarray(at, at + bytesOfEntity).reverse();
  return new DaySets(entities, new Uint32Array(bytes.buffer));
}

async function readInto(bytes: Uint8Array, warehouse: Warehouse, { text, parameters }: Sql): Promise<void> {
  const rows = await warehouse.rows<{ part: number; bits: string }>(
    `SELECT intDiv(entity, ${entitiesOfPart}) AS part,
       arrayStringConcat(groupArrayInsertAt('${"0".repeat(hexDigits)}', ${entitiesOfPart})(
         leftPad(hex(toUInt128(bits)), ${hexDigits}, '0'), toUInt32(entity % ${entitiesOfPart}))) AS bits
     FROM (${text}) GROUP BY part SETTINGS allow_simdjson = 0`,
    parameters,
  );
  for (const { part, bits } of rows) {
    const at = part * entitiesOfPart * bytesOfEntity;
    if (at >= bytes.length) continue;
    bytes.set(Buffer.from(bits, "hex").subarray(0, bytes.length - at), at);
  }
}
