/** A change of a score between two models that look at other events. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { ChurnModel } from "../../server/scoring/churn/churn-model.ts";
import { changeBetween } from "../../server/scoring/run/entity.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { insertEvents, WarehouseUnderTest } from "../warehouse/support.ts";
import { on } from "./run-support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");

/** Risks of ½, less by the count of each of these events in 28 days. */
function modelOf(...events: readonly string[]): ChurnModel {
  const columns = events.map((event) => ({
    name: `event ${event}`,
    mean: 0,
    standardDeviation: 1,
    weight: -1,
  }));
  return {
    rung: 3,
    horizonDays: 28,
    bgbb: { alpha: 1, beta: 1, gamma: 0.5, delta: 3 },
    referenceLogOdds: 0,
    design: { hasMembers: false, traits: [], events },
    ridge: { intercept: 0, columns, isConverged: true },
  };
}

test("an event that only the earlier model counts is behaviour, and not the change of the model", async () => {
  const id = subject.newOrganization();
  const days = Array.from({ length: 60 }, (_, index) => 101 + index);
  await insertEvents(subject, [
    ...days.map((day) => on(id, 1, day)),
    ...days.slice(-20).map((day) => on(id, 1, day, "reported")),
  ]);
  const organization = { id, zone, settings: defaultSettings };
  const runs = [];
  for (const [day, model] of [
    [141, modelOf("reported")],
    [161, modelOf()],
  ] as const) {
    await scoreDay(subject.warehouse, { organization, day, report: () => undefined, nowMs: Date.now });
    const run = await newestRun(subject.warehouse, id, "user", day);
    if (run === undefined) throw new Error("there was no run");
    runs.push({ ...run, body: { ...run.body, model } });
  }
  const [earlier, later] = runs;
  if (earlier === undefined || later === undefined) throw new Error("there were two runs");
  const question = { organization: { id, zone }, kind: "user", entity: 1 } as const;
  const change = await changeBetween(subject.warehouse, question, earlier, later);
  // From no report to 20 of them the earlier model's odds fall from 1 to 1/21. The later one says ½ of
  // everybody.
  expect(change?.risk?.total).toBeCloseTo(0, 9);
  expect(change?.risk?.behaviour).toBeCloseTo(1 / 22 - 1 / 2, 9);
  expect(change?.risk?.settings).toBeCloseTo(1 / 2 - 1 / 22, 9);
});
