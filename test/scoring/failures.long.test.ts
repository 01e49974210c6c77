/** A run whose training cannot be used, or fails. */

import { describe, expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { ChurnModel } from "../../server/scoring/churn/churn-model.ts";
import type { ModelBody, RunBody } from "../../server/scoring/run/record-bodies.ts";
import { keepRecord } from "../../server/scoring/run/records.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { ServiceStopping } from "../../server/scoring/run/scoring.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { Trainings } from "../../server/scoring/run/trainings.ts";
import { modelKey } from "../../server/scoring/scores/settings.ts";
import type { Metrics } from "../../server/scoring/statistics/metrics.ts";
import { type Warehouse, WarehouseError } from "../../server/warehouse/engine/warehouse.ts";
import { insertEvents, WarehouseUnderTest } from "../warehouse/support.ts";
import { randomFrom } from "./random.ts";
import { all, on, scoresOf } from "./run-support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const settings = defaultSettings;
/** A Wednesday: 1970-01-01 was a Thursday. */
const wednesday = 202;
const monday = 200;

const metrics: Metrics = {
  count: 2_000,
  baseRate: 0.3,
  meanPrediction: 0.3,
  auc: 0.85,
  logLoss: 0.4,
  brier: 0.15,
  brierSkill: 0.3,
  ece: 0.01,
  eceFloor: 0.01,
  calibrationSlope: 1,
  calibrationIntercept: 0,
  topDecileLift: 2,
  reliability: [],
  calibrationSlopeError: 0.05,
  biasError: 0.05,
};

/** Rung 3 is proven by the back-test, and was not trained. */
const mondaysModel: ModelBody = {
  settingsKey: modelKey(settings, "user"),
  declaredOutages: "[]",
  rungs: [
    { rung: 0, horizonDays: 28, bgbb: { alpha: 1, beta: 1, gamma: 0.5, delta: 3 }, referenceLogOdds: -1 },
  ],
  churnedLabels: 200,
  retainedLabels: 200,
  bgbb: { alpha: 1, beta: 1, gamma: 0.5, delta: 3 },
  backtest: {
    horizonDays: 28,
    folds: 6,
    isConverged: true,
    results: (["rung 1", "rung 3", "recency"] as const).map((model) => ({
      model,
      folds: 6,
      departures: 600,
      involuntary: 0,
      retained: 1_400,
      recencyLogLoss: 0.5,
      hiatusLogLoss: 0.55,
      metrics: { ...metrics, logLoss: model === "rung 1" ? 0.45 : 0.4 },
    })),
  },
};

/** The engine, for which all statements like this one fail. */
function failingAt(statement: RegExp, attempts: string[] = []): Warehouse {
  return {
    ...subject.warehouse,
    rows: async <Row>(...[sql, ...rest]: Parameters<Warehouse["rows"]>) => {
      if (statement.test(sql)) {
        attempts.push(sql);
        throw new WarehouseError(241, "Memory limit exceeded");
      }
      return subject.warehouse.rows<Row>(sql, ...rest);
    },
    command: (...query) => subject.warehouse.command(...query),
  };
}

/** The reads that only a training makes: rows with labels. */
const ofTraining = /AS label/;

/** Four users of five come seldom, and every second one leaves. Histories begin on day 0. */
async function withHistory(days: number): Promise<number> {
  const organization = subject.newOrganization();
  const random = randomFrom(3);
  const events = Array.from({ length: 200 }, (_, index) => {
    const last = index % 2 === 0 ? days : Math.floor(random() * days);
    return (
      Array.from({ length: last }, (_, day) => day)
        // No test scores a later day.
        .filter((day) => day < wednesday + 10 && day % (1 + (index % 5)) === 0)
        .map((day) => on(organization, index + 1, day))
    );
  });
  await insertEvents(subject, events.flat());
  return organization;
}

function scoreAs(organization: number, day: number, more: Partial<Parameters<typeof scoreDay>[1]> = {}) {
  return (warehouse: Warehouse = subject.warehouse) =>
    scoreDay(warehouse, {
      organization: { id: organization, zone, settings },
      day,
      nowMs: Date.now,
      report: () => undefined,
      ...more,
    });
}

async function runOf(organization: number, day: number): Promise<RunBody> {
  const run = await newestRun(subject.warehouse, organization, "user", day);
  if (run?.day !== day) throw new Error(`day ${day} was not scored`);
  return run.body;
}

describe("when training fails", () => {
  test("the model of the week before serves, and the run says so", async () => {
    const organization = await withHistory(260);
    await scoreAs(organization, monday)();
    const before = await runOf(organization, monday);
    await scoreAs(organization, monday + 9)(failingAt(ofTraining));
    const after = await runOf(organization, monday + 9);
    expect(after.trainedDay).toBe(monday);
    expect(after.choice.rung).toBe(before.choice.rung);
    expect(after.choice.why).toContain("because training failed");
    expect(after.backtest).toEqual(before.backtest);
    expect(await scoresOf(subject, organization, "user", monday + 9)).not.toBeEmpty();
    // The next model is trained again, and the failure is no longer mentioned.
    await scoreAs(organization, monday + 10)();
    expect(await runOf(organization, monday + 10)).toMatchObject({ trainedDay: monday + 7 });
    expect((await runOf(organization, monday + 10)).choice.why).not.toContain("failed");
  });

  test("without a model of before BG/BB serves, which needs no labels", async () => {
    const organization = await withHistory(260);
    await scoreAs(organization, wednesday)(failingAt(ofTraining));
    const run = await runOf(organization, wednesday);
    expect(run.choice).toMatchObject({ rung: 1, isProven: false });
    expect(run.choice.why).toContain("training failed");
    const active = (await scoresOf(subject, organization, "user", wednesday)).filter(
      ({ state }) => state === "active",
    );
    expect(active.length).toBeGreaterThan(50);
    for (const { risk } of active) expect(risk).toBeWithin(0, 1);
  });

  test("it rests before it is tried again, unless settings are others", async () => {
    const organization = await withHistory(260);
    const attempts: string[] = [];
    const trainings = new Trainings(Date.now);
    const failing = failingAt(ofTraining, attempts);
    for (const day of [wednesday, wednesday + 1]) await scoreAs(organization, day, { trainings })(failing);
    // Users and accounts.
    expect(attempts).toHaveLength(2);
    expect(trainings.failingSinceMs(organization)).not.toBeNull();
    const others = { ...settings, churnHorizonDays: 14 } as const;
    const asked = { id: organization, zone, settings: others };
    await scoreAs(organization, wednesday + 1, { trainings, organization: asked })();
    expect(trainings.failingSinceMs(organization)).toBeNull();
    expect((await runOf(organization, wednesday + 1)).choice.why).not.toContain("failed");
  });

  test("because the service stops, the run ends", async () => {
    const organization = await withHistory(260);
    const stopping: Warehouse = {
      ...failingAt(/./),
      rows: <Row>(...query: Parameters<Warehouse["rows"]>) =>
        ofTraining.test(query[0])
          ? Promise.reject(new ServiceStopping())
          : subject.warehouse.rows<Row>(...query),
    };
    await expect(scoreAs(organization, wednesday)(stopping)).rejects.toThrow("the service is stopping");
  });
});

describe("a run", () => {
  test("takes a rung that was trained: 59 entities on Monday were too few for the best, 60 on Wednesday are not", async () => {
    const organization = subject.newOrganization();
    const days = Array.from({ length: 20 }, (_, index) => 100 + 5 * index);
    await insertEvents(subject, all(organization, 60, days));
    const key = { organization, kind: "user", what: "model" } as const;
    await keepRecord(subject.warehouse, key, { day: monday, version: 1, body: mondaysModel });
    await scoreAs(organization, wednesday)();
    expect((await runOf(organization, wednesday)).choice).toMatchObject({ rung: 1, isProven: true });
    const risks = (await scoresOf(subject, organization, "user", wednesday)).map(({ risk }) => risk);
    expect(risks).toHaveLength(60);
    for (const risk of risks) expect(risk).toBeWithin(0, 1);
  });

  /** A model of the base rate: a quarter leaves. */
  const baseRate: ChurnModel = {
    rung: 6,
    horizonDays: 28,
    bgbb: mondaysModel.bgbb,
    isByDay: true,
    referenceLogOdds: -Math.log(3),
    design: { hasMembers: false, traits: [] },
    ridge: { intercept: -Math.log(3), columns: [], isConverged: true },
  };

  test.each([
    ["and then nobody has a risk where no base rate was trained", [], null, []],
    ["and then everybody has the base rate", [baseRate], 6, [0.25]],
  ] as const)(
    "keeps a model that failed once, withdraws it when it failed in two trainings running, %s",
    async (_, more, then, risks) => {
      const organization = subject.newOrganization();
      const days = Array.from({ length: 20 }, (_, index) => 90 + 5 * index);
      await insertEvents(subject, all(organization, 60, days));
      const { backtest } = mondaysModel;
      const failing = backtest.results.map((result) => ({
        ...result,
        metrics: { ...result.metrics, ece: 0.2 },
      }));
      const chosen = [];
      for (const [week, results] of [backtest.results, failing, failing].entries()) {
        const day = monday + 7 * (week - 1);
        const key = { organization, kind: "user", what: "model" } as const;
        const rungs = [...mondaysModel.rungs, ...more];
        const body = { ...mondaysModel, rungs, backtest: { ...backtest, results } };
        await keepRecord(subject.warehouse, key, { day, version: 1, body });
        // On Wednesday the same training serves.
        for (const scoredDay of [day, day + 2]) {
          await scoreAs(organization, scoredDay)();
          const { rung, isProven } = (await runOf(organization, scoredDay)).choice;
          chosen.push([rung, isProven]);
        }
      }
      const [passed, failed, withdrawn] = [
        [1, true],
        [1, false],
        [then, false],
      ] as const;
      expect(chosen as unknown[]).toEqual([passed, passed, failed, failed, withdrawn, withdrawn]);
      const stored = await subject.warehouse.rows<{ risk: number }>(
        `SELECT DISTINCT round(risk, 6) AS risk FROM user_scores
       WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {day:Int32}) AND risk IS NOT NULL`,
        { organization, day: monday + 9 },
      );
      expect(stored.map(({ risk }) => risk)).toEqual([...risks]);
    },
  );
});
