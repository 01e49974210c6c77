/** Runs on an engine of their own: what may not change a score, and what is done again. */
import { describe, expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { type EventRow, userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { RunBody } from "../../server/scoring/run/record-bodies.ts";
import { markStale } from "../../server/scoring/run/records.ts";
import { type KindSummary, scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { eraseUsers } from "../../server/warehouse/upkeep/erase.ts";
import { user } from "../ledger/writes.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { all, scoresOf } from "./run-support.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const settings = defaultSettings;

function simulatedEvents(organization: number, count: number, days: number): EventRow[] {
  return simulateLogs(count, days, 7).flatMap(({ log }, index) =>
    log.map(({ day, event: name }) =>
      event(organization, {
        user: index + 1,
        account: 1 + (index % 7),
        event: name,
        day,
        timeMs: day * msPerDay + 43_200_000,
      }),
    ),
  );
}

function score(id: number, day: number, warehouse: Warehouse = subject.warehouse): Promise<KindSummary[]> {
  const request = { organization: { id, zone, settings }, day, report: () => undefined, nowMs: Date.now };
  return scoreDay(warehouse, request);
}

async function runOf(organization: number, day: number): Promise<RunBody> {
  const run = await newestRun(subject.warehouse, organization, "user", day);
  if (run?.day !== day) throw new Error(`there is no run of day ${day}`);
  return run.body;
}

/** Says of users which plan they had, and from when. */
async function plans(organization: number, count: number, atMs: number, plan: string): Promise<void> {
  await subject.insert(
    "user_versions",
    Array.from({ length: count }, (_, index) =>
      userVersionRow(user(organization, `u${index}`, { number: index + 1, version: atMs }), {
        atMs,
        traits: { plan: index % 2 === 0 ? plan : "free" },
        account: 0,
      }),
    ),
  );
}

describe("a run", () => {
  test("knows nothing of what comes at or after its day: neither events nor traits", async () => {
    const [without, with_] = [subject.newOrganization(), subject.newOrganization()];
    const day = simulatedFrom + 220;
    const events = simulatedEvents(0, 160, 250);
    const past = events.filter((one) => one.day < day);
    await insertEvents(
      subject,
      past.map((one) => ({ ...one, organization: without })),
    );
    await insertEvents(
      subject,
      events.map((one) => ({ ...one, organization: with_ })),
    );
    for (const organization of [without, with_]) await plans(organization, 160, 1_000, "pro");
    await plans(with_, 160, day * msPerDay, "gone");
    await score(without, day);
    await score(with_, day);
    const [runWithout, runWith] = [await runOf(without, day), await runOf(with_, day)];
    expect(runWith.choice).toEqual(runWithout.choice);
    expect(runWith.model).toEqual(runWithout.model);
    expect(runWith.backtest).toEqual(runWithout.backtest);
    expect(runWith.backtest.folds).toBeGreaterThan(0);
    for (const kind of ["user", "account"] as const) {
      const rows = await scoresOf(subject, without, kind, day);
      expect(rows.length).toBeGreaterThan(5);
      expect(await scoresOf(subject, with_, kind, day)).toEqual(rows);
    }
  });

  test("that was cut off leaves the scores of before, and is simply done again", async () => {
    const organization = subject.newOrganization();
    await insertEvents(subject, all(organization, 10, [80, 85, 90]));
    await score(organization, 100);
    const before = await runOf(organization, 100);
    const cutOff: Warehouse = {
      ...subject.warehouse,
      rows: (...query) => subject.warehouse.rows(...query),
      command: async (sql, ...rest) => {
        if (sql.includes("INSERT INTO account_scores")) throw new Error("killed");
        return subject.warehouse.command(sql, ...rest);
      },
    };
    await insertEvents(subject, all(organization, 5, [99]));
    await markStale(subject.warehouse, organization, 99);
    await expect(score(organization, 100, cutOff)).rejects.toThrow("killed");
    await score(organization, 100);
    expect((await runOf(organization, 100)).rowsVersion).toBeGreaterThan(before.rowsVersion);
    const idle = (await scoresOf(subject, organization, "user", 100)).map(({ idle_days }) => idle_days);
    expect(idle).toEqual([1, 1, 1, 1, 1, 10, 10, 10, 10, 10]);
    expect((await scoresOf(subject, organization, "account", 100)).map(({ idle_days }) => idle_days)).toEqual(
      [1],
    );
  });

  test("leaves nothing of a user who is erased, and the accounts' scores", async () => {
    const organization = subject.newOrganization();
    await insertEvents(subject, all(organization, 3, [80, 90]));
    await score(organization, 95);
    await eraseUsers(subject.warehouse, [{ organization, user: 2 }]);
    expect((await scoresOf(subject, organization, "user", 95)).map((row) => row.user)).toEqual([1, 3]);
    expect(await scoresOf(subject, organization, "account", 95)).toHaveLength(1);
  });
});
