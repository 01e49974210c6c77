/** The analysis that a command asks: the running server's, or one of its own when no server runs. */
import { remoteAnalysis } from "../server/http/remote-analysis.ts";
import { createLogger } from "../server/process/log.ts";
import { socketPath } from "../server/process/sockets.ts";
import type { AnalysisService } from "../server/warehouse/analysis.ts";
import { type Installation, withInstallation } from "./installation.ts";

/** Opens the installation and its analysis for the time of `work`. */
export function withAnalysis(
  work: (installation: Installation, analysis: AnalysisService) => Promise<void>,
): Promise<void> {
  return withInstallation(async (installation) => {
    const { config, ledger, served } = installation;
    if (served) return work(installation, remoteAnalysis(socketPath(config.dataDir, "analysis")));
    // Loaded here only: a command that a server answers starts without the engine, in a third of the time.
    const { openAnalysis, takeAnalysisLock } = await import("../server/warehouse/analysis.ts");
    const lock = await takeAnalysisLock(config.dataDir);
    const analysis = await openAnalysis(config.dataDir, ledger, createLogger("analysis", "warn"));
    try {
      await work(installation, analysis);
    } finally {
      await analysis.close();
      lock.release();
    }
  });
}
