/** A long run pauses for other work. It gives a turn after each statement, and the thread after each step of
 * a computation. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { atOnce, type Steps } from "../../server/scoring/churn/steps.ts";
import { inSteps } from "../../server/scoring/run/in-steps.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { statementByStatement } from "../../server/scoring/run/turns.ts";
import { insertEvents, WarehouseUnderTest } from "../warehouse/support.ts";
import { all } from "./run-support.ts";

const subject = new WarehouseUnderTest();

/** Does one thing after another, in the order in which they were asked for. */
function turnTaking() {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const mine = last.then(work);
    last = mine;
    return mine;
  };
}

test("a query that waits for a training run has a turn after the present statement, and does not change the run", async () => {
  const [alone, among] = [subject.newOrganization(), subject.newOrganization()];
  const days = Array.from({ length: 50 }, (_, index) => 20 + 4 * index);
  for (const id of [alone, among]) await insertEvents(subject, all(id, 8, days));
  const inTurn = turnTaking();
  const order: string[] = [];
  const warehouse = statementByStatement(subject.warehouse, (work) =>
    inTurn(() => {
      order.push("statement");
      inTurn(async () => order.push("other"));
      return work();
    }),
  );
  const request = (id: number) => ({
    organization: { id, zone: new Zone("UTC"), settings: defaultSettings },
    day: 220,
    report: () => undefined,
    nowMs: Date.now,
  });
  await scoreDay(warehouse, request(among));
  await scoreDay(subject.warehouse, request(alone));
  expect(order.length).toBeGreaterThan(60);
  expect(order.every((what, index) => what === (index % 2 === 0 ? "statement" : "other"))).toBe(true);
  const [runAmong, runAlone] = await Promise.all(
    [among, alone].map(async (id) => (await newestRun(subject.warehouse, id, "account", 220))?.body),
  );
  expect(runAmong?.backtest.folds).toBeDefined();
  expect(runAmong?.backtest).toEqual(runAlone?.backtest ?? expect.unreachable());
  expect(runAmong?.model).toEqual(runAlone?.model ?? null);
});

test("a computation in steps comes to the same, and timers have their turn between any two steps", async () => {
  const seen: string[] = [];
  function* steps(): Steps<number> {
    let sum = 0;
    for (let step = 1; step <= 3; step += 1) {
      sum += step;
      seen.push(`step ${step}`);
      setTimeout(() => seen.push(`timer ${step}`), 0);
      yield;
    }
    return sum;
  }
  expect(await inSteps(steps())).toBe(6);
  expect(seen).toEqual(["step 1", "timer 1", "step 2", "timer 2", "step 3", "timer 3"]);
  expect(atOnce(steps())).toBe(6);
});
