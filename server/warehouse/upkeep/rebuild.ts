/**
 * Computes the days of all events of an organization again, in its present timezone, and every rollup from
 * them. It may be stopped at any point and simply be run again.
 *
 * The loader has to be paused at a point where every row of the old timezone is in the warehouse: change the
 * zone, drain the inbox, pause, rebuild, resume.
 *
 * A mutation changes the days: it rewrites the one column part by part and keeps finished parts after a
 * crash. Copying the events would need their space twice and could lose or double them in between. Each
 * rollup is computed in a separate table and replaces the old rows, so that its figures are missing only
 * while the old rows are deleted (0.1 s, where computing takes 3 s).
 *
 * The engine's timezone data is not used: it is older than the runtime's, by which intake computes days.
 */
import type { OffsetTransition } from "../../calendar/zone.ts";
import { onCluster } from "../engine/topology.ts";
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";
import { billingEvents, rollups } from "../schema/billing-tables.ts";
import { countsOfEvents, type Rollup, rowsOfRollup } from "../schema/tables.ts";
import { dayParameter, firstPossibleDay } from "./keep-events.ts";

export interface RebuildProgress {
  /** The finished step. */
  readonly step: string;
  readonly stepsDone: number;
  readonly steps: number;
}

/** Of a rebuild, of about the same length each. */
export const rebuildSteps = 1 + rollups.length;

/**
 * Rebuilds one organization.
 * @param organization its id
 * @param transitions its timezone's, sorted; the first covers the beginning of time
 * @param fromDay the first day whose raw events are complete: rollups of earlier days are kept
 * @throws WarehouseError; running it again repairs an unfinished rebuild
 */
export async function rebuild(
  warehouse: Warehouse,
  organization: number,
  transitions: readonly OffsetTransition[],
  progress: (progress: RebuildProgress) => void = () => undefined,
  fromDay = firstPossibleDay,
): Promise<void> {
  const steps = rebuildSteps;
  await rebuildDays(warehouse, organization, transitions);
  progress({ step: "days", stepsDone: 1, steps });
  for (const [index, rollup] of rollups.entries()) {
    await rebuildRollup(warehouse, organization, fromDay, rollup);
    progress({ step: rollup.table.name, stepsDone: index + 2, steps });
  }
  // Without these counts, scoring computes all scores of these days again.
  await warehouse.command("DELETE FROM scored_days WHERE organization = {organization:UInt32}", {
    organization,
  });
}

async function rebuildDays(
  warehouse: Warehouse,
  organization: number,
  transitions: readonly OffsetTransition[],
): Promise<void> {
  const needed = await transitionsOfEvents(warehouse, organization, transitions);
  // Counting from a day before 1970 keeps the dividend of intDiv above zero, where it rounds down.
  const offset = `transform(
    roundDown(intDiv(toUnixTimestamp64Milli(time), 1000), {fromSeconds:Array(Int64)}),
    {fromSeconds:Array(Int64)}, {offsets:Array(Int64)}, toInt64(0))`;
  await warehouse.command(
    `ALTER TABLE events UPDATE day = addDays(
       toDate32('1969-12-31'),
       intDiv(toUnixTimestamp64Milli(time) + 1000 * (${offset}) + 86400000, 86400000))
     WHERE organization = {organization:UInt32}`,
    {
      organization,
      fromSeconds: needed.map(({ fromMs }) => Math.floor(fromMs / 1_000)),
      offsets: needed.map(({ offsetSeconds }) => offsetSeconds),
    },
    noLimitOfTime,
  );
}

/** The transitions that some event needs. A zone has up to 700 until 2300, and the engine reads the
 * mutation's text again for every part of the table. */
async function transitionsOfEvents(
  warehouse: Warehouse,
  organization: number,
  transitions: readonly OffsetTransition[],
): Promise<readonly OffsetTransition[]> {
  const [span] = await warehouse.rows<{ firstMs: number; lastMs: number }>(
    `SELECT toUnixTimestamp64Milli(min(time)) AS firstMs, toUnixTimestamp64Milli(max(time)) AS lastMs
     FROM events WHERE organization = {organization:UInt32}`,
    { organization },
    noLimitOfTime,
  );
  const { firstMs, lastMs } = span ?? { firstMs: 0, lastMs: 0 };
  const first = Math.max(
    transitions.findLastIndex(({ fromMs }) => fromMs <= firstMs),
    0,
  );
  const afterLast = transitions.findIndex(({ fromMs }) => fromMs > lastMs);
  return transitions.slice(first, afterLast === -1 ? undefined : Math.max(afterLast, first + 1));
}

