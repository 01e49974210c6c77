/**
 * The schedule of runs: each organization's after its midnight, and again for new events of earlier days. The
 * work follows from the stored data, so a run that was cut off, or a service that slept, needs no other
 * memory.
 *
 * One run of an organization at a time, today's first. All wait for a while when the loader lags far behind.
 * A round goes through all organizations. While one of them trains its models, another round serves the
 * others.
 */
import { formatDay } from "../../calendar/days.ts";
import type { Zone } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { Logger } from "../../process/log.ts";
import { Retries } from "../../process/retries.ts";
import { every, type Time } from "../../process/time.ts";
import { settingsKey } from "../scores/settings.ts";
import { clocksDifferMs } from "./changed-days.ts";
import { dueDays } from "./due-days.ts";
import { declaredKey, firstDayOf, type ScoredOrganization } from "./population.ts";
import { listRuns, recordOf } from "./records.ts";
import { maxOvertaken, type Scoring, type ScoringHost, ServiceStopping } from "./scoring.ts";

/** The parts of analysis that the schedule needs. */
interface ScheduledHost extends ScoringHost {
  /** The earliest day, in its timezone, of an organization's events that were loaded since the last call;
   * undefined without any. */
  takeEarliestLoadedDay(organization: number): number | undefined;
}

export interface SchedulerParts {
  readonly scoring: Pick<Scoring, "scoredOrganization" | "scoreAsOf" | "noticeChanges" | "stoppedFor">;
  readonly host: ScheduledHost;
  readonly ledger: Pick<SharedLedger, "organizations" | "inbox" | "rebuildsPending" | "lastBulkLoadAtMs">;
  readonly log: Logger;
  readonly time: Time;
  readonly rests?: Rests;
}

/** How long an organization rests from runs. */
interface Rests {
  /** The rest from the end of a run of today to the next run of today. */
  readonly beforeTodayMs: number;
  /** The rest before a run of today that only adds late events: `timesRun` times the last run, at least
   * `beforeTodayMs` and at most `longestMs`. */
  readonly beforeLateEvents: { readonly timesRun: number; readonly longestMs: number };
  /** The rest between two runs of earlier days, as a share of the time of the last run. */
  readonly shareBeforeHistory: number;
  /** A bulk load counts as over `overAfterMs` after its last rows. Runs wait for its end, at most
   * `longestMs`, because its next rows would change all scores again. */
  readonly forBulkLoad: { readonly overAfterMs: number; readonly longestMs: number };
  /** How long an idle organization is left alone: `eachMs` times the number of organizations, at most
   * `longestMs`. A new day or late events end it early. */
  readonly betweenChecks: { readonly eachMs: number; readonly longestMs: number };
  /** The rest after a first failure; it doubles with each further failure, up to an hour. */
  readonly afterFailureMs: number;
  /** How long all organizations wait at most for a loader that lags. The rows may be of another
   * organization. */
  readonly forLoaderMs: number;
}

/** A bulk load of past events counts as over this long after its last rows. */
export const bulkLoadOverMs = 30_000;
/** Rounds at the same time: each may hold the 50,000 rows of a training. */
const maxRounds = 4;
/** Events of the last minutes of a day are still on their way at midnight. */
const settleMs = 5 * 60_000;
/** Scoring the history of an organization takes two thirds of the time at most, a statement at a time. A
 * check of an organization takes 3.5 ms of processor time, which is 35 % of a core for 1,000 organizations
 * every 10 s. Up to 100 organizations are checked every 10 s, and after rounds with runs. Late events
 * trickle in: scoring today again for them takes 1 % of the time, unless a run takes longer than 9 s. */
export const defaultRests: Rests = {
  beforeTodayMs: 60_000,
  beforeLateEvents: { timesRun: 99, longestMs: 15 * 60_000 },
  shareBeforeHistory: 0.5,
  forBulkLoad: { overAfterMs: bulkLoadOverMs, longestMs: 3_600_000 },
  betweenChecks: { eachMs: 100, longestMs: 60_000 },
  afterFailureMs: 60_000,
  forLoaderMs: 15 * 60_000,
};
const longestRestMs = 3_600_000;
/** With more rows that wait for it, the loader lags: this is a minute's work. */
const maxWaitingRows = 500_000;

