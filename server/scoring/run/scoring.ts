/** Scoring in the analysis process: runs on request. They take turns with all other work on the warehouse. */

import { Refusal } from "../../../contract/refusal.ts";
import type { Settings } from "../../../contract/settings.ts";
import { formatDay } from "../../calendar/days.ts";
import { Zone } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import { OrganizationGone } from "../../ledger/transact.ts";
import type { Logger } from "../../process/log.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { appliedSettings } from "../../warehouse/schema/engagement.ts";
import type { ReadEntered } from "../churn/entered.ts";
import { resultBy, withDeadline } from "../preview/deadline.ts";
import { type KindPreview, previewSettings } from "../preview/preview.ts";
import { eventsBefore, noticeChanges } from "./changed-days.ts";
import { isFirstOfMany } from "./model.ts";
import { excludedKey, type ScoredOrganization } from "./population.ts";
import { markStale } from "./records.ts";
import { type DayRequest, type KindSummary, Overtaken, scoreDay } from "./score-day.ts";
import type { SourceWatch, StoppedData } from "./source-watch.ts";
import { hasCompleteRun } from "./status.ts";
import { Trainings } from "./trainings.ts";
import { statementByStatement } from "./turns.ts";

/** The parts of analysis that scoring needs. */
export interface ScoringHost {
  readonly warehouse: Warehouse;
  /** Resolves when everything that is acknowledged by now is in the warehouse. */
  drain(): Promise<void>;
  /** Runs `work` while no other work changes stored rows. */
  whileNothingChanges<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface ScoringParts {
  readonly host: ScoringHost;
  readonly ledger: Pick<SharedLedger, "organizations" | "settings" | "outages" | "lastBulkLoadAtMs">;
  readonly sources: Pick<SourceWatch, "stoppedFor">;
  readonly readEntered?: ReadEntered;
  /** Brings the warehouse's copy of an organization's pulses up to date. Left out where nobody says any. */
  readonly copyPulses?: (organization: number) => Promise<void>;
  readonly log: Logger;
  readonly nowMs: () => number;
}

export interface ScoreProgress {
  readonly step: string;
}

export interface ScoreSummary {
  /** The day at whose start all entities were scored, in days since 1970-01-01. */
  readonly day: number;
  /** Summaries of users and of accounts; none when there was no event before that day, or data had
   * stopped. */
  readonly kinds: readonly KindSummary[];
  /** The data that has stopped, so that no entity was scored; null otherwise. */
  readonly stopped: StoppedData | null;
  /** Whether nothing was kept, because so many events of earlier days arrived meanwhile. Never true for the
   * last of several tries. */
  readonly isOvertaken: boolean;
}

export interface ScoreRequest {
  readonly organization: number;
  /** Scores are as of the start of this day; today unless given. */
  readonly day?: number;
  /** Scores even as of a day by which data had stopped. */
  readonly evenIfStopped?: boolean;
}

export interface PreviewRequest {
  readonly organization: number;
  /** The stored settings before and after the change. */
  readonly before: Settings;
  readonly after: Settings;
}

/** The operations of scoring, in this process or across a socket. */
export interface ScoringService {
  /** Scores an organization, unless data has stopped: then scores stay as they are.
   * @throws Refusal for a future day */
  score(request: ScoreRequest, report: (progress: ScoreProgress) => void): Promise<ScoreSummary>;
  /** The effect of a change of settings. @throws Refusal when it is not done within a minute */
  preview(request: PreviewRequest): Promise<readonly KindPreview[]>;
}

/** A run is done again when the events before its day grew by more than this share while it ran. */
const overtakingShare = 0.02;
/** After this many runs in a row that their data overtook, the next run is kept. */
export const maxOvertaken = 3;

/** A change of the horizon trains and back-tests models of both kinds. */
const longestPreviewMs = 60_000;
const previewTookLong =
  "the preview took longer than a minute, or waited so long for a scoring run. Try again in a few minutes, or save the change to see its effect.";

/** Ends a run that is in hand when the service stops. */
export class ServiceStopping extends Refusal {
  constructor() {
    super("the service is stopping: scores will be worked out after the next start.");
  }
}

export class Scoring implements ScoringService {
  readonly #parts: ScoringParts;
  readonly trainings: Trainings;
  readonly #zones = new Map<string, Zone>();
  /** By organization: the end of its last run. Two runs of one day at a time would mix their rows. */
  readonly #last = new Map<number, Promise<unknown>>();
  #stopping = false;

