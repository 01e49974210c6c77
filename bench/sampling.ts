/**
 * The cost of a sample of training rows: the log loss above that of the true probabilities, of a ridge
 * regression on 50,000 of 2.6 million rows, taken in three ways. 100,000 entities at 26 cut-offs have 20
 * normal features that move slowly, and each has a tendency to leave that no feature knows.
 *
 *   cli/with-bun bench/sampling.ts [rounds, 3]
 */
import { solveLogistic } from "../server/scoring/statistics/irls.ts";
import { logistic } from "../server/scoring/statistics/special.ts";
import { at, dot, mean } from "../server/scoring/statistics/vectors.ts";
import { Random } from "../simulation/random.ts";

const rounds = Number(process.argv[2] ?? 3);
const [features, entities, cutoffs, sampled] = [20, 100_000, 26, 50_000];
const baseRates = [0.02, 0.1];
/** Of a feature, from one cut-off to the next. */
const correlation = 0.95;
/** The standard deviation of the tendencies that no feature knows, in log-odds. */
const unknown = 0.8;
const penalty = 10;
const testRows = 100_000;

interface Row {
  readonly values: Float64Array;
  readonly churned: boolean;
}

/** A sample of rows whose number is not known before: each has the same chance. */
class Reservoir {
  readonly rows: Row[] = [];
  readonly #size: number;
  seen = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(row: () => Row, random: Random): void {
    this.seen += 1;
    if (this.rows.length < this.#size) this.rows.push(row());
    else {
      const place = Math.floor(random.next() * this.seen);
      if (place < this.rows.length) this.rows[place] = row();
    }
  }
}

/** The fit to a sample and churned rows beside it, as training takes them. */
function fitBeside(sample: Reservoir, beside: Reservoir): Float64Array {
  const churnedInSample = sample.rows.filter(({ churned }) => churned).length;
  // Rows beside are drawn of all churned ones, of which the sample has a few.
  const churnedWeight = beside.seen / (churnedInSample + beside.rows.length);
  const retainedWeight = (sample.seen - beside.seen) / (sample.rows.length - churnedInSample);
  const rows = [...sample.rows, ...beside.rows];
  const weights = rows.map(({ churned }) => (churned ? churnedWeight : retainedWeight));
  const meanWeight = mean(weights);
  return fit(
    rows,
    weights.map((weight) => weight / meanWeight),
  );
}

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** A column of ones, and features. */
const draw = (random: Random) =>
  Float64Array.from({ length: features + 1 }, (_, index) => (index === 0 ? 1 : normal(random)));

function fit(rows: readonly Row[], counts: readonly number[] = rows.map(() => 1)): Float64Array {
  const { weights } = solveLogistic({
    rows: rows.map(({ values }) => values),
    targets: rows.map(({ churned }) => Number(churned)),
    counts,
    penalties: [0, ...Array.from({ length: features }, () => penalty)],
  });
  return weights;
}

/** The mean over the tendencies, on a grid. */
function trueProbability(logOdds: number): number {
  let [sum, total] = [0, 0];
  for (let tendency = -4; tendency <= 4; tendency += 0.25) {
    const density = Math.exp(-(tendency ** 2) / 2);
    sum += density * logistic(logOdds + unknown * tendency);
    total += density;
  }
  return sum / total;
}

function measure(baseRate: number, random: Random): Readonly<Record<string, number>> {
  const truth = Float64Array.from({ length: features + 1 }, () => 0.4 * normal(random));
  const spread = dot(truth, truth) - at(truth, 0) ** 2 + unknown ** 2;
  truth[0] = Math.log(baseRate / (1 - baseRate)) * Math.sqrt(1 + 0.35 * spread);
  const share = sampled / (entities * cutoffs);
  const [sameEntities, anyRows]: [Row[], Row[]] = [[], []];
  const [sample, beside] = [new Reservoir(sampled * 0.75), new Reservoir(sampled * 0.25)];
  for (let entity = 0; entity < entities; entity += 1) {
    const values = draw(random);
    const tendency = unknown * normal(random);
    for (let cutoff = 0; cutoff < cutoffs; cutoff += 1) {
      if (cutoff > 0) {
        for (const [index, value] of values.entries()) {
          if (index > 0) {
            values[index] = correlation * value + Math.sqrt(1 - correlation ** 2) * normal(random);
          }
        }
      }
      const hasChurned = random.next() < logistic(dot(truth, values) + tendency);
      const row = () => ({ values: Float64Array.from(values), churned: hasChurned });
      if (entity < entities * share) sameEntities.push(row());
      if (random.next() < share) anyRows.push(row());
      sample.add(row, random);
      if (hasChurned) beside.add(row, random);
    }
  }
  const test = Array.from({ length: testRows }, () => {
    const values = draw(random);
    return { values, probability: trueProbability(dot(truth, values)) };
  });
  const excess = (weights: Float64Array) =>
    mean(
      test.map(({ values, probability: p }) => {
        const q = logistic(dot(weights, values));
        return p * Math.log(p / q) + (1 - p) * Math.log((1 - p) / (1 - q));
      }),
    );
  return {
    "the same entities at each cut-off": excess(fit(sameEntities)),
    "other entities at each cut-off": excess(fit(anyRows)),
    "a sample and churned rows beside it": excess(fitBeside(sample, beside)),
  };
}

for (const baseRate of baseRates) {
  const found: Readonly<Record<string, number>>[] = [];
  for (let round = 1; round <= rounds; round += 1) found.push(measure(baseRate, new Random(round)));
  console.log(`base rate ${baseRate}`);
  const losses = Object.keys(found[0] ?? {}).map((way) => {
    return [way, mean(found.map((one) => one[way] ?? Number.NaN))] as const;
  });
  const [, baseline] = losses[0] ?? ["", Number.NaN];
  for (const [way, loss] of losses) {
    console.log(`  ${way}: ${(1e6 * loss).toFixed(0)} millionths, ratio ${(loss / baseline).toFixed(2)}`);
  }
}
