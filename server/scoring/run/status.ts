/** The state of an organization behind answers about scores: its newest run, an earlier one, and whether data flows. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { stoppedForDays } from "../data-quality/outage.ts";
import { readActivity } from "../queries/activity-query.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import { populationOf, type ScoredOrganization } from "./population.ts";
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

/** The day since which far fewer users than usual are active; null while data flows. */
export async function dataStoppedSince(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  day: number,
): Promise<number | null> {
  const activity = await readActivity(warehouse, populationOf(organization, "user"), day);
  const stopped = stoppedForDays(activity);
  return stopped === 0 ? null : day - stopped;
}