/** The runs that an organization still needs. */
interface Plan {
  readonly today: number;
  isTodayDue: boolean;
  /** Whether today has scores, and is due only for events that came late. */
  readonly lacksOnlyLateEvents: boolean;
  /** Earlier days, in their order. */
  readonly days: number[];
  /** How many earlier days have scores, or shall have. */
  readonly earlierDays: number;
  /** The day, the settings, the declared outages and the data for which scores wait, as text: a plan is made
   * again when its key differs. */
  readonly planKey: string;
}

/** How many of an organization's earlier days are scored. */
export interface EarlierScores {
  readonly done: number;
  readonly of: number;
}

/** When a run ended and how long it took, by the monotonic clock. */
interface RunTime {
  readonly endedMs: number;
  readonly tookMs: number;
}

/** The known state of an organization; after a restart it is read again. */
interface Memory {
  plan?: Plan;
  /** The day on which the warehouse was last asked for new events of earlier days. */
  searchedOn?: number;
  searchedAtMs: number;
  /** The timezone at the last check of settings, sources and outages, and when that was. */
  zone?: Zone;
  readAtMs: number;
  /** Events of earlier days were loaded since then. */
  hasEarlierEvents: boolean;
  /** Since when the past comes in bulk, by the monotonic clock; undefined while it does not. */
  bulkLoadSinceMs?: number | undefined;
  /** Runs in a row that their data overtook. */
  overtaken: number;
  /** The stop of data that was logged: one line of the log is for all days. */
  loggedStop?: string;
  last: RunTime;
  lastOfToday: RunTime;
}

