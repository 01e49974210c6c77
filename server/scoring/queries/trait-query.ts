/** Users' traits as they were at a time, from everything that was ever said of them. */
import { isSampled } from "./engagement-events.ts";
import type { Query } from "./query.ts";

/** A value that fewer users ever had is never a column of the model (see design.ts). */
const leastUsersOfValue = 30;
const maxValues = 1_000;

/**
 * Rows (entity, traits), traits as [name, value] pairs of text. A trait at a time is the last word on it until then,
 * by (at, version); before anything was said of the user, it is the first known value. Null, objects and arrays are
 * no values, and neither is what fewer than 30 users ever had.
 * @param oneIn of only one in so many users; 30 are then 30 of those
 */
export function traitsQuery(organization: number, atMs: number, oneIn?: number): Query {
  const from = `user_versions WHERE organization = {organization:UInt32}${
    oneIn === undefined ? "" : ` AND ${isSampled("user")}`
  }`;
  const sql = `
    WITH words AS (
      SELECT user, version, at, arrayJoin(JSONExtractKeysAndValuesRaw(traits)) AS word,
        word.1 AS trait, word.2 AS raw
      FROM ${from}),
    frequent AS (
      SELECT trait, raw FROM words WHERE raw != 'null' AND NOT match(raw, '^[{[]')
      GROUP BY trait, raw HAVING uniqExact(user) >= ${leastUsersOfValue}
      ORDER BY uniqExact(user) DESC, trait, raw LIMIT ${maxValues}),
    begins AS (
      SELECT user, toUnixTimestamp64Milli(min(at)) AS firstMs
      FROM ${from} GROUP BY user)
    SELECT user AS entity,
      arraySort(groupArray((trait, if(startsWith(last, '"'), JSONExtractString(last), last)))) AS traits
    FROM (
      SELECT user, trait, countIf(isBefore) AS before,
        if(before > 0, argMaxIf(raw, (at, version), isBefore), argMin(raw, (at, version))) AS last
      FROM (SELECT *, toUnixTimestamp64Milli(at) < {atMs:Int64} AS isBefore FROM words)
      GROUP BY user, trait) AS known
    INNER JOIN begins USING (user)
    WHERE (before > 0 OR firstMs >= {atMs:Int64}) AND (trait, last) IN frequent
    GROUP BY user`;
  return { sql, parameters: { organization, atMs, ...(oneIn !== undefined && { oneIn }) } };
}
