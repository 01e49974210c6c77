/** The warehouse's size on disk. Merged parts stay for 8 minutes after their merge, in case the power fails
 * before the new part is on disk. They are counted separately. */
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";

export interface WarehouseSize {
  readonly activeBytes: number;
  /** Of parts that a merge has replaced and that are about to go. */
  readonly replacedBytes: number;
  readonly activeParts: number;
}

/** Sizes over all tables and organizations. */
export async function warehouseSize(warehouse: Warehouse): Promise<WarehouseSize> {
  const [size] = await warehouse.rows<WarehouseSize>(sql);
  return size ?? { activeBytes: 0, replacedBytes: 0, activeParts: 0 };
}

const sql = `
  SELECT
    sumIf(bytes_on_disk, active) AS activeBytes,
    sumIf(bytes_on_disk, NOT active) AS replacedBytes,
    countIf(active) AS activeParts
  FROM system.parts WHERE database = currentDatabase()`;
