/** The probability that a churned entity comes back. */
import { describe, expect, test } from "bun:test";
import { fitSnapshot } from "../../server/scoring/churn/backtest.ts";
import {
  bgbbLogOdds,
  type ChurnModel,
  returnProbability,
  riskScorer,
  silenceBetween,
  tablesFor,
} from "../../server/scoring/churn/churn-model.ts";
import { designFor } from "../../server/scoring/churn/design.ts";
import { calibrationDaysOf, planFolds } from "../../server/scoring/churn/folds.ts";
import { atOnce } from "../../server/scoring/churn/steps.ts";
import { countData, trainRungs } from "../../server/scoring/churn/train.ts";
import { type ChurnedCell, churnedQuery } from "../../server/scoring/queries/lists/churned-query.ts";
import { read } from "../../server/scoring/queries/query.ts";
import { snapshotFor } from "../../server/scoring/queries/stored-snapshots.ts";
import type { Features } from "../../server/scoring/scores/features.ts";
import { isScored } from "../../server/scoring/scores/state.ts";
import { metricsOf, type Prediction } from "../../server/scoring/statistics/metrics.ts";
import { type CountedLabels, fitPlatt } from "../../server/scoring/statistics/platt.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { readGitLog } from "./data.ts";
import { logDay, logsOf, manySettings, population, randomOrganization } from "./engine-support.ts";
import { featuresOf } from "./features.ts";
import { snapshotOf } from "./snapshot.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const subject = new WarehouseUnderTest();
const horizonDays = 28;

describe("the calibration of the churned", () => {
  const groups = [-2, 0, 1.5, 4].map((logOdds, index): CountedLabels => {
    return { logOdds, positives: 3 + 7 * index, negatives: 9 - 2 * index };
  });

  test("is the same from counted labels as from one row for each", () => {
    const rows = groups.flatMap(({ logOdds, positives, negatives }) => [
      ...Array.from({ length: positives }, () => ({ logOdds, label: true })),
      ...Array.from({ length: negatives }, () => ({ logOdds, label: false })),
    ]);
    const one = fitPlatt(
      rows.map(({ logOdds, label }) => ({ logOdds, positives: Number(label), negatives: Number(!label) })),
    );
    const counted = fitPlatt(groups);
    expect(counted.intercept).toBeCloseTo(one.intercept, 8);
    expect(counted.slope).toBeCloseTo(one.slope, 8);
    expect(fitPlatt([{ logOdds: 1, positives: 5, negatives: 0 }])).toEqual({
      intercept: 0,
      slope: 1,
    });
  });

  test("is on the rungs that are calibrated, once there are 50 of each class, and changes no risk", () => {
    const models = (returned: number) => train([{ logOdds: 2, positives: 400, negatives: returned }]);
    const calibrated = (returned: number) =>
      models(returned).map(({ rung, churnedPlatt }) => [rung, churnedPlatt !== undefined]);
    expect(calibrated(50)).toEqual([
      [0, false],
      [1, false],
      [2, true],
      [3, true],
      [4, true],
      [6, true],
    ]);
    expect(calibrated(49).filter(([, is]) => is)).toEqual([]);
    const [with_, without] = [models(50)[2], models(49)[2]].map(
      (model) => model && riskScorer(model)(somebody),
    );
    expect(with_).toEqual(without ?? failed());
  });

  const entities = simulateLogs(1_200, 500, 12);
  const snapshot = snapshotOf(entities, simulatedFrom + 260, horizonDays);
  const { fit, rows } = atOnce(fitSnapshot(snapshot, horizonDays));
  const somebody = rows[0]?.features ?? failed();
  function train(churned: readonly CountedLabels[]): ChurnModel[] {
    return trainRungs({
      horizonDays,
      rows,
      churned,
      bgbb: fit.parameters,
      counts: countData(snapshot.cells, snapshot.rows, horizonDays),
      design: designFor(rows),
    });
  }
});