  constructor(parts: ScoringParts) {
    this.#parts = parts;
    this.trainings = new Trainings(parts.nowMs, parts.log);
  }

  async score(
    { organization: id, day, evenIfStopped = false }: ScoreRequest,
    report: (progress: ScoreProgress) => void,
  ): Promise<ScoreSummary> {
    const { timezone, ...organization } = await this.#organization(id);
    const today = organization.zone.dayOf(this.#parts.nowMs());
    if (day !== undefined && day > today) {
      throw new Refusal(`${formatDay(day)} has not come yet in ${timezone}: scores can be had up to today.`);
    }
    report({ step: "waiting for the loader" });
    await this.#parts.host.drain();
    const asOf = day ?? today;
    if (!evenIfStopped) {
      const stopped = await this.stoppedFor(organization, asOf);
      if (stopped !== null) return { day: asOf, kinds: [], stopped, isOvertaken: false };
    }
    for (let overtaken = 0; ; overtaken += 1) {
      const mayBeOvertaken = overtaken < maxOvertaken;
      const summary = await this.scoreAsOf(organization, { day: asOf, mayBeOvertaken }, report);
      if (!summary.isOvertaken) return summary;
    }
  }

  /** The data for which scores as of a day wait; null when they do not wait. */
  stoppedFor(organization: ScoredOrganization, day: number): Promise<StoppedData | null> {
    return this.#parts.sources.stoppedFor(organization, day);
  }

  /** A preview that trains takes turns as a run does, because it stores missing snapshots. One that waits too
   * long for a run in hand is refused. */
  async preview(
    { organization: id, before, after }: PreviewRequest,
    longestMs = longestPreviewMs,
  ): Promise<readonly KindPreview[]> {
    const { host, nowMs } = this.#parts;
    const untilMs = performance.now() + longestMs;
    const organization = await this.#organization(id);
    const question = {
      organization,
      day: organization.zone.dayOf(nowMs()),
      before: await appliedSettings(host.warehouse, id, before),
      after: await appliedSettings(host.warehouse, id, after),
    };
    const inTime = withDeadline(host.warehouse, untilMs, previewTookLong);
    if (before.churnHorizonDays === after.churnHorizonDays) return previewSettings(inTime, question);
    const warehouse = statementByStatement(inTime, (work) => this.#inTurn(id, work));
    return resultBy(
      untilMs,
      previewTookLong,
      this.#oneByOne(id, () => previewSettings(warehouse, question)),
    );
  }

  /** Looks for new events of earlier days: scores that lack them are stale from then on. */
  noticeChanges(organization: ScoredOrganization, today: number): Promise<void> {
    return this.#oneByOne(organization.id, () => this.#noticeChanges(organization, today));
  }

  #noticeChanges({ id, zone }: ScoredOrganization, today: number): Promise<void> {
    const { host, ledger, nowMs } = this.#parts;
    return this.#inTurn(id, async () =>
      noticeChanges(host.warehouse, {
        organization: id,
        today,
        nowMs: nowMs(),
        dayOf: (atMs) => zone.dayOf(atMs),
        lastBulkLoadAtMs: await ledger.lastBulkLoadAtMs(id),
      }),
    );
  }

  /** Ends runs after the statement in hand; they are done again after the next start. */
  stop(): void {
    this.#stopping = true;
  }

