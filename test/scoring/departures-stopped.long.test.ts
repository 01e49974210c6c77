/** A declared churn that has stopped coming while use goes on: of an event, a trait and subscriptions. */
import { expect, test } from "bun:test";
import type { ChurnTarget } from "../../contract/api/churn-targets.ts";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { spansWithoutDepartures } from "../../server/scoring/queries/departure-days.ts";
import { populationOf } from "../../server/scoring/run/population.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { user } from "../ledger/writes.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { loadBilling } from "./billing-support.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("Asia/Kolkata");
const today = simulatedFrom + 333;
/** The last day on which a departure was reported. */
const lastReported = today - 45;
const targets: readonly Exclude<ChurnTarget, { by: "silence" }>[] = [
  { by: "event", event: "left", undoneBy: null },
  { by: "trait", trait: "status", values: ["left"] },
  { by: "subscription" },
];
const settingsOf = (target: ChurnTarget) => ({
  ...defaultSettings,
  churnTargets: { ...defaultSettings.churnTargets, user: target },
});

/** Users by number with their days of use, and the day on which they left, if that was before the last
 * day. */
const people = simulateLogs(700, 333, 7).map(({ log }, index) => ({
  number: index + 1,
  log,
  leftOn: (log.at(-1)?.day ?? 0) + 10,
}));
const reported = people.filter(({ leftOn }) => leftOn <= lastReported);
const lastLeft = Math.max(...reported.map(({ leftOn }) => leftOn));
const noonOf = (day: number) => zone.startOfDay(day) + msPerDay / 2;

test("is found for every target, and its cut-offs prove nothing", async () => {
  const organization = subject.newOrganization();
  const rowOf = (number: number, day: number, name: string, properties?: object) =>
    event(organization, {
      user: number,
      event: name,
      day,
      timeMs: noonOf(day),
      ...(properties !== undefined && { properties: JSON.stringify(properties), isActivity: false }),
    });
  await insertEvents(subject, [
    ...people.flatMap(({ number, log }) => log.map(({ day, event: name }) => rowOf(number, day, name))),
    ...reported.map(({ number, leftOn }) => rowOf(number, leftOn, "left")),
  ]);
  await subject.insert(
    "user_versions",
    people.flatMap(({ number, log, leftOn }) => {
      const said = (version: number, day: number, status: string) =>
        userVersionRow(user(organization, `u${number}`, { number, version }), {
          atMs: noonOf(day),
          account: 0,
          traits: { status },
        });
      const first = said(1, log[0]?.day ?? simulatedFrom, "here");
      return leftOn <= lastReported ? [first, said(2, leftOn, "left")] : [first];
    }),
  );
  const price = { amount: 4_900, currency: "EUR", interval: "month" };
  await loadBilling(
    subject,
    people.flatMap(({ number, log, leftOn }) => {
      const subscriptionId = `s${number}`;
      const start = rowOf(number, log[0]?.day ?? simulatedFrom, "subscription_started", {
        subscriptionId,
        ...price,
      });
      return leftOn <= lastReported
        ? [start, rowOf(number, leftOn, "subscription_canceled", { subscriptionId })]
        : [start];
    }),
  );
  for (const target of targets) {
    const population = populationOf({ id: organization, zone, settings: settingsOf(target) }, "user");
    const spans = (day: number) => spansWithoutDepartures(subject.warehouse, population, day);
    expect([target.by, await spans(today)]).toEqual([target.by, [{ from: lastLeft + 1, to: today }]]);
    expect([target.by, await spans(lastLeft + 5)]).toEqual([target.by, []]);
  }
  const silence = populationOf({ id: organization, zone, settings: defaultSettings }, "user");
  expect(await spansWithoutDepartures(subject.warehouse, silence, today)).toEqual([]);

  const [byEvent] = targets;
  const settings = settingsOf(byEvent ?? { by: "silence" });
  await scoreDay(subject.warehouse, {
    organization: { id: organization, zone, settings },
    day: today,
    nowMs: Date.now,
    report: () => undefined,
  });
  const run = await newestRun(subject.warehouse, organization, "user", today);
  expect(run?.body.noDeparturesFrom).toBe(lastLeft + 1);
  const cutoffs = run?.body.backtest.results[0]?.byCutoff?.map(({ cutoffDay }) => cutoffDay) ?? [];
  expect(cutoffs.length).toBeGreaterThan(0);
  expect(Math.max(...cutoffs)).toBeLessThanOrEqual(lastLeft + 1 - 28);
});
