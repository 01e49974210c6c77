/** Runs of organizations with outages: which cut-offs they drop, and when declared outages make them due. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { EventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { planFolds } from "../../server/scoring/churn/folds.ts";
import { realisedChurn } from "../../server/scoring/run/realised.ts";
import { listRuns, recordOf } from "../../server/scoring/run/records.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { Installation } from "./installation.ts";
import { all, scoresOf } from "./run-support.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const settings = defaultSettings;

const days = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

function simulatedEvents(organization: number, count: number, length: number): EventRow[] {
  return simulateLogs(count, length, 7).flatMap(({ log }, index) =>
    log.map(({ day, event: name }) =>
      event(organization, { user: index + 1, event: name, day, timeMs: day * msPerDay + 43_200_000 }),
    ),
  );
}

test("a training drops the cut-offs with an outage in their horizon, seen in the data or declared", async () => {
  // A Monday, with three cut-offs.
  const day = simulatedFrom + 234;
  expect((day + 3) % 7).toBe(0);
  const folds = planFolds(simulatedFrom, day, 28);
  const dropped = folds.at(-2)?.cutoffDay ?? 0;
  const outage = { from: dropped + 20, to: dropped + 26 };
  const foldsOf = async (id: number, declaredOutages: readonly (typeof outage)[]) => {
    const organization = { id, zone, settings, declaredOutages };
    await scoreDay(subject.warehouse, { organization, day, report: () => undefined, nowMs: Date.now });
    const run = await newestRun(subject.warehouse, id, "user", day);
    return { cutoffs: run?.body.backtest.folds, outages: run?.body.outages };
  };
  const [whole, broken] = [subject.newOrganization(), subject.newOrganization()];
  const events = simulatedEvents(whole, 200, 240);
  await insertEvents(subject, events);
  const received = events.filter((one) => one.day < outage.from || one.day >= outage.to);
  await insertEvents(
    subject,
    received.map((one) => ({ ...one, organization: broken })),
  );
  expect(await foldsOf(whole, [])).toEqual({ cutoffs: folds.length, outages: [] });
  expect(await foldsOf(broken, [])).toEqual({ cutoffs: folds.length - 1, outages: [outage] });
  expect(await foldsOf(whole, [outage])).toEqual({ cutoffs: folds.length - 1, outages: [outage] });
});

test("a declared outage leaves its days out of all scores after it, and its end brings them back", async () => {
  const installation = new Installation(subject, 200);
  const id = installation.organization();
  // Fewer than five users: no gap is an outage by itself.
  await installation.insert(all(id, 4, days(187, 194)));
  installation.declaredOutages = [{ fromDay: 400, toDay: 410 }];
  await installation.finish();
  const states = async () => {
    const runs = (await listRuns(subject.warehouse, id)).filter(({ kind }) => kind === "user");
    return Promise.all(
      runs.map(async (run) => [run.day, (await scoresOf(subject, id, "user", run.day))[0]?.idle_days]),
    );
  };
  const idle = (all: readonly (readonly unknown[])[], day: number) => all.find(([each]) => each === day)?.[1];
  const before = await states();
  expect([idle(before, 194), idle(before, 196), idle(before, 200)]).toEqual([1, 3, 7]);
  const modelOf = () => recordOf(subject.warehouse, { organization: id, kind: "user", what: "model" }, 200);
  const model = await modelOf();
  installation.declaredOutages = [{ fromDay: 194, toDay: 196 }];
  await installation.finish();
  const after = await states();
  expect([194, 196, 197, 200].map((day) => idle(after, day))).toEqual([1, 1, 1, 4]);
  expect((await modelOf())?.version).not.toBe(model?.version);
  expect(await installation.work()).toBe(0);
  installation.declaredOutages = [];
  await installation.finish();
  expect(await states()).toEqual(before);
});

test("a run with an outage in its horizon says nothing about churn by health band", async () => {
  const organization = subject.newOrganization();
  await insertEvents(subject, all(organization, 6, [...days(60, 130), ...days(140, 170)]));
  const score = (day: number) =>
    scoreDay(subject.warehouse, {
      organization: { id: organization, zone, settings },
      day,
      nowMs: Date.now,
      report: () => undefined,
    });
  await score(120);
  const realised = () => realisedChurn(subject.warehouse, { id: organization, zone }, "user", 170);
  expect((await realised()).map(({ count, churned }) => [count, churned])).toEqual([[6, 0]]);
  await score(170);
  expect(await realised()).toEqual([]);
});
