/**
 * Chooses the model that serves. A model ships when the back-test proves it; of proven models, the model with
 * the least log loss ships. "Not enough data" is a possible answer, with the missing amounts. Models are
 * ordered as rungs of a ladder, from 0 to 3, by the data that they need. Rung 0 never serves: without a model
 * entities are ordered by activity.
 */
import { type Backtest, type CutoffLoss, type ModelResult, modelOfRung } from "./backtest.ts";
import { isBaseline, type Rung } from "./churn-model.ts";
import type { FeatureGroup } from "./columns.ts";
import { keptShareOfLeast } from "./departures.ts";
import { leastFolds } from "./folds.ts";
import {
  type DataCounts,
  replacingShareOfLoss,
  rungsFor,
  type Shortage,
  servingRungs,
  shortagesOf,
} from "./train.ts";

export interface Choice {
  /**
   * The rung that serves. Null when there is too little data, or baselines are as good: then no risk is
   * shown. Runs of 0.1.0 may have rung 0.
   */
  readonly rung: Rung | null;
  /** Whether a back-test stands behind it. */
  readonly isProven: boolean;
  /** Whether that back-test has under 100 departures. */
  readonly isProvisional: boolean;
  /** A sentence for people. */
  readonly why: string;
  /** The data that the next rung needs; null on the top rung. */
  readonly next: NextRung | null;
}

export interface NextRung {
  readonly rung: Rung;
  readonly missing: readonly Shortage[];
  /** Why the model did not pass the back-test. */
  readonly failures: readonly string[];
}

/** The model that served before a training. */
export interface Incumbent {
  readonly rung: Rung;
  /** Whether it passed the back-test of the training before. */
  readonly passed: boolean;
  /** The groups of features that it had; left out for rungs without groups. */
  readonly groups?: readonly FeatureGroup[] | undefined;
}

/** With fewer departures, or fewer entities that stayed, a back-test decides nothing. */
const leastJudgedOfEachClass = 30;
/** Below this number of departures a model that passes is provisional. */
const leastSettledDepartures = 100;
const largestShareOfLoss = 0.98;
const largestEceOverFloor = 0.05;
const largestEceOverBaseRate = 0.25;
const largestSlopeDistance = 0.2;
const largestBias = Math.log(1.25);
/** A perfect model exceeds this many standard errors, to either side, in one of ten back-tests. */
const standardErrors = 1.64;

/**
 * Why a model does not ship, as sentences; none if it does. The limits are relative to the base rate and to
 * what chance does to so few departures (docs/decisions/0056). A model may have been trained at a few of the
 * cut-offs: its own rows have to decide something. A new model has to be 2 % better than recency and the base
 * rate, a proven one not worse. A baseline has to be calibrated and better than the base rate.
 * @param isKept whether it was proven before
 */
