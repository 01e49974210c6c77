/**
 * Ridge logistic regression on standardized features, and the contribution of each group of features to one
 * entity's log-odds. The model is plain data that includes means and standard deviations, so a stored model
 * scores the same rows later.
 */
import { solveLogistic } from "./irls.ts";
import { at } from "./vectors.ts";

/** The groups of reasons: one for each idea. How often, how long ago, how much and by how many members an
 * entity uses the product is one, because its inputs are correlated: one by one, a fall in use had a sign
 * that lowers the risk. */
export const reasonGroups = ["use", "mix", "billing", "traits", "seats", "pulse", "tenure", "other"] as const;
export type ReasonGroup = (typeof reasonGroups)[number];
export type Contributions = Readonly<Record<ReasonGroup, number>>;

/** λ of a model of silence. */
export const usualPenalty = 10;

export interface Column {
  readonly name: string;
  readonly group: ReasonGroup;
}

export interface FittedColumn extends Pick<Column, "name"> {
  /** Of the training rows of which the value is known. */
  readonly mean: number;
  readonly standardDeviation: number;
  /** Change of the log-odds per standard deviation. */
  readonly weight: number;
}

export interface RidgeModel {
  /** The log-odds of an entity that is average in everything. */
  readonly intercept: number;
  readonly columns: readonly FittedColumn[];
  readonly isConverged: boolean;
  /** λ. Left out by models from before it was chosen: theirs is 10. */
  readonly penalty?: number;
}

/** Fits rows of values, one per column, to labels. A column that never varies gets no weight. An unknown
 * value is NaN, and counts as the mean.
 * @param counts how many observations each row represents; one unless given
 * @param penalty λ of every weight but the intercept's */
export function fitRidge(
  columns: readonly Column[],
  rows: readonly Float64Array[],
  labels: readonly boolean[],
  counts: readonly number[] = labels.map(() => 1),
  penalty = usualPenalty,
): RidgeModel {
  const scaled = columns.map(({ name }, i) => ({ name, ...momentsOf(rows, counts, i) }));
  const { weights, isConverged } = solveLogistic({
    rows: rows.map((row) =>
      Float64Array.from([1, ...scaled.map((column, i) => standardized(column, at(row, i)))]),
    ),
    targets: labels.map(Number),
    counts,
    penalties: [0, ...columns.map(() => penalty)],
  });
  return {
    intercept: at(weights, 0),
    columns: scaled.map((column, i) => ({ ...column, weight: at(weights, i + 1) })),
    isConverged,
    penalty,
  };
}

/** The log-odds of a row with the model's columns in their order. */
export function ridgeLogOdds({ intercept, columns }: RidgeModel, row: Float64Array): number {
  return columns.reduce((sum, column, i) => sum + contributionOf(column, at(row, i)), intercept);
}

/** The contribution of one column to the log-odds of a row with this value. */
export function contributionOf(column: FittedColumn, value: number): number {
  return column.weight * standardized(column, value);
}

/** The contribution of each group to the intercept; together they are `ridgeLogOdds`. @param columns the
 * model's, in its order */
export function ridgeContributions(
  { columns: fitted }: RidgeModel,
  columns: readonly Column[],
  row: Float64Array,
): Contributions {
  const sums: Record<ReasonGroup, number> = { ...noContributions };
  for (const [i, { group }] of columns.entries()) {
    const column = fitted[i];
    if (column !== undefined) sums[group] += contributionOf(column, at(row, i));
  }
  return sums;
}

/** Nothing from anywhere. */
export const noContributions: Contributions = {
  use: 0,
  mix: 0,
  billing: 0,
  traits: 0,
  seats: 0,
  pulse: 0,
  tenure: 0,
  other: 0,
};

function standardized(column: Pick<FittedColumn, "mean" | "standardDeviation">, value: number): number {
  return column.standardDeviation === 0 || Number.isNaN(value)
    ? 0
    : (value - column.mean) / column.standardDeviation;
}

/** Of the rows whose value is known. */
function momentsOf(rows: readonly Float64Array[], counts: readonly number[], i: number) {
  const meanOf = (of: (value: number) => number) => {
    let [sum, total] = [0, 0];
    for (const [index, row] of rows.entries()) {
      const value = at(row, i);
      if (Number.isNaN(value)) continue;
      const count = counts[index] ?? 1;
      sum += count * of(value);
      total += count;
    }
    return total === 0 ? 0 : sum / total;
  };
  const mean = meanOf((value) => value);
  const deviation = Math.sqrt(meanOf((value) => (value - mean) ** 2));
  // Rounding gives a constant column a deviation of 1e-16 of its value.
  return { mean, standardDeviation: deviation <= 1e-12 * (1 + Math.abs(mean)) ? 0 : deviation };
}