/** Larger groups go to disk. In the order of users, in which events are stored, few groups are open at a
 * time. Without that order 4 million rows of `user_event_days` took more memory than a query may have. */
const maxGroupBytes = 256 * 1024 * 1024;

interface Rows {
  readonly where: string;
  readonly parameters: Readonly<Record<string, number>>;
}

/** A local day and its neighbours: it ends at most 12 hours after the day of the same date in UTC. */
const daysOfAnyZone = 2;
const msPerDay = 86_400_000;

/** The rows that a rollup is computed from, and its rows that these replace. Those of deleted events stay. */
function partOf(
  { table, rebuiltFrom }: Rollup,
  organization: number,
  fromDay: number,
): { readonly source: Rows & { readonly table: string }; readonly replaced: Rows } {
  const all = { where: "organization = {organization:UInt32}", parameters: { organization } };
  if (rebuiltFrom !== undefined) return { source: { ...all, table: rebuiltFrom }, replaced: all };
  const events = { ...all, table: "events" };
  if (table.name !== billingEvents.table.name) {
    const where = `${all.where} AND day >= ${dayParameter("fromDay")}`;
    const ofDays = { where, parameters: { organization, fromDay } };
    return { source: { ...events, ...ofDays }, replaced: ofDays };
  }
  if (fromDay === firstPossibleDay) return { source: events, replaced: all };
  // Rows near the first day are written again and not deleted: two rows of one event are one row.
  const fromMs = (fromDay + daysOfAnyZone) * msPerDay;
  const where = `${all.where} AND time >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')`;
  return { source: events, replaced: { where, parameters: { organization, fromMs } } };
}

async function rebuildRollup(
  warehouse: Warehouse,
  organization: number,
  fromDay: number,
  rollup: Rollup,
): Promise<void> {
  const { table } = rollup;
  const { source, replaced } = partOf(rollup, organization, fromDay);
  const aside = `${table.name}_rebuilt`;
  const everywhere = onCluster(warehouse.topology);
  await warehouse.command(`DROP TABLE IF EXISTS ${aside}${everywhere} SYNC`);
  // As the table is, not as it would be made today: parts go only where the primary key is the same, too.
  await warehouse.command(`CREATE TABLE ${aside}${everywhere} AS ${table.name}`);
  // Rows equal to those of an earlier rebuild must not pass for the same block.
  await warehouse.command(
    `INSERT INTO ${aside} SETTINGS insert_deduplicate = 0, optimize_aggregation_in_order = 1,
       max_bytes_before_external_group_by = ${maxGroupBytes}
     ${rowsOfRollup(rollup, { from: source.table, and: source.where })}`,
    source.parameters,
    noLimitOfTime,
  );
  // Any replica may run the move, and it can move only parts that it has.
  if (everywhere !== "")
    await warehouse.command(`SYSTEM SYNC REPLICA${everywhere} ${aside}`, {}, noLimitOfTime);
  await warehouse.command(
    `DELETE FROM ${table.name} WHERE ${replaced.where}`,
    replaced.parameters,
    noLimitOfTime,
  );
  // Moved, not attached: a replicated table attaches a part only once. A rebuild with the same result as the
  // one before would leave no rows (ClickHouse's issue 31005).
  await warehouse.command(`ALTER TABLE ${aside} MOVE PARTITION tuple() TO TABLE ${table.name}`);
  // A part whose rows are all hidden has no counts, and would never be merged with neighbours that have some.
  // The engine drops an empty part within a minute.
  if (table.name === countsOfEvents.of) {
    await warehouse.command(`ALTER TABLE ${table.name} APPLY DELETED MASK`, {}, noLimitOfTime);
  }
  await warehouse.command(`DROP TABLE ${aside}${everywhere} SYNC`);
}