export function failuresOf(
  {
    model,
    metrics,
    departures,
    retained,
    recencyLogLoss,
    hiatusLogLoss,
    periodEndLogLoss = Number.POSITIVE_INFINITY,
  }: ModelResult,
  isKept = false,
): string[] {
  const { logLoss, ece, eceFloor, calibrationSlope, meanPrediction, baseRate } = metrics;
  const { calibrationSlopeError, biasError } = metrics;
  const baseLogLoss = entropyOf(baseRate);
  const largestEce = eceFloor + Math.min(largestEceOverFloor, largestEceOverBaseRate * baseRate);
  const slopeDistance = Math.max(largestSlopeDistance, standardErrors * (calibrationSlopeError ?? 0));
  const bias = Math.max(largestBias, standardErrors * (biasError ?? 0));
  const rarer = Math.min(departures, retained);
  const share = isKept ? 1 : largestShareOfLoss;
  const not = isKept ? "above" : "not 2% below";
  const isBaselineModel = model === "recency" || model === "period end";
  const checks: readonly (readonly [isGood: boolean, failure: string])[] = [
    [
      rarer >= leastJudged(isKept),
      `its back-test has ${rarer} labels of the rarer class of the ${leastJudgedOfEachClass} it takes`,
    ],
    [
      isBaselineModel || logLoss <= share * recencyLogLoss,
      `its log loss of ${logLoss.toFixed(3)} is ${not} the ${recencyLogLoss.toFixed(3)} of recency alone`,
    ],
    [
      logLoss <= share * baseLogLoss,
      `its log loss of ${logLoss.toFixed(3)} is ${not} the ${baseLogLoss.toFixed(3)} of the base rate`,
    ],
    [
      isBaselineModel || logLoss < hiatusLogLoss,
      `its log loss of ${logLoss.toFixed(3)} is not below the ${hiatusLogLoss.toFixed(3)} of the hiatus rule`,
    ],
    [
      isBaselineModel || logLoss < periodEndLogLoss,
      `its log loss of ${logLoss.toFixed(3)} is not below the ${periodEndLogLoss.toFixed(3)} of the days to the end of the period alone`,
    ],
    [ece <= largestEce, `its calibration error of ${ece.toFixed(3)} is above ${largestEce.toFixed(3)}`],
    [
      calibrationSlope !== null && Math.abs(calibrationSlope - 1) <= slopeDistance,
      `its calibration slope of ${calibrationSlope?.toFixed(2) ?? "nothing"} is more than ${slopeDistance.toFixed(2)} from 1`,
    ],
    [
      Math.abs(Math.log(baseRate / meanPrediction)) <= bias,
      `its mean of ${meanPrediction.toFixed(3)} is not within a factor of ${Math.exp(bias).toFixed(2)} of the base rate of ${baseRate.toFixed(3)}`,
    ],
  ];
  return checks.filter(([isGood]) => !isGood).map(([, failure]) => failure);
}

/** The log loss of always saying the base rate. */
export function entropyOf(rate: number): number {
  return rate <= 0 || rate >= 1 ? 0 : -(rate * Math.log(rate) + (1 - rate) * Math.log1p(-rate));
}

/**
 * The rung that serves, by today's amount of data and the last back-test, if there was one.
 * @param trained the rungs of the last training; rung 1 needs no labels and is always available
 * @param incumbent serves until another is 0.5 % better, or until it failed in two trainings running; then
 * the base rate serves until a model passes. While it is proven it needs less data than a new one
 * @param isDeclared whether the churn target is a declared one, which no rung predicts without labels
 */
export function chooseRung(
  counts: DataCounts,
  backtest: Backtest | null,
  trained: readonly Rung[] = rungsFor(false),
  incumbent: Incumbent | null = null,
  isDeclared = false,
): Choice {
  const rungs = servingRungs(isDeclared);
  const next = (rung: Rung | null) => nextAfter(rung, rungs, counts, backtest, isDeclared);
  const isKept = (rung: Rung) => rung === keptRung(incumbent);
  const judgement = backtest === null ? "there was no back-test yet" : doubtAbout(backtest);
  const candidates =
    backtest === null
      ? []
      : rungs
          .filter(
            (rung) =>
              doubtAbout(backtest, isKept(rung)) === null &&
              (rung === 1 || trained.includes(rung)) &&
              shortagesOf(rung, counts, isDeclared, isKept(rung)).length === 0,
          )
          .flatMap((rung) => candidateOf(rung, backtest, isKept(rung)));
  const base = incumbent !== null && trained.includes(6) ? baseRateChoice(next(6)) : undefined;
  if (judgement !== null && candidates.length === 0) {
    if (isDeclared && base !== undefined) return base;
    const isFitted = !isDeclared && shortagesOf(1, counts).length === 0;
    return {
      rung: isFitted ? 1 : null,
      isProven: false,
      isProvisional: false,
      why: isFitted ? `BG/BB needs no labels; not proven, ${judgement}` : `${tooLittle}; ${judgement}`,
      next: next(isFitted ? 1 : null),
    };
  }
  const ranked = rankedByLoss(
    candidates.filter(({ rung, failures }) => failures.length === 0 || rung === incumbent?.rung),
  );
  const best = ranked.find(({ failures }) => failures.length === 0);
  const elected = stays(ranked, best, incumbent) ?? best;
  if (elected === undefined) {
    if (base !== undefined) return base;
    const why = candidates.length === 0 ? tooLittle : nonePassed;
    return { rung: null, isProven: false, isProvisional: false, why, next: next(null) };
  }
  const { rung, departures, failures } = elected;
  const isProven = failures.length === 0;
  return {
    rung,
    isProven,
    isProvisional: isProven && departures < leastSettledDepartures,
    why: whyElected(elected, elected === best),
    next: next(rung),
  };
}

