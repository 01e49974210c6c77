/** Which sources of an organization are silent, and for which of them scores wait: see docs/decisions/0025. */
import { type SenderName, sourceLimits } from "../../../contract/sources.ts";
import { msPerHour, type Zone } from "../../calendar/calendar.ts";
import type { SharedLedger, SourceHour, SourceTotals } from "../../ledger/ledger.ts";
import { longestSilenceMs, type Rhythm, rhythmOf } from "./rhythm.ts";

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

/** Results that follow from the hours; they change only with a new hour. */
interface Judged {
  readonly rhythm: Rhythm | undefined;
  readonly share: number | null;
}

export class SourceWatch {
  readonly #sources: Pick<SharedLedger["sources"], "totals" | "hours">;
  readonly #nowMs: () => number;
  /** By organization. Hours are read when a new hour has data: 9,000 rows at most. */
  readonly #judged = new Map<number, { readonly key: string; readonly judged: Map<SenderName, Judged> }>();

  constructor(sources: Pick<SharedLedger["sources"], "totals" | "hours">, nowMs: () => number) {
    this.#sources = sources;
    this.#nowMs = nowMs;
  }

  /** Every source that ever sent. */
  async statuses(organization: WatchedOrganization): Promise<readonly SourceStatus[]> {
    const totals = await this.#sources.totals(organization.id);
    if (totals.length === 0) return [];
    const judged = await this.#judge(organization, totals);
    return totals.map((each) => statusOf(each, judged.get(each.source), this.#nowMs()));
  }

  /** The sources that are silent; those that were retired are not among them. */
  async silent(organization: WatchedOrganization): Promise<readonly Silence[]> {
    return (await this.statuses(organization)).flatMap(({ source, state, lastHeardMs, freezesScores }) =>
      state === "silent" && lastHeardMs !== null ? [{ source, sinceMs: lastHeardMs, freezesScores }] : [],
    );
  }

  /** The source that delays the scores of a day, the one that is silent for longest; null when none does. A day whose
   * data was complete before the silence is not delayed. */
  async frozenBy(organization: WatchedOrganization, day: number): Promise<Silence | null> {
    const frozen = (await this.silent(organization)).filter(
      ({ freezesScores, sinceMs }) => freezesScores && organization.zone.dayOf(sinceMs) < day,
    );
    return frozen.toSorted((a, b) => a.sinceMs - b.sinceMs)[0] ?? null;
  }

  async #judge(
    { id, zone }: WatchedOrganization,
    totals: readonly SourceTotals[],
  ): Promise<Map<SenderName, Judged>> {
    const heard = totals.map(({ source, lastHeardMs }) => [source, hourOf(lastHeardMs ?? 0)]);
    const key = JSON.stringify([zone.name, heard]);
    const known = this.#judged.get(id);
    if (known?.key === key) return known.judged;
    const hours = await this.#sources.hours(id, hourOf(this.#nowMs()) - sourceLimits.keptHours);
    const judged = new Map(totals.map((each) => [each.source, judgedOf(each, hours, zone)]));
    this.#judged.set(id, { key, judged });
    return judged;
  }
}

function statusOf(totals: SourceTotals, judged: Judged | undefined, nowMs: number): SourceStatus {
  const { lastHeardMs, retiredAtMs } = totals;
  const { rhythm, share = null } = judged ?? {};
  const silentFromMs = silentFrom(lastHeardMs, rhythm, nowMs);
  const isSilent = silentFromMs !== null && silentFromMs <= nowMs;
  return {
    ...{ ...totals, rhythm, share, silentFromMs },
    state: retiredAtMs !== null ? "retired" : isSilent ? "silent" : "sending",
    freezesScores:
      retiredAtMs === null && isSilent && rhythm !== undefined && (share ?? 0) >= sourceLimits.freezingShare,
  };
}

/** Without a rhythm (a new source, or one without data since before the stored hours), only eight weeks are silence. */
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
  const dayOf = (hour: number) => Math.floor(hour / 24);
  for (const { source: sender, utcHour, accepted } of hours) {
    const day = dayOf(utcHour);
    if (accepted === 0 || day > dayOf(lastHour) || day <= dayOf(lastHour) - sharedDays) continue;
    const counts = days.get(day) ?? { own: 0, all: 0 };
    counts.all += accepted;
    if (sender === source) counts.own += accepted;
    days.set(day, counts);
  }
  if (days.size === 0) return null;
  return [...days.values()].reduce((sum, { own, all }) => sum + own / all, 0) / days.size;
}

const sharedDays = 28;

/** Items that were not rejected. */
export function takenOf({ accepted, held, duplicate, ignored }: SourceHour): number {
  return accepted + held + duplicate + ignored;
}

function hourOf(ms: number): number {
  return Math.floor(ms / msPerHour);
}
