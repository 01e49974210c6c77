/** Whether one score tells outcomes apart better than another one, on equal rows. */
import { type Interval, normalQuantile975 } from "./wilson.ts";

/** An outcome with two scores, each the higher the likelier it is. */
export interface PairedScores {
  readonly first: number;
  readonly second: number;
  readonly label: boolean;
}

/**
 * The 95 % interval of the second AUC − the first (DeLong, DeLong and Clarke-Pearson 1988). Rows of one
 * entity count as independent, so it is rather too narrow.
 * @returns null with fewer than two of an outcome
 */
export function aucDifference(rows: readonly PairedScores[]): Interval | null {
  const [hits, others] = [rows.filter(({ label }) => label), rows.filter(({ label }) => !label)];
  if (hits.length < 2 || others.length < 2) return null;
  const [first, second] = [
    placements(
      hits.map((row) => row.first),
      others.map((row) => row.first),
    ),
    placements(
      hits.map((row) => row.second),
      others.map((row) => row.second),
    ),
  ];
  const ofHits = second.ofHits.map((value, at) => value - (first.ofHits[at] ?? 0));
  const ofOthers = second.ofOthers.map((value, at) => value - (first.ofOthers[at] ?? 0));
  const difference = meanOf(ofHits);
  const error = Math.sqrt(varianceOf(ofHits) / hits.length + varianceOf(ofOthers) / others.length);
  return { low: difference - normalQuantile975 * error, high: difference + normalQuantile975 * error };
}

/** Of each hit the share of the others that it is above, and of each of the others the share of hits that are
 * above it; ties count half. */
function placements(hits: readonly number[], others: readonly number[]) {
  const [sortedHits, sortedOthers] = [hits.toSorted((a, b) => a - b), others.toSorted((a, b) => a - b)];
  return {
    ofHits: hits.map((value) => rankIn(sortedOthers, value) / others.length),
    ofOthers: others.map((value) => 1 - rankIn(sortedHits, value) / hits.length),
  };
}

/** How many of sorted values are below one, and half of those that equal it. */
function rankIn(sorted: readonly number[], value: number): number {
  return (countBelow(sorted, value, false) + countBelow(sorted, value, true)) / 2;
}

function countBelow(sorted: readonly number[], value: number, withEqual: boolean): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const found = sorted[middle] ?? Number.POSITIVE_INFINITY;
    if (found < value || (withEqual && found === value)) from = middle + 1;
    else to = middle;
  }
  return from;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function varianceOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
}
