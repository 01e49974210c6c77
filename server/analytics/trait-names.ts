/** Which traits users have, and with which values: what a list can be filtered by. */
import type { Warehouse } from "../warehouse/warehouse.ts";
import { jsonSettings, maxValueCharacters } from "./json-text.ts";

const maxTraits = 200;
const maxValues = 20;

export interface TraitName {
  readonly trait: string;
  /** Users who have it, other than empty. */
  readonly users: number;
  /** About the most frequent ones, as lists compare them. */
  readonly values: readonly string[];
}

/** The traits of most users first. */
export function traitNames(warehouse: Warehouse, organization: number): Promise<TraitName[]> {
  return warehouse.rows<TraitName>(
    `SELECT key AS trait, count() AS users, topK(${maxValues})(value) AS values
     FROM (
       SELECT pair.1 AS key, substringUTF8(pair.2, 1, ${maxValueCharacters}) AS value
       FROM (SELECT arrayJoin(JSONExtractKeysAndValues(traits, 'Nullable(String)')) AS pair
         FROM users FINAL WHERE organization = {organization:UInt32})
       WHERE ifNull(pair.2, '') != '')
     GROUP BY key ORDER BY users DESC, trait LIMIT ${maxTraits} ${jsonSettings}`,
    { organization },
  );
}
