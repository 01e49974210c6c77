/** The entities that a run scores, and how far back their data goes. */
import type { Settings } from "../../../contract/settings.ts";
import type { Zone } from "../../calendar/zone.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { LabelWeights, noWeights, type ReadEntered } from "../churn/entered.ts";
import { readDataDays } from "../queries/data-days.ts";
import type { EntityKind, Population } from "../queries/engagement-events.ts";
import { startOfData } from "../scores/data-start.ts";
import { joinedSpans, type Outages } from "../scores/observed-days.ts";
import { outagesOf } from "../scores/outages.ts";
import { scoringSettings, settingsKey } from "../scores/settings.ts";

export interface ScoredOrganization {
  readonly id: number;
  readonly zone: Zone;
  readonly settings: Settings;
  /** A key of the set of users that are excluded now; another set has another key. Only runs need it. */
  readonly excluded?: string;
  /** Outages that were declared by hand. */
  readonly declaredOutages?: Outages;
  /** The first day whose raw events are kept; null while none were deleted. */
  readonly eventsFromDay?: number | null;
  /** Days on which data collection had stopped, as known on the day that is scored: declared, or seen in the
   * data. */
  readonly outages?: Outages;
  /** Reads who was in an experiment; left out where nobody can have been. */
  readonly readEntered?: ReadEntered | undefined;
}

/** What labels of an organization weigh, of horizons that are over on a day. */
export async function weightsOf(
  { id, readEntered }: Pick<ScoredOrganization, "id" | "readEntered">,
  kind: EntityKind,
  {
    fromDay,
    day,
    horizonDays,
  }: { readonly fromDay: number; readonly day: number; readonly horizonDays: number },
): Promise<LabelWeights> {
  if (readEntered === undefined) return noWeights;
  const entered = await readEntered({ organization: id, kind }, fromDay - horizonDays, day);
  return new LabelWeights(entered, horizonDays);
}

/** An organization's users, or its accounts. */
export function populationOf(
  { id, zone, settings, outages = [] }: ScoredOrganization,
  kind: EntityKind,
): Population {
  return {
    organization: id,
    kind,
    settings: { ...scoringSettings(settings, kind).features, outages },
    zone,
  };
}

/** Names everything that is set and that a run depends on. */
export function runKey({ settings, excluded = "" }: ScoredOrganization): string {
  return `${settingsKey(settings)} ${excluded}`;
}

/** The part of a run's key for the settings. */
export function settingsOfKey(key: string): string {
  return key.slice(0, key.lastIndexOf(" "));
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

/** The days of declared outages before a day, as text: results of a day follow from these. */
export function declaredKey(
  { declaredOutages = [] }: Pick<ScoredOrganization, "declaredOutages">,
  day: number,
): string {
  return JSON.stringify(joinedSpans(declaredOutages, day));
}

/** The organization with the outages that were known at the start of a day. */
export async function withOutages(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  day: number,
): Promise<ScoredOrganization> {
  const { id, declaredOutages = [] } = organization;
  const seen = await outagesBefore(warehouse, id, day);
  return { ...organization, outages: joinedSpans([...seen, ...declaredOutages], day) };
}

/** The outages before a day that are seen in the data. */
export async function outagesBefore(
  warehouse: Warehouse,
  organization: number,
  day: number,
): Promise<Outages> {
  return outagesOf(await readDataDays(warehouse, organization, day), day);
}

/** The day with which an organization's data from before a day begins; undefined without any. A few events of
 * long before do not count. */
export async function firstDayOf(
  warehouse: Warehouse,
  organization: number,
  beforeDay: number,
): Promise<number | undefined> {
  const days = await readDataDays(warehouse, organization, beforeDay);
  return startOfData(days.map(({ day, users }) => ({ day, count: users })));
}
