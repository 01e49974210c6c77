/** The order by activity, which takes the place of a churn risk that no model gives. */
import { describe, expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { activityOrderOf, positionIn } from "../../server/scoring/churn/activity-order.ts";
import { priorParameters } from "../../server/scoring/churn/bgbb.ts";
import { silenceBy } from "../../server/scoring/churn/churn-model.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { activityPosition } from "../../server/scoring/queries/lists/activity-order.ts";
import { listScores, orderByActivity } from "../../server/scoring/queries/lists/reading.ts";
import { rowsOf } from "../../server/scoring/run/entity.ts";
import { populationOf, withOutages } from "../../server/scoring/run/population.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { absoluteRiskScale } from "../../server/scoring/scores/risk-scale.ts";
import { stateOf } from "../../server/scoring/scores/state.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { logDay, logsOf, randomOrganization, zone } from "./engine-support.ts";
import { featuresOf } from "./features.ts";

describe("of counted histories", () => {
  const every = { x: 20, t: 20, n: 20 };
  const paused = { x: 20, t: 20, n: 23 };
  const newcomer = { x: 0, t: 0, n: 0 };
  const gone = { x: 0, t: 0, n: 3 };
  const order = activityOrderOf([
    { ...gone, count: 4 },
    { ...newcomer, count: 2 },
    { ...every, count: 3 },
    { ...paused, count: 1 },
  ]);

  test("the most active is the first, and equal histories share a position", () => {
    expect([every, newcomer, gone].map((cell) => positionIn(order, cell))).toEqual([1, 4, 6]);
    expect(positionIn(order, paused)).toBe(10);
    expect(order.of).toBe(10);
  });

  test("a history that nobody has is in no place", () => {
    expect(positionIn(order, { x: 1, t: 1, n: 1 })).toBeNull();
    expect(activityOrderOf([])).toEqual({ cells: [], positions: [], of: 0 });
  });
});

describe("of random logs without a model", () => {
  const subject = new WarehouseUnderTest();
  const day = logDay(330);

  test.each(["user", "account"] as const)(
    "the engine gives every %s the position of the reference",
    async (kind) => {
      const { organization, events } = await randomOrganization(subject, `activity of ${kind}s`, 55);
      const of = { id: organization, zone, settings: defaultSettings };
      await scoreDay(subject.warehouse, {
        organization: of,
        day,
        report: () => undefined,
        nowMs: Date.now,
      });
      const run = await newestRun(subject.warehouse, organization, kind, day);
      if (run === undefined) throw new Error("there was no run");
      expect([run.body.choice.rung, run.body.model]).toEqual([null, null]);
      const rows = rowsOf(organization, kind, run);
      const order = await orderByActivity(subject.warehouse, rows);
      const expected = reference(
        logsOf(
          events.filter((one) => one.day < day),
          kind,
        ),
        // A pause of all users may be an outage, for the engine and for the reference.
        populationOf(await withOutages(subject.warehouse, of, day), kind).settings,
      );
      expect(order.of).toBe([...expected.values()].filter((position) => position !== null).length);
      const { sql, parameters } = activityPosition(order);
      const found = await subject.warehouse.rows<{
        entity: number;
        position: number | null;
        risk: number | null;
      }>(
        `SELECT ${kind} AS entity, ${sql} AS position, risk FROM ${kind}_scores FINAL
       WHERE organization = {organization:UInt32}`,
        { organization, ...parameters },
      );
      expect(found.length).toBeGreaterThan(5);
      for (const { entity, position, risk } of found) {
        expect([entity, position, risk]).toEqual([entity, expected.get(entity) ?? null, null]);
      }
      await expectSorted(rows, order);
    },
  );

  /** The positions of all entities: null for the churned. */
  function reference(
    logs: ReturnType<typeof logsOf>,
    settings: Parameters<typeof featuresOf>[2],
  ): Map<number, number | null> {
    const silence = silenceBy(28, priorParameters);
    const silent = new Map<number, number | null>();
    for (const [entity, log] of logs) {
      const features = featuresOf(log, day, settings);
      if (features === null) continue;
      const isChurned = stateOf(features, 28) === "churned";
      silent.set(entity, isChurned || features.cell === null ? null : silence.of(features.cell));
    }
    const all = [...silent.values()].filter((value) => value !== null);
    return new Map(
      [...silent].map(([entity, own]) => [
        entity,
        own === null ? null : 1 + all.filter((other) => other < own).length,
      ]),
    );
  }

  async function expectSorted(
    run: { organization: number; kind: EntityKind; day: number; rowsVersion: number },
    activityOrder: Awaited<ReturnType<typeof orderByActivity>>,
  ) {
    const question = {
      run,
      earlier: undefined,
      activityOrder,
      riskLimits: absoluteRiskScale,
      sort: "risk" as const,
      limit: 1_000,
      offset: 0,
    };
    for (const descending of [true, false]) {
      const listed = await listScores(subject.warehouse, { ...question, descending });
      const positions = listed.map((each) => each.activityPosition);
      const there = positions.filter((position) => position !== null);
      const sorted = there.toSorted((a, b) => (descending ? b - a : a - b));
      expect(positions).toEqual([...sorted, ...positions.slice(there.length).fill(null)]);
      expect(there.length).toBeGreaterThan(1);
    }
  }
});
