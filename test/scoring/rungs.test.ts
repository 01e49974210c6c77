import { describe, expect, test } from "bun:test";
import { fitSnapshot } from "../../server/scoring/churn/backtest.ts";
import { priorParameters } from "../../server/scoring/churn/bgbb.ts";
import {
  type ChurnModel,
  isRidge,
  type RidgeChurnModel,
  riskScorer,
  silenceBetween,
  tablesFor,
} from "../../server/scoring/churn/churn-model.ts";
import type { DesignInput, FeatureGroup } from "../../server/scoring/churn/columns.ts";
import {
  columnsIn,
  columnsNamed,
  columnsOf,
  type Design,
  designFor,
  rowOf,
} from "../../server/scoring/churn/design.ts";
import type { Snapshot } from "../../server/scoring/churn/snapshot.ts";
import { atOnce } from "../../server/scoring/churn/steps.ts";
import { countData, trainRungs } from "../../server/scoring/churn/train.ts";
import type { BillingFeatures } from "../../server/scoring/scores/billing.ts";
import {
  fitRidge,
  noContributions,
  reasonGroups,
  ridgeLogOdds,
} from "../../server/scoring/statistics/logistic.ts";
import { calibrate } from "../../server/scoring/statistics/platt.ts";
import { logistic, logit } from "../../server/scoring/statistics/special.ts";
import { mean } from "../../server/scoring/statistics/vectors.ts";
import { type EntityLog, snapshotOf } from "./snapshot.ts";
import { quiet, simulatedFrom, simulateLogs } from "./support.ts";

const days = 500;
const horizonDays = 28;
const endDay = simulatedFrom + days;

/** A day when most of the simulated entities are still there. */
const trainingDay = simulatedFrom + 260;

/** All rungs, trained on simulated entities. */
function trained(entities: readonly EntityLog[]): readonly ChurnModel[] {
  return trainedOn(snapshotOf(entities, trainingDay, horizonDays));
}

function trainedOn(snapshot: Snapshot): readonly ChurnModel[] {
  const { fit, rows } = atOnce(fitSnapshot(snapshot, horizonDays));
  return trainRungs({
    horizonDays,
    counts: countData(snapshot.cells, rows, horizonDays),
    bgbb: fit.parameters,
    rows,
    design: designFor(snapshot.rows),
  });
}

describe("every rung", () => {
  const entities = simulateLogs(1_200, days, 12);
  const models = trained(entities);
  const { rows } = snapshotOf(entities, endDay, horizonDays);

  test("gives probabilities whose reasons add up", () => {
    expect(models.map(({ rung }) => rung)).toEqual([0, 1, 2, 3, 4, 6]);
    for (const model of models) {
      const score = riskScorer(model);
      for (const { features } of rows) {
        const { risk, contributions } = score(features);
        expect(risk).toBeWithin(0, 1 + 1e-12);
        const sum = reasonGroups.reduce(
          (total, group) => total + contributions[group],
          model.referenceLogOdds,
        );
        expect(Math.abs(logistic(sum) - risk)).toBeLessThan(1e-9);
      }
    }
  });

  test("gives the probability of its own formula", () => {
    for (const model of models) {
      const [score, tables] = [riskScorer(model), tablesFor(model.bgbb, horizonDays)];
      for (const { features } of rows) {
        const bgbbRisk = silenceBetween(horizonDays, tables, {
          ...features.cell,
          idleDays: features.idleDays,
        });
        expect(score(features).risk).toBeCloseTo(formula(model, { features, bgbbRisk }), 10);
      }
    }
  });

  test("scores the same after a journey through JSON", () => {
    for (const model of models) {
      const [before, after] = [riskScorer(model), riskScorer(JSON.parse(JSON.stringify(model)))];
      for (const { features } of rows.slice(0, 50)) expect(after(features)).toEqual(before(features));
    }
  });

  test("of BG/BB says all of it of use, the more the longer the silence", () => {
    for (const model of models.slice(0, 2)) {
      const score = riskScorer(model);
      const scores = [0, 1, 2, 3].map((more) =>
        score({ ...quiet, idleDays: 7 * more + 4, cell: { x: 3, t: 5, n: 5 + more } }),
      );
      for (const [i, { risk, contributions }] of scores.entries()) {
        expect(contributions).toEqual({ ...noContributions, use: contributions.use });
        if (i === 0) continue;
        expect(risk).toBeGreaterThan(scores[i - 1]?.risk ?? 1);
        expect(contributions.use).toBeGreaterThan(scores[i - 1]?.contributions.use ?? Number.NaN);
      }
    }
  });

  test("of BG/BB grows by the day, and by no more on the day on which a week becomes silent", () => {
    for (const model of models.slice(0, 3)) {
      const score = riskScorer(model);
      const risks = Array.from({ length: 28 }, (_, day) => {
        const weeks = Math.floor(day / 7);
        return score({ ...quiet, idleDays: day + 1, cell: { x: 4, t: 5, n: 5 + weeks } }).risk;
      });
      const steps = risks.slice(1).map((risk, index) => Math.log(risk / (risks[index] ?? 0)));
      for (const [index, step] of steps.entries()) {
        // Within the newest week there is no earlier one to interpolate from.
        if (index < 3) expect(step).toBe(0);
        else expect(step).toBeGreaterThan(0);
        expect(step).toBeLessThan(model.rung === 2 ? 0.5 : 0.3);
      }
      const { isByDay: _, ...ofBefore } = model;
      const before = riskScorer(ofBefore);
      const on = (idleDays: number) => before({ ...quiet, idleDays, cell: { x: 4, t: 5, n: 5 } }).risk;
      expect(on(7)).toBe(on(1));
    }
  });

  test("the first is BG/BB with the prior's parameters", () => {
    const [prior] = models;
    const expected = tablesFor(priorParameters, horizonDays).silentProbability({ x: 0, t: 0, n: 2 }, 4);
    expect(
      prior && riskScorer(prior)({ ...quiet, idleDays: 18, cell: { x: 0, t: 0, n: 2 } }).risk,
    ).toBeCloseTo(expected, 12);
  });
});

