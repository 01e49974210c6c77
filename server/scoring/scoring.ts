/** The module's interface: statistics, models, runs, and scores as parts of other queries. */

export { type ActivityOrder, positionIn } from "./churn/activity-order.ts";
export {
  type Backtest,
  backtest,
  type FittedSnapshot,
  type Fold,
  type ModelResult,
  trainingOf,
} from "./churn/backtest.ts";
export { compareGroups, type WithoutGroup } from "./churn/compare.ts";
export {
  daysBetween,
  type FoldDays,
  foldsAt,
  foldsWithKnownOutcomes,
  leastLogDays,
  maxFolds,
  planFolds,
} from "./churn/folds.ts";
export {
  type Choice,
  chooseRung,
  failuresOf,
  lacksData,
  proofOf,
  provenBaseRate,
  servingResult,
} from "./churn/ladder.ts";
export { canServe, nameOfModel, nameOfRung } from "./churn/model-names.ts";
export type { Snapshot } from "./churn/snapshot.ts";
export type { Steps } from "./churn/steps.ts";
export { countData } from "./churn/train.ts";
export { rhythmInWords } from "./data-quality/rhythm.ts";
export { type SourceStatus, SourceWatch, takenOf } from "./data-quality/source-watch.ts";
export { withDeadline } from "./preview/deadline.ts";
export type { BandMove } from "./preview/moves.ts";
export { type HorizonProof, type KindPreview, uncountedSettings } from "./preview/preview.ts";
export { rulesKey, scoresByRules } from "./preview/scores-by-rules.ts";
export { spansWithoutDepartures } from "./queries/departure-days.ts";
export type { EntityKind } from "./queries/engagement-events.ts";
export { type AccountMember, accountMembers, accountMemberTotals } from "./queries/lists/account-members.ts";
export { accountsAtRisk, scoredAccounts } from "./queries/lists/accounts-at-risk.ts";
export { type CallScoresQuestion, callScoresQuery } from "./queries/lists/call-scores.ts";
export { type ChurnedLately, churnedLately } from "./queries/lists/churned-lately.ts";
export { columnOfFall, type Fall, fallCondition, fallQuery } from "./queries/lists/falls.ts";
export { healthByWeek } from "./queries/lists/health-by-week.ts";
export { highRiskMoves } from "./queries/lists/high-risk-moves.ts";
export { type Mover, moversBetween } from "./queries/lists/movers.ts";
export {
  accountNumber,
  countBands,
  countListed,
  engagementRank,
  historyOf,
  type ListedScore,
  listScores,
  type Moved,
  monthDays,
  movedConditions,
  movedConditionsBy,
  movementBetween,
  type OfRun,
  orderByActivity,
  riskBandCondition,
  risksOfRun,
  scoreOf,
  scoresWithChange,
} from "./queries/lists/reading.ts";
export { isMovedByRules, shiftsOfPairs } from "./queries/lists/shifts.ts";
export type { StoredScore } from "./queries/lists/stored-score.ts";
export {
  callChangeDays,
  fellSharply,
  sharpFallPoints,
  type ToCallQuestion,
  toCallQuery,
  uncalledBands,
} from "./queries/lists/to-call.ts";
export { usualChange } from "./queries/lists/usual-change.ts";
export { readFolds } from "./queries/snapshots.ts";
export {
  clocksDifferMs,
  isPastImported,
  type LateEvents,
  lateEventsOfPast,
  type PastQuestion,
} from "./run/changed-days.ts";
export {
  changeBetween,
  departureDaysOf,
  departureOf,
  type EntityQuestion,
  type ExplainedScore,
  explainedScore,
  rowsOf,
} from "./run/entity.ts";
export { inSteps } from "./run/in-steps.ts";
export { marksOf } from "./run/marks.ts";
export { modelChanges } from "./run/model-changes.ts";
export type { ScoredOrganization } from "./run/population.ts";
export { excludedOfKey, outagesBefore, populationOf } from "./run/population.ts";
export { type RealisedChurn, realisedChurn } from "./run/realised.ts";
export type { RunBody } from "./run/record-bodies.ts";
export { runsBetween, type ScoreRecord } from "./run/records.ts";
export { bulkLoadOverMs, defaultRests, type EarlierScores, Scheduler } from "./run/scheduler.ts";
export {
  type PreviewRequest,
  type ScoreProgress,
  type ScoreSummary,
  Scoring,
  type ScoringService,
} from "./run/scoring.ts";
export { hasCompleteRun, newestRun } from "./run/status.ts";
export { statementByStatement } from "./run/turns.ts";
export { riskLeads } from "./scores/band-separation.ts";
export type { Explanation } from "./scores/explain.ts";
export type { HealthBand } from "./scores/health.ts";
export { cutoffBefore, daysWithin, type Outages, windowStart } from "./scores/observed-days.ts";
export {
  absoluteRiskScale,
  type RiskBand,
  type RiskLimits,
  type RiskScale,
  riskBandOf,
  riskScaleOf,
} from "./scores/risk-scale.ts";
export type { State } from "./scores/state.ts";
export { type Verdict, verdictOf, verdictSql } from "./scores/verdict.ts";
export {
  type ClusterHits,
  differenceProbability,
  effectiveSample,
  holm,
  newcombe,
  shareInterval,
} from "./statistics/difference.ts";
export { neverRising } from "./statistics/isotonic.ts";
export { type Lifetimes, logRank } from "./statistics/log-rank.ts";
export { uniformFrom } from "./statistics/random.ts";
export { fitSbg, projectFrom, projectSbg, type ShareAt } from "./statistics/sbg.ts";
export { type JudgedChange, judgeChange, quietWeeks, type UsualChange } from "./statistics/usual.ts";
export { type Interval, wilson } from "./statistics/wilson.ts";
