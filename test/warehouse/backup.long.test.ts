/** Where a backup meets the loader: rows that wait, a loader that fails, copies that a killed backup left. */

import { afterAll, beforeAll, expect, setSystemTime, spyOn, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { currentSchema, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { createLogger } from "../../server/process/log.ts";
import { systemTime } from "../../server/process/time.ts";
import { openAnalysis } from "../../server/warehouse/analysis.ts";
import { type BackupRequest, backUp } from "../../server/warehouse/copies/backup.ts";
import type { Manifest } from "../../server/warehouse/copies/backup-files.ts";
import { freezeTables } from "../../server/warehouse/copies/frozen-tables.ts";
import { applyExclusions } from "../../server/warehouse/load/exclusions.ts";
import { Loader } from "../../server/warehouse/load/loader.ts";
import { billingEvents, subscriptions } from "../../server/warehouse/schema/billing-tables.ts";
import { accountPulses } from "../../server/warehouse/schema/pulse-table.ts";
import { scoreTables, shiftTables } from "../../server/warehouse/schema/score-tables.ts";
import { segmentTables } from "../../server/warehouse/schema/segment-tables.ts";
import { snapshotTables } from "../../server/warehouse/schema/snapshot-tables.ts";
import { append, needs, writes } from "../ledger/writes.ts";
import { rekindle } from "../server.ts";
import { until } from "../until.ts";
import { withInserts } from "./failures.ts";
import { event, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();
const base = mkdtempSync(join(tmpdir(), "rekindle-backup-"));
const dataDir = join(base, "data");
const target = join(base, "target");
let ledger: Ledger;

beforeAll(async () => {
  mkdirSync(dataDir);
  ledger = await openSqliteLedger({ features, file: join(dataDir, "ledger.sqlite") });
  await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs: 0 }, settingUp);
});

afterAll(async () => {
  await ledger.close();
  rmSync(base, { recursive: true, force: true });
});

function request(name: string): BackupRequest {
  return { folder: join(base, name), progress: () => undefined, signal: new AbortController().signal };
}

function parts(loader: Loader) {
  return { warehouse: subject.warehouse, loader, ledger, dataDir, time: systemTime };
}

async function appendEvents(count: number): Promise<void> {
  const lines = Array.from({ length: count }, () => `${eventRow(event(1))}\n`);
  await append(ledger, {
    table: "events",
    year: 2026,
    schema: currentSchema.events,
    rows: count,
    body: lines.join(""),
  });
}

test("rows that wait are in the ledger's part, and are loaded once after a restore", async () => {
  await appendEvents(300);
  const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse: subject.warehouse });
  await loader.replay();
  await appendEvents(200);
  await backUp(parts(loader), request("waiting"));
  const manifest: Manifest = JSON.parse(readFileSync(join(base, "waiting", "manifest.json"), "utf8"));
  expect(manifest.tables.find(({ table }) => table === "events")).toMatchObject({
    partition: "2026",
    rows: 300,
  });

  expect((await rekindle(target, "restore", join(base, "waiting"))).exitCode).toBe(0);
  for (const _again of [1, 2]) {
    const { stdout } = await rekindle(target, "export", "events", "--organization", "acme");
    expect(stdout.trim().split("\n")).toHaveLength(500);
  }
});

test("a loader that fails makes no backup, because a batch may be half in the warehouse", async () => {
  await appendEvents(10);
  let failing = true;
  const warehouse = withInserts(subject.warehouse, async () => {
    if (failing) throw new Error("the disk is on fire");
  });
  const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse });
  const replayed = loader.replay();
  await until("the loader has failed", () => loader.status().failure);
  const pauses = spyOn(loader, "pause");
  const backup = backUp(parts(loader), request("failing"));
  backup.catch(() => undefined);
  await until("it waits for a pause", () => pauses.mock.calls.length);
  setSystemTime(Date.now() + 60_000);
  await expect(backup).rejects.toThrow(/not made.*half in the warehouse: the disk is on fire/);
  setSystemTime();
  expect(existsSync(join(base, "failing"))).toBe(false);
  expect(existsSync(join(base, "failing.unfinished"))).toBe(false);

  failing = false;
  await replayed;
  await backUp(parts(loader), request("mended"));
  expect(existsSync(join(base, "mended", "manifest.json"))).toBe(true);
});

