/** Parts of tables that the engine could not read when it opened them, and has set aside: figures lack their
 * rows. */
import type { Warehouse } from "./warehouse.ts";

/** Their names, each after its table: `events/2026_1_4_1`. @throws WarehouseError */
export async function damagedParts(warehouse: Pick<Warehouse, "rows">): Promise<readonly string[]> {
  const rows = await warehouse.rows<{ part: string }>(
    `SELECT concat(table, '/', name) AS part FROM system.detached_parts
     WHERE database = currentDatabase() AND startsWith(reason, 'broken') ORDER BY part`,
  );
  return rows.map(({ part }) => part);
}
