/** All that analysis does by itself on a warehouse: one machine's for ever, a cluster's while it leads. */
import {
  Digester,
  MessageExclusions,
  Notifier,
  OrganizationReader,
  Poller,
  RuleDecider,
  readDigest,
  SegmentKeeper,
} from "./actions/actions.ts";
import type { StartedAnalysis } from "./between/between.ts";
import { segmentsForKeeper, segmentsForRules } from "./http/http.ts";
import type { SharedLedger } from "./ledger/ledger.ts";
import type { Time } from "./process/process.ts";
import { type EarlierScores, Scheduler, Scoring, SourceWatch } from "./scoring/scoring.ts";
import type { Logger } from "./telemetry/telemetry.ts";
import type {
  Analysis,
  AnalysisStatus,
  Failure,
  LoaderStatus,
  UnavailableReason,
} from "./warehouse/warehouse.ts";

export type Answer = (request: Request) => Response | Promise<Response>;

/** The stores that the process works on, and what it is at this moment. */
export interface AnalysisHost {
  readonly ledger: SharedLedger;
  /** The parts that answer questions; undefined during the start. */
  readonly started: Partial<StartedAnalysis>;
  readonly waitsFor: string | undefined;
  /** The same reason as a code, without details. */
  readonly why?: UnavailableReason | undefined;
  /** The work of this process; undefined during the start, and while another node leads. */
  readonly work: AnalysisWork | undefined;
  /** How loading goes here, from its first batch on. */
  readonly loader: LoaderStatus | undefined;
  /** Answers other nodes. */
  serve?(answer: Answer, failed: (error: Error) => Response): Bun.Server<undefined> | undefined;
  /** Resolves when questions are answered, or when that is waited for beside. */
  begin(): Promise<void>;
  /** Others are told to ask this process nothing more. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** The leader's report on its work to the other nodes. */
export interface SaidByLeader {
  readonly status: AnalysisStatus;
  readonly earlierScores: Readonly<Record<string, EarlierScores>>;
  /** By organization. Nodes of 0.1.0 do not say it. */
  readonly failures?: Readonly<Record<string, readonly Failure[]>>;
}

interface WorkParts {
  readonly analysis: Analysis;
  readonly ledger: SharedLedger;
  /** Of the service, as people reach it. */
  readonly address: string;
  readonly time: Time;
  readonly log: Logger;
}

export class AnalysisWork {
  readonly analysis: Analysis;
  readonly sources: SourceWatch;
  readonly scoring: Scoring;
  readonly scheduler: Scheduler;
  readonly #segments: SegmentKeeper;
  readonly #pollers: readonly Poller[];

  /** Begins the nightly checks, the scheduled scores, the messages about organizations, alert rules, digests
   * and the record of who is in segments; loading and upkeep have begun with analysis. */
  constructor({ analysis, ledger, address, time, log }: WorkParts) {
    const { nowMs } = time;
    this.analysis = analysis;
    this.sources = new SourceWatch(ledger, nowMs);
    const { sources } = this;
    this.scoring = new Scoring({ host: analysis, ledger, sources, log, nowMs });
    this.scheduler = new Scheduler({ scoring: this.scoring, host: analysis, ledger, log, time });
    const { warehouse } = analysis;
    const parts = { ledger, warehouse, sources, address, nowMs, log };
    const { readNow } = new OrganizationReader(parts);
    const segmentOf = segmentsForRules(parts);
    const notifier = new Notifier({ ...parts, readNow });
    const ruleParts = { ...parts, host: analysis, segmentOf };
    const digester = new Digester({
      ...parts,
      read: (organization, period, day) => readDigest(parts, organization, period, day),
    });
    const evaluate = segmentsForKeeper(parts);
    this.#segments = new SegmentKeeper({ ...parts, host: analysis, evaluate });
    this.#pollers = [
      new Poller("notices", notifier, log),
      new Poller("rules at every look", new RuleDecider(ruleParts, "continuous"), log),
      new Poller("rules once a scored day", new RuleDecider(ruleParts, "daily"), log),
      new Poller("exclusions of messages", new MessageExclusions(parts), log),
      new Poller("digests", digester, log),
      new Poller("segments", this.#segments, log),
    ];
    analysis.nightly.start();
    this.scheduler.start();
    for (const poller of this.#pollers) poller.start(time.intervals.actionsMs);
  }

  /** Work that fails for an organization at this moment. Bound, because a route has it without this
   * object. */
  readonly failures = (organization: number): readonly Failure[] =>
    Object.entries(this.#failing()).flatMap(([of, work]) => {
      const sinceMs = work.failingSinceMs(organization);
      return sinceMs === null ? [] : [{ of: of as Failure["of"], sinceMs }];
    });

  /** The same of all organizations. */
  allFailures(): Readonly<Record<string, readonly Failure[]>> {
    const ids = new Set(Object.values(this.#failing()).flatMap(({ failing }) => failing));
    return Object.fromEntries([...ids].map((id) => [id, this.failures(id)]));
  }

  #failing() {
    const { analysis, scheduler, scoring } = this;
    return {
      exclusions: analysis.exclusions,
      subscriptions: analysis.subscriptions,
      scores: scheduler,
      training: scoring.trainings,
    };
  }

  /** Finishes what is in hand, and closes the warehouse. */
  async stop(): Promise<void> {
    this.scoring.stop();
    this.#segments.stop();
    await Promise.all([this.scheduler.stop(), ...this.#pollers.map((poller) => poller.stop())]);
    await this.analysis.close();
  }
}
