/** The accounts that users' events carry: whose members they are, and how much they do there. */
import { daysPerPeriod, maxCountPerDay, windowPeriods } from "../scores/features.ts";
import {
  engagementEvents,
  eventNumber,
  eventNumbers,
  lowerOf,
  type Population,
  pairSql,
  upperOf,
} from "./engagement-events.ts";
import type { Query } from "./query.ts";

/** A user is a member of an account for so many observed days after an event that carries it. */
export const memberDays = 90;

/** The accounts of a user in a snapshot. The arrays have an element for each account of which the user is a
 * member. */
export interface CarriedAccounts {
  /** The account of the latest events of 26 weeks that carry an account; 0 without such events. */
  readonly account: number;
  readonly accountNumbers: readonly number[];
  /** Days since the last event that carried the account. */
  readonly accountIdleDays: readonly number[];
  /** Whether an event carried the account in the 28 days before the last 28. */
  readonly accountPrevious28: readonly boolean[];
  /** The user's volume in the account in 28 days. */
  readonly accountVolumes28: readonly number[];
}

/** Rows (entity and `CarriedAccounts`) of users with an event that carries an account. */
export function carriedAccountsQuery(population: Population, cutoffDay: number): Query {
  const events = engagementEvents(population, cutoffDay, { daysBefore: daysPerPeriod * windowPeriods });
  const recent = engagementEvents(population, cutoffDay, { daysBefore: 28 });
  const numbers = eventNumbers(population, cutoffDay);
  const pair = pairSql("entity", "account");
  const carried = lowerOf("pair");
  const isMember = `newest <= ${memberDays}`;
  const sql = `
    WITH ${numbers.sql}
    SELECT ${upperOf("pair")} AS entity,
      argMax(${carried}, (lastDay, ${carried})) AS account,
      groupArrayIf(${carried}, ${isMember}) AS accountNumbers,
      groupArrayIf(toUInt8(newest), ${isMember}) AS accountIdleDays,
      groupArrayIf(toBool(wasActivePrevious28), ${isMember}) AS accountPrevious28,
      groupArrayIf(volume28, ${isMember}) AS accountVolumes28
    FROM (
      SELECT ${pair} AS pair, min(daysAgo) AS newest, max(epochDay) AS lastDay,
        max(daysAgo BETWEEN 29 AND 56) AS wasActivePrevious28
      FROM (${events.sql}) WHERE account != 0 GROUP BY pair) AS carried
    LEFT JOIN (
      SELECT pair, sum(least(times, ${maxCountPerDay}) * weights[number]) AS volume28
      FROM (
        SELECT ${pair} AS pair, ${eventNumber} AS number, sum(count) AS times
        FROM (${recent.sql}) WHERE account != 0 GROUP BY pair, number, epochDay)
      GROUP BY pair) AS volumes USING (pair)
    GROUP BY entity`;
  return { sql, parameters: { ...events.parameters, ...recent.parameters, ...numbers.parameters } };
}