test("rungs that are trained on a sample, and on all churned ones beside it, say as much risk as those of all rows", () => {
  const all = snapshotOf(simulateLogs(3_000, days, 13), trainingDay, horizonDays);
  const [rows, others] = [0, 1].map((half) => all.rows.filter((_, index) => index % 2 === half));
  const countOf = (label: boolean, of: readonly { readonly label: boolean }[] = []) =>
    of.filter((row) => row.label === label).length;
  const sample = {
    ...all,
    rows: rows ?? [],
    beside: {
      churned: (others ?? []).filter(({ label }) => label),
      churnedWeight: 1,
      retainedWeight: countOf(false, all.rows) / countOf(false, rows),
    },
  };
  const meanRisks = (models: readonly ChurnModel[]) =>
    models.map((model) => {
      const score = riskScorer(model);
      return mean(all.rows.map(({ features }) => score(features).risk));
    });
  const [expected, bySample] = [meanRisks(trainedOn(all)), meanRisks(trainedOn(sample))];
  expect(bySample).toHaveLength(6);
  for (const [rung, risk] of bySample.entries()) {
    expect(risk / (expected[rung] ?? Number.NaN)).toBeWithin(0.95, 1.05);
  }
  const unweighted = { ...sample, beside: { ...sample.beside, retainedWeight: 1 } };
  expect((meanRisks(trainedOn(unweighted))[3] ?? 0) / (expected[3] ?? Number.NaN)).toBeGreaterThan(1.15);
});

function formula(model: ChurnModel, input: DesignInput): number {
  if (model.rung === 2) return logistic(calibrate(model.platt, logit(input.bgbbRisk)));
  if (isRidge(model)) return logistic(ridgeLogOdds(model.ridge, rowOf(columnsOfModel(model), input)));
  return input.bgbbRisk;
}

function columnsOfModel({ design, ridge }: RidgeChurnModel) {
  return columnsNamed(
    design,
    ridge.columns.map(({ name }) => name),
  );
}

