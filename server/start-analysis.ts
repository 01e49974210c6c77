/**
 * The analysis process: the embedded engine and all that needs it. It may be killed at any moment; what it
 * had in hand lies frozen in the ledger and is sent again.
 */
import type { Config } from "./config.ts";
import { answerAnalysis, type StartedAnalysis } from "./http/analysis-routes.ts";
import { remoteLedger } from "./http/shared-ledger.ts";
import { openInboxReader } from "./ledger/sqlite/inbox-reader.ts";
import { ledgerFile } from "./ledger/sqlite/open.ts";
import { serveSocket } from "./process/control.ts";
import type { Logger } from "./process/log.ts";
import { createRegistry, gauge } from "./process/metrics.ts";
import { socketPath } from "./process/sockets.ts";
import { Scheduler } from "./scoring/run/scheduler.ts";
import { Scoring } from "./scoring/run/scoring.ts";
import { SourceWatch } from "./scoring/run/source-watch.ts";
import { openAnalysis, takeAnalysisLock } from "./warehouse/analysis.ts";

export interface RunningAnalysis {
  /** Finishes the batch that is being loaded, then closes the engine. */
  stop(): Promise<void>;
}

/** Starts analysis beside a running intake. The socket answers at once, and says "starting" until every
 * frozen batch was sent again. @throws Refusal when another analysis works on the folder. */
export async function startAnalysis(config: Config, log: Logger): Promise<RunningAnalysis> {
  const lock = await takeAnalysisLock(config.dataDir);
  const reader = openInboxReader(ledgerFile(config.dataDir));
  const ledger = remoteLedger(socketPath(config.dataDir, "control"), reader);
  const registry = createRegistry("analysis");
  let started: Partial<StartedAnalysis> = {};
  const socket = socketPath(config.dataDir, "analysis");
  const server = serveSocket(
    socket,
    (request) => answerAnalysis({ ledger, registry, log }, started, request),
    (error) => {
      log.error({ err: error }, "a question failed");
      return new Response(error.message, { status: 500 });
    },
  );
  const opened = await openAnalysis(config.dataDir, ledger, log);
  opened.nightly.start();
  const sources = new SourceWatch(ledger.sources, Date.now);
  const scoring = new Scoring({ host: opened, ledger, sources, log, nowMs: Date.now });
  const scheduler = new Scheduler({ scoring, host: opened, ledger, log, nowMs: Date.now });
  scheduler.start();
  started = { analysis: opened, scoring, sources, scheduler };
  gauge(
    registry,
    "rekindle_rows_loaded",
    "Rows brought to the warehouse by this process.",
    () => opened.status().loader.rowsLoaded,
  );
  gauge(registry, "rekindle_loader_failing", "1 while the loader retries.", () =>
    opened.status().loader.failure === null ? 0 : 1,
  );
  gauge(
    registry,
    "rekindle_check_differences",
    "Differences that the last nightly checks found.",
    () => opened.nightly.differences,
  );
  gauge(
    registry,
    "rekindle_check_oldest_timestamp_seconds",
    "When the organization that waits longest was checked; 0 before the first check.",
    () => Math.floor(opened.nightly.oldestAtMs / 1_000),
  );
  return {
    async stop() {
      await server.stop(true);
      scoring.stop();
      await scheduler.stop();
      await opened.close();
      reader.close();
      lock.release();
    },
  };
}
