/** Prints the state that a killed server left, as JSON. `killing.ts` runs it on a folder without a running
 * server. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { warehouseFolder } from "../../server/process/data-folder.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";

const dataDir = process.argv[2] ?? "";
const ledger = new Database(join(dataDir, "ledger.sqlite"));
const { acknowledged } = ledger
  .query("SELECT coalesce(sum(events), 0) AS acknowledged FROM day_counts")
  .get() as {
  acknowledged: number;
};
const { waiting } = ledger
  .query(
    `SELECT coalesce(sum(rows), 0) AS waiting FROM inbox
     WHERE warehouse_table = 'events' AND id > (SELECT frozen_upto_inbox_id FROM inbox_position)`,
  )
  .get() as { waiting: number };
const { unfinished, unfinishedEvents } = ledger
  .query(
    `SELECT count(*) AS unfinished, coalesce(sum(iif(warehouse_table = 'events', rows, 0)), 0) AS unfinishedEvents
     FROM frozen_batches WHERE finished_at_ms IS NULL`,
  )
  .get() as { unfinished: number; unfinishedEvents: number };
ledger.close();

const warehouse = await openChdbWarehouse({ folder: warehouseFolder(dataDir) });
const [counts] = await warehouse.rows<{ events: number; rollup: number }>(
  "SELECT (SELECT count() FROM events) AS events, (SELECT sum(count) FROM user_event_days) AS rollup",
);
await warehouse.close();
const finishedEvents = acknowledged - waiting - unfinishedEvents;
// Rows are there that the ledger does not know to be there, or events without their rollups.
const halfWritten =
  counts !== undefined && (counts.events > finishedEvents || counts.events !== counts.rollup);
process.stdout.write(JSON.stringify({ unfinishedBatches: unfinished, halfWritten }));
process.exit(0);
