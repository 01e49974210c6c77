/** Runs of every day, as a service that worked for long has them. */
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";

const kinds = ["user", "account"] as const;

interface Days {
  readonly organization: number;
  readonly fromDay: number;
  readonly toDay: number;
}

/** Stores a run of each day, of two users and of two accounts. @param version of all rows and records */
export async function fillDays(
  warehouse: Warehouse,
  { organization, fromDay, toDay }: Days,
  version: number,
): Promise<void> {
  const parameters = { organization, fromDay, toDay, version };
  const days = `SELECT addDays(toDate32('1970-01-01'), {fromDay:Int32} + number) AS day
    FROM numbers(toUInt64({toDay:Int32} - {fromDay:Int32} + 1))`;
  for (const kind of kinds) {
    await warehouse.command(
      `INSERT INTO ${kind}_scores (organization, day, ${kind}, version, state, colour, health)
       SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0
       SELECT {organization:UInt32}, day, arrayJoin([1, 2]), {version:UInt64}, 'active', 'watch', 50 FROM (${days})`,
      parameters,
    );
    await warehouse.command(
      `INSERT INTO score_records (organization, kind, what, day, version, stale, body, rows_version, settings_key,
         declared_outages, first_published_at_ms, rung) SETTINGS insert_deduplicate = 0
       SELECT {organization:UInt32}, '${kind}', 'run', day, {version:UInt64}, false, '{}', {version:UInt64}, 'key', '[]', 1, 1
       FROM (${days})`,
      parameters,
    );
  }
}

/** The days that have rows in a table of scores, or records of runs. */
export async function daysIn(
  warehouse: Warehouse,
  table: "user_scores" | "account_scores" | "score_records",
  organization: number,
): Promise<number[]> {
  const rows = await warehouse.rows<{ day: number }>(
    `SELECT DISTINCT toInt32(day) AS day FROM ${table} WHERE organization = {organization:UInt32} ORDER BY day`,
    { organization },
  );
  return rows.map(({ day }) => day);
}
