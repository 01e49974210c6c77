/** The simple rules that a model has to beat. */

import type { ScoredFeatures } from "../scores/state.ts";
import { fitRidge } from "../statistics/logistic.ts";
import type { BgbbParameters } from "./bgbb.ts";
import type { RidgeChurnModel } from "./churn-model.ts";
import { columnsNamed, type Design, rowOf } from "./design.ts";

interface LabelledRow {
  readonly features: ScoredFeatures;
  readonly label: boolean;
}

/** λ on standardized values: nearly separable rows drove a regression without one to a log loss of .83 on
 * other days. */
const penalty = 1;

/** The columns of each. */
const facts = {
  4: ["idle"],
  5: ["days to the end of the period", "days to the end of the period, unknown"],
  6: [],
} as const;

interface BaselineInput {
  readonly horizonDays: number;
  readonly bgbb: BgbbParameters;
  readonly rows: readonly LabelledRow[];
}

/**
 * A baseline that gives a probability; null when the labels are all the same, or none.
 * - 4: logistic regression on ln(1+idle) alone.
 * - 5: on ln(1+days to the end of the period) and on whether that is unknown, for entities that all pay, as
 *   with the target `subscription`. Null for others, and when no row has a period's end.
 * - 6: the share that churned, for everybody.
 * @param counts how many entities each row stands for, with a mean of 1; one unless given
 */
export function baselineModel(
  rung: 4 | 5 | 6,
  { horizonDays, bgbb, rows }: BaselineInput,
  counts?: readonly number[],
): RidgeChurnModel | null {
  if (!hasBothClasses(rows) || (rung === 5 && !tellPeriodEnds(rows))) return null;
  const design: Design = { hasMembers: false, traits: [], hasBilling: rung === 5 };
  const columns = columnsNamed(design, facts[rung]);
  const ridge = fitRidge(
    columns.map(({ name, group }) => ({ name, group })),
    // No column is of BG/BB.
    rows.map(({ features }) => rowOf(columns, { features, bgbbRisk: 0.5 })),
    rows.map(({ label }) => label),
    counts,
    penalty,
  );
  return { rung, horizonDays, bgbb, isByDay: true, design, ridge, referenceLogOdds: ridge.intercept };
}

function tellPeriodEnds(rows: readonly LabelledRow[]): boolean {
  return (
    rows.every(({ features: { billing } }) => billing?.isPaying === true) &&
    rows.some(({ features: { billing } }) => billing?.daysToPeriodEnd != null)
  );
}

export interface HiatusRule {
  /** Silence of at least this many days counts as leaving. */
  readonly fromIdleDays: number;
  readonly riskBelow: number;
  readonly riskFrom: number;
}

/**
 * The hiatus rule: silent for at least c days, or not. Of all c it takes the one whose two rates, (churned +
 * ½) / (count + 1), give the training labels the least log loss. Null when the labels are all equal, or
 * absent.
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
