/** The analysis that a command asks: the running server's, or one of its own when no server runs. */
import { remoteAnalysis, remoteScoring } from "../server/http/remote-analysis.ts";
import { createLogger } from "../server/process/log.ts";
import { socketPath } from "../server/process/sockets.ts";
import type { ScoringService } from "../server/scoring/run/scoring.ts";
import type { AnalysisService } from "../server/warehouse/analysis.ts";
import { type Installation, withInstallation } from "./installation.ts";

/** Opens the installation and its analysis for the time of `work`. */
export function withAnalysis(
  work: (installation: Installation, analysis: AnalysisService, scoring: ScoringService) => Promise<void>,
): Promise<void> {
  return withInstallation(async (installation) => {
    const { config, ledger, served } = installation;
    if (served) {
      const socket = socketPath(config.dataDir, "analysis");
      return work(installation, remoteAnalysis(socket), remoteScoring(socket));
    }
    // Loaded here only: a command that a server answers starts without the engine, in a third of the time.
    const { openAnalysis, takeAnalysisLock } = await import("../server/warehouse/analysis.ts");
    const { Scoring } = await import("../server/scoring/run/scoring.ts");
    const { SourceWatch } = await import("../server/scoring/run/source-watch.ts");
    const lock = await takeAnalysisLock(config.dataDir);
    const log = createLogger("analysis", "warn");
    const analysis = await openAnalysis(config.dataDir, ledger, log);
    const sources = new SourceWatch(ledger.sources, Date.now);
    const scoring = new Scoring({ host: analysis, ledger, sources, log, nowMs: Date.now });
    try {
      await work(installation, analysis, scoring);
    } finally {
      await analysis.close();
      lock.release();
    }
  });
}
