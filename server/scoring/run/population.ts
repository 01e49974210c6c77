/** Whom a run scores, and how far back there is something to know of them. */
import type { Zone } from "../../calendar/zone.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { outageWeeks } from "../outage.ts";
import { readActivity } from "../queries/activity-query.ts";
import type { EntityKind, Population } from "../queries/engagement-events.ts";
import { featureSettingsOf, type ScoreSettings } from "../settings.ts";

export interface ScoredOrganization {
  readonly id: number;
  readonly zone: Zone;
  readonly settings: ScoreSettings;
  /** First days of weeks in which the data had stopped, as known on the day that is scored. */
  readonly outageWeeks?: readonly number[];
}

/** An organization's users, or its accounts. */
export function populationOf(
  { id, zone, settings, outageWeeks: weeks = [] }: ScoredOrganization,
  kind: EntityKind,
): Population {
  return { organization: id, kind, settings: { ...featureSettingsOf(settings), outageWeeks: weeks }, zone };
}

/** The organization with the weeks without data that were known on a day. */
export async function withOutages(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  day: number,
): Promise<ScoredOrganization> {
  const { weeks } = await readActivity(warehouse, populationOf(organization, "user"), day);
  return { ...organization, outageWeeks: [...outageWeeks(weeks)].map((index) => day - 7 * (index + 1)) };
}

/** The day of an organization's first event; undefined before there is one. */
export async function firstDayOf(warehouse: Warehouse, organization: number): Promise<number | undefined> {
  const [row] = await warehouse.rows<{ users: number; firstDay: number }>(
    `SELECT count() AS users, toInt32(min(first_day)) AS firstDay
     FROM user_spans WHERE organization = {organization:UInt32}`,
    { organization },
  );
  return row === undefined || row.users === 0 ? undefined : row.firstDay;
}
