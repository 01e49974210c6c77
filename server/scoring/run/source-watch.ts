/**
 * Whether data is still received: from an organization at all, and from each of its sources. Scores wait
 * while it is not. See server/scoring/README.md.
 */
import { type SenderName, sourceLimits } from "../../../contract/sources.ts";
import { msPerHour, type Zone } from "../../calendar/zone.ts";
import type { DayCount } from "../../ledger/inbox.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { SourceHour, SourceTotals } from "../../ledger/stores/sources.ts";
import { longestSilenceMs, type Rhythm, rhythmOf } from "../scores/rhythm.ts";

/** The organization of the sources: days and hours of the week are in its zone. */
export interface WatchedOrganization {
  readonly id: number;
  readonly zone: Zone;
}

export interface SourceStatus extends SourceTotals {
  readonly state: "sending" | "silent" | "retired";
  /** Undefined while less than a week is known of it. */
  readonly rhythm: Rhythm | undefined;
  /** When it counts as silent without further data; null while that is unknown. */
  readonly silentFromMs: number | null;
  /** Its mean share of the stored items on the days of its last 4 weeks; null without any. */
  readonly share: number | null;
  readonly freezesScores: boolean;
}

/** A source that is silent. */
export interface Silence {
  readonly source: SenderName;
  readonly sinceMs: number;
  readonly freezesScores: boolean;
}

/** Data that has stopped, so that scores wait. */
export interface StoppedData {
  /** Null when nothing is received from any source. */
  readonly source: SenderName | null;
  /** When data was received last. */
  readonly sinceMs: number;
}

/** The parts of the ledger that say what was received. */
export type ReceiptLedger = Pick<SharedLedger, "dayCounts" | "lastBulkLoadAtMs"> & {
  readonly sources: Pick<SharedLedger["sources"], "totals" | "hours">;
};

/** Results that follow from the hours and days; they change only with a new hour or an import. */
interface Judged {
  readonly rhythm: Rhythm | undefined;
  readonly share: number | null;
}

/** The data of an organization as a whole. */
interface Whole {
  /** Null before the first data. */
  readonly lastHeardMs: number | null;
  readonly rhythm: Rhythm | undefined;
}

interface JudgedOrganization {
  readonly key: string;
  readonly sources: ReadonlyMap<SenderName, Judged>;
  readonly whole: Whole;
}

export class SourceWatch {
  readonly #ledger: ReceiptLedger;
  readonly #nowMs: () => number;
  /** By organization. Hours and days are read when a new hour has data or has begun, and after an import has
   * stored rows: 9,000 hours at most. */
  readonly #judged = new Map<number, JudgedOrganization>();

  constructor(ledger: ReceiptLedger, nowMs: () => number) {
    this.#ledger = ledger;
    this.#nowMs = nowMs;
  }

