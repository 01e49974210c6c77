/** Events by UTC day, as the ledger counts them too: how many, and the sum modulo 2^32 of the last 32 bits of
 * their ids. */
import type { DayCount } from "../../ledger/inbox.ts";
import type { Warehouse } from "../engine/warehouse.ts";

/** Whole tables are read: minutes, not seconds, are a mistake here. */
const maxSeconds = 600;

const counts = `toInt32(intDiv(toUnixTimestamp64Milli(time), 86400000)) AS utcDay, count() AS events,
  toUInt32(sum(bitAnd(toUInt128(id), 4294967295)) % 4294967296) AS checksum`;

/** The stored events of an organization by UTC day. */
export async function eventCounts(warehouse: Warehouse, organization: number): Promise<readonly DayCount[]> {
  const rows = await warehouse.rows<Omit<DayCount, "organization">>(
    `SELECT ${counts} FROM events WHERE organization = {organization:UInt32} GROUP BY utcDay ORDER BY utcDay`,
    { organization },
    { maxSeconds },
  );
  return rows.map((row) => ({ organization, ...row }));
}

/** The stored events of users by UTC day. A user without events is not in the map. */
export async function eventCountsOf(
  warehouse: Warehouse,
  organization: number,
  users: readonly number[],
): Promise<ReadonlyMap<number, readonly DayCount[]>> {
  const rows = await warehouse.rows<Omit<DayCount, "organization"> & { readonly user: number }>(
    `SELECT user, ${counts} FROM events
     WHERE organization = {organization:UInt32} AND user IN {users:Array(UInt32)}
     GROUP BY user, utcDay ORDER BY user, utcDay`,
    { organization, users },
    { maxSeconds },
  );
  const byUser = Map.groupBy(rows, ({ user }) => user);
  return new Map(
    [...byUser].map(([user, days]) => [user, days.map(({ user: _, ...day }) => ({ organization, ...day }))]),
  );
}
