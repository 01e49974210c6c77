/** Events by UTC day, as the ledger counts them too: how many, and the sum modulo 2^32 of the last 32 bits of their
 * ids. */
import type { DayCount } from "../../ledger/ledger.ts";
import type { Warehouse } from "../engine/warehouse.ts";

/** Whole tables are read: minutes, not seconds, are a mistake here. */
const maxSeconds = 600;

/** The stored events of an organization, or of one user of it, by UTC day. */
export async function eventCounts(
  warehouse: Warehouse,
  organization: number,
  user?: number,
): Promise<readonly DayCount[]> {
  const rows = await warehouse.rows<Omit<DayCount, "organization">>(
    `SELECT toInt32(intDiv(toUnixTimestamp64Milli(time), 86400000)) AS utcDay, count() AS events,
       toUInt32(sum(bitAnd(toUInt128(id), 4294967295)) % 4294967296) AS checksum
     FROM events WHERE organization = {organization:UInt32} ${user === undefined ? "" : "AND user = {user:UInt32}"}
     GROUP BY utcDay ORDER BY utcDay`,
    { organization, ...(user !== undefined && { user }) },
    { maxSeconds },
  );
  return rows.map((row) => ({ organization, ...row }));
}