  /** Every source that ever sent. */
  async statuses(organization: WatchedOrganization): Promise<readonly SourceStatus[]> {
    return (await this.#statusesNow(organization)).statuses;
  }

  /** The sources that are silent, without retired sources. */
  async silent(organization: WatchedOrganization): Promise<readonly Silence[]> {
    return silencesOf(await this.statuses(organization));
  }

  /** Why the scores of a day wait: nothing is received, or nothing from one of the larger sources. Null when
   * scores do not wait. A day whose data was complete before does not wait. */
  async stoppedFor(organization: WatchedOrganization, day: number): Promise<StoppedData | null> {
    const { statuses, whole } = await this.#statusesNow(organization);
    const isMissing = (sinceMs: number) => organization.zone.dayOf(sinceMs) < day;
    const { lastHeardMs } = whole;
    if (lastHeardMs !== null && isWholeSilent(whole, statuses, this.#nowMs()) && isMissing(lastHeardMs)) {
      return { source: null, sinceMs: lastHeardMs };
    }
    const [longest] = silencesOf(statuses)
      .filter(({ freezesScores, sinceMs }) => freezesScores && isMissing(sinceMs))
      .toSorted((a, b) => a.sinceMs - b.sinceMs);
    return longest === undefined ? null : { source: longest.source, sinceMs: longest.sinceMs };
  }

  async #statusesNow(organization: WatchedOrganization) {
    const totals = await this.#ledger.sources.totals(organization.id);
    const { sources, whole } = await this.#judge(organization, totals);
    const statuses = totals.map((each) => statusOf(each, sources.get(each.source), this.#nowMs()));
    return { statuses, whole };
  }

  async #judge(
    { id, zone }: WatchedOrganization,
    totals: readonly SourceTotals[],
  ): Promise<JudgedOrganization> {
    const thisHour = hourOf(this.#nowMs());
    const heard = totals.map((each) => [each.source, hourOf(each.lastHeardMs ?? 0), each.retiredAtMs]);
    const key = JSON.stringify([thisHour, zone.name, heard, await this.#ledger.lastBulkLoadAtMs(id)]);
    const known = this.#judged.get(id);
    if (known?.key === key) return known;
    const hours = await this.#ledger.sources.hours(id, thisHour - sourceLimits.keptHours);
    const days = await this.#ledger.dayCounts(id);
    const judged = {
      key,
      sources: new Map(totals.map((each) => [each.source, judgedOf(each, hours, zone)])),
      whole: wholeOf({ totals, hours, days }, thisHour, zone),
    };
    this.#judged.set(id, judged);
    return judged;
  }
}

function silencesOf(statuses: readonly SourceStatus[]): Silence[] {
  return statuses.flatMap(({ source, state, lastHeardMs, freezesScores }) =>
    state === "silent" && lastHeardMs !== null ? [{ source, sinceMs: lastHeardMs, freezesScores }] : [],
  );
}

function statusOf(totals: SourceTotals, judged: Judged | undefined, nowMs: number): SourceStatus {
  const { lastHeardMs, retiredAtMs } = totals;
  const { rhythm, share = null } = judged ?? {};
  const silentFromMs = silentFrom(lastHeardMs, rhythm, nowMs);
  const isSilent = silentFromMs !== null && silentFromMs <= nowMs;
  return {
    ...totals,
    rhythm,
    share,
    silentFromMs,
    state: retiredAtMs !== null ? "retired" : isSilent ? "silent" : "sending",
    freezesScores:
      retiredAtMs === null && isSilent && rhythm !== undefined && (share ?? 0) >= sourceLimits.freezingShare,
  };
}

/** Without a rhythm (a new source, or a source without data in the stored hours) only eight weeks are
 * silence. */
function silentFrom(lastHeardMs: number | null, rhythm: Rhythm | undefined, nowMs: number): number | null {
  if (rhythm !== undefined) return rhythm.silentFromMs;
  if (lastHeardMs === null) return null;
  return nowMs - lastHeardMs >= longestSilenceMs ? lastHeardMs + longestSilenceMs : null;
}

function judgedOf({ source, firstHeardMs }: SourceTotals, hours: readonly SourceHour[], zone: Zone): Judged {
  const heard = hours.filter((hour) => hour.source === source && takenOf(hour) > 0);
  const last = heard.at(-1);
  if (last === undefined || firstHeardMs === null) return { rhythm: undefined, share: null };
  const rhythm = rhythmOf(
    heard.map(({ utcHour }) => utcHour),
    hourOf(firstHeardMs),
    zone,
  );
  return { rhythm, share: shareOf(source, hours, last.utcHour) };
}

/** Each day counts equally, so that a day with an import of several years weighs no more than others. */
function shareOf(source: SenderName, hours: readonly SourceHour[], lastHour: number): number | null {
  const days = new Map<number, { own: number; all: number }>();
  for (const { source: sender, utcHour, accepted } of hours) {
    const day = utcDayOf(utcHour);
    if (accepted === 0 || day > utcDayOf(lastHour) || day <= utcDayOf(lastHour) - sharedDays) continue;
    const counts = days.get(day) ?? { own: 0, all: 0 };
    counts.all += accepted;
    if (sender === source) counts.own += accepted;
    days.set(day, counts);
  }
  if (days.size === 0) return null;
  return [...days.values()].reduce((sum, { own, all }) => sum + own / all, 0) / days.size;
}

const sharedDays = 28;

interface Receipts {
  readonly totals: readonly SourceTotals[];
  readonly hours: readonly SourceHour[];
  readonly days: readonly DayCount[];
}

/** An organization is silent as a source is. Once all its sources are retired, scores wait for nothing. */
function isWholeSilent({ lastHeardMs, rhythm }: Whole, statuses: readonly SourceStatus[], nowMs: number) {
  if (statuses.length > 0 && statuses.every(({ state }) => state === "retired")) return false;
  const silentFromMs = silentFrom(lastHeardMs, rhythm, nowMs);
  return silentFromMs !== null && silentFromMs <= nowMs;
}

/**
 * The rhythm of all sources together that are not retired. A day with events on which none of them sent
 * counts as one hour, noon: imports are no source, and what they bring of the past shows how often data came.
 */
function wholeOf({ totals, hours, days }: Receipts, thisHour: number, zone: Zone): Whole {
  const kept = totals.filter(({ retiredAtMs }) => retiredAtMs === null);
  const isKept = new Set(kept.map(({ source }) => source));
  const sent = hours.filter((hour) => isKept.has(hour.source) && takenOf(hour) > 0);
  const sentDays = new Set(sent.map(({ utcHour }) => utcDayOf(utcHour)));
  const eventHours = days
    .filter(({ events, utcDay }) => events > 0 && !sentDays.has(utcDay))
    .map(({ utcDay }) => utcDay * hoursPerDay + hoursPerDay / 2)
    .filter((hour) => hour <= thisHour);
  const times = [
    ...kept.flatMap(({ firstHeardMs, lastHeardMs }) => [firstHeardMs, lastHeardMs]),
    ...eventHours.map((hour) => hour * msPerHour),
  ].filter((ms) => ms !== null);
  if (times.length === 0) return { lastHeardMs: null, rhythm: undefined };
  const recent = eventHours.filter((hour) => hour >= thisHour - sourceLimits.keptHours);
  const heard = [...new Set([...sent.map(({ utcHour }) => utcHour), ...recent])].sort((a, b) => a - b);
  return { lastHeardMs: Math.max(...times), rhythm: rhythmOf(heard, hourOf(Math.min(...times)), zone) };
}

const hoursPerDay = 24;

/** Items that were not rejected. */
export function takenOf({ accepted, held, duplicate, ignored }: SourceHour): number {
  return accepted + held + duplicate + ignored;
}

function hourOf(ms: number): number {
  return Math.floor(ms / msPerHour);
}

function utcDayOf(hour: number): number {
  return Math.floor(hour / hoursPerDay);
}
