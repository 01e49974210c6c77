/**
 * Deletes raw events at the end of their retention time. Rollups stay, so figures do not change. The ledger
 * has to know the first kept day before the first event is deleted, because neither a check nor a rebuild can
 * look behind it.
 */
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";

/** The first day that the warehouse can hold: 1969-12-31, in days since 1970-01-01. */
export const firstPossibleDay = -1;

/** The day as the engine's type, for comparisons: `day >= ${dayParameter("fromDay")}`. */
export function dayParameter(name: string): string {
  return `addDays(toDate32('1970-01-01'), {${name}:Int32})`;
}

/** The events of an organization that are older than it keeps them. */
export interface OldEvents {
  readonly organization: number;
  /** The first day that is kept, in days since 1970-01-01. */
  readonly beforeDay: number;
}

/** Runs `work` while no row is loaded. */
type WithoutLoading = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Deletes old events of all these organizations; returns how many there were, by organization. Late events
 * with an older time are counted in the rollups and deleted here the next time.
 *
 * A partition is a year of all organizations. One with old events alone is dropped. Others are written anew,
 * once for all organizations, and partitions without old events are not written. */
export async function dropEvents(
  warehouse: Warehouse,
  old: readonly OldEvents[],
  withoutLoading: WithoutLoading,
): Promise<ReadonlyMap<number, number>> {
  const parameters = {
    organizations: old.map(({ organization }) => organization),
    beforeDays: old.map(({ beforeDay }) => beforeDay),
    beforeSeconds: (Math.max(...old.map(({ beforeDay }) => beforeDay)) + dayAtMost) * secondsPerDay,
  };
  const found = await warehouse.rows<{ partition: string; organization: number; events: number }>(
    `SELECT _partition_id AS partition, organization, count() AS events FROM events
     WHERE ${isOld} GROUP BY partition, organization ORDER BY partition`,
    parameters,
    noLimitOfTime,
  );
  for (const [partition, rows] of Map.groupBy(found, (row) => row.partition)) {
    const events = sumOf(rows);
    if (await withoutLoading(() => dropIfAllOld(warehouse, partition, events))) continue;
    await warehouse.command(
      `ALTER TABLE events DELETE IN PARTITION ID ${quoted(partition)} WHERE ${isOld}`,
      parameters,
      noLimitOfTime,
    );
  }
  const byOrganization = Map.groupBy(found, ({ organization }) => organization);
  return new Map([...byOrganization].map(([organization, rows]) => [organization, sumOf(rows)]));
}

/** A local day ends at most 12 hours after the day of the same date in UTC. */
const dayAtMost = 2;
const secondsPerDay = 86_400;

// The condition on time lets the engine leave out partitions and parts.
const isOld = `organization IN {organizations:Array(UInt32)}
  AND time < toDateTime64({beforeSeconds:Int64}, 3, 'UTC')
  AND toInt32(day) < transform(organization, {organizations:Array(UInt32)}, {beforeDays:Array(Int32)}, toInt32(${firstPossibleDay}))`;

/** Drops a partition that has no other rows than this many old ones. Nothing but the loader adds rows to it.
 * @returns whether it did */
async function dropIfAllOld(warehouse: Warehouse, partition: string, oldEvents: number): Promise<boolean> {
  const [all] = await warehouse.rows<{ events: number }>(
    "SELECT count() AS events FROM events WHERE _partition_id = {partition:String}",
    { partition },
    noLimitOfTime,
  );
  if (all?.events !== oldEvents) return false;
  await warehouse.command(`ALTER TABLE events DROP PARTITION ID ${quoted(partition)}`, {}, noLimitOfTime);
  return true;
}

/** The id of a partition as a text of SQL: a statement that changes a table takes no bound value here.
 * @throws Error unless it is a year */
function quoted(partition: string): string {
  if (!/^\d+$/.test(partition)) throw new Error(`The partition ${partition} of events is no year.`);
  return `'${partition}'`;
}

function sumOf(rows: readonly { readonly events: number }[]): number {
  return rows.reduce((sum, { events }) => sum + events, 0);
}