test("the engine counts those of the silent who come back as the reference does", async () => {
  const { organization, events } = await randomOrganization(subject, "returns", 600);
  const logs = [...logsOf(events, "user").values()];
  let returns = 0;
  for (const cutoffDay of [140, 200, 260, 301].map(logDay)) {
    const counted = new Map<string, ChurnedCell>();
    for (const log of logs) {
      const features = featuresOf(log, cutoffDay, manySettings);
      if (features?.cell == null || isScored(features, horizonDays)) continue;
      const { idleDays, cell } = features;
      const { x, t, n } = cell;
      const until = cutoffDay + horizonDays;
      const then = featuresOf(
        log.filter(({ day }) => day >= cutoffDay && day < until),
        until,
        manySettings,
      );
      const returned = then === null ? 0 : 1;
      const before = counted.get(`${n} ${x} ${t} ${idleDays}`) ?? {
        ...cell,
        idleDays,
        count: 0,
        returned: 0,
      };
      counted.set(`${n} ${x} ${t} ${idleDays}`, {
        ...before,
        count: before.count + 1,
        returned: before.returned + returned,
      });
      returns += returned;
    }
    const who = population(organization, "user", manySettings);
    const snapshot = await snapshotFor(subject.warehouse, who, cutoffDay);
    const found = await read<ChurnedCell>(subject.warehouse, churnedQuery(who, snapshot, horizonDays));
    expect(found).toEqual(
      [...counted.values()].toSorted(
        (a, b) => a.n - b.n || a.x - b.x || a.t - b.t || a.idleDays - b.idleDays,
      ),
    );
  }
  expect(returns).toBeGreaterThan(2);
});

/** At each cut-off of the git log: the churned with what became of them, and BG/BB's fit of then. */
function churnedOfGitLog() {
  const { entities, firstDay, endDay } = readGitLog();
  const cache = new Map<number, ReturnType<typeof churnedAt>>();
  const churnedAt = (day: number) => {
    const { fit } = atOnce(fitSnapshot({ ...snapshotOf(entities, day, horizonDays), rows: [] }, horizonDays));
    const people = entities.flatMap(({ log }) => {
      const features = featuresOf(log, day);
      if (features === null || !isGone(features)) return [];
      const returned = log.some((one) => one.day >= day && one.day < day + horizonDays);
      return [{ cell: features.cell ?? failed(), idleDays: features.idleDays, returned }];
    });
    return { bgbb: fit.parameters, people };
  };
  const at = (day: number) => {
    const found = cache.get(day) ?? churnedAt(day);
    cache.set(day, found);
    return found;
  };
  return planFolds(firstDay, endDay, horizonDays).map(({ cutoffDay, trainingDays }) => ({
    scoring: at(cutoffDay),
    training: calibrationDaysOf(trainingDays).map(at),
  }));
}

function isGone(features: Features): boolean {
  return features.cell !== null && !isScored(features, horizonDays);
}

test("on a real log BG/BB's own probability of a return is too bold, and the calibrated one is right", () => {
  const [raw, calibrated]: [Prediction[], Prediction[]] = [[], []];
  for (const { scoring, training } of churnedOfGitLog()) {
    const labels = training.flatMap(({ bgbb, people }) => {
      const tables = tablesFor(bgbb, horizonDays);
      return people.map(({ cell, idleDays, returned }): CountedLabels => {
        const logOdds = bgbbLogOdds(silenceBetween(horizonDays, tables, { ...cell, idleDays }));
        return { logOdds, positives: returned ? 0 : 1, negatives: returned ? 1 : 0 };
      });
    });
    const model = { rung: 1, horizonDays, bgbb: scoring.bgbb, referenceLogOdds: 0, isByDay: true } as const;
    const churnedPlatt = fitPlatt(labels);
    for (const { returned: label, ...history } of scoring.people) {
      raw.push({ predicted: returnProbability(model, history), label });
      calibrated.push({ predicted: returnProbability({ ...model, churnedPlatt }, history), label });
    }
  }
  const [before, after] = [metricsOf(raw) ?? failed(), metricsOf(calibrated) ?? failed()];
  console.log(
    `${after.count} churned, ${after.baseRate.toFixed(3)} came back; calibration error ${before.ece.toFixed(4)} raw, ` +
      `${after.ece.toFixed(4)} calibrated; slope ${before.calibrationSlope?.toFixed(2)}, ${after.calibrationSlope?.toFixed(2)}`,
  );
  expect(after.ece).toBeLessThan(before.ece / 2);
  expect(after.logLoss).toBeLessThan(before.logLoss);
  expect(before.calibrationSlope).toBeLessThan(0.8);
  expect(after.calibrationSlope).toBeWithin(0.8, 1.25);
});

function failed(): never {
  throw new Error("it is not there");
}
