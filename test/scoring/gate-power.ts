/** How often the gates let models ship, by simulation: perfect ones, and ones whose odds are all wrong by a
 * factor. */
import { failuresOf } from "../../server/scoring/churn/ladder.ts";
import { metricsOf } from "../../server/scoring/statistics/metrics.ts";
import { logistic, logit } from "../../server/scoring/statistics/special.ts";
import { mean } from "../../server/scoring/statistics/vectors.ts";
import { Random } from "../../simulation/random.ts";

export interface GateQuestion {
  readonly baseRate: number;
  /** Expected of the truth. */
  readonly departures: number;
  /** The odds of the predictions over the true odds. */
  readonly oddsFactor: number;
  /** Back-tests to simulate. */
  readonly runs: number;
}

/** The share of models that ship. True log-odds are normal with a standard deviation of 1. Baselines are left
 * out: they say how good a model is, and the other gates whether its numbers are right. */
export function shareThatShips({ baseRate, departures, oddsFactor, runs }: GateQuestion): number {
  const random = new Random(1);
  const center = centerFor(baseRate);
  const count = Math.round(departures / baseRate);
  let shipped = 0;
  for (let run = 0; run < runs; run++) {
    const predictions = Array.from({ length: count }, () => {
      const logOdds = random.normal(center, 1);
      return {
        predicted: logistic(logOdds + Math.log(oddsFactor)),
        label: random.chance(logistic(logOdds)),
      };
    });
    const metrics = metricsOf(predictions);
    if (metrics === null) throw new Error("there are predictions");
    const baselines = { recencyLogLoss: Number.POSITIVE_INFINITY, hiatusLogLoss: Number.POSITIVE_INFINITY };
    const outcomes = { departures, involuntary: 0, retained: count - departures };
    const failures = failuresOf({ model: "rung 3", folds: 4, metrics, ...outcomes, ...baselines });
    if (failures.length === 0) shipped += 1;
  }
  return shipped / runs;
}

/** The mean of log-odds at which the mean probability is the base rate. */
function centerFor(baseRate: number): number {
  const random = new Random(2);
  const deviations = Array.from({ length: 20_000 }, () => random.normal(0, 1));
  let center = logit(baseRate);
  for (let step = 0; step < 20; step++) {
    center += logit(baseRate) - logit(mean(deviations.map((deviation) => logistic(center + deviation))));
  }
  return center;
}
