/** The properties that events have, to choose a split from. */
import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { askedRows } from "./events-over-time.ts";
import { jsonSettings } from "./json-text.ts";

export interface PropertyNamesQuestion {
  readonly organization: number;
  /** One event's name; empty for all of them. */
  readonly event: string;
  /** Days since 1970-01-01, both included. */
  readonly fromDay: number;
  readonly toDay: number;
  /** At most this many properties. */
  readonly limit: number;
  /** At most this many events are read, as a whole: 100,000 take a fraction of a second. */
  readonly maxEvents: number;
}

export interface PropertyRow {
  readonly property: string;
  /** Of the events that were looked at, those that have it. */
  readonly events: number;
}

/** One row for every property, the most frequent first. Of too many events the first found are read: all
 * events of some users, with any name and of any day. In the order of names they would have one name. */
export function propertyNames(warehouse: Warehouse, question: PropertyNamesQuestion): Promise<PropertyRow[]> {
  return warehouse.rows<PropertyRow>(sql, { ...question });
}

/** Of more names than this, those that are met first. */
const maxNames = 2_000;

const sql = `
  SELECT property, count() AS events
  FROM (
    SELECT arrayJoin(JSONExtractKeys(properties)) AS property
    FROM (SELECT properties FROM events WHERE ${askedRows} AND properties != '{}' LIMIT {maxEvents:UInt32}))
  GROUP BY property ORDER BY events DESC, property LIMIT {limit:UInt32}
  ${jsonSettings}, optimize_use_projections = 0, max_rows_to_group_by = ${maxNames}, group_by_overflow_mode = 'any'`;
