/**
 * The cost of a sample of training rows: the log loss above that of the true probabilities, of a ridge regression on 50,000 of
 * 2.6 million rows, taken in three ways. 100,000 entities at 26 cut-offs have 20 normal features that move slowly, and each has a
 * tendency to leave that no feature knows.
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

/** A sample of unknown size: each row has the same chance. */
class Reservoir {
  readonly rows: Row[] = [];
  seen = 0;

  add(row: () => Row, random: Random): void {
    this.seen += 1;
    if (this.rows.length < sampled / 2) this.rows.push(row());
    else {
      const place = Math.floor(random.next() * this.seen);
      if (place < this.rows.length) this.rows[place] = row();
    }
  }
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
  const [churned, retained] = [new Reservoir(), new Reservoir()];
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
      (hasChurned ? churned : retained).add(row, random);
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
  const byOutcome = [churned, retained].flatMap(({ rows, seen }) =>
    rows.map((row) => ({ row, weight: seen / rows.length })),
  );
  return {
    "the same entities at each cut-off": excess(fit(sameEntities)),
    "other entities at each cut-off": excess(fit(anyRows)),
    "as many churned as retained, with weights": excess(
      fit(
        byOutcome.map(({ row }) => row),
        byOutcome.map(({ weight }) => weight),
      ),
    ),
  };
}

for (const baseRate of baseRates) {
  const found: Readonly<Record<string, number>>[] = [];
  for (let round = 1; round <= rounds; round += 1) found.push(measure(baseRate, new Random(round)));
  console.log(`base rate ${baseRate}`);
  const [baseline = 0, ...others] = Object.keys(found[0] ?? {}).map((way) => {
    return mean(found.map((one) => one[way] ?? Number.NaN));
  });
  for (const [index, way] of Object.keys(found[0] ?? {}).entries()) {
    const loss = index === 0 ? baseline : (others[index - 1] ?? Number.NaN);
    console.log(`  ${way}: ${(1e6 * loss).toFixed(0)} millionths, ratio ${(loss / baseline).toFixed(2)}`);
  }
}