/** The choice of the base rate in place of a model that failed: entities that have had churn risks keep
 * them. */
function baseRateChoice(next: NextRung | null): Choice {
  const why = "no model passed the back-test, so everybody has the base rate until one does";
  return { rung: 6, isProven: false, isProvisional: false, why, next };
}

const tooLittle = "there is too little data for a churn risk";
const nonePassed = "no model passed the back-test; each has its reasons";

interface ServedChoice {
  readonly choice: Choice;
  readonly backtest: Backtest;
  /** Whether no model was trained yet. */
  readonly awaitsTraining?: boolean;
}

/** Whether no model serves because there is too little data, and not because each failed. */
export function lacksData({ choice: { rung, next }, backtest, awaitsTraining }: ServedChoice): boolean {
  if (rung !== null || awaitsTraining === true) return false;
  if (doubtAbout(backtest) !== null || next === null) return true;
  return next.missing.length > 0 || servingResult(next, backtest) === undefined;
}

interface Candidate {
  readonly rung: Rung;
  readonly departures: number;
  /** On its own rows. */
  readonly shareOfRecency: number;
  /** Undefined in back-tests of earlier releases. */
  readonly byCutoff: readonly CutoffLoss[] | undefined;
  readonly failures: readonly string[];
}

interface RankedCandidate extends Candidate {
  /** What candidates are compared by. */
  readonly loss: number;
}

/**
 * Candidates by their log loss at the cut-offs that all of them have, the least first. Rungs are trained at
 * different cut-offs. Compared through recency's loss on rows of their own a worse model won: BG/BB had an
 * early cut-off on which recency was bad.
 */
function rankedByLoss(candidates: readonly Candidate[]): RankedCandidate[] {
  const days = candidates.map(({ byCutoff = [] }) => new Set(byCutoff.map(({ cutoffDay }) => cutoffDay)));
  const lossOn = ({ byCutoff = [], shareOfRecency }: Candidate) => {
    const common = byCutoff.filter(({ cutoffDay }) => days.every((own) => own.has(cutoffDay)));
    const count = common.reduce((sum, cutoff) => sum + cutoff.count, 0);
    // Back-tests of earlier releases, and candidates without a common cut-off.
    if (count === 0) return shareOfRecency;
    return common.reduce((sum, cutoff) => sum + cutoff.count * cutoff.logLoss, 0) / count;
  };
  return candidates
    .map((candidate): RankedCandidate => ({ ...candidate, loss: lossOn(candidate) }))
    .sort((a, b) => a.loss - b.loss);
}

function candidateOf(rung: Rung, backtest: Backtest, isKept: boolean): Candidate[] {
  const result = servingResult({ rung }, backtest);
  if (result === undefined) return [];
  const shareOfRecency = result.metrics.logLoss / result.recencyLogLoss;
  const { departures, byCutoff } = result;
  return [{ rung, departures, shareOfRecency, byCutoff, failures: failuresOf(result, isKept) }];
}

/** The incumbent, if it stays. Without this rule two models that are equally good would replace each other
 * every week. */
function stays(
  candidates: readonly RankedCandidate[],
  best: RankedCandidate | undefined,
  incumbent: Incumbent | null,
): RankedCandidate | undefined {
  const held = candidates.find(({ rung }) => rung === incumbent?.rung);
  if (held === undefined || (held.failures.length > 0 && incumbent?.passed !== true)) return undefined;
  const isBeaten =
    best !== undefined && best.rung !== held.rung && best.loss <= replacingShareOfLoss * held.loss;
  return isBeaten ? undefined : held;
}

