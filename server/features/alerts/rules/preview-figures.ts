/** How a rule would have done, from the replays of its entities: pure. */
import { daysWithin, type Outages } from "../../../scoring/scores/observed-days.ts";
import { type Interval, wilson } from "../../../scoring/statistics/wilson.ts";
import type { FiredInPast, Replayed } from "./replay.ts";

/** The scored days of a preview, in order. */
interface PreviewDays {
  readonly days: readonly number[];
  readonly horizonDays: number;
  readonly outages: Outages;
}

/** How many of the alerts churned. */
export interface Precision {
  /** Alerts whose horizon is over, at most one of an entity a horizon. */
  readonly mature: number;
  readonly churned: number;
  /** Null without a mature alert. */
  readonly rate: number | null;
  readonly interval: Interval | null;
}

export interface PreviewFigures {
  /** Alerts by week, from its Monday. */
  readonly weeks: readonly { readonly monday: number; readonly fired: number }[];
  readonly fired: number;
  /** Entities with an alert. */
  readonly entities: number;
  readonly open: number;
  readonly precision: Precision;
  /** Entities that churned at least a horizon after the first day, and how many of them had no open alert and
   * no alert in the horizon before. An open alert counts as noticed, however old it is. */
  readonly churnedEntities: number;
  readonly missed: number;
  /** The median days from a mature alert to the churn; null when no entity churned. */
  readonly medianLeadDays: number | null;
  /** Alerts whose exit held within a week. */
  readonly flapped: number;
  readonly insideBySettings: number;
}

const flapDays = 7;

/** Sums up the replays. They are read once. */
export function previewFigures(replays: Iterable<Replayed>, about: PreviewDays): PreviewFigures {
  const { days, horizonDays } = about;
  const [firstDay = 0, lastDay = 0] = [days[0], days.at(-1)];
  const byWeek = new Map<number, number>();
  for (let monday = mondayOf(firstDay); monday <= lastDay; monday += 7) byWeek.set(monday, 0);
  const sums = {
    entities: 0,
    fired: 0,
    open: 0,
    mature: 0,
    churned: 0,
    churnedEntities: 0,
    missed: 0,
    flapped: 0,
  };
  let insideBySettings = 0;
  const leads: number[] = [];
  for (const replayed of replays) {
    const { fired } = replayed;
    insideBySettings += replayed.insideBySettings;
    sums.fired += fired.length;
    if (fired.length > 0) sums.entities += 1;
    for (const { day, leftOn, closed } of fired) {
      const monday = mondayOf(day);
      byWeek.set(monday, (byWeek.get(monday) ?? 0) + 1);
      if (closed === null) sums.open += 1;
      if (leftOn !== null && leftOn - day <= flapDays) sums.flapped += 1;
    }
    for (const { day } of oneByHorizon(fired, horizonDays)) {
      const hasChurned = outcomeOf(replayed, day, about);
      if (hasChurned === undefined) continue;
      sums.mature += 1;
      if (!hasChurned) continue;
      sums.churned += 1;
      const churn = replayed.churns.find((each) => each > day && each <= day + horizonDays);
      if (churn !== undefined) leads.push(churn - day);
    }
    for (const churn of replayed.churns) {
      if (churn - horizonDays < firstDay) continue;
      sums.churnedEntities += 1;
      const isTold = fired.some(({ day }) => day < churn && day >= churn - horizonDays);
      if (!isTold && !replayed.noticed.has(churn)) sums.missed += 1;
    }
  }
  const { mature, churned, ...counts } = sums;
  return {
    ...counts,
    weeks: [...byWeek].sort(([a], [b]) => a - b).map(([monday, count]) => ({ monday, fired: count })),
    precision: precisionOf(mature, churned),
    medianLeadDays: medianOf(leads),
    insideBySettings,
  };
}

/** A share of alerts with its interval. */
export function precisionOf(mature: number, churned: number): Precision {
  if (mature === 0) return { mature, churned, rate: null, interval: null };
  return { mature, churned, rate: churned / mature, interval: wilson(churned, mature) };
}

/** The days whose outcome is known: their horizon is over, without an outage in it. */
export function matureDays({ days, horizonDays, outages }: PreviewDays): number[] {
  const scored = new Set(days);
  return days.filter(
    (day) => scored.has(day + horizonDays) && daysWithin(outages, day, day + horizonDays) === 0,
  );
}

/** Whether an entity had churned a horizon later; undefined if it is unknown. */
function outcomeOf(
  { hasChurnedOn }: Replayed,
  day: number,
  { horizonDays, outages }: PreviewDays,
): boolean | undefined {
  if (daysWithin(outages, day, day + horizonDays) > 0) return undefined;
  return hasChurnedOn.get(day + horizonDays);
}

/** The alerts of an entity that count: an alert within a horizon of a counted alert does not count. @param
 * fired in the order of days */
export function oneByHorizon<Fired extends Pick<FiredInPast, "day">>(
  fired: readonly Fired[],
  horizonDays: number,
): Fired[] {
  const counted: Fired[] = [];
  for (const alert of fired) {
    const last = counted.at(-1);
    if (last === undefined || alert.day >= last.day + horizonDays) counted.push(alert);
  }
  return counted;
}

/** The Monday on or before a day: 1970-01-01 was a Thursday. */
export function mondayOf(day: number): number {
  return day - ((((day - 4) % 7) + 7) % 7);
}

/** The median; null without numbers. */
export function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [one, other] = [sorted[middle - 1], sorted[middle]];
  if (other === undefined) return null;
  return sorted.length % 2 === 1 || one === undefined ? other : (one + other) / 2;
}
