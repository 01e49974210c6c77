/**
 * Analysis as a node of a cluster. It answers questions; while it leads it also runs the background
 * jobs: loading, rebuilds, erasures, checks, scores. Whether it leads is decided in the ledger
 * (server/ledger/postgres/leadership.ts).
 */

import { Refusal } from "../../contract/refusal.ts";
import type { StartedAnalysis } from "../between/analysis-routes.ts";
import { type AnalysisHost, BackgroundJobs, type LeaderStatus } from "../between/background-jobs.ts";
import { remoteAnalysis } from "../between/remote/remote-analysis.ts";
import type { ClusterConfig, Config } from "../config.ts";
import { Leadership, type Leading, type Term } from "../ledger/postgres/leadership.ts";
import type { PostgresLedger } from "../ledger/postgres/ledger.ts";
import type { ClusterNode } from "../ledger/postgres/node.ts";
import { nodePeer, type Peer } from "../process/control.ts";
import type { Logger } from "../process/log.ts";
import { messageOf } from "../process/message-of.ts";
import type { Time } from "../process/time.ts";
import { waitUpTo } from "../process/wait-up-to.ts";
import { SourceWatch } from "../scoring/run/source-watch.ts";
import { beginAnalysis } from "../warehouse/analysis.ts";
import { openClickHouseWarehouse } from "../warehouse/engine/clickhouse.ts";
import { MissingTables } from "../warehouse/engine/clickhouse-prepare.ts";
import { type UnavailableReason, unavailableReasonOf } from "../warehouse/engine/unavailable.ts";
import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { FollowingAnalysis, nothingLoaded, whileLeading } from "../warehouse/following-analysis.ts";
import type { LoaderStatus } from "../warehouse/load/loader.ts";
import { openCluster } from "./open-cluster.ts";
import { serveNode } from "./serve-node.ts";

const retryMs = 1_000;
/** How often the log repeats that ClickHouse is awaited. */
const logEveryMs = 10_000;
/** How often the warehouse is pinged, and how long it may take to answer. */
const pingEveryMs = 1_000;
const pingTimeoutSeconds = 10;
/** How long a node that leaves still answers the questions that were on their way. */
const drainMs = 1_500;
/** After this time the process exits, even with an unfinished job. The next leader repeats the job. */
const maxStopMs = 5_000;
/** The limit of each step of leaving that a silent server could hold up: ten seconds in all. */
const maxStepMs = 1_000;

/** Opens the ledger, and the warehouse when that can be reached. */
export async function openAnalysisNode(config: Config, log: Logger, time: Time): Promise<AnalysisHost> {
  const { cluster } = config;
  if (cluster === null) throw new Error("there is no cluster");
  const { ledger, node } = await openCluster(cluster, "analysis", log, time);
  const key = await node.key();
  return new AnalysisNode({ config, cluster, ledger, node, key, log, time });
}

interface Parts {
  readonly config: Config;
  readonly cluster: ClusterConfig;
  readonly ledger: PostgresLedger;
  readonly node: ClusterNode;
  /** The secret with which nodes ask each other. */
  readonly key: string;
  readonly log: Logger;
  readonly time: Time;
}

class AnalysisNode implements AnalysisHost {
  readonly ledger: PostgresLedger;
  readonly #parts: Parts;
  readonly #leadership: Leadership;
  readonly #sources: SourceWatch;
  #warehouse: Warehouse | undefined;
  #following: FollowingAnalysis | undefined;
  #jobs: BackgroundJobs | undefined;
  #waitsFor: string | undefined = "ClickHouse";
  /** Whether the server answers, tables or not. */
  #isReachable = false;
  /** Why the background jobs of this term could not start yet. */
  #beginFails: string | null = null;
  /** The state of the loader of this term; undefined while another node leads. */
  #loaderStatus: (() => LoaderStatus) | undefined;
  #why: UnavailableReason | undefined;
  /** Whether this node fails to make the tables: then "tables are missing" is no reason to wait for. */
  #cannotMakeTables = false;
  #isStopping = false;
  #watching: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.ledger = parts.ledger;
    this.#sources = new SourceWatch(parts.ledger, parts.time.nowMs);
    const canLead = () => this.#isReachable && this.#beginFails === null;
    this.#leadership = new Leadership(parts.node, { canLead, lead: (term) => this.#lead(term) }, parts.log);
    parts.node.whileLeading(() => this.#ownStatus());
  }

