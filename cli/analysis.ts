/** The analysis that a command uses: the running server's, or one of its own when no server runs. */

import { Refusal } from "../contract/refusal.ts";
import type { StartedAnalysis } from "../server/between/analysis-routes.ts";
import { remoteAnalysis } from "../server/between/remote/remote-analysis.ts";
import type { ClusterConfig } from "../server/config.ts";
import type { Logger } from "../server/process/log.ts";
import { systemTime } from "../server/process/time.ts";
import type { ScoringService } from "../server/scoring/run/scoring.ts";
import type { AnalysisService } from "../server/warehouse/analysis.ts";
import { type Installation, withInstallation } from "./installation.ts";

type Work = (installation: Installation, analysis: AnalysisService, scoring: ScoringService) => Promise<void>;

/** Opens the installation and its analysis for the time of `work`. @throws Refusal when there is none */
export async function withAnalysis(work: Work): Promise<void> {
  return withInstallation(async (installation) => {
    const { analysis: running } = installation;
    if (running !== undefined) {
      const { analysis, scoring } = remoteAnalysis(running);
      return work(installation, analysis, scoring);
    }
    return withOwnAnalysis(installation, ({ analysis, scoring }) => work(installation, analysis, scoring));
  });
}

/** Opens an engine of the command's own for the time of `work`. In a cluster the command becomes a node.
 * @throws Refusal when another process has the engine, or when a cluster's warehouse cannot be reached */
export async function withOwnAnalysis<Result>(
  installation: Installation,
  work: (started: StartedAnalysis, log: Logger) => Promise<Result>,
): Promise<Result> {
  const { config, ledger } = installation;
  if (config.cluster !== null) return withOwnNode(installation, config.cluster, work);
  // Loaded here only: a command that a server answers starts without the engine, in a third of the time.
  const { openAnalysis, takeAnalysisLock } = await import("../server/warehouse/analysis.ts");
  const { Scoring } = await import("../server/scoring/run/scoring.ts");
  const { SourceWatch } = await import("../server/scoring/run/source-watch.ts");
  const { createLogger } = await import("../server/process/log.ts");
  const { nowMs } = systemTime;
  const lock = await takeAnalysisLock(config.dataDir);
  const log = createLogger("analysis", "warn");
  const analysis = await openAnalysis(config.dataDir, ledger, log, systemTime);
  const sources = new SourceWatch(ledger, nowMs);
  const scoring = new Scoring({ host: analysis, ledger, sources, log, nowMs });
  const scheduler = { isOn: false, earlierScores: () => null };
  try {
    return await work({ analysis, scoring, sources, scheduler, failures: () => [] }, log);
  } finally {
    await analysis.close();
    lock.release();
  }
}

/** Without a leader, a dead leader's lease holds for 30 s. */
const startingPatienceMs = 45_000;

/** Without a reachable analysis node the command becomes a node itself while it runs. */
async function withOwnNode<Result>(
  installation: Installation,
  cluster: ClusterConfig,
  work: (started: StartedAnalysis, log: Logger) => Promise<Result>,
): Promise<Result> {
  const { openAnalysisNode } = await import("../server/cluster/analysis-node.ts");
  const { createLogger } = await import("../server/process/log.ts");
  const log = createLogger("analysis", "warn");
  // No other node shall use it.
  const config = { ...installation.config, cluster: { ...cluster, nodeUrl: null } };
  const host = await openAnalysisNode(config, log, systemTime);
  try {
    await host.begin();
    const deadlineMs = performance.now() + startingPatienceMs;
    while (true) {
      const { started } = host;
      const isLate = performance.now() > deadlineMs;
      // A leader that did not answer `analysisOf` may have crashed, and this node takes its place. One that
      // lives longer than a dead one's lease works where nobody here can reach it.
      const hasLeader = host.jobs !== undefined || (isLate && installation.node?.leader !== undefined);
      if (isStarted(started) && hasLeader) return await work(started, log);
      if (isLate) {
        throw new Refusal(`the warehouse cannot be asked: ${host.waitsFor ?? "no analysis node leads"}.`);
      }
      await Bun.sleep(100);
    }
  } finally {
    await host.leave();
    await host.close();
  }
}

function isStarted(started: Partial<StartedAnalysis>): started is StartedAnalysis {
  const { analysis, scoring, sources, scheduler } = started;
  return [analysis, scoring, sources, scheduler].every((part) => part !== undefined);
}
