/** Snapshots of accounts that have rows of erased users in their features. */
import type { Warehouse } from "../engine/warehouse.ts";

/** Marks the accounts' snapshots of organizations as stale: the next training computes them again. The rows
 * of users are deleted. */
export function markAccountSnapshotsStale(
  warehouse: Warehouse,
  organizations: readonly number[],
): Promise<void> {
  return warehouse.command(
    `INSERT INTO score_records SETTINGS insert_deduplicate = 0
     SELECT * REPLACE (version + 1 AS version, true AS stale)
     FROM (SELECT * FROM score_records FINAL
       WHERE organization IN {organizations:Array(UInt32)} AND kind = 'account' AND what = 'snapshot' AND NOT stale)`,
    { organizations: [...organizations] },
  );
}
