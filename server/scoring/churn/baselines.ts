/** The simple rules that a model has to beat. */

import type { ScoredFeatures } from "../scores/state.ts";
import { solveLogistic } from "../statistics/irls.ts";
import { logistic } from "../statistics/special.ts";
import { at } from "../statistics/vectors.ts";

interface LabelledRow {
  readonly features: ScoredFeatures;
  readonly label: boolean;
}

type Baseline = (features: ScoredFeatures) => number;

/** Logistic regression on ln(1+idle) alone. Null when the labels are all the same, or none. */
export function recencyBaseline(rows: readonly LabelledRow[]): Baseline | null {
  if (!hasBothClasses(rows)) return null;
  const { weights } = solveLogistic({
    rows: rows.map(({ features }) => Float64Array.of(1, Math.log1p(features.idleDays))),
    targets: rows.map(({ label }) => Number(label)),
    penalties: [0, 0],
  });
  return ({ idleDays }) => logistic(at(weights, 0) + at(weights, 1) * Math.log1p(idleDays));
}

/**
 * Logistic regression on ln(1+days to the end of the period) and on whether that is unknown, with small penalties: all rows may have
 * one value. For entities that all pay, as with the target `subscription`. Null for others, when no row has a period's
 * end, and when the labels are all the same, or none.
 */
export function periodEndBaseline(rows: readonly LabelledRow[]): Baseline | null {
  const areAllPaying = rows.every(({ features: { billing } }) => billing?.isPaying === true);
  const isKnown = rows.some(({ features: { billing } }) => billing?.daysToPeriodEnd != null);
  if (!areAllPaying || !isKnown || !hasBothClasses(rows)) return null;
  const { weights } = solveLogistic({
    rows: rows.map(({ features }) => periodEndRow(features)),
    targets: rows.map(({ label }) => Number(label)),
    penalties: [0, 0.01, 0.01],
  });
  return (features) =>
    logistic(periodEndRow(features).reduce((sum, value, index) => sum + value * at(weights, index), 0));
}

function periodEndRow({ billing }: ScoredFeatures): Float64Array {
  const days = billing?.daysToPeriodEnd ?? null;
  return Float64Array.of(1, days === null ? 0 : Math.log1p(days), Number(days === null));
}

export interface HiatusRule {
  /** Silence of at least this many days counts as leaving. */
  readonly fromIdleDays: number;
  readonly riskBelow: number;
  readonly riskFrom: number;
}

/**
 * The hiatus rule: silent for at least c days, or not. Of all c it takes the one whose two rates, (churned + ½) /
 * (count + 1), give the training labels the least log loss. Null when the labels are all equal, or absent.
 */
export function fitHiatus(rows: readonly LabelledRow[]): HiatusRule | null {
  if (!hasBothClasses(rows)) return null;
  const countByIdle = new Map<number, [churned: number, count: number]>();
  for (const { features, label } of rows) {
    const [churned, count] = countByIdle.get(features.idleDays) ?? [0, 0];
    countByIdle.set(features.idleDays, [churned + Number(label), count + 1]);
  }
  const allChurned = rows.filter(({ label }) => label).length;
  let best: HiatusRule | null = null;
  let bestLoss = Number.POSITIVE_INFINITY;
  let [churned, count] = [0, 0];
  for (const [idleDays, [more, moreCount]] of [...countByIdle].sort(([a], [b]) => a - b)) {
    const below = side(churned, count);
    const from = side(allChurned - churned, rows.length - count);
    if (below.loss + from.loss < bestLoss) {
      best = { fromIdleDays: idleDays, riskBelow: below.rate, riskFrom: from.rate };
      bestLoss = below.loss + from.loss;
    }
    [churned, count] = [churned + more, count + moreCount];
  }
  return best;
}

/** The rule's verdict as a probability. */
export function hiatusRisk(rule: HiatusRule, { idleDays }: ScoredFeatures): number {
  return idleDays >= rule.fromIdleDays ? rule.riskFrom : rule.riskBelow;
}

function side(churned: number, count: number): { readonly rate: number; readonly loss: number } {
  const rate = (churned + 0.5) / (count + 1);
  return { rate, loss: -(churned * Math.log(rate) + (count - churned) * Math.log1p(-rate)) };
}

function hasBothClasses(rows: readonly LabelledRow[]): boolean {
  return rows.some(({ label }) => label) && rows.some(({ label }) => !label);
}
