/** Stored snapshots after erasures, and when they are old. */
import { describe, expect, test } from "bun:test";
import type { Population } from "../../server/scoring/queries/engagement-events.ts";
import { eraseUsers } from "../../server/warehouse/upkeep/erase.ts";
import { eraseAccount } from "../../server/warehouse/upkeep/erase-account.ts";
import { dropOldSnapshots } from "../../server/warehouse/upkeep/old-snapshots.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { population } from "./engine-support.ts";
import { on } from "./run-support.ts";
import { rowsOf as rowsOfSnapshot, snapshotRecord } from "./snapshot-support.ts";

const subject = new WarehouseUnderTest();

const rowsOf = (who: Population, day: number) => rowsOfSnapshot(subject.warehouse, who, day);

describe("an erasure", () => {
  test("of a user deletes their rows, and computes those of accounts again", async () => {
    const organization = subject.newOrganization();
    await insertEvents(subject, [on(organization, 1, 80), on(organization, 2, 95)]);
    const idle = async () =>
      (await rowsOf(population(organization, "account"), 100)).map(({ idleDays }) => idleDays);
    expect(await idle()).toEqual([5]);
    await eraseUsers(subject.warehouse, [{ organization, user: 2 }]);
    expect((await rowsOf(population(organization, "user"), 100)).map(({ entity }) => entity)).toEqual([1]);
    expect(await subject.count("user_snapshots", organization)).toBe(1);
    expect(await idle()).toEqual([20]);
  });

  test("of an account takes it out of its members' rows", async () => {
    const organization = subject.newOrganization();
    const other = event(organization, {
      user: 1,
      account: 7,
      event: "opened",
      day: 90,
      timeMs: 90 * msPerDay,
    });
    await insertEvents(subject, [on(organization, 1, 95), other]);
    await rowsOf(population(organization, "account"), 100);
    await eraseAccount(subject.warehouse, { organization, account: 1 }, 1);
    const [user] = await rowsOf(population(organization, "user"), 100);
    expect(user).toMatchObject({
      account: 0,
      accounts: [
        [0, 5, false, 1],
        [7, 10, false, 1],
      ],
    });
    expect((await rowsOf(population(organization, "account"), 100)).map(({ entity }) => entity)).toEqual([7]);
  });
});

test("old days are dropped after a quarter of a year, and Mondays after three years, when a run has had a day to read them", async () => {
  const organization = subject.newOrganization();
  const nowMs = Date.now();
  const today = Math.floor(nowMs / msPerDay);
  // Day 4 was a Monday, and so is every seventh day from there.
  const monday = today - ((today - 4) % 7);
  await insertEvents(subject, [on(organization, 1, monday - 7 * 180)]);
  const days = [monday - 7 * 175, monday - 7 * 60, monday - 7 * 60 + 1, monday - 6, monday];
  for (const day of days) await rowsOf(population(organization, "user"), day);
  expect(await dropOldSnapshots(subject.warehouse, nowMs)).toBe(0);
  const tomorrowMs = nowMs + msPerDay + 60_000;
  expect(await dropOldSnapshots(subject.warehouse, tomorrowMs)).toBeGreaterThan(1);
  const left = await subject.warehouse.rows<{ day: number }>(
    "SELECT toInt32(day) AS day FROM user_snapshots WHERE organization = {organization:UInt32} ORDER BY day",
    { organization },
  );
  expect(left.map(({ day }) => day)).toEqual([monday - 7 * 60, monday - 6, monday]);
  const records = await Promise.all(
    days.map((day) => snapshotRecord(subject.warehouse, organization, "user", day)),
  );
  expect(records.map((record) => record !== undefined)).toEqual([false, true, false, true, true]);
  expect(await dropOldSnapshots(subject.warehouse, tomorrowMs)).toBe(0);
});
