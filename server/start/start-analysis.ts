/**
 * The analysis process: the warehouse's engine, or the way to its servers, and all that needs it. It may be
 * killed at any moment; what it had in hand lies frozen in the ledger and is sent again.
 */
import type { Registry } from "prom-client";
import { answerAnalysis } from "../between/analysis-routes.ts";
import { type AnalysisHost, type Answer, BackgroundJobs } from "../between/background-jobs.ts";
import { remoteLedger } from "../between/remote/shared-ledger.ts";
import type { Config } from "../config.ts";
import { openInboxReader } from "../ledger/sqlite/inbox-reader.ts";
import { ledgerFile } from "../ledger/sqlite/ledger-file.ts";
import { serveSocket } from "../process/control.ts";
import type { Logger } from "../process/log.ts";
import { createRegistry, gauge } from "../process/metrics.ts";
import { socketPath } from "../process/sockets.ts";
import type { Time } from "../process/time.ts";
import { openAnalysis, takeAnalysisLock } from "../warehouse/analysis.ts";

export interface RunningAnalysis {
  /** Finishes the batch that is being loaded, then closes the engine. */
  stop(): Promise<void>;
}

/** Starts analysis beside a running intake, or as a node. The socket answers at once, and says "starting"
 * until every frozen batch was sent again. @throws Refusal when another analysis works on the folder. */
export async function startAnalysis(config: Config, log: Logger, time: Time): Promise<RunningAnalysis> {
  const lock = await takeAnalysisLock(config.dataDir);
  const host =
    config.cluster === null ? ownStores(config, log, time) : await clusterStores(config, log, time);
  const { ledger } = host;
  const registry = createRegistry("analysis");
  addGauges(registry, host);
  const answer: Answer = (request) =>
    answerAnalysis(
      { ledger, registry, log, nowMs: time.nowMs, waitsFor: host.waitsFor, why: host.why },
      host.started,
      request,
    );
  const failed = (error: Error) => {
    log.error({ err: error }, "a question failed");
    return new Response(error.message, { status: 500 });
  };
  const server = serveSocket(socketPath(config.dataDir, "analysis"), answer, failed);
  const nodes = host.serve?.(answer, failed);
  await host.begin();
  return {
    async stop() {
      await host.leave();
      await Promise.all([server.stop(true), nodes?.stop(true)]);
      await host.close();
      lock.release();
    },
  };
}

/** Loaded by nodes of a cluster only. */
async function clusterStores(config: Config, log: Logger, time: Time): Promise<AnalysisHost> {
  const { openAnalysisNode } = await import("../cluster/analysis-node.ts");
  return openAnalysisNode(config, log, time);
}

/** The embedded engine, and the ledger of the intake process beside. */
function ownStores(config: Config, log: Logger, time: Time): AnalysisHost {
  const reader = openInboxReader(ledgerFile(config.dataDir));
  const ledger = remoteLedger(socketPath(config.dataDir, "control"), reader);
  let jobs: BackgroundJobs | undefined;
  return {
    ledger,
    waitsFor: undefined,
    get jobs() {
      return jobs;
    },
    get loader() {
      return jobs?.analysis.status().loader;
    },
    get started() {
      return jobs ?? {};
    },
    async begin() {
      const analysis = await openAnalysis(config.dataDir, ledger, log, time);
      jobs = new BackgroundJobs({ analysis, ledger, address: config.publicUrl, time, log });
    },
    leave: async () => undefined,
    async close() {
      await jobs?.stop();
      reader.close();
    },
  };
}

function addGauges(registry: Registry, host: AnalysisHost): void {
  gauge(
    registry,
    "rekindle_rows_loaded",
    "Rows brought to the warehouse by this process.",
    () => host.loader?.rowsLoaded ?? 0,
  );
  gauge(registry, "rekindle_loader_failing", "1 while the loader retries.", () =>
    (host.loader?.failure ?? null) === null ? 0 : 1,
  );
  gauge(
    registry,
    "rekindle_check_differences",
    "Differences that the last nightly checks found.",
    () => host.jobs?.analysis.nightly.differences ?? 0,
  );
  gauge(
    registry,
    "rekindle_check_oldest_timestamp_seconds",
    "When the organization that waits longest was checked; 0 before the first check.",
    () => Math.floor((host.jobs?.analysis.nightly.oldestAtMs ?? 0) / 1_000),
  );
}
