/** The entities that a run scores, and how far back their data goes. */
import type { Settings } from "../../../contract/settings.ts";
import type { Zone } from "../../calendar/calendar.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { readActivity } from "../queries/activity-query.ts";
import type { EntityKind, Population } from "../queries/engagement-events.ts";
import { scoringSettings, settingsKey } from "../scores/settings.ts";
import { quietWeeks } from "../statistics/usual.ts";

export interface ScoredOrganization {
  readonly id: number;
  readonly zone: Zone;
  readonly settings: Settings;
  /** A key of the set of users that are excluded now; another set has another key. */
  readonly excluded?: string;
  /** First days of weeks in which the data had stopped, as known on the day that is scored. */
  readonly outageWeeks?: readonly number[];
}

/** An organization's users, or its accounts. */
export function populationOf(
  { id, zone, settings, outageWeeks: weeks = [] }: ScoredOrganization,
  kind: EntityKind,
): Population {
  return {
    organization: id,
    kind,
    settings: { ...scoringSettings(settings, kind).features, outageWeeks: weeks },
    zone,
  };
}

/** Names everything that is set and that a run depends on. */
export function runKey({ settings, excluded = "" }: ScoredOrganization): string {
  return `${settingsKey(settings)} ${excluded}`;
}

/** The part of a run's key for the excluded users, which has no space. */
export function excludedOfKey(key: string): string {
  return key.slice(key.lastIndexOf(" ") + 1);
}

/** A key of the set of users who are excluded from figures. */
export async function excludedKey(warehouse: Warehouse, organization: number): Promise<string> {
  const [row] = await warehouse.rows<{ key: string }>(
    `SELECT hex(sipHash64(arraySort(bitmapToArray(groupBitmapMergeState(users))))) AS key
     FROM excluded_users FINAL WHERE organization = {organization:UInt32}`,
    { organization },
  );
  return row?.key ?? "";
}

/** The organization with the weeks without data that were known on a day: those in which no user was active. */
export async function withOutages(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  day: number,
): Promise<ScoredOrganization> {
  const weeks = await readActivity(warehouse, populationOf(organization, "user"), day);
  const empty = [...quietWeeks(weeks).keys()].filter((index) => weeks[index] === 0);
  return { ...organization, outageWeeks: empty.map((index) => day - 7 * (index + 1)) };
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
