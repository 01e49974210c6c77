/** Opens the warehouse of a stopped server and waits until the engine has removed the parts that it replaced.
 * The engine waits a second for that here instead of 8 minutes. `support.ts` runs it in a process of its
 * own. */
import { warehouseFolder } from "../../server/process/data-folder.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import { until } from "../until.ts";

const warehouse = await openChdbWarehouse({ folder: warehouseFolder(process.argv[2] ?? "") });
const tables = await warehouse.rows<{ name: string }>(
  "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
);
for (const { name } of tables) {
  await warehouse.command(
    `ALTER TABLE ${name} MODIFY SETTING old_parts_lifetime = 1, cleanup_delay_period = 1, max_cleanup_delay_period = 1`,
  );
  // A table's background tasks have planned their waits with the old settings. Those of a newly attached
  // table have not.
  await warehouse.command(`DETACH TABLE ${name}`);
  await warehouse.command(`ATTACH TABLE ${name}`);
}
await until(
  "no old part is left",
  async () => {
    // Without work the engine's background looks again only after many seconds. This statement wakes it.
    for (const { name } of tables) await warehouse.command(`SYSTEM START MERGES ${name}`);
    const [old] = await warehouse.rows<{ parts: number }>(
      "SELECT count() AS parts FROM system.parts WHERE database = currentDatabase() AND NOT active",
    );
    return old?.parts;
  },
  (parts) => parts === 0,
);
await warehouse.close();
process.exit(0);
