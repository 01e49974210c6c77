/** The module's interface: calls between the two processes of an installation and between the nodes of a cluster. */

export { AnalysisNodes } from "./analysis-nodes.ts";
export { answerAnalysis, type StartedAnalysis } from "./analysis-routes.ts";
export { remoteAnalysis, remoteScoring, runningRebuild } from "./remote-analysis.ts";
export { type ImportService, ledgerOperations, remoteImporter, remoteLedger } from "./shared-ledger.ts";
