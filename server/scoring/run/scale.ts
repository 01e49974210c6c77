/** The scale of engagement, fixed for a calendar month. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { readUsualBehaviour, type UsualBehaviour } from "../queries/scale-query.ts";
import { snapshotFor } from "../queries/stored-snapshots.ts";
import { modelKey } from "../scores/settings.ts";
import { declaredKey, populationOf, type ScoredOrganization } from "./population.ts";
import { keepRecord, recordOf } from "./records.ts";

/** A first scale is measured when there was a week to measure. */
const firstMeasuredAfterDays = 7;
const msPerDay = 86_400_000;

export interface ScaleOfDay {
  readonly scale: UsualBehaviour;
  readonly scaleDay: number;
}

/** The scale of users that serves on a day: the one that was kept, while it is right, or measured now. */
export async function scaleFor(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  day: number,
  firstDay: number,
): Promise<ScaleOfDay> {
  const scaleDay = scaleDayOf(day, firstDay);
  const key = { organization: organization.id, kind: "user", what: "scale" } as const;
  const settings = modelKey(organization.settings, "user");
  const kept = await recordOf(warehouse, key, scaleDay);
  const declaredOutages = declaredKey(organization, scaleDay);
  const { settingsKey: keptSettings, declaredOutages: keptOutages } = kept?.body ?? {};
  if (kept?.stale === false && keptSettings === settings && keptOutages === declaredOutages) {
    return { scale: kept.body, scaleDay };
  }
  const users = populationOf(organization, "user");
  const scale = await readUsualBehaviour(warehouse, users, await snapshotFor(warehouse, users, scaleDay));
  const version = (kept?.version ?? 0) + 1;
  await keepRecord(warehouse, key, {
    day: scaleDay,
    version,
    body: { ...scale, settingsKey: settings, declaredOutages },
  });
  return { scale, scaleDay };
}

/**
 * The day of the scale for the scores of `day`: the first of its month. In an organization's first month, a
 * week after its first event, and within that week the day itself.
 */
function scaleDayOf(day: number, firstDay: number): number {
  const date = new Date(day * msPerDay);
  const monthStart = Math.floor(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / msPerDay);
  const measurable = firstDay + firstMeasuredAfterDays;
  return measurable <= monthStart ? monthStart : Math.min(day, measurable);
}
