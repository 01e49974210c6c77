/** The newest run of an organization, which answers about scores come from. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
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
