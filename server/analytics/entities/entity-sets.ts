/**
 * Sets of users or of accounts, as the engine's bitmaps of their numbers. A set is read from one query and
 * bound to the next, so that a segment is a condition of any list, figure or other segment. Of 100,000 users
 * it has at most 16 KB.
 */

import type { Parameter, Warehouse } from "../../warehouse/engine/warehouse.ts";
import { included } from "../../warehouse/schema/included.ts";
import type { Sql } from "../sql.ts";
import { condition } from "./list-scores.ts";

/** Users or accounts. */
export interface EntitySet {
  readonly of: "user" | "account";
  /** The state of the engine's bitmap, in base64. */
  readonly bitmap: string;
}

/** Only rows that are in a set, or only those that are not. */
export interface SetCondition {
  readonly set: EntitySet;
  readonly isIn: boolean;
}

/** The filter of a list by sets. */
export interface SetFilter {
  /** All of them have to be true. Sets of accounts are about a user's account. */
  readonly sets?: readonly SetCondition[] | undefined;
}

/** The text of a bitmap, from an expression. */
export function bitmapText(bitmap: string): string {
  return `base64Encode(CAST(${bitmap} AS String))`;
}

/** The bitmap that is bound under this name. */
export function boundBitmap(name: string): string {
  return `(SELECT CAST(base64Decode({${name}:String}) AS AggregateFunction(groupBitmap, UInt32)))`;
}

/** The conditions of a filter. @param columns the numbers of a row's user and account, expressions */
export function setConditions(
  { sets = [] }: SetFilter,
  columns: Readonly<Partial<Record<EntitySet["of"], string>>>,
): Sql[] {
  return sets.map(({ set, isIn }, index) => {
    const column = columns[set.of];
    if (column === undefined) throw new TypeError(`This list has no column of the ${set.of}`);
    const name = `set${index}`;
    return condition(`${isIn ? "" : "NOT "}bitmapContains(${boundBitmap(name)}, ${column})`, {
      [name]: set.bitmap,
    });
  });
}

/** The set of a query's rows. @param from a FROM clause and what follows it @param number of a row, an
 * expression */
export async function setOfRows(
  warehouse: Warehouse,
  of: EntitySet["of"],
  { number, from, parameters }: { readonly number: string; readonly from: string } & Pick<Sql, "parameters">,
): Promise<EntitySet> {
  const sql = `SELECT ${bitmapText(`groupBitmapState(${number})`)} AS bitmap ${from}`;
  const [row] = await warehouse.rows<{ bitmap: string }>(sql, { ...parameters });
  if (row === undefined) throw new Error("A bitmap has no row.");
  return { of, bitmap: row.bitmap };
}

/** The set of these numbers, without excluded users. */
export async function setOfNumbers(
  warehouse: Warehouse,
  of: EntitySet["of"],
  { organization, numbers }: { readonly organization: number; readonly numbers: readonly number[] },
): Promise<EntitySet> {
  const given = "groupBitmapState(arrayJoin({numbers:Array(UInt32)}))";
  const parameters: Record<string, Parameter> = { numbers };
  if (of === "user") parameters.organization = organization;
  const bitmap = of === "user" ? included(given) : given;
  const [row] = await warehouse.rows<{ bitmap: string }>(
    `SELECT ${bitmapText(bitmap)} AS bitmap`,
    parameters,
  );
  if (row === undefined) throw new Error("A bitmap has no row.");
  return { of, bitmap: row.bitmap };
}

/** The accounts with at least one member in a set of users. */
export function accountsOfUsers(
  warehouse: Warehouse,
  organization: number,
  { bitmap }: Pick<EntitySet, "bitmap">,
): Promise<EntitySet> {
  return setOfRows(warehouse, "account", {
    number: "account",
    from: `FROM users FINAL
      WHERE organization = {organization:UInt32} AND account != 0 AND bitmapContains(${boundBitmap("members")}, user)`,
    parameters: { organization, members: bitmap },
  });
}

/** How many are in a set. */
export async function sizeOfSet(warehouse: Warehouse, { bitmap }: EntitySet): Promise<number> {
  const [row] = await warehouse.rows<{ size: number }>(
    `SELECT bitmapCardinality(${boundBitmap("bitmap")}) AS size`,
    { bitmap },
  );
  return row?.size ?? 0;
}

/** The numbers in a set, ascending. */
export async function numbersOfSet(
  warehouse: Warehouse,
  { bitmap }: Pick<EntitySet, "bitmap">,
): Promise<readonly number[]> {
  const [row] = await warehouse.rows<{ numbers: readonly number[] }>(
    `SELECT bitmapToArray(${boundBitmap("bitmap")}) AS numbers`,
    { bitmap },
  );
  return row?.numbers ?? [];
}