export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #rests: Rests;
  readonly #memories = new Map<number, Memory>();
  /** By organization. */
  readonly #failures: Retries<number>;
  readonly #working = new Set<Promise<unknown>>();
  /** Organizations that a round is checking or scoring. */
  readonly #inHand = new Set<number>();
  #endPolling: () => void = () => undefined;
  /** Since when the loader lags; undefined while it does not. */
  #laggingSinceMs: number | undefined;
  #stopping = false;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.#rests = parts.rests ?? defaultRests;
    this.#failures = new Retries(
      { firstMs: this.#rests.afterFailureMs, longestMs: longestRestMs },
      parts.time.nowMs,
    );
  }

  /** Whether days are scored by themselves. Otherwise only `rekindle score` scores. */
  get isOn(): boolean {
    return this.#parts.time.intervals.scheduleMs !== null;
  }

  /** Starts to check for due runs, and checks sooner after a round that had some. */
  start(): void {
    this.#endPolling = every(this.#parts.time.intervals.scheduleMs, () => this.#begin());
  }

  #begin(): void {
    if (this.#stopping || this.#working.size >= maxRounds) return;
    const round = this.#round()
      .catch((error: unknown) => {
        if (this.#stopping) return;
        this.#parts.log.warn({ err: error }, "scoring failed and will be tried again");
      })
      .finally(() => this.#working.delete(round));
    this.#working.add(round);
  }

  /** When the round after a round with runs begins: when earlier days have rested. */
  async #round(): Promise<void> {
    const startedMs = performance.now();
    if ((await this.runDue()) === 0) return;
    const restMs = this.#rests.shareBeforeHistory * (performance.now() - startedMs);
    setTimeout(() => this.#begin(), restMs).unref();
  }

  /** How far the scores of earlier days are; null when they are all there, and before that is known. */
  earlierScores(organization: number): EarlierScores | null {
    const plan = this.#memories.get(organization)?.plan;
    if (plan === undefined || plan.days.length === 0) return null;
    return { done: plan.earlierDays - plan.days.length, of: plan.earlierDays };
  }

  /** The states of all organizations with anything to report, by their ids. */
  allEarlierScores(): Readonly<Record<string, EarlierScores>> {
    const known = [...this.#memories.keys()].map((id) => [String(id), this.earlierScores(id)] as const);
    return Object.fromEntries(known.flatMap(([id, scores]) => (scores === null ? [] : [[id, scores]])));
  }

  /** Since when an organization's scores cannot be worked out; null while they can. */
  failingSinceMs(organization: number): number | null {
    return this.#failures.failingSinceMs(organization);
  }

  /** The organizations whose scoring fails. */
  get failing(): readonly number[] {
    return this.#failures.keys;
  }

  /** Waits for the runs in hand. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#endPolling();
    await Promise.all(this.#working);
  }

  /**
   * Does the due runs: at most one of each organization, unless another call runs that organization. An
   * organization whose run fails rests and does not stop the others. Returns the number of runs.
   */
  async runDue(): Promise<number> {
    const { ledger } = this.#parts;
    if (await this.#waitsForLoader()) return 0;
    let runs = 0;
    const rebuilding = await ledger.rebuildsPending();
    const organizations = await ledger.organizations.list();
    const { eachMs, longestMs } = this.#rests.betweenChecks;
    const restMs = Math.min(longestMs, eachMs * organizations.length);
    for (const organization of organizations) {
      if (this.#stopping) break;
      const { id } = organization;
      if (rebuilding.includes(id)) {
        // Its days differ after the rebuild.
        this.#memories.delete(id);
        continue;
      }
      if (this.#inHand.has(id) || this.#failures.isResting(id)) continue;
      this.#inHand.add(id);
      try {
        if (await this.#isIdle(organization, restMs)) continue;
        const hasRun = await this.#scoreNext(organization);
        if (hasRun) runs += 1;
        if (hasRun || !this.#isAnythingDue(id)) this.#failures.succeeded(id);
      } catch (error) {
        this.#failed(organization, error);
      } finally {
        this.#inHand.delete(id);
      }
    }
    return runs;
  }

  async #waitsForLoader(): Promise<boolean> {
    const { rows } = await this.#parts.ledger.inbox.backlog();
    this.#laggingSinceMs = rows > maxWaitingRows ? (this.#laggingSinceMs ?? performance.now()) : undefined;
    if (this.#laggingSinceMs === undefined) return false;
    return performance.now() - this.#laggingSinceMs < this.#rests.forLoaderMs;
  }

  #isAnythingDue(organization: number): boolean {
    const plan = this.#memories.get(organization)?.plan;
    return plan !== undefined && (plan.isTodayDue || plan.days.length > 0);
  }

  #failed({ id, name }: Organization, error: unknown): void {
    // A run that the end of the service cut off is done again after the next start.
    if (this.#stopping || error instanceof ServiceStopping) return;
    if (this.#failures.failed(id)) {
      this.#parts.log.warn({ err: error, organization: name }, "scoring failed and will be tried again");
    }
  }

  /** Whether the last check found nothing to do, was less than `restMs` ago, and nothing was loaded since. */
  async #isIdle({ id, timezone }: Organization, restMs: number): Promise<boolean> {
    const memory = this.#memories.get(id);
    if (memory?.zone?.name !== timezone || memory.plan === undefined || this.#isAnythingDue(id)) return false;
    if (performance.now() - memory.readAtMs >= restMs) return false;
    const today = memory.zone.dayOf(this.#parts.time.nowMs() - settleMs);
    this.#noteLoaded(memory, id, today);
    return memory.searchedOn === today && !(await this.#maySearch(memory, id));
  }

  #noteLoaded(memory: Memory, organization: number, today: number): void {
    const earliest = this.#parts.host.takeEarliestLoadedDay(organization) ?? today;
    if (earliest < today) memory.hasEarlierEvents = true;
  }

  async #scoreNext(organization: Organization): Promise<boolean> {
    const { scoring, time } = this.#parts;
    const memory = this.#memories.get(organization.id) ?? newMemory();
    this.#memories.set(organization.id, memory);
    if (await this.#waitsForBulkLoad(memory, organization.id)) return false;
    const scored = await scoring.scoredOrganization(organization);
    memory.zone = scored.zone;
    memory.readAtMs = performance.now();
    const today = scored.zone.dayOf(time.nowMs() - settleMs);
    await this.#searchForChanges(memory, scored, today);
    const stopped = JSON.stringify(await scoring.stoppedFor(scored, today));
    const declaredOutages = declaredKey(scored, today);
    const planKey = JSON.stringify([today, settingsKey(scored.settings), declaredOutages, stopped]);
    if (memory.plan?.planKey !== planKey) memory.plan = { ...(await this.#plan(scored, today)), planKey };
    return this.#runNext(memory, memory.plan, scored, organization.name);
  }

  /** Asks the warehouse for new events of earlier days: once a day, and when the loader has brought some.
   * Days are those of the organization's timezone, so events of today cost nothing anywhere. Late events
   * that trickle in are looked for when a run may follow: a search takes 0.1 s of processor time, and a
   * stream of late events would cause a search every 10 s. */
  async #searchForChanges(memory: Memory, organization: ScoredOrganization, today: number): Promise<void> {
    const { host, scoring } = this.#parts;
    this.#noteLoaded(memory, organization.id, today);
    if (memory.searchedOn === today && !(await this.#maySearch(memory, organization.id))) return;
    // Yesterday's last events may still wait for the loader. Behind a loader that lags they come late.
    if (memory.searchedOn !== today && this.#laggingSinceMs === undefined) await host.drain();
    await scoring.noticeChanges(organization, today);
    memory.searchedOn = today;
    memory.searchedAtMs = this.#parts.time.nowMs();
    memory.hasEarlierEvents = false;
    delete memory.plan;
  }

  /** Events of a load in bulk are looked for when it is over. */
  async #maySearch(memory: Memory, organization: number): Promise<boolean> {
    if (!memory.hasEarlierEvents) return false;
    if (!this.#restsForLateEvents(memory)) return true;
    if (memory.bulkLoadSinceMs !== undefined) return false;
    const importedAtMs = await this.#parts.ledger.lastBulkLoadAtMs(organization);
    return importedAtMs !== null && importedAtMs > memory.searchedAtMs - clocksDifferMs;
  }

  async #plan(organization: ScoredOrganization, today: number): Promise<Omit<Plan, "planKey">> {
    const { id, zone } = organization;
    const { warehouse } = this.#parts.host;
    const firstDay = await firstDayOf(warehouse, id, today);
    if (firstDay === undefined) {
      return { today, isTodayDue: false, lacksOnlyLateEvents: false, days: [], earlierDays: 0 };
    }
    const runs = await listRuns(warehouse, id);
    const present = {
      today,
      firstDay,
      key: settingsKey(organization.settings),
      declaredOn: (day: number) => declaredKey(organization, day),
    };
    const due = dueDays(runs, present, (atMs) => zone.dayOf(atMs) >= today);
    return { today, ...due, days: [...due.days] };
  }

  async #runNext(memory: Memory, plan: Plan, scored: ScoredOrganization, name: string): Promise<boolean> {
    const { beforeTodayMs, shareBeforeHistory } = this.#rests;
    const { last, lastOfToday } = memory;
    const waitsForMore = plan.isTodayDue && plan.lacksOnlyLateEvents && this.#restsForLateEvents(memory);
    const hasRested = performance.now() - lastOfToday.endedMs >= beforeTodayMs;
    if (plan.isTodayDue && !waitsForMore && hasRested) {
      const ran = await this.#run(memory, scored, plan.today, name);
      plan.isTodayDue = false;
      if (ran) return true;
    }
    const isTodayNext = plan.isTodayDue && !waitsForMore;
    if (isTodayNext || performance.now() - last.endedMs < shareBeforeHistory * last.tookMs) return false;
    for (let day = plan.days.shift(); day !== undefined; day = plan.days.shift()) {
      try {
        if (await this.#run(memory, scored, day, name)) return true;
      } catch (error) {
        // The day that failed comes last, so that the other days get their scores.
        plan.days.push(day);
        throw error;
      }
    }
    return false;
  }

  /** Whether runs wait for a bulk load: it goes on, and has not gone on for `longestMs` yet. */
  async #waitsForBulkLoad(memory: Memory, organization: number): Promise<boolean> {
    const { overAfterMs, longestMs } = this.#rests.forBulkLoad;
    const loadedAtMs = (await this.#parts.ledger.lastBulkLoadAtMs(organization)) ?? Number.NEGATIVE_INFINITY;
    // A clock that was set back would keep scores waiting until it has come to the load's time again.
    const isLoading = Math.abs(this.#parts.time.nowMs() - loadedAtMs) < overAfterMs;
    memory.bulkLoadSinceMs = isLoading ? (memory.bulkLoadSinceMs ?? performance.now()) : undefined;
    return memory.bulkLoadSinceMs !== undefined && performance.now() - memory.bulkLoadSinceMs < longestMs;
  }

  #restsForLateEvents({ lastOfToday }: Memory): boolean {
    const { timesRun, longestMs } = this.#rests.beforeLateEvents;
    const restMs = Math.max(this.#rests.beforeTodayMs, Math.min(longestMs, timesRun * lastOfToday.tookMs));
    return performance.now() - lastOfToday.endedMs < restMs;
  }

  /** Scores that were shown before today keep their settings. */
  async #withPublishedSettings(organization: ScoredOrganization, day: number): Promise<ScoredOrganization> {
    const { host, time } = this.#parts;
    const { id, zone } = organization;
    const key = { organization: id, kind: "user", what: "run" } as const;
    const published = (await recordOf(host.warehouse, key, day))?.body;
    const today = zone.dayOf(time.nowMs() - settleMs);
    if (published === undefined || day >= today || zone.dayOf(published.firstPublishedAtMs) >= today)
      return organization;
    return { ...organization, settings: published.settings };
  }

  /** Returns false for a day whose data has stopped: then scores stay as they were. */
  async #run(memory: Memory, organization: ScoredOrganization, day: number, name: string): Promise<boolean> {
    const { scoring, log } = this.#parts;
    const stopped = await scoring.stoppedFor(organization, day);
    if (stopped !== null) {
      const { source, sinceMs } = stopped;
      const what = { organization: name, source, since: new Date(sinceMs).toISOString() };
      if (memory.loggedStop !== `${source} ${sinceMs}`)
        log.warn(what, "data has stopped: scores of later days stay as they were");
      memory.loggedStop = `${source} ${sinceMs}`;
      return false;
    }
    const startedMs = performance.now();
    try {
      const asPublished = await this.#withPublishedSettings(organization, day);
      const isOfPast = day !== memory.plan?.today;
      const mayBeOvertaken = memory.overtaken < maxOvertaken;
      const { isOvertaken } = await scoring.scoreAsOf(
        asPublished,
        { day, isOfPast, mayBeOvertaken, isLoading: () => this.#waitsForBulkLoad(memory, organization.id) },
        () => undefined,
      );
      memory.overtaken = isOvertaken ? memory.overtaken + 1 : 0;
    } finally {
      const endedMs = performance.now();
      memory.last = { endedMs, tookMs: endedMs - startedMs };
      // A run that its data overtook is done again at once.
      if (day === memory.plan?.today && memory.overtaken === 0) memory.lastOfToday = memory.last;
    }
    const what = { organization: name, day: formatDay(day), ms: Math.round(memory.last.tookMs) };
    if (memory.overtaken === 0) {
      log.info(what, "scored");
    } else {
      log.info(what, "events of earlier days arrived while they were scored: it is done again");
      delete memory.plan;
    }
    return true;
  }
}

function newMemory(): Memory {
  const never = Number.NEGATIVE_INFINITY;
  const none = { endedMs: never, tookMs: 0 };
  return {
    hasEarlierEvents: false,
    searchedAtMs: never,
    readAtMs: never,
    last: none,
    lastOfToday: none,
    overtaken: 0,
  };
}