describe("the design", () => {
  const entity = (plan: string, index: number) => ({
    ...quiet,
    cell: { x: 0, t: 0, n: 2 },
    traits: { plan, id: `${index}` },
  });

  test("has a column for trait values of 30 entities, and none for rarer ones", () => {
    const entities = [...Array(30).fill("pro"), ...Array(29).fill("free")].map(entity);
    expect(designFor(entities.map((features) => ({ features })))).toMatchObject({
      hasMembers: false,
      traits: [{ trait: "plan", value: "pro" }],
    });
  });

  /** Entities with a number, an event that is named like a column, and different plans. */
  const rows = Array.from({ length: 60 }, (_, index) => ({
    features: {
      ...entity(index % 2 === 0 ? "pro" : "free", index),
      numbers: index < 40 ? { seats: index % 7 } : {},
      eventCounts28: { volume: index, rare: 1, ...(index < 10 && { seldom: 1 }) },
      account: { active28: 2, activePrevious28: index },
    },
  }));

  test("counts frequent and key events, and has numbers without columns for single ones", () => {
    const withTraits = rows.map(({ features }) => ({
      features: { ...features, traits: { plan: "pro", seats: "3" } },
    }));
    expect(designFor(withTraits, ["seldom"])).toMatchObject({
      events: ["rare", "volume", "seldom"],
      numbers: ["seats"],
      traits: [{ trait: "plan", value: "pro" }],
      hasAccounts: true,
    });
    expect(designFor(rows.slice(0, 29)).numbers).toEqual([]);
  });

  test("tells of seats and of pulses where 30 accounts have them", () => {
    const members = { active28: 3, activePrevious28: 4, active90: 5, topShare: 0.5, meanRiskLogOdds: null };
    const known = rows.map(({ features, ...row }, index) => ({
      ...row,
      features: { ...features, members, seats: index < 30 ? 20 : null, pulse: index < 29 ? 2 : null },
    }));
    const design = designFor(known);
    expect(design).toMatchObject({ hasSeats: true, hasPulses: false });
    const own = columnsOf({ ...design, hasPulses: true }).filter(({ featureGroup }) =>
      ["seats", "pulse"].includes(featureGroup),
    );
    expect(own.map(({ name }) => name)).toEqual([
      "seats used",
      "seats used, unknown",
      "pulse",
      "pulse, unknown",
    ]);
    const valuesOf = (index: number) => {
      const [features, bgbbRisk] = [known[index]?.features, 0.5];
      return features && own.map((column) => column.of({ features, bgbbRisk }));
    };
    expect([valuesOf(0), valuesOf(31)]).toEqual([
      [0.15, 0, 2, 0],
      [null, 1, null, 1],
    ]);
  });

  test("takes all groups of features, or those of activity and a kept model's", () => {
    const design: Design = {
      hasMembers: false,
      hasBilling: true,
      events: ["open"],
      hasAccounts: true,
      traits: [{ trait: "plan", value: "pro" }],
    };
    const groupsOf = (kept?: readonly FeatureGroup[]) =>
      new Set(columnsIn(design, kept).map(({ featureGroup }) => featureGroup));
    const activity = ["silence-frequency", "trend", "breadth-volume", "tenure", "bgbb"] as const;
    const all = new Set<FeatureGroup>([...activity, "billing", "mix", "traits", "account"]);
    expect(groupsOf()).toEqual(all);
    expect(groupsOf(["mix"])).toEqual(new Set<FeatureGroup>([...activity, "mix"]));
    expect(groupsOf([])).toEqual(new Set<FeatureGroup>(activity));
  });

  test("of a declared target tells of a period that ends within the horizon, and counts events per member", () => {
    const design: Design = { hasMembers: true, hasBilling: true, events: ["open"], traits: [] };
    const declared = { ...design, declaredWithinDays: 28 };
    const billing: BillingFeatures = {
      isPaying: true,
      mrr: 4_900,
      isYearly: true,
      ageDays: 90,
      daysToPeriodEnd: 27,
      endsAtMs: null,
      hasFailedPayment: false,
      isTrialEnding: false,
      isDown: false,
      isPastDue: false,
    };
    const members = {
      active28: 4,
      activePrevious28: 4,
      active90: 5,
      topShare: 0.5,
      meanRiskLogOdds: null,
    };
    const eventCounts28 = { open: 80 };
    const of = (one: Design, name: string, changes: Partial<BillingFeatures> = {}) =>
      columnsOf(one)
        .find((column) => column.name === name)
        ?.of({
          features: { ...entity("pro", 1), eventCounts28, members, billing: { ...billing, ...changes } },
          bgbbRisk: 0.5,
        });
    const ends = "the period ends within the horizon";
    expect([27, 28, null].map((daysToPeriodEnd) => of(declared, ends, { daysToPeriodEnd }))).toEqual([
      1,
      0,
      null,
    ]);
    expect(of(design, ends)).toBeUndefined();
    expect(of(declared, "event open per member")).toBeCloseTo(Math.log1p(28), 12);
    expect(of(design, "event open")).toBeCloseTo(Math.log1p(112), 12);
    // Models of before have no such columns, and keep their own.
    expect(of(declared, "event open")).toBeUndefined();
  });

  test("counts an unknown value as the mean, and tells of it in a column of its own", () => {
    const columns = columnsOf(designFor(rows)).filter(({ name }) => name.startsWith("number seats"));
    expect(columns.map(({ name }) => name)).toEqual(["number seats", "number seats, unknown"]);
    const valuesOf = (index: number) =>
      rowOf(columns, { features: rows[index]?.features ?? failed(), bgbbRisk: 0.5 });
    expect([...valuesOf(3)]).toEqual([3, 0]);
    expect([...valuesOf(50)]).toEqual([Number.NaN, 1]);
    const ridge = fitRidge(
      columns,
      rows.map((_, index) => valuesOf(index)),
      rows.map((_, index) => index % 3 === 0),
    );
    const [seats] = ridge.columns;
    const known = rows.slice(0, 40).map(({ features }) => features.numbers.seats ?? Number.NaN);
    expect(seats?.mean).toBeCloseTo(mean(known), 12);
    const [unknown, average] = [valuesOf(50), Float64Array.from([seats?.mean ?? Number.NaN, 1])];
    expect(ridgeLogOdds(ridge, unknown)).toBeCloseTo(ridgeLogOdds(ridge, average), 12);
  });

  test("has columns for members where there are members", () => {
    const members = {
      active28: 3,
      activePrevious28: 1,
      active90: 6,
      topShare: 0.5,
      meanRiskLogOdds: null,
    };
    const design = designFor([{ features: { ...entity("pro", 1), members } }]);
    const values = columnsOf(design).map((column) => [
      column.name,
      column.of({ features: { ...entity("pro", 1), members }, bgbbRisk: 0.5 }),
    ]);
    expect(Object.fromEntries(values)).toMatchObject({
      "active members": Math.log(4),
      "active members against the 28 days before": Math.log(2),
      penetration: 0.5,
      "top member's share": 0.5,
      "members' mean risk": 0,
      bgbb: 0,
    });
  });
});

function failed(): never {
  throw new Error("there is no such entity");
}
