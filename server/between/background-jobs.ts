/** The background jobs of analysis on a warehouse. On one machine they always run; in a cluster they run on
 * the node that leads. */

import { enteredReader } from "../features/alerts/control-groups/entered.ts";
import { listEntries } from "../features/alerts/control-groups/entry-lists.ts";
import { holdOutSettler } from "../features/alerts/control-groups/settle.ts";
import { renderMessages } from "../features/alerts/message-renderer.ts";
import { RuleDecider } from "../features/alerts/rule-decider.ts";
import { runRuleSteps } from "../features/alerts/run-steps.ts";
import { Notifier } from "../features/destinations/notifier.ts";
import { OrganizationReader } from "../features/destinations/organization-now.ts";
import { readDigest } from "../features/digest/digest-reader.ts";
import { Digester } from "../features/digest/digester.ts";
import { Poller } from "../features/poller.ts";
import { pulseCopier } from "../features/pulse/copy.ts";
import { segmentsForKeeper, segmentsForRules } from "../features/segments/for-alerts.ts";
import { SegmentKeeper } from "../features/segments/segment-keeper.ts";
import type { SharedLedger } from "../ledger/ledger.ts";
import type { Logger } from "../process/log.ts";
import type { Time } from "../process/time.ts";
import { type EarlierScores, Scheduler } from "../scoring/run/scheduler.ts";
import { Scoring } from "../scoring/run/scoring.ts";
import { SourceWatch } from "../scoring/run/source-watch.ts";
import type { Analysis, AnalysisStatus, Failure } from "../warehouse/analysis.ts";
import type { UnavailableReason } from "../warehouse/engine/unavailable.ts";
import type { LoaderStatus } from "../warehouse/load/loader.ts";
import type { StartedAnalysis } from "./analysis-routes.ts";

export type Answer = (request: Request) => Response | Promise<Response>;

/** The stores of the analysis process, and its state. */
export interface AnalysisHost {
  readonly ledger: SharedLedger;
  /** The parts that answer questions; undefined during the start. */
  readonly started: Partial<StartedAnalysis>;
  readonly waitsFor: string | undefined;
  /** The reason of `waitsFor` as a code, without details. */
  readonly why?: UnavailableReason | undefined;
  /** The background jobs of this process; undefined during the start, and while another node leads. */
  readonly jobs: BackgroundJobs | undefined;
  /** The state of the loader in this process, from its first batch on. */
  readonly loader: LoaderStatus | undefined;
  /** Answers other nodes. */
  serve?(answer: Answer, failed: (error: Error) => Response): Bun.Server<undefined> | undefined;
  /** Resolves when the process answers questions, or waits in the background until it can. */
  begin(): Promise<void>;
  /** Tells other processes to ask this process nothing more. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** What the leader reports to the other nodes about its background jobs. */
export interface LeaderStatus {
  readonly status: AnalysisStatus;
  readonly earlierScores: Readonly<Record<string, EarlierScores>>;
  /** By organization. Nodes of 0.1.0 do not report it. */
  readonly failures?: Readonly<Record<string, readonly Failure[]>>;
}

interface JobParts {
  readonly analysis: Analysis;
  readonly ledger: SharedLedger;
  /** The address of the service for people: PUBLIC_URL. */
  readonly address: string;
  readonly time: Time;
  readonly log: Logger;
}

export class BackgroundJobs {
  readonly analysis: Analysis;
  readonly sources: SourceWatch;
  readonly scoring: Scoring;
  readonly scheduler: Scheduler;
  readonly #segments: SegmentKeeper;
  readonly #poller: Poller;

  /** Starts the nightly checks, scheduled scores, notices, alert rules, digests and segment evaluations.
   * Loading and upkeep have begun with `analysis`. */
  constructor({ analysis, ledger, address, time, log }: JobParts) {
    const { nowMs } = time;
    this.analysis = analysis;
    this.sources = new SourceWatch(ledger, nowMs);
    const { sources } = this;
    const readEntered = enteredReader(analysis.warehouse, ledger);
    const copyPulses = pulseCopier(analysis.warehouse, ledger);
    this.scoring = new Scoring({ host: analysis, ledger, sources, readEntered, copyPulses, log, nowMs });
    this.scheduler = new Scheduler({ scoring: this.scoring, host: analysis, ledger, log, time });
    const { warehouse } = analysis;
    const parts = { ledger, warehouse, sources, address, nowMs, log };
    const { readNow } = new OrganizationReader(parts);
    const segmentOf = segmentsForRules(parts);
    const notifier = new Notifier({ ...parts, readNow });
    const digester = new Digester({
      ...parts,
      read: (organization, period, day) => readDigest(parts, organization, period, day),
    });
    const evaluate = segmentsForKeeper(parts);
    this.#segments = new SegmentKeeper({ ...parts, host: analysis, evaluate });
    const render = () => renderMessages(parts);
    const decider = new RuleDecider({ ...parts, host: analysis, segmentOf, render });
    const jobs = [
      { name: "nightly decision", run: () => decider.decideDays() },
      { name: "moments", run: () => decider.decideMoments(), followsLoads: true },
      { name: "steps of rules", run: () => runRuleSteps(parts), followsLoads: true },
      { name: "outcomes of control groups", run: holdOutSettler(parts) },
      { name: "who may enter control groups", run: () => listEntries({ ...parts, segmentOf }) },
      { name: "segments", run: () => this.#segments.run() },
      { name: "digest", run: () => digester.run() },
      { name: "notices", run: () => notifier.run() },
      { name: "messages of alerts", run: render },
    ];
    this.#poller = new Poller(jobs, log);
    analysis.nightly.start();
    this.scheduler.start();
    this.#poller.start(time.intervals.actionsMs);
    analysis.whenLoaded(() => this.#poller.wake());
  }

  /** The background jobs that fail for an organization at this moment. Bound, because a route calls it
   * without this object. */
  readonly failures = (organization: number): readonly Failure[] =>
    Object.entries(this.#failing()).flatMap(([of, job]) => {
      const sinceMs = job.failingSinceMs(organization);
      return sinceMs === null ? [] : [{ of: of as Failure["of"], sinceMs }];
    });

  /** The background jobs that fail at this moment, by organization. */
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

  /** Stops the jobs after their present runs, and closes the warehouse. */
  async stop(): Promise<void> {
    this.scoring.stop();
    this.#segments.stop();
    await Promise.all([this.scheduler.stop(), this.#poller.stop()]);
    await this.analysis.close();
  }
}