function whyElected({ rung, shareOfRecency, departures, failures }: Candidate, isBest: boolean): string {
  const [failure] = failures;
  if (failure !== undefined) {
    return `it failed the back-test for the first time: ${failure}; it is withdrawn if it fails the next one`;
  }
  const doubt =
    departures < leastSettledDepartures ? `; provisional, its back-test has ${departures} departures` : "";
  if (rung === 4 || rung === 5)
    return `no model is better than ${baselineWords[rung]}, which is calibrated${doubt}`;
  const gain = `${Math.round(100 * (1 - shareOfRecency))}% below recency alone`;
  return isBest
    ? `it has the least log loss of the models that are proven, ${gain}${doubt}`
    : `it served before, and no proven model has a log loss 0.5% below its own, ${gain}${doubt}`;
}

const baselineWords: Readonly<Record<4 | 5, string>> = {
  4: "the time since the last activity",
  5: "the days to the end of the period",
};

/** The model of a choice as the next training meets it; null when none served. */
export function incumbentOf(choice: Pick<Choice, "rung" | "isProven">, backtest: Backtest): Incumbent | null {
  const { rung, isProven } = choice;
  if (rung === null) return null;
  const result = servingResult(choice, backtest);
  const passed =
    result !== undefined &&
    doubtAbout(backtest, isProven) === null &&
    failuresOf(result, isProven).length === 0;
  return { rung, passed };
}

/** The rung that served and was proven before; undefined if no rung was. */
function keptRung(incumbent: Incumbent | null): Rung | undefined {
  return incumbent?.passed === true ? incumbent.rung : undefined;
}

/** The data that a back-test needs before it decides, and the available data. */
export interface Proof {
  readonly cutoffs: { readonly have: number; readonly need: number };
  readonly rarerLabels: { readonly have: number; readonly need: number };
}

/** What a back-test lacks before it may judge. */
export function proofOf({ folds, results }: Backtest): Proof {
  const { departures, retained } = results.find(({ model }) => model === "recency") ?? {
    departures: 0,
    retained: 0,
  };
  return {
    cutoffs: { have: folds, need: leastFolds },
    rarerLabels: { have: Math.min(departures, retained), need: leastJudgedOfEachClass },
  };
}

/** The share that churned in a back-test that may judge, or that proves the model of a choice; null without
 * one. */
export function provenBaseRate({
  choice,
  backtest,
}: {
  readonly choice: Pick<Choice, "isProven">;
  readonly backtest: Backtest;
}): number | null {
  const recency = backtest.results.find(({ model }) => model === "recency");
  return recency === undefined || doubtAbout(backtest, choice.isProven) !== null
    ? null
    : recency.metrics.baseRate;
}

function leastJudged(isKept: boolean): number {
  return (isKept ? keptShareOfLeast : 1) * leastJudgedOfEachClass;
}

/** Why a back-test cannot judge; null when it can.
 * @param isKept whether it is about a model that was proven before */
function doubtAbout(backtest: Backtest, isKept = false): string | null {
  const { cutoffs, rarerLabels } = proofOf(backtest);
  if (cutoffs.have < cutoffs.need)
    return `the log is long enough for ${cutoffs.have} of the ${cutoffs.need} cut-offs it takes`;
  return rarerLabels.have < leastJudged(isKept)
    ? `its back-test has ${rarerLabels.have} labels of the rarer class of the ${rarerLabels.need} it takes`
    : null;
}

/** The back-test's figures of the chosen model; undefined without any. */
export function servingResult(
  { rung }: Pick<Choice, "rung">,
  backtest: Backtest | null,
): ModelResult | undefined {
  return backtest?.results.find(({ model }) => rung !== null && model === modelOfRung(rung));
}

function nextAfter(
  rung: Rung | null,
  rungs: readonly Rung[],
  counts: DataCounts,
  backtest: Backtest | null,
  isDeclared: boolean,
): NextRung | null {
  const ladder = rungs.filter((each) => !isBaseline(each));
  const next =
    rung !== null && isBaseline(rung) ? ladder.at(-1) : ladder[rung === null ? 0 : ladder.indexOf(rung) + 1];
  if (next === undefined) return null;
  const result = servingResult({ rung: next }, backtest);
  return {
    rung: next,
    missing: shortagesOf(next, counts, isDeclared),
    failures: result === undefined ? [] : failuresOf(result),
  };
}
