/** The comparison of ledger, events and rollups while the loader goes on. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { currentSchema, type EventRow, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { ledgerFile } from "../../server/ledger/sqlite/ledger-file.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { createLogger } from "../../server/process/log.ts";
import { systemTime } from "../../server/process/time.ts";
import { type Analysis, openAnalysis } from "../../server/warehouse/analysis.ts";
import { LoadingDays } from "../../server/warehouse/load/loading-days.ts";
import { type Difference, settledOf } from "../../server/warehouse/upkeep/check.ts";
import { needs, writes } from "../ledger/writes.ts";
import { event, msPerDay } from "./support.ts";

const lines = (events: readonly EventRow[]) => events.map((one) => `${eventRow(one)}\n`).join("");
const today = Math.floor(Date.UTC(2026, 5, 30) / msPerDay);

describe("days that are loaded", () => {
  const body = (...events: readonly (readonly [organization: number, day: number])[]) =>
    Buffer.from(lines(events.map(([organization, day]) => event(organization, { timeMs: day * msPerDay }))));

  test("are those of the batch in hand and of later ones, of one organization, until the watch ends", () => {
    const loading = new LoadingDays();
    loading.batchBegun({ table: "events" }, body([1, 10]));
    loading.batchLoaded();
    loading.batchBegun({ table: "events" }, body([1, 11], [2, 12]));
    const watch = loading.watch(1);
    loading.batchLoaded();
    loading.batchBegun({ table: "users" }, body([1, 13]));
    loading.batchBegun({ table: "events" }, body([2, 14], [1, 15], [1, 15]));
    expect([...watch.end()]).toEqual([11, 15]);
    loading.batchBegun({ table: "events" }, body([1, 16]));
    expect([...watch.end()]).toEqual([11, 15]);
  });

  test("leave out their own differences alone", () => {
    const counts = {
      dayCounts: [],
      populations: {
        users: 0,
        userVersions: 0,
        accounts: 0,
        accountVersions: 0,
        versionRows: null,
        accountVersionRows: { rows: 0, versions: 0 },
      },
    };
    const during = { before: { ...counts, erasures: 0 }, after: counts, loadedDays: new Set([20]) };
    const of = (day: number): Difference[] => [
      { kind: "user_event_days", day, events: 2, rollup: 1, otherUsersOrEvents: false },
      { kind: "event_days", day, event: "opened", users: 1 },
      { kind: "active_days", day, event: "", users: 1 },
    ];
    expect(of(20).map((found) => settledOf(found, during))).toEqual([undefined, undefined, undefined]);
    expect(of(19).map((found) => settledOf(found, during))).toEqual(of(19));
    const spans = [
      { days: [3, 20], users: 5 },
      { days: [3, 19], users: 2 },
    ];
    expect(settledOf({ kind: "user_spans", spans }, during)).toEqual({
      kind: "user_spans",
      spans: spans.slice(1),
    });
    expect(settledOf({ kind: "user_spans", spans: spans.slice(0, 1) }, during)).toBeUndefined();
  });
});

describe("a check", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "rekindle-check-"));
  let ledger: Ledger;
  let analysis: Analysis;

  beforeAll(async () => {
    ledger = await openSqliteLedger({ features, file: ledgerFile(dataDir) });
    analysis = await openAnalysis(dataDir, ledger, createLogger("test", "warn"), systemTime);
  });
  afterAll(async () => {
    await analysis.close();
    await ledger.close();
    rmSync(dataDir, { recursive: true });
  });

  async function send(organization: number, days: readonly number[], users: number): Promise<void> {
    const events = days.flatMap((day) =>
      Array.from({ length: users }, (_, user) =>
        event(organization, { user: user + 1, timeMs: day * msPerDay + user }),
      ),
    );
    const dayCounts = [...Map.groupBy(events, ({ day }) => day)].map(([utcDay, some]) => ({
      organization,
      utcDay,
      events: some.length,
      checksum: some.reduce((sum, { id }) => (sum + Number.parseInt(id.slice(-8), 16)) % 2 ** 32, 0),
    }));
    const inbox = [
      {
        table: "events",
        year: 2026,
        schema: currentSchema.events,
        rows: events.length,
        body: lines(events),
      } as const,
    ];
    await ledger.transact(needs({}), () => writes(Date.now(), { inbox, dayCounts }));
  }

  /** Sends events of today and yesterday until `work` is done. @returns whether the loader was ever paused */
  async function whileEventsCome(organization: number, work: () => Promise<void>): Promise<boolean> {
    let isOver = false;
    let wasPaused = false;
    const sending = (async () => {
      while (!isOver) {
        await send(organization, [today, today - 1], 20);
        wasPaused ||= analysis.status().loader.state === "paused";
        // So that the work beside it has its turns.
        await Bun.sleep(2);
      }
    })();
    try {
      await work();
    } finally {
      isOver = true;
      await sending;
    }
    return wasPaused;
  }

  test("pauses nothing, finds nothing in what is being loaded, and finds what is wrong on other days", async () => {
    const { id } = await ledger.organizations.create(
      { name: "acme", timezone: "UTC", nowMs: Date.now() },
      settingUp,
    );
    const earlier = Array.from({ length: 30 }, (_, index) => today - 2 - index);
    await send(id, earlier, 30);
    const wasPaused = await whileEventsCome(id, async () => {
      for (let time = 0; time < 10; time += 1) expect(await analysis.check(id)).toEqual([]);
      await analysis.warehouse.command(
        "DELETE FROM active_days WHERE organization = {id:UInt32} AND toInt32(day) = {day:Int32}",
        { id, day: today - 9 },
      );
      expect(await analysis.check(id)).toEqual([
        "active_days of 2026-06-21: 30 users are in the events only or in the rollup only",
      ]);
    });
    expect(wasPaused).toBe(false);
    expect(await analysis.check(id)).toHaveLength(1);
  });
});
