/** Seats and pulses of accounts as of a day: only attributes, subscriptions and pulses from before its start
 * count. */
import { leastQuantityOfSeats, mostSeats, pulseDays, seatsTrait } from "../scores/seats.ts";
import type { Population } from "./engagement-events.ts";
import type { Query } from "./query.ts";
import { numberOf } from "./trait-query.ts";

/** Seats of a subscription's quantity, in SQL: 0 for a flat price. */
export function seatsOfQuantity(quantity: string): string {
  return `if(ifNull(${quantity}, 0) >= ${leastQuantityOfSeats}, least(ifNull(${quantity}, 0), ${mostSeats}), 0)`;
}

/** Columns of an account over rows that are joined with `saidOfAccountsQuery` and `billedQuery`. The
 * attribute counts before the quantity of subscriptions. */
export const seatsColumns = {
  seats: `if(isNull(saidSeats), if(boughtSeats >= 1, toUInt32(floor(boughtSeats)), NULL), saidSeats)`,
  pulse: "saidPulse",
} as const;

/**
 * Rows (entity, saidSeats, saidPulse) of accounts at the start of a day: the attribute `seats` if its last
 * value is a number of 1 or more, and the newest pulse that stands, is at most 90 days old, and was said
 * after the last change of owner. Statements need `allow_simdjson = 0`.
 */
export function saidOfAccountsQuery({ organization, zone, entity }: Population, day: number): Query {
  const one = entity === undefined ? "" : "AND account = {entity:UInt32}";
  const before = "organization = {organization:UInt32} AND toUnixTimestamp64Milli(at) < {saidBeforeMs:Int64}";
  const number = numberOf("argMax(raw, (at, version))");
  return {
    sql: `
      SELECT entity, max(ofTrait) AS saidSeats, max(ofTeam) AS saidPulse
      FROM (
        SELECT account AS entity, ${number} AS said,
          if(said >= 1 AND said <= ${mostSeats}, toUInt32(floor(assumeNotNull(said))), NULL) AS ofTrait,
          CAST(NULL AS Nullable(UInt8)) AS ofTeam
        FROM (
          SELECT account, at, version, JSONExtractRaw(traits, '${seatsTrait}') AS raw
          FROM account_versions
          WHERE ${before} AND position(traits, '"${seatsTrait}":') > 0 AND raw != '' ${one})
        GROUP BY account
        UNION ALL
        SELECT account AS entity, NULL AS said, CAST(NULL AS Nullable(UInt32)) AS ofTrait,
          toNullable(argMax(value, (said_at_ms, pulse))) AS ofTeam
        FROM (${standingPulses(one)}) AS pulses
        LEFT JOIN (
          SELECT account, arraySort(groupArray((toUnixTimestamp64Milli(at), version, owner))) AS owners
          FROM (
            SELECT account, at, version, lowerUTF8(trimBoth(JSONExtractRaw(traits, 'owner'))) AS owner
            FROM account_versions
            WHERE ${before} AND position(traits, '"owner":') > 0 AND owner != '' ${one}
              AND account IN (SELECT account FROM account_pulses WHERE organization = {organization:UInt32}))
          GROUP BY account) AS owned USING (account)
        WHERE NOT ${ownerChanged}
        GROUP BY account)
      GROUP BY entity`,
    parameters: {
      organization,
      saidBeforeMs: zone.startOfDay(day),
      saidFromMs: zone.startOfDay(day - pulseDays),
      ...(entity !== undefined && { entity }),
    },
  };
}

/** Rows of pulses that were said in the days before the day, and not taken back by its start. */
function standingPulses(one: string): string {
  return `
    SELECT account, pulse, value, said_at_ms FROM account_pulses FINAL
    WHERE organization = {organization:UInt32} AND said_at_ms >= {saidFromMs:Int64}
      AND said_at_ms < {saidBeforeMs:Int64}
      AND ifNull(taken_back_at_ms >= {saidBeforeMs:Int64}, true) ${one}`;
}

/** Whether the owner that the account had when the pulse was said was replaced or removed afterwards. A first
 * owner replaces nobody. */
const ownerChanged = `(
  arrayLastIndex(change -> change.1 <= said_at_ms, owners) > 0
  AND owners[arrayLastIndex(change -> change.1 <= said_at_ms, owners)].3 NOT IN ('null', '""')
  AND arrayExists(change -> change.1 > said_at_ms
    AND change.3 != owners[arrayLastIndex(earlier -> earlier.1 <= said_at_ms, owners)].3, owners))`;
