/** Whether departure rates of two groups differ: the log-rank test over whole curves. */
import { degreesOf, probabilityOf } from "./difference.ts";

/** Members of a group with equal values. */
export interface Lifetimes {
  /** Members of one cluster are not independent; null when each member is on their own. */
  readonly cluster: number | null;
  /** The period in which they left, from 1. If they did not leave, the last period in which they were
   * observed. */
  readonly period: number;
  readonly hasLeft: boolean;
  readonly count: number;
}

export interface LogRank {
  /** Departures of the first group minus those expected if both were left alike: negative if fewer left than
   * expected. */
  readonly excess: number;
  readonly variance: number;
  /** The variance of `excess` with the entities of a cluster as one. */
  readonly clusteredVariance: number;
  /** Two-sided, by the larger variance. 1 without comparable periods. */
  readonly probability: number;
}

/**
 * The log-rank test of two groups (Mantel 1966; variance hypergeometric). Over clusters the variance is that
 * of sums of the members' scores, Σ over periods at risk of (Z − Z̄)(dN − d/n), which is the robust variance
 * of Cox's score test (Lin and Wei 1989; for clusters Jung and Jeong 2003, "Rank tests for clustered survival
 * data"). Sharing an account never makes a difference more certain here: the larger of the two variances
 * decides.
 */
export function logRank(first: readonly Lifetimes[], second: readonly Lifetimes[]): LogRank {
  const periods = Math.max(lastPeriodOf(first), lastPeriodOf(second));
  const [ofFirst, ofSecond] = [tallyOf(first, periods), tallyOf(second, periods)];
  let [excess, variance] = [0, 0];
  // By period: the share of the first group among all at risk, and the sum of Z's part of the expected
  // departures so far.
  const shares = [0];
  const sums = { first: [0], second: [0] };
  for (let k = 1; k <= periods; k += 1) {
    const [atRiskFirst, atRiskSecond] = [ofFirst.atRisk[k] ?? 0, ofSecond.atRisk[k] ?? 0];
    const atRisk = atRiskFirst + atRiskSecond;
    const left = (ofFirst.left[k] ?? 0) + (ofSecond.left[k] ?? 0);
    const share = atRisk === 0 ? 0 : atRiskFirst / atRisk;
    const rate = atRisk === 0 ? 0 : left / atRisk;
    excess += (ofFirst.left[k] ?? 0) - left * share;
    if (atRisk > 1) variance += (share * (1 - share) * left * (atRisk - left)) / (atRisk - 1);
    shares.push(share);
    sums.first.push((sums.first[k - 1] ?? 0) + rate * (1 - share));
    sums.second.push((sums.second[k - 1] ?? 0) - rate * share);
  }
  const scored = (rows: readonly Lifetimes[], z: number, expected: readonly number[]) =>
    rows.map((row) => ({
      ...row,
      score: (row.hasLeft ? z - (shares[row.period] ?? 0) : 0) - (expected[row.period] ?? 0),
    }));
  const clusteredVariance = varianceOverClusters([
    ...scored(first, 1, sums.first),
    ...scored(second, 0, sums.second),
  ]);
  const larger = Math.max(variance, clusteredVariance);
  const probability =
    larger > 0 ? probabilityOf(excess / Math.sqrt(larger), degreesIn(first), degreesIn(second)) : 1;
  return { excess, variance, clusteredVariance, probability };
}

const lastPeriodOf = (rows: readonly Lifetimes[]) =>
  rows.reduce((last, { period }) => Math.max(last, period), 0);

/** The degrees of freedom of a group by its clusters. */
function degreesIn(rows: readonly Lifetimes[]) {
  const members = new Map<number, number>();
  const clusters: { count: number; clusters: number }[] = [];
  for (const { cluster, count } of rows) {
    if (cluster === null) clusters.push({ count: 1, clusters: count });
    else members.set(cluster, (members.get(cluster) ?? 0) + count);
  }
  for (const count of members.values()) clusters.push({ count, clusters: 1 });
  return degreesOf(clusters);
}

/** Members at risk and departures, by period. */
function tallyOf(rows: readonly Lifetimes[], periods: number) {
  const left = new Array<number>(periods + 2).fill(0);
  const ending = new Array<number>(periods + 2).fill(0);
  for (const { period, hasLeft, count } of rows) {
    ending[period] = (ending[period] ?? 0) + count;
    if (hasLeft) left[period] = (left[period] ?? 0) + count;
  }
  const atRisk = new Array<number>(periods + 2).fill(0);
  for (let k = periods; k >= 0; k -= 1) atRisk[k] = (atRisk[k + 1] ?? 0) + (ending[k] ?? 0);
  return { left, atRisk };
}

function varianceOverClusters(rows: readonly (Lifetimes & { readonly score: number })[]): number {
  const sums = new Map<number, number>();
  let [squares, clusters] = [0, 0];
  for (const { cluster, count, score } of rows) {
    if (cluster === null) {
      squares += count * score ** 2;
      clusters += count;
    } else sums.set(cluster, (sums.get(cluster) ?? 0) + count * score);
  }
  for (const sum of sums.values()) squares += sum ** 2;
  clusters += sums.size;
  return clusters < 2 ? 0 : (squares * clusters) / (clusters - 1);
}
