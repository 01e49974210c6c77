/** When the nightly check is due, and that one after another is done, and none while the loader is behind. */

import { expect, test } from "bun:test";
import { pino } from "pino";
import { Zone } from "../../server/calendar/zone.ts";
import type { CheckResult } from "../../server/ledger/stores/checks.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { systemTime } from "../../server/process/time.ts";
import { isCheckDue, NightlyCheck } from "../../server/warehouse/upkeep/nightly.ts";
import { turns } from "../until.ts";

const at = (text: string) => Date.parse(text);

test.each([
  ["UTC", "2026-05-16T03:00:01Z", "2026-05-17T02:59:59Z", false],
  ["UTC", "2026-05-16T03:00:01Z", "2026-05-17T03:00:00Z", true],
  ["UTC", "2026-05-17T03:00:00Z", "2026-05-17T23:00:00Z", false],
  ["UTC", "2026-05-17T03:00:00Z", "2026-05-18T02:00:00Z", false],
  // A night that was missed is made up for at any hour.
  ["UTC", "2026-05-10T03:00:00Z", "2026-05-17T02:00:00Z", true],
  ["Asia/Tokyo", "2026-05-16T18:00:01Z", "2026-05-17T17:59:59Z", false],
  ["Asia/Tokyo", "2026-05-16T18:00:01Z", "2026-05-17T18:00:00Z", true],
  ["America/Los_Angeles", "2026-05-16T10:00:01Z", "2026-05-17T10:00:00Z", true],
  // Clocks go forward at two: the third hour after midnight is four o'clock.
  ["Europe/Paris", "2026-03-28T02:00:00Z", "2026-03-29T02:30:00Z", true],
] as const)("in %s, after one at %s, a check at %s: %p", (timezone, since, now, due) => {
  expect(isCheckDue(new Zone(timezone), at(since), at(now))).toBe(due);
});

const organization = (id: number, createdAtMs: number): Organization => ({
  id,
  name: `o${id}`,
  timezone: "UTC",
  requestsPerSecond: 1,
  itemsPerSecondSet: null,
  createdAtMs,
  keepEventsDays: null,
  eventsFromDay: null,
});

function nights(
  waitingRows: { rows: number },
  isBusy: () => boolean = () => false,
  broken: ReadonlySet<number> = new Set(),
) {
  const kept: CheckResult[] = [];
  let running = 0;
  const checked: number[] = [];
  const clock = { nowMs: at("2026-05-17T04:00:00Z") };
  const backlog = { bytes: 0, newestInboxId: 0, loadedUptoInboxId: 0 };
  const parts = {
    ledger: {
      organizations: {
        list: async () => [
          organization(1, 0),
          organization(2, 0),
          organization(3, at("2026-05-17T03:30:00Z")),
        ],
        find: () => Promise.reject(new Error("not asked for")),
        create: () => Promise.reject(new Error("not asked for")),
        set: () => Promise.reject(new Error("not asked for")),
        eventsDropped: () => Promise.reject(new Error("not asked for")),
      },
      checks: { list: async () => kept, keep: async (result: CheckResult) => void kept.push(result) },
      inbox: {
        backlog: async () => ({ ...backlog, ...waitingRows }),
        freeze: () => Promise.reject(new Error("not asked for")),
        read: () => Promise.reject(new Error("not asked for")),
        finish: () => Promise.reject(new Error("not asked for")),
      },
    },
    check: async (id: number) => {
      running += 1;
      expect(running).toBe(1);
      await turns(1);
      running -= 1;
      checked.push(id);
      if (broken.has(id)) throw new Error("the check takes too much memory");
      return id === 2 ? ["one", "two"] : [];
    },
    isBusy,
    log: pino({ level: "silent" }),
    time: { ...systemTime, nowMs: () => clock.nowMs },
  };
  return { nightly: new NightlyCheck(parts), checked, kept, clock };
}

test("those that are due are checked one after another, once, and the results are kept", async () => {
  const { nightly, checked, kept } = nights({ rows: 10 });
  await nightly.run();
  await nightly.run();
  expect(checked).toEqual([1, 2]);
  expect(kept.map(({ organization: id, differences, examples }) => [id, differences, examples])).toEqual([
    [1, 0, []],
    [2, 2, ["one", "two"]],
  ]);
  expect(nightly.differences).toBe(2);
  expect(nightly.oldestAtMs).toBe(at("2026-05-17T04:00:00Z"));
});

test("none is begun while the loader is behind or something heavy runs, and it is done later", async () => {
  const waiting = { rows: 1_000_000 };
  let busy = false;
  const { nightly, checked } = nights(waiting, () => busy);
  await nightly.run();
  expect(checked).toEqual([]);
  waiting.rows = 0;
  busy = true;
  await nightly.run();
  expect(checked).toEqual([]);
  busy = false;
  await nightly.run();
  expect(checked).toEqual([1, 2]);
});

test("a check that fails keeps no other from being done, and is tried again after an hour", async () => {
  const broken = new Set([1]);
  const { nightly, checked, kept, clock } = nights({ rows: 0 }, () => false, broken);
  await nightly.run();
  await nightly.run();
  expect(checked).toEqual([1, 2]);
  broken.clear();
  clock.nowMs += 3_600_000;
  await nightly.run();
  expect(checked).toEqual([1, 2, 1]);
  expect(kept.map((result) => result.organization)).toEqual([2, 1]);
});