  /** Scores an organization as of a day, a statement at a time, after other runs of it. With
   * `mayBeOvertaken`, nothing is kept of a run whose data grew so much meanwhile that its scores, scale and
   * model would be of a part of it.
   * @param about `isLoading`: whether the past comes in bulk. Then nothing is kept of an organization's
   * first run, either */
  async scoreAsOf(
    organization: ScoredOrganization,
    {
      day,
      isOfPast = false,
      mayBeOvertaken = false,
      isLoading = async () => false,
    }: Pick<DayRequest, "day" | "isOfPast"> & {
      readonly mayBeOvertaken?: boolean;
      readonly isLoading?: () => Promise<boolean>;
    },
    report: (progress: ScoreProgress) => void,
  ): Promise<ScoreSummary> {
    const { host, nowMs } = this.#parts;
    const today = organization.zone.dayOf(nowMs());
    const warehouse = statementByStatement(host.warehouse, (work) => this.#inTurn(organization.id, work));
    const kinds = await this.#oneByOne(organization.id, async () => {
      // Events until now are in this run, and must not make it stale afterwards.
      await this.#noticeChanges(organization, today);
      await this.#inTurn(organization.id, async () => this.#parts.copyPulses?.(organization.id));
      const { trainings } = this;
      const excluded = await excludedKey(host.warehouse, organization.id);
      const request = {
        organization: { ...organization, excluded },
        day,
        isOfPast,
        nowMs,
        trainings,
        report: (step: string) => report({ step }),
      };
      const events = () => eventsBefore(warehouse, organization.id, day);
      const eventsAtFirst = await events();
      const isFirst = !(await hasCompleteRun(warehouse, organization.id));
      const isOvertaken = async () =>
        mayBeOvertaken &&
        ((await events()) > eventsAtFirst * (1 + overtakingShare) || (isFirst && (await isLoading())));
      try {
        if (await isFirstOfMany(warehouse, organization.id, day)) {
          await scoreDay(warehouse, { ...request, isOvertaken, beforeTraining: true });
        }
        return await scoreDay(warehouse, { ...request, isOvertaken });
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error;
        // Its scale, snapshots and model are of the smaller data.
        await markStale(warehouse, organization.id, 0);
        return undefined;
      }
    });
    return { day, kinds: kinds ?? [], stopped: null, isOvertaken: kinds === undefined };
  }

  /** An organization as runs take it, with its settings of now as they are applied. */
  async scoredOrganization({ id, timezone, eventsFromDay }: Organization): Promise<ScoredOrganization> {
    const zone = this.#zones.get(timezone) ?? new Zone(timezone);
    this.#zones.set(timezone, zone);
    const { host, ledger } = this.#parts;
    const settings = await appliedSettings(host.warehouse, id, (await ledger.settings.get(id)).settings);
    const declared = await ledger.outages.list(id);
    const declaredOutages = declared.map(({ fromDay, toDay }) => ({ from: fromDay, to: toDay + 1 }));
    return { id, zone, settings, declaredOutages, eventsFromDay, readEntered: this.#parts.readEntered };
  }

  async #organization(id: number): Promise<ScoredOrganization & Pick<Organization, "timezone">> {
    const found = await this.#parts.ledger.organizations.find(id);
    if (found === undefined) throw new Refusal(`there is no organization with the id ${id}.`);
    return { ...(await this.scoredOrganization(found)), timezone: found.timezone };
  }

  /** Nothing is written for an organization that is being deleted. */
  #inTurn<Result>(organization: number, work: () => Promise<Result>): Promise<Result> {
    const { host, ledger } = this.#parts;
    return host.whileNothingChanges(async () => {
      if (this.#stopping) throw new ServiceStopping();
      if ((await ledger.organizations.find(organization)) === undefined) throw new OrganizationGone();
      return work();
    });
  }

  #oneByOne<Result>(organization: number, work: () => Promise<Result>): Promise<Result> {
    const mine = (this.#last.get(organization) ?? Promise.resolve()).then(work);
    this.#last.set(
      organization,
      mine.catch(() => undefined),
    );
    return mine;
  }
}
