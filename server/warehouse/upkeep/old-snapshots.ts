/**
 * Drops old snapshots of features, a partition at a time: the Mondays of a month, or its other days. Dropping
 * a partition rewrites nothing. The records of a partition's snapshots are deleted first, so that no record
 * is without its rows.
 */
import { msPerDay } from "../../calendar/zone.ts";
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";
import { snapshotTables } from "../schema/snapshot-tables.ts";

/** Days other than Mondays are kept until the whole month is this old. */
const keptDays = 90;
/** Mondays, at which models are trained. */
const keptMondays = 3 * 366;

interface Partition {
  readonly table: string;
  readonly id: string;
  readonly isOfMondays: boolean;
  /** As in 202612. */
  readonly month: number;
}

/** Snapshots that were written later than this may be read by a run or a training: of days long ago, after an
 * import. */
const restMs = msPerDay;

/** Drops what is older. @returns the dropped partitions */
export async function dropOldSnapshots(warehouse: Warehouse, nowMs: number): Promise<number> {
  const today = Math.floor(nowMs / msPerDay);
  const old = await warehouse.rows<Partition>(
    `SELECT table, id, isOfMondays = 1 AS isOfMondays, month
     FROM (
       SELECT DISTINCT table, partition_id AS id,
         toUInt8(splitByChar('-', partition_id)[1]) AS isOfMondays,
         toUInt32(splitByChar('-', partition_id)[2]) AS month
       FROM system.parts
       WHERE database = currentDatabase() AND active AND table IN {tables:Array(String)})
     WHERE toInt32(toLastDayOfMonth(YYYYMMDDToDate32(month * 100 + 1)))
       < {today:Int32} - if(isOfMondays = 1, ${keptMondays}, ${keptDays})
     ORDER BY table, id`,
    { today, tables: snapshotTables.map(({ name }) => name) },
  );
  let dropped = 0;
  for (const { table, id, isOfMondays, month } of old) {
    // A version is the time of the writing.
    const [newest] = await warehouse.rows<{ version: number }>(
      `SELECT max(version) AS version FROM ${table} WHERE _partition_id = {id:String}`,
      { id },
    );
    if ((newest?.version ?? 0) > nowMs - restMs) continue;
    dropped += 1;
    await warehouse.command(
      `ALTER TABLE score_records DELETE
       WHERE what IN ('snapshot', 'fit') AND kind = {kind:String} AND toYYYYMM(day) = {month:UInt32}
         AND (toDayOfWeek(day) = 1) = {isOfMondays:Bool}`,
      { kind: table.startsWith("user") ? "user" : "account", month, isOfMondays },
      noLimitOfTime,
    );
    await warehouse.command(`ALTER TABLE ${table} DROP PARTITION ID '${id}'`, {}, noLimitOfTime);
  }
  return dropped;
}
