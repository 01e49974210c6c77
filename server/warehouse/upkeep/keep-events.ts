/**
 * Deletes raw events at the end of their retention time. Rollups stay, so figures do not change. The ledger has to
 * know the first kept day before the first event is deleted, because neither a check nor a rebuild can look behind
 * it.
 */
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";

/** The first day that the warehouse can hold: 1969-12-31, in days since 1970-01-01. */
export const firstPossibleDay = -1;

/** The day as the engine's type, for comparisons: `day >= ${dayParameter("fromDay")}`. */
export function dayParameter(name: string): string {
  return `addDays(toDate32('1970-01-01'), {${name}:Int32})`;
}

/** Deletes the events of days before this one; returns how many there were. Late events with an older time are
 * counted in the rollups and deleted here the next time. */
export async function dropEvents(
  warehouse: Warehouse,
  organization: number,
  beforeDay: number,
): Promise<number> {
  const old = `organization = {organization:UInt32} AND day < ${dayParameter("beforeDay")}`;
  const parameters = { organization, beforeDay };
  const [found] = await warehouse.rows<{ events: number }>(
    `SELECT count() AS events FROM events WHERE ${old}`,
    parameters,
    noLimitOfTime,
  );
  // A mutation without a row to delete still looks at every part: half a second for nothing.
  if (found === undefined || found.events === 0) return 0;
  await warehouse.command(`ALTER TABLE events DELETE WHERE ${old}`, parameters, noLimitOfTime);
  return found.events;
}
