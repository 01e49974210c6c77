/** MRR that a cohort of payers kept, with bootstrap intervals by payer. */
import { draws, type Interval, indicesOfLargest, middleOf, normalFrom } from "./drawn.ts";

export interface KeptMrr {
  /** The cohort's MRR in the period, in minor units. */
  readonly mrr: number;
  /** Of its MRR at entry; above 1 when payers grew. */
  readonly ratio: number;
  /** 95 %, by 1,000 resamples of the payers; null for fewer than two payers. */
  readonly interval: Interval | null;
}

const part = 0.95;
/** Payers that are resampled one by one, those that move a ratio the most. None of the others moves it more
 * than these, so the skewness of their sum is at most 1 / √128 in standard deviations of the whole: it is
 * nearly normal. */
const drawnAlone = 128;

/** Random numbers of a seed. Those of cohorts with more than 128 payers are drawn once, and are the same in
 * all cells. */
export class CohortChance {
  readonly #uniformOfSeed: () => () => number;
  #large: LargeCohortChance | undefined;

  /** @param uniformOfSeed begins the numbers in [0, 1) of a seed anew */
  constructor(uniformOfSeed: () => () => number) {
    this.#uniformOfSeed = uniformOfSeed;
  }

  get large(): LargeCohortChance {
    this.#large ??= largeCohortChance(this.#uniformOfSeed());
    return this.#large;
  }

  /** The weights of `count` payers that are resampled as they are. */
  resampled(count: number): Uint8Array {
    return resampled(count, this.#uniformOfSeed());
  }
}

/** The weights of payers drawn one by one, and two standard normal variates a draw. */
interface LargeCohortChance {
  readonly weights: Uint8Array;
  readonly ofGaps: Float64Array;
  readonly ofStarts: Float64Array;
}

function largeCohortChance(uniform: () => number): LargeCohortChance {
  const normals = () => Float64Array.from({ length: draws }, () => normalFrom(uniform));
  return { weights: poissonWeights(uniform), ofGaps: normals(), ofStarts: normals() };
}

/**
 * The MRR that a cohort kept in each later period. Up to 128 payers are resampled as they are. Of more payers
 * the 128 that move a ratio the most have weights of their own (Poisson of mean 1), and the sum of all others
 * is normal with the bootstrap's variance. So a cell of 100,000 payers takes few ms of processor time.
 * @param entry MRR of each payer when it entered the cohort, all above 0
 * @param later for each later period: MRR of the same payers in the same order
 */
export function keptMrrOf(
  entry: readonly number[],
  later: readonly (readonly number[])[],
  chance: CohortChance,
): KeptMrr[] {
  const isLarge = entry.length > drawnAlone;
  const weights = isLarge ? chance.large.weights : chance.resampled(entry.length);
  const startMrr = sumOf(entry);
  return later.map((mrrs) => {
    const mrr = sumOf(mrrs);
    const ratio = mrr / startMrr;
    if (entry.length < 2) return { mrr, ratio, interval: null };
    const gaps = Float64Array.from(entry, (start, index) => (mrrs[index] ?? 0) - ratio * start);
    return { mrr, ratio, interval: middleOf(drawRatios(ratio, entry, gaps, { chance, weights }), part) };
  });
}

/** Draws of a ratio. The gap of a payer is its MRR minus the ratio times its MRR at entry, and all gaps sum
 * to 0. */
function drawRatios(
  ratio: number,
  entry: readonly number[],
  gaps: Float64Array,
  { chance, weights }: { readonly chance: CohortChance; readonly weights: Uint8Array },
): Float64Array {
  const alone = indicesOfLargest(gaps.map(Math.abs), drawnAlone);
  const others = othersOf(entry, gaps, alone);
  const gapSums = new Float64Array(draws);
  const starts = new Float64Array(draws);
  if (others !== undefined) addOthers(others, chance.large, gapSums, starts);
  for (const [place, index] of alone.entries()) {
    const [gap, start] = [gaps[index] ?? 0, entry[index] ?? 0];
    for (let draw = 0; draw < draws; draw++) {
      const weight = weights[place * draws + draw] ?? 0;
      gapSums[draw] = (gapSums[draw] ?? 0) + weight * gap;
      starts[draw] = (starts[draw] ?? 0) + weight * start;
    }
  }
  return gapSums.map((gap, draw) => ratio + gap / (starts[draw] ?? 0));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** How often each of `count` payers is in each resample, by payer. */
function resampled(count: number, uniform: () => number): Uint8Array {
  const weights = new Uint8Array(draws * count);
  for (let draw = 0; draw < draws; draw++) {
    for (let taken = 0; taken < count; taken++) {
      const place = Math.floor(uniform() * count) * draws + draw;
      weights[place] = (weights[place] ?? 0) + 1;
    }
  }
  return weights;
}

/** P(weight ≤ index) of a Poisson variate of mean 1, up to 20. */
const poissonLevels = Float64Array.from({ length: 21 }, () => 0);
for (let [weight, probability, sum] = [0, Math.exp(-1), 0]; weight < poissonLevels.length; weight++) {
  sum += probability;
  poissonLevels[weight] = sum;
  probability /= weight + 1;
}

function poissonWeights(uniform: () => number): Uint8Array {
  const weights = new Uint8Array(draws * drawnAlone);
  for (let index = 0; index < weights.length; index++) {
    const level = uniform();
    let weight = 0;
    while (level >= (poissonLevels[weight] ?? 1)) weight += 1;
    weights[index] = weight;
  }
  return weights;
}

/** Weighted sums of gaps and of MRR at entry are nearly normal together: their means and covariances. */
interface Others {
  readonly gap: number;
  readonly start: number;
  readonly gapDeviation: number;
  /** The slope of the start on the gap, and its deviation around that line. */
  readonly slope: number;
  readonly restDeviation: number;
}

function othersOf(
  entry: readonly number[],
  gaps: Float64Array,
  alone: readonly number[],
): Others | undefined {
  if (alone.length === entry.length) return undefined;
  const isAlone = new Uint8Array(gaps.length);
  for (const index of alone) isAlone[index] = 1;
  let [gap, start, gapSquares, startSquares, products] = [0, 0, 0, 0, 0];
  for (let index = 0; index < gaps.length; index++) {
    if (isAlone[index] === 1) continue;
    const [value, mrr] = [gaps[index] ?? 0, entry[index] ?? 0];
    gap += value;
    start += mrr;
    gapSquares += value ** 2;
    startSquares += mrr ** 2;
    products += value * mrr;
  }
  const slope = gapSquares === 0 ? 0 : products / gapSquares;
  return {
    gap,
    start,
    slope,
    gapDeviation: Math.sqrt(gapSquares),
    restDeviation: Math.sqrt(Math.max(0, startSquares - slope * products)),
  };
}

function addOthers(
  { gap, start, gapDeviation, slope, restDeviation }: Others,
  { ofGaps, ofStarts }: LargeCohortChance,
  gapSums: Float64Array,
  starts: Float64Array,
): void {
  for (let draw = 0; draw < draws; draw++) {
    const gapChange = gapDeviation * (ofGaps[draw] ?? 0);
    gapSums[draw] = gap + gapChange;
    starts[draw] = start + slope * gapChange + restDeviation * (ofStarts[draw] ?? 0);
  }
}