test("a pause leaves no frozen batch unfinished, of however many tables and years", async () => {
  let inserts = 0;
  const pausing = Promise.withResolvers<void>();
  const warehouse = withInserts(subject.warehouse, () => {
    inserts += 1;
    return pausing.promise;
  });
  const ofYears = [2024, 2025, 2026].map((year) => {
    const body = `${eventRow(event(1, { timeMs: Date.UTC(year, 5) }))}\n`;
    return { table: "events", year, schema: currentSchema.events, rows: 1, body } as const;
  });
  await ledger.transact(needs({}), () => writes(1_000, { inbox: ofYears }));
  const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse });
  const replayed = loader.replay();
  await until("an insert has begun", () => inserts);
  const paused = loader.pause();
  pausing.resolve();
  await paused;
  expect(inserts).toBe(3);
  expect(await ledger.snapshot(base)).toMatchObject({ unfinishedBatches: 0 });
  loader.resume();
  await replayed;
});

test("a backup that is given up while it waits ends no other backup's pause", async () => {
  const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse: subject.warehouse });
  await loader.pause();
  const gone = new AbortController();
  const pauses = spyOn(loader, "pause");
  const backup = backUp(parts(loader), { ...request("given-up"), signal: gone.signal });
  backup.catch(() => undefined);
  await until("it waits for a pause", () => pauses.mock.calls.length);
  gone.abort(new Error("nobody listens"));
  await expect(backup).rejects.toThrow("nobody listens");
  expect(loader.status().state).toBe("paused");
  loader.resume();
  await backUp(parts(loader), request("not-given-up"));
  expect(loader.status().state).not.toBe("paused");
});

test("every table of the warehouse is in a backup", async () => {
  const people = { table: "user_versions", year: 0, schema: 1, rows: 1, body: '[1,1,1,0,"{}",0]\n' } as const;
  await append(ledger, people);
  await append(ledger, { ...people, table: "users", body: '[1,1,"u","e","{}",null,0,0,0,1]\n' });
  await append(ledger, { ...people, table: "accounts", body: '[1,1,"a","n",null,0,0,1]\n' });
  await append(ledger, { ...people, table: "account_versions", body: '[1,1,1,0,"{}"]\n' });
  const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse: subject.warehouse });
  await loader.replay();
  await applyExclusions(subject.warehouse, 1, { revision: 1, rules: [], accounts: [] });
  const others = [
    ...scoreTables,
    ...shiftTables,
    ...snapshotTables,
    ...segmentTables,
    billingEvents.table,
    subscriptions,
    accountPulses,
  ];
  for (const { name } of others) {
    await subject.warehouse.command(`INSERT INTO ${name} (organization) SELECT 1`);
  }
  const tables = await subject.warehouse.rows<{ name: string }>(
    `SELECT name FROM system.tables
     WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'migrations'`,
  );
  const frozen = await freezeTables(subject.warehouse);
  expect(new Set(frozen.map(({ table }) => table))).toEqual(new Set(tables.map(({ name }) => name)));
});

test("a table whose rows are all deleted is in no backup, and a file without rows is passed over", async () => {
  await appendEvents(1);
  await subject.warehouse.command("INSERT INTO scored_days (organization, day) VALUES (1, '2026-03-01')");
  await subject.warehouse.command("DELETE FROM scored_days WHERE true");
  const [part] = await subject.warehouse.rows<{ count: number }>(
    "SELECT count() AS count FROM system.parts WHERE active AND table = 'scored_days' AND database = currentDatabase()",
  );
  expect(part?.count).toBeGreaterThan(0);
  const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse: subject.warehouse });
  await loader.replay();
  await backUp(parts(loader), request("deleted"));
  const manifestPath = join(base, "deleted", "manifest.json");
  const manifest: Manifest = JSON.parse(readFileSync(manifestPath, "utf8"));
  expect(manifest.tables.filter(({ table }) => table === "scored_days")).toEqual([]);

  // As 0.1.0 wrote it.
  const file = "warehouse/scored_days.all.native.zst";
  const content = Bun.zstdCompressSync(new Uint8Array());
  writeFileSync(join(base, "deleted", file), content);
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  const empty = { file, bytes: content.length, sha256, table: "scored_days", partition: "all", rows: 0 };
  writeFileSync(manifestPath, JSON.stringify({ ...manifest, tables: [...manifest.tables, empty] }));
  const restored = await rekindle(join(base, "of deleted"), "restore", join(base, "deleted"));
  expect([restored.exitCode, restored.stderr]).toEqual([0, expect.stringContaining("restored")]);
});

test("copies that a killed backup left are gone after a start", async () => {
  await freezeTables(subject.warehouse);
  const databases = "SELECT name FROM system.databases WHERE name = 'frozen'";
  expect(await subject.warehouse.rows(databases)).toHaveLength(1);
  await subject.warehouse.close();
  // The engine's folder is that of this process, so analysis is opened around it.
  const analysis = await openAnalysis(subject.folder, ledger, createLogger("test", "warn"), systemTime);
  expect(await analysis.warehouse.rows(databases)).toHaveLength(0);
  await analysis.close();
  await subject.open();
});
