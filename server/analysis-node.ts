/**
 * Analysis as a node of a cluster. It answers questions; while it leads it also does the work: loading,
 * rebuilds, erasures, checks, scores. Whether it leads is decided in the ledger
 * (server/ledger/postgres/cluster/leadership.ts).
 */

import { Refusal } from "../contract/refusal.ts";
import { type AnalysisHost, AnalysisWork, type SaidByLeader } from "./analysis-work.ts";
import type { StartedAnalysis } from "./between/between.ts";
import { remoteAnalysis, remoteScoring } from "./between/remote/remote.ts";
import type { ClusterConfig, Config } from "./config.ts";
import type { ClusterNode, PostgresLedger } from "./ledger/postgres/postgres.ts";
import { Leadership, type Leading, type Term } from "./ledger/postgres/postgres.ts";
import { openCluster } from "./open-cluster.ts";
import { messageOf, nodePeer, type Peer, type Time, waitUpTo } from "./process/process.ts";
import { SourceWatch } from "./scoring/scoring.ts";
import { serveNode } from "./serve-node.ts";
import type { Logger } from "./telemetry/telemetry.ts";
import type { LoaderStatus, Warehouse } from "./warehouse/warehouse.ts";
import {
  beginAnalysis,
  FollowingAnalysis,
  MissingTables,
  nothingLoaded,
  openClickHouseWarehouse,
  type UnavailableReason,
  unavailableReasonOf,
  whileLeading,
} from "./warehouse/warehouse.ts";

const retryMs = 1_000;
const sayEveryMs = 10_000;
/** How often the warehouse is asked whether it is there, and how long it may take to say so. */
const lookEveryMs = 1_000;
const lookPatienceSeconds = 10;
/** For so long questions that were on their way are answered still. */
const drainMs = 1_500;
/** Then the process exits, even with unfinished work. The next leader repeats it. */
const maxStopMs = 5_000;
/** For each of the steps of leaving that a silent server could hold up: ten seconds in all. */
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
  #work: AnalysisWork | undefined;
  #waitsFor: string | undefined = "ClickHouse";
  /** Whether the server answers, tables or not. */
  #isReachable = false;
  /** Why the work of this term could not begin yet. */
  #beginFails: string | null = null;
  /** How the loader of this term is; undefined while another node leads. */
  #loads: (() => LoaderStatus) | undefined;
  #why: UnavailableReason | undefined;
  /** Whether the tables cannot be made here: then it does not help to know that they are not made. */
  #makesNone = false;
  #isStopping = false;
  #watching: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.ledger = parts.ledger;
    this.#sources = new SourceWatch(parts.ledger, parts.time.nowMs);
    const canLead = () => this.#isReachable && this.#beginFails === null;
    this.#leadership = new Leadership(parts.node, { canLead, lead: (term) => this.#lead(term) }, parts.log);
    parts.node.whileLeading(() => this.#said());
  }

  get work(): AnalysisWork | undefined {
    return this.#work;
  }

  get loader(): LoaderStatus | undefined {
    return this.#loads?.();
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
    const work = this.#work;
    if (work !== undefined) {
      const { scoring, sources, scheduler, failures } = work;
      return { analysis: whileLeading(work.analysis, following), scoring, sources, scheduler, failures };
    }
    return {
      analysis: following,
      scoring: {
        score: async (request, report) => remoteScoring(this.#leader()).score(request, report),
        preview: async (request) => remoteScoring(this.#leader()).preview(request),
      },
      sources: this.#sources,
      scheduler: {
        isOn: this.#parts.time.intervals.scheduleMs !== null,
        earlierScores: (organization) => this.#saidByLeader()?.earlierScores[String(organization)] ?? null,
      },
      failures: (organization) => this.#saidByLeader()?.failures?.[String(organization)] ?? [],
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

  /** Opens the way to the warehouse when it is there, and looks from then on whether it still is. */
  async #watchWarehouse(): Promise<void> {
    while (!this.#isStopping) {
      this.#warehouse ??= await this.#open(() => !this.#isStopping);
      if (this.#warehouse === undefined) return;
      const { ledger, time } = this.#parts;
      this.#following ??= new FollowingAnalysis({
        warehouse: this.#warehouse,
        ledger,
        nowMs: time.nowMs,
        leader: () => this.#saidByLeader()?.status,
        askLeader: () => remoteAnalysis(this.#leader()),
      });
      await this.#lookAt(this.#warehouse);
      this.#isReachable = this.#waitsFor === undefined;
      await Bun.sleep(lookEveryMs);
    }
  }

  async #lookAt(warehouse: Warehouse): Promise<void> {
    try {
      await warehouse.rows("SELECT 1", {}, { maxSeconds: lookPatienceSeconds });
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
    let saidMs = Number.NEGATIVE_INFINITY;
    while (isWanted()) {
      try {
        const changes = { migrates: term !== undefined, mayChange: () => term?.isHeld ?? true };
        const ledger = await this.ledger.identity();
        const opened = await openClickHouseWarehouse({ url, cluster: clickhouseCluster, ledger, ...changes });
        if (term !== undefined) this.#makesNone = false;
        return opened;
      } catch (error) {
        const because = messageOf(error);
        if (term === undefined) this.#isReachable = error instanceof MissingTables;
        else {
          this.#makesNone = true;
          this.#beginFails = because;
        }
        if (this.#warehouse === undefined && (term !== undefined || !this.#makesNone)) {
          this.#waitsFor = because;
          this.#why = unavailableReasonOf(error);
        }
        if (performance.now() - saidMs > sayEveryMs) log.warn({ because }, "waiting for ClickHouse");
        if (performance.now() - saidMs > sayEveryMs) saidMs = performance.now();
      }
      await Bun.sleep(retryMs);
    }
    return undefined;
  }

  /** Begins the work of a term. */
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
        this.#loads = status;
        this.#beginFails = null;
      };
      try {
        const analysis = await beginAnalysis(parts, { ending: ending.promise, loads });
        this.#work = new AnalysisWork({ analysis, ledger, address: config.publicUrl, time, log });
      } catch (error) {
        this.#beginFails = messageOf(error);
        await warehouse.close();
        if (isWanted()) throw error;
      }
    };
    this.#loads = () => nothingLoaded("replaying", this.#beginFails);
    const beginning = untilDone(begin, isWanted, log);
    return {
      stop: async () => {
        isEnding = true;
        ending.resolve();
        // Stop reporting as leader at once, even while work is under way.
        this.#loads = undefined;
        await beginning;
        this.#beginFails = null;
        const work = this.#work;
        this.#work = undefined;
        await work?.stop();
      },
    };
  }

  #said(): string | null {
    const work = this.#work;
    const loader = this.#loads?.();
    if (loader === undefined) return null;
    const said: SaidByLeader = {
      status: work?.analysis.status() ?? { state: "ready", loader, rebuild: null },
      earlierScores: work?.scheduler.allEarlierScores() ?? {},
      failures: work?.allFailures() ?? {},
    };
    return JSON.stringify(said);
  }

  #saidByLeader(): SaidByLeader | undefined {
    const leading = this.#parts.node.leader?.leaderStatus ?? null;
    return leading === null ? undefined : (JSON.parse(leading) as SaidByLeader);
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

/** Tries until it succeeds or is not wanted any more. */
async function untilDone(work: () => Promise<void>, isWanted: () => boolean, log: Logger): Promise<void> {
  while (isWanted()) {
    try {
      return await work();
    } catch (error) {
      log.warn({ err: error }, "the work on the warehouse could not begin, and will be tried again");
      await Bun.sleep(retryMs);
    }
  }
}
