/** The newest run of an organization, which answers about scores come from. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import type { RunBody } from "./record-bodies.ts";
import { newestRecord, type ScoreRecord } from "./records.ts";

/** The newest finished run as of a day or before. */
export function newestRun(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  uptoDay: number,
): Promise<ScoreRecord<RunBody> | undefined> {
  return newestRecord(warehouse, { organization, kind, what: "run" }, uptoDay);
}

/** Whether a run of an organization was ever complete. Accounts come after users, and have a record even
 * where there are none.
 * @throws WarehouseError */
export async function hasCompleteRun(warehouse: Warehouse, organization: number): Promise<boolean> {
  const [found] = await warehouse.rows<{ has: boolean }>(
    `SELECT toBool(count() > 0) AS has FROM (
       SELECT 1 FROM score_records WHERE organization = {organization:UInt32} AND kind = 'account' AND what = 'run' LIMIT 1)`,
    { organization },
  );
  return found?.has === true;
}
