/** The module's interface: the answering side of calls between the two processes of an installation and
 * between the nodes of a cluster, and the way to the node that answers. */

export { AnalysisNodes } from "./analysis-nodes.ts";
export { answerAnalysis, type StartedAnalysis } from "./analysis-routes.ts";
