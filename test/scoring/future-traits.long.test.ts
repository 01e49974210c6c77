/** An import of months of events, whose users are identified today. No trait foretells in training which
 * users left. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { readSnapshots } from "../../server/scoring/queries/snapshots.ts";
import { populationOf } from "../../server/scoring/run/population.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { user } from "../ledger/writes.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const users = 260;
const days = 250;
const today = simulatedFrom + days;

/** @param traitsOf what today's identify says of a user, by the last day on which it was active */
async function imported(traitsOf: (lastDay: number) => Record<string, string>): Promise<number> {
  const organization = subject.newOrganization();
  const logs = simulateLogs(users, days, 7);
  const events = logs.flatMap(({ log }, index) =>
    log.map(({ day, event: name }) =>
      event(organization, { user: index + 1, event: name, day, timeMs: day * msPerDay + 1_000 }),
    ),
  );
  await insertEvents(subject, events);
  const versions = logs.map(({ log }, index) =>
    userVersionRow(user(organization, `u${index}`, { number: index + 1 }), {
      atMs: today * msPerDay + 1_000,
      account: 0,
      traits: traitsOf(log.at(-1)?.day ?? 0),
    }),
  );
  await subject.insert("user_versions", versions);
  return organization;
}

const statusOf = (lastDay: number) => ({ status: lastDay < today - 28 ? "canceled" : "active" });

test("traits that were first said after the cut-off are unknown in training and in the back-test", async () => {
  const [knowing, unknowing] = [await imported(statusOf), await imported(() => ({}))];
  const settings = defaultSettings;
  for (const id of [knowing, unknowing]) {
    await scoreDay(subject.warehouse, {
      organization: { id, zone, settings },
      day: today,
      nowMs: Date.now,
      report: () => undefined,
    });
  }
  const population = populationOf({ id: knowing, zone, settings }, "user");
  const cutoffs = [today - 56, today - 28];
  const snapshots = await readSnapshots(subject.warehouse, population, cutoffs, { horizonDays: 28 });
  for (const { rows } of snapshots.values()) {
    expect(rows.length).toBeGreaterThan(30);
    for (const { features } of rows) expect(features.traits).toEqual({});
  }
  const [with_, without] = await Promise.all(
    [knowing, unknowing].map((id) => newestRun(subject.warehouse, id, "user", today)),
  );
  expect(with_?.body.backtest.folds).toBeGreaterThan(0);
  expect(with_?.body.backtest).toEqual(without?.body.backtest ?? ({} as never));
});

test("a long text that many users share is no category", async () => {
  const organization = await imported(() => ({ note: "x".repeat(2_000) }));
  const population = populationOf({ id: organization, zone, settings: defaultSettings }, "user");
  const afterwards = today + 2;
  const options = { horizonDays: 28, everyone: true };
  const snapshots = await readSnapshots(subject.warehouse, population, [afterwards], options);
  const rows = snapshots.get(afterwards)?.rows ?? [];
  expect(rows.length).toBeGreaterThan(100);
  for (const { features } of rows) expect(features.traits).toEqual({});
});
