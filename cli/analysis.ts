/** The analysis that a command uses: the running server's, or one of its own when no server runs. */

import { Refusal } from "../contract/refusal.ts";
import { remoteAnalysis, remoteScoring } from "../server/between/remote/remote-analysis.ts";
import type { ClusterConfig } from "../server/config.ts";
import { systemTime } from "../server/process/time.ts";
import type { ScoringService } from "../server/scoring/run/scoring.ts";
import type { AnalysisService } from "../server/warehouse/analysis.ts";
import { type Installation, withInstallation } from "./installation.ts";

type Work = (installation: Installation, analysis: AnalysisService, scoring: ScoringService) => Promise<void>;

/** Opens the installation and its analysis for the time of `work`. @throws Refusal when there is none */
export async function withAnalysis(work: Work): Promise<void> {
  return withInstallation(async (installation) => {
    const { config, ledger, analysis: running } = installation;
    if (running !== undefined) return work(installation, remoteAnalysis(running), remoteScoring(running));
    if (config.cluster !== null) return withOwnNode(installation, config.cluster, work);
    // Loaded here only: a command that a server answers starts without the engine, in a third of the time.
    const { openAnalysis, takeAnalysisLock } = await import("../server/warehouse/analysis.ts");
    const { Scoring } = await import("../server/scoring/run/scoring.ts");
    const { SourceWatch } = await import("../server/scoring/data-quality/source-watch.ts");
    const { createLogger } = await import("../server/telemetry/log.ts");
    const lock = await takeAnalysisLock(config.dataDir);
    const log = createLogger("analysis", "warn");
    const analysis = await openAnalysis(config.dataDir, ledger, log, systemTime);
    const sources = new SourceWatch(ledger, systemTime.nowMs);
    const scoring = new Scoring({ host: analysis, ledger, sources, log, nowMs: systemTime.nowMs });
    try {
      await work(installation, analysis, scoring);
    } finally {
      await analysis.close();
      lock.release();
    }
  });
}

/** Without a leader, a dead leader's lease holds for 30 s. */
const startingPatienceMs = 45_000;

/** Without a reachable analysis node the command becomes a node itself while it runs. */
async function withOwnNode(installation: Installation, cluster: ClusterConfig, work: Work): Promise<void> {
  const { openAnalysisNode } = await import("../server/cluster/analysis-node.ts");
  const { createLogger } = await import("../server/telemetry/log.ts");
  const log = createLogger("analysis", "warn");
  // No other node shall use it.
  const config = { ...installation.config, cluster: { ...cluster, nodeUrl: null } };
  const host = await openAnalysisNode(config, log, systemTime);
  try {
    await host.begin();
    const deadlineMs = performance.now() + startingPatienceMs;
    const hasLeader = () => host.jobs !== undefined || installation.node?.leader !== undefined;
    while (host.started.analysis === undefined || !hasLeader()) {
      if (performance.now() > deadlineMs) {
        throw new Refusal(`the warehouse cannot be asked: ${host.waitsFor ?? "no analysis node leads"}.`);
      }
      await Bun.sleep(100);
    }
    const { analysis, scoring } = host.started;
    if (analysis !== undefined && scoring !== undefined) await work(installation, analysis, scoring);
  } finally {
    await host.leave();
    await host.close();
  }
}
