/** The ledger's snapshot: whole at one instant while writes go on, with the runs of message ids that it
 * names. */

import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger, LedgerSnapshot } from "../../server/ledger/ledger.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { takeSnapshot } from "../../server/ledger/sqlite/snapshot.ts";
import { until } from "../until.ts";
import { appendAlone, remember } from "./writes.ts";

const base = mkdtempSync(join(tmpdir(), "rekindle-snapshot-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const nowMs = Date.UTC(2026, 0, 2);
const dayMs = 24 * 3_600_000;
const keys = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    organization: 1,
    kind: "track" as const,
    messageId: `${prefix}-${n}`,
  }));

let folders = 0;

function newFolder(): string {
  folders += 1;
  const folder = join(base, String(folders));
  mkdirSync(folder);
  return folder;
}

/** A ledger that writes a run after every 50 message ids. */
function open(folder: string, atMs = nowMs): Promise<Ledger> {
  return openSqliteLedger({
    features,
    file: join(folder, "ledger.sqlite"),
    messageIdsPerRun: 50,
    clock: () => atMs,
  });
}

/** Writes a snapshot's files where a ledger wants them, and opens it. */
async function restored(snapshot: LedgerSnapshot, atMs = nowMs): Promise<Ledger> {
  const folder = newFolder();
  for (const { name, read } of snapshot.files) {
    const source = read();
    if (source === undefined) continue;
    const pieces: Uint8Array[] = [];
    for await (const piece of source) pieces.push(piece);
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), Buffer.concat(pieces));
  }
  return open(folder, atMs);
}

test("message ids in runs and in the database are remembered by what is made of it", async () => {
  const ledger = await open(newFolder());
  await remember(ledger, keys("in a run", 60), nowMs);
  await ledger.flush();
  await ledger.tidy(nowMs);
  await remember(ledger, keys("in a blob", 10), nowMs);
  const snapshot = await ledger.snapshot(newFolder());
  expect(snapshot.files.map(({ name }) => name)).toEqual(["message-ids/1.run", "ledger.sqlite"]);
  await ledger.close();

  const copy = await restored(snapshot);
  const all = [...keys("in a run", 60), ...keys("in a blob", 10)];
  expect(await remember(copy, all, nowMs + 1_000)).toEqual(all);
  expect(await remember(copy, keys("new", 1), nowMs)).toEqual([]);
  await copy.close();
});

test("a snapshot whose thread ends without an answer fails", async () => {
  const folder = newFolder();
  const ledger = await open(folder);
  const script = new URL("../ending-worker.ts", import.meta.url);
  const taken = takeSnapshot(join(folder, "ledger.sqlite"), newFolder(), script);
  await expect(taken).rejects.toThrow("The thread that copies the ledger ended.");
  await ledger.close();
});

test("a run that goes before it is read was past its 24 hours, and is forgotten", async () => {
  const laterMs = nowMs + dayMs + 2_000;
  const ledger = await open(newFolder());
  await remember(ledger, keys("old", 60), nowMs);
  await ledger.flush();
  await ledger.tidy(nowMs);
  const snapshot = await ledger.snapshot(newFolder());
  expect(snapshot.files).toHaveLength(2);
  await ledger.tidy(laterMs);
  await ledger.close();
  // It would refuse to be opened, were the run still named.
  const copy = await restored(snapshot, laterMs);
  expect(await remember(copy, keys("old", 60), laterMs)).toEqual([]);
  await copy.close();
});

test("it is one instant, whatever is written meanwhile, and its numbers go on where they were", async () => {
  const ledger = await open(newFolder());
  await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs }, settingUp);
  const row = { table: "events", year: 2026, schema: 1, rows: 1, body: "[]\n" } as const;
  let appended = 0;
  let writing = true;
  const writer = (async () => {
    while (writing) {
      await appendAlone(ledger, row);
      appended += 1;
    }
  })();
  await until("200 rows are written", () => appended >= 200);
  const [before] = await ledger.inbox.freeze(100);
  expect(before?.number).toBe(1);
  await ledger.inbox.finish(1, []);
  const atLeast = appended;
  const snapshot = await ledger.snapshot(newFolder());
  writing = false;
  await writer;
  await ledger.close();

  expect(snapshot.unfinishedBatches).toBe(0);
  const copy = await restored(snapshot);
  const { newestInboxId, rows, loadedUptoInboxId } = await copy.inbox.backlog();
  expect(newestInboxId).toBeGreaterThanOrEqual(atLeast);
  expect(newestInboxId).toBeLessThanOrEqual(appended);
  expect([rows, loadedUptoInboxId]).toEqual([newestInboxId - 100, 100]);
  // A number that was given before would name other rows to the warehouse.
  expect(await copy.inbox.freeze(10)).toMatchObject([{ number: 2, afterInboxId: 100 }]);
  await copy.close();
});
