/** Whom a run scores, and how far back there is something to know of them. */
import type { Zone } from "../../calendar/zone.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { EntityKind, Population } from "../queries/engagement-events.ts";
import { featureSettingsOf, type ScoreSettings } from "../settings.ts";

export interface ScoredOrganization {
  readonly id: number;
  readonly zone: Zone;
  readonly settings: ScoreSettings;
}

/** An organization's users, or its accounts. */
export function populationOf({ id, zone, settings }: ScoredOrganization, kind: EntityKind): Population {
  return { organization: id, kind, settings: featureSettingsOf(settings), zone };
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