  get jobs(): BackgroundJobs | undefined {
    return this.#jobs;
  }

  get loader(): LoaderStatus | undefined {
    return this.#loaderStatus?.();
  }

  get waitsFor(): string | undefined {
    return this.#waitsFor;
  }

  get why(): UnavailableReason | undefined {
    return this.#why;
  }

  get started(): Partial<StartedAnalysis> {
    const following = this.#following;
    if (following === undefined || this.#waitsFor !== undefined) return {};
    const jobs = this.#jobs;
    if (jobs !== undefined) {
      const { scoring, sources, scheduler, failures } = jobs;
      return { analysis: whileLeading(jobs.analysis, following), scoring, sources, scheduler, failures };
    }
    return {
      analysis: following,
      scoring: {
        score: async (request, report) => remoteAnalysis(this.#leader()).scoring.score(request, report),
        preview: async (request) => remoteAnalysis(this.#leader()).scoring.preview(request),
      },
      sources: this.#sources,
      scheduler: {
        isOn: this.#parts.time.intervals.scheduleMs !== null,
        earlierScores: (organization) => this.#leaderStatus()?.earlierScores[String(organization)] ?? null,
      },
      failures: (organization) => this.#leaderStatus()?.failures?.[String(organization)] ?? [],
    };
  }

  serve(
    ...[answer, failed]: Parameters<NonNullable<AnalysisHost["serve"]>>
  ): Bun.Server<undefined> | undefined {
    const { cluster, config, key, node } = this.#parts;
    if (cluster.nodeUrl === null) return undefined;
    const { nodeUrl, nodeTls } = cluster;
    return serveNode({ nodeUrl, nodeTls }, config, { key, id: node.id }, answer, failed);
  }

  async begin(): Promise<void> {
    this.#watching = this.#watchWarehouse();
    this.#leadership.start();
  }

  async leave(): Promise<void> {
    this.#isStopping = true;
    await waitUpTo(maxStepMs, this.#parts.node.leave());
    this.#following?.stop();
    const stopping = this.#leadership.stop();
    await Promise.all([Bun.sleep(drainMs), waitUpTo(maxStopMs, stopping)]);
  }

  async close(): Promise<void> {
    const { node, ledger } = this.#parts;
    await waitUpTo(maxStepMs, Promise.all([this.#watching, this.#warehouse?.close()]));
    await waitUpTo(maxStepMs, Promise.all([node.close(), ledger.close()]));
  }

  /** Opens the warehouse when it can be reached, and pings it from then on. */
  async #watchWarehouse(): Promise<void> {
    while (!this.#isStopping) {
      this.#warehouse ??= await this.#open(() => !this.#isStopping);
      if (this.#warehouse === undefined) return;
      const { ledger, time } = this.#parts;
      this.#following ??= new FollowingAnalysis({
        warehouse: this.#warehouse,
        ledger,
        nowMs: time.nowMs,
        leader: () => this.#leaderStatus()?.status,
        askLeader: () => remoteAnalysis(this.#leader()).analysis,
      });
      await this.#ping(this.#warehouse);
      this.#isReachable = this.#waitsFor === undefined;
      await Bun.sleep(pingEveryMs);
    }
  }

  async #ping(warehouse: Warehouse): Promise<void> {
    try {
      await warehouse.rows("SELECT 1", {}, { maxSeconds: pingTimeoutSeconds });
      this.#waitsFor = undefined;
    } catch (error) {
      this.#waitsFor = messageOf(error);
      this.#why = unavailableReasonOf(error);
    }
  }

  /** Opens the warehouse, as often as it takes. @param term in which it is changed; left out for questions
   * @returns undefined when it is not wanted any more */
  async #open(isWanted: () => boolean, term?: Term): Promise<Warehouse | undefined> {
    const { cluster, log } = this.#parts;
    const { clickhouseUrl: url, clickhouseCluster } = cluster;
    let loggedMs = Number.NEGATIVE_INFINITY;
    while (isWanted()) {
      try {
        const changes = { migrates: term !== undefined, mayChange: () => term?.isHeld ?? true };
        const ledger = await this.ledger.identity();
        const opened = await openClickHouseWarehouse({ url, cluster: clickhouseCluster, ledger, ...changes });
        if (term !== undefined) this.#cannotMakeTables = false;
        return opened;
      } catch (error) {
        const because = messageOf(error);
        if (term === undefined) this.#isReachable = error instanceof MissingTables;
        else {
          this.#cannotMakeTables = true;
          this.#beginFails = because;
        }
        if (this.#warehouse === undefined && (term !== undefined || !this.#cannotMakeTables)) {
          this.#waitsFor = because;
          this.#why = unavailableReasonOf(error);
        }
        if (performance.now() - loggedMs > logEveryMs) log.warn({ because }, "waiting for ClickHouse");
        if (performance.now() - loggedMs > logEveryMs) loggedMs = performance.now();
      }
      await Bun.sleep(retryMs);
    }
    return undefined;
  }

  /** Starts the background jobs of a term. */
  #lead(term: Term): Leading {
    const { ledger: shared, node, config, log, time } = this.#parts;
    const ending = Promise.withResolvers<void>();
    let isEnding = false;
    const isWanted = () => !isEnding && term.isHeld;
    const ledger = shared.leading(term.lease, () => node.settledEverywhere());
    const begin = async () => {
      const warehouse = await this.#open(isWanted, term);
      if (warehouse === undefined) return;
      const parts = { warehouse, ledger, log, time, dataDir: config.dataDir };
      const loads = (status: () => LoaderStatus) => {
        if (isEnding) return;
        this.#loaderStatus = status;
        this.#beginFails = null;
      };
      try {
        const analysis = await beginAnalysis(parts, { ending: ending.promise, loads });
        this.#jobs = new BackgroundJobs({ analysis, ledger, address: config.publicUrl, time, log });
      } catch (error) {
        this.#beginFails = messageOf(error);
        await warehouse.close();
        if (isWanted()) throw error;
      }
    };
    this.#loaderStatus = () => nothingLoaded("replaying", this.#beginFails);
    const beginning = untilDone(begin, isWanted, log);
    return {
      stop: async () => {
        isEnding = true;
        ending.resolve();
        // Stop reporting as leader at once, even while work is under way.
        this.#loaderStatus = undefined;
        await beginning;
        this.#beginFails = null;
        const jobs = this.#jobs;
        this.#jobs = undefined;
        await jobs?.stop();
      },
    };
  }

  #ownStatus(): string | null {
    const jobs = this.#jobs;
    const loader = this.#loaderStatus?.();
    if (loader === undefined) return null;
    const status: LeaderStatus = {
      status: jobs?.analysis.status() ?? { state: "ready", loader, rebuild: null },
      earlierScores: jobs?.scheduler.allEarlierScores() ?? {},
      failures: jobs?.allFailures() ?? {},
    };
    return JSON.stringify(status);
  }

  #leaderStatus(): LeaderStatus | undefined {
    const status = this.#parts.node.leader?.leaderStatus ?? null;
    return status === null ? undefined : (JSON.parse(status) as LeaderStatus);
  }

  /** The leader. @throws Refusal when it cannot be asked */
  #leader(): Peer {
    const { node, key } = this.#parts;
    const { leader } = node;
    if (leader === undefined || leader.id === node.id) {
      throw new Refusal("no analysis node leads at this moment: try again in a few seconds.");
    }
    if (leader.url === null) {
      throw new Refusal("the analysis node that leads has no NODE_URL: ask there, or set it.");
    }
    return nodePeer(leader.url, key, leader.id);
  }
}

/** Calls `begin` until it succeeds or is not wanted any more. */
async function untilDone(begin: () => Promise<void>, isWanted: () => boolean, log: Logger): Promise<void> {
  while (isWanted()) {
    try {
      return await begin();
    } catch (error) {
      log.warn({ err: error }, "the work on the warehouse could not begin, and will be tried again");
      await Bun.sleep(retryMs);
    }
  }
}
