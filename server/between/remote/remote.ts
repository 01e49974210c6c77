/** The module's interface: the asking side of calls between processes. It has no part of the answering side,
 * which loads most of the server: a command starts in half the time. */

export { answerLines } from "./progress-lines.ts";
export { type PreviewOutcome, remoteAnalysis, remoteScoring, runningRebuild } from "./remote-analysis.ts";
export { type ImportService, ledgerOperations, remoteImporter, remoteLedger } from "./shared-ledger.ts";
