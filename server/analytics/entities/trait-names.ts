/** The traits that users have now, or the attributes of accounts, with their values, to choose a split or a
 * filter from. */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { maxValueCharacters } from "../json-text.ts";

export interface TraitNamesQuestion {
  readonly organization: number;
  /** Traits of users, or attributes of accounts. */
  readonly kind: "user" | "account";
  /** At most this many traits. */
  readonly limit: number;
  /** No values are listed for a trait with more than this many. At most 100. */
  readonly maxValues: number;
}

export interface TraitRow {
  readonly trait: string;
  /** Users who have a value of it, or accounts. */
  readonly users: number;
  /** `maxValues` + 1 stands for any higher number. */
  readonly distinctValues: number;
  /** Pairs of a value and how many have it, the most frequent first; at most 20. */
  readonly values: readonly (readonly [value: string, users: number])[];
}

/** One row for every trait, the one that most users have first. Values are texts as in `trait-split.ts`. */
export function traitNames(
  warehouse: Warehouse,
  { organization, kind, limit, maxValues }: TraitNamesQuestion,
): Promise<TraitRow[]> {
  return warehouse.rows<TraitRow>(sql(from[kind]), { organization, limit, maxValues });
}

/** At most this many names, the first found. An application that sends a trait of a new name for every user
 * has no useful traits. Each name takes some 30 KB of memory. */
const maxNames = 2_000;

const from = {
  user: `users FINAL WHERE organization = {organization:UInt32} AND ${isIncluded("user")}`,
  account: "accounts FINAL WHERE organization = {organization:UInt32}",
};

// topK counts exactly while there are no more values than it keeps, 20 times 5. No values are listed of other
// traits.
const sql = (rows: string) => `
  SELECT trait, count() AS users, toInt32(uniqUpTo(100)(value)) AS distinctValues,
    if(distinctValues > {maxValues:Int32}, [],
      arrayMap(one -> (one.1, one.2), arraySort(one -> (-toInt64(one.2), one.1), topK(20, 5, 'counts')(value)))) AS values
  FROM (
    SELECT word.1 AS trait,
      leftUTF8(if(startsWith(word.2, '"'), JSONExtractString(word.2), word.2), ${maxValueCharacters}) AS value
    FROM (
      SELECT arrayJoin(JSONExtractKeysAndValuesRaw(traits)) AS word
      FROM ${rows})
    WHERE word.2 != 'null')
  GROUP BY trait ORDER BY users DESC, trait LIMIT {limit:UInt32}
  SETTINGS allow_simdjson = 0, max_rows_to_group_by = ${maxNames}, group_by_overflow_mode = 'any'`;
