/** The base rate of a declared churn target, which is there before any model can be trained. */
import { describe, expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { baseRateDays, observedBaseRate } from "../../server/scoring/churn/base-rate.ts";
import type { SnapshotRow } from "../../server/scoring/churn/snapshot.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { wilson } from "../../server/scoring/statistics/wilson.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { logDay, logsOf, randomOrganization, zone } from "./engine-support.ts";
import { snapshotOf } from "./snapshot.ts";
import { quiet } from "./support.ts";

const subject = new WarehouseUnderTest();
const cell = { x: 0, t: 0, n: 1 };

/** A snapshot whose rows are in these clusters; the first `churned` of them churned. */
function snapshot(cutoffDay: number, clusters: readonly number[], churned: number) {
  const rows = clusters.map(
    (cluster, index): SnapshotRow => ({
      features: { ...quiet, cell },
      label: index < churned,
      entity: index + 1,
      cutoffDay,
      cluster,
      isCanceling: false,
    }),
  );
  return { cutoffDay, cells: [], rows };
}

const distinct = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);

describe("the share", () => {
  test("of entities that have nothing in common has Wilson's interval", () => {
    const observed = observedBaseRate([snapshot(100, distinct(200), 7), snapshot(72, distinct(180, 300), 5)]);
    // As in every clustered interval, C clusters count as C − 1.
    const { low, high } = wilson((12 * 379) / 380, 379);
    expect(observed).toMatchObject({ cutoffs: 2, count: 380, churned: 12, rate: 12 / 380 });
    expect(observed?.low).toBeCloseTo(low, 12);
    expect(observed?.high).toBeCloseTo(high, 12);
  });

  test("of users who leave by account has a wider one", () => {
    const alike = observedBaseRate([
      snapshot(
        100,
        distinct(200).map((each) => Math.ceil(each / 10)),
        20,
      ),
    ]);
    const alone = observedBaseRate([snapshot(100, distinct(200), 20)]);
    expect(alike?.rate).toBe(alone?.rate ?? Number.NaN);
    expect((alike?.high ?? 0) - (alike?.low ?? 0)).toBeGreaterThan(
      2 * ((alone?.high ?? 0) - (alone?.low ?? 0)),
    );
  });

  test("of none counts an entity of many cut-offs once", () => {
    const observed = observedBaseRate(distinct(10).map((day) => snapshot(day, distinct(40), 0)));
    expect(observed).toMatchObject({ cutoffs: 10, count: 400, churned: 0, rate: 0, low: 0 });
    expect(observed?.high).toBeCloseTo(wilson(0, 40).high, 12);
  });

  test("is unknown without any entity, and a cut-off without one does not count", () => {
    expect(observedBaseRate([])).toBeNull();
    expect(observedBaseRate([snapshot(100, [], 0)])).toBeNull();
    expect(observedBaseRate([snapshot(100, [], 0), snapshot(72, [1], 0)])?.cutoffs).toBe(1);
  });
});

describe("the cut-off dates", () => {
  test("begin when outcomes are known, and are a horizon apart", () => {
    expect(baseRateDays(100, 128, 28)).toEqual([]);
    expect(baseRateDays(100, 129, 28)).toEqual([101]);
    expect(baseRateDays(100, 200, 28)).toEqual([172, 144, 116]);
    expect(baseRateDays(100, 200, 7)).toEqual([193, 165, 137, 109]);
    expect(baseRateDays(100, 300, 84)).toEqual([216, 132]);
    expect(baseRateDays(0, 10_000, 28)).toHaveLength(12);
  });

  test("leave out those whose horizon has an outage", () => {
    expect(baseRateDays(100, 200, 28, [{ from: 150, to: 151 }])).toEqual([172, 116]);
  });
});

test("a run with few declared departures has the base rate of the reference, and no model", async () => {
  const { organization, events } = await randomOrganization(subject, "base rate", 150);
  const target = { by: "event", event: "subscription_canceled", undoneBy: null } as const;
  const settings = { ...defaultSettings, churnTargets: { ...defaultSettings.churnTargets, user: target } };
  const day = logDay(90);
  await scoreDay(subject.warehouse, {
    organization: { id: organization, zone, settings },
    day,
    report: () => undefined,
    nowMs: Date.now,
  });
  const run = await newestRun(subject.warehouse, organization, "user", day);
  if (run === undefined) throw new Error("there was no run");
  const { observedBaseRate: observed, choice, model, trainedDay, backtest } = run.body;
  expect([choice.rung, model, backtest.folds]).toEqual([null, null, 0]);
  const firstDay = Math.min(...events.map((one) => one.day));
  const entities = [...logsOf(events, "user")].map(([entity, log]) => ({
    log,
    changes: events
      .filter((one) => one.user === entity && one.event === target.event)
      .map((one) => ({ day: one.day, timeMs: one.timeMs, isChurned: true })),
  }));
  const cutoffs = baseRateDays(firstDay, trainedDay, 28);
  const expected = observedBaseRate(cutoffs.map((cutoff) => snapshotOf(entities, cutoff, 28, { target })));
  expect(cutoffs.length).toBeGreaterThan(0);
  expect(observed).toMatchObject({
    cutoffs: expected?.cutoffs,
    count: expected?.count,
    churned: expected?.churned,
  });
  expect(observed?.rate).toBeWithin(observed?.low ?? Number.NaN, (observed?.high ?? 0) + 1e-12);
});
