/** What other rooms of this layer may use of scoring: statistics, and the scores of a run as a part of other queries. */

export {
  type ClusterHits,
  differenceProbability,
  effectiveSample,
  holm,
  newcombe,
  shareInterval,
} from "./difference.ts";
export type { Band } from "./explain.ts";
export type { HealthColour } from "./health.ts";
export { type Lifetimes, logRank } from "./log-rank.ts";
export { outageWeeks } from "./outage.ts";
export {
  bandConditions,
  type Moved,
  movedConditions,
  type OfRun,
  scoresWithChange,
} from "./queries/reading.ts";
export { callMemberDays, sharpFallPoints, type ToCallQuestion, toCallQuery } from "./queries/to-call.ts";
export { inSteps } from "./run/in-steps.ts";
export { fitSbg, projectFrom, projectSbg, type ShareAt } from "./sbg.ts";
export type { State } from "./state.ts";
export type { Steps } from "./steps.ts";
export { type JudgedChange, judgeChange, type UsualChange } from "./usual.ts";
export { type Verdict, verdictSql } from "./verdict.ts";
export { type Interval, wilson } from "./wilson.ts";
