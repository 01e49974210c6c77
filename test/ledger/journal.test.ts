/** Rows that are acknowledged and only in the journal: a crash, a torn record, a full disk, an erasure. */

import { afterAll, expect, spyOn, test } from "bun:test";
import fs, { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { JournalFile, readRecords, recordHeadBytes } from "../../server/ledger/sqlite/journal-file.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { append, inboxRows, look, messageOf, needs, remember, user, writePeople } from "./writes.ts";

const base = mkdtempSync(join(tmpdir(), "rekindle-journal-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const newFolder = () => mkdtempSync(join(base, "ledger-"));
const nowMs = Date.UTC(2026, 0, 2);
const keys = (...messageIds: string[]) =>
  messageIds.map((messageId) => ({ organization: 1, kind: "track" as const, messageId }));
const journalIn = (folder: string) => join(folder, "ledger.sqlite-journaled");

function open(folder: string, journalHalfBytes = 100_000): Promise<Ledger> {
  return openSqliteLedger({
    features,
    file: join(folder, "ledger.sqlite"),
    journalHalfBytes,
    clock: () => nowMs,
  });
}

/** The folder as a crash would leave it now. */
function crashed(folder: string): string {
  const copy = newFolder();
  cpSync(folder, copy, { recursive: true, filter: (path) => !basename(path).endsWith("-shm") });
  return copy;
}

/** A disk that keeps what was synced, and takes its time for SQLite's log. */
class SlowDisk {
  readonly #kept: string;
  readonly #original = fs.fdatasync;

  constructor(folder: string) {
    this.#kept = crashed(folder);
    const sync = (descriptor: number, done: (error: NodeJS.ErrnoException | null) => void) => {
      const file = basename(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
      const bytes = readFileSync(join(folder, file));
      setTimeout(
        () => {
          writeFileSync(join(this.#kept, file), bytes);
          done(null);
        },
        file.endsWith("-wal") ? 60 : 0,
      );
    };
    fs.fdatasync = Object.assign(sync, { __promisify__: this.#original.__promisify__ });
  }

  /** A folder with what was synced so far. */
  afterPowerFailure(): string {
    return crashed(this.#kept);
  }

  restore(): void {
    fs.fdatasync = this.#original;
  }
}

async function waiting(ledger: Ledger): Promise<readonly string[]> {
  const batches = await ledger.inbox.freeze(1_000_000);
  const bodies = await Promise.all(batches.map((batch) => ledger.inbox.read(batch)));
  return bodies.flatMap((body) => body.toString().trimEnd().split("\n"));
}

test("after a crash everything that was acknowledged is there once: rows, counts and message ids", async () => {
  const folder = newFolder();
  const ledger = await open(folder);
  const day = { organization: 1, utcDay: 20_000, events: 3, checksum: 2 ** 32 - 1 };
  await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs }, settingUp);
  await ledger.transact(needs({ messageIds: keys("m") }), (stored) => ({
    users: [],
    accounts: [],
    versionRows: [],
    nowMs,
    inbox: [inboxRows(["a", "b"]), inboxRows(["old"], { year: 2025 })],
    messages: keys("m").map((key) => messageOf(stored, key)),
    dayCounts: [day],
  }));
  await append(ledger, inboxRows(["ä"]));
  const copy = crashed(folder);
  await ledger.close();

  for (let restarts = 0; restarts < 2; restarts++) {
    const again = await open(copy);
    expect((await again.inbox.backlog()).rows).toBe(4);
    expect(await again.dayCounts(1)).toEqual([day]);
    const [remembered] = await look(again, { messageIds: keys("m") }, (stored) =>
      keys("m").map((key) => messageOf(stored, key).remembered),
    );
    expect(remembered).toBe(true);
    expect((await waiting(again)).toSorted()).toEqual(['["a"]', '["b"]', '["old"]', '["ä"]']);
    await again.close();
  }
});

test("inbox ids go on where they were, whatever SQLite has of them", async () => {
  const folder = newFolder();
  const ledger = await open(folder);
  for (const row of ["a", "b", "c"]) await append(ledger, inboxRows([row]));
  const copy = crashed(folder);
  await ledger.close();
  const again = await open(copy);
  await append(again, inboxRows(["d"]));
  expect((await again.inbox.backlog()).newestInboxId).toBe(4);
  await again.close();
});

test("the loader freezes what waits in the journal, without waiting for the journal's own flush", async () => {
  const ledger = await open(newFolder());
  const never = setTimeout(() => undefined, 0);
  const timers = spyOn(globalThis, "setTimeout").mockReturnValue(never);
  try {
    await append(ledger, inboxRows(["a"]));
    expect(await waiting(ledger)).toEqual(['["a"]']);
  } finally {
    timers.mockRestore();
    await ledger.close();
  }
});

test("a record that was not written to its end is not taken, nor what was written behind it", async () => {
  const folder = newFolder();
  const ledger = await open(folder);
  // The 25 ms after which SQLite has them, too, are not over before the crash.
  const timers = spyOn(globalThis, "setTimeout").mockReturnValue(setTimeout(() => undefined));
  for (const row of ["first", "torn", "behind"]) await append(ledger, inboxRows([row]));
  timers.mockRestore();
  const copy = crashed(folder);
  await ledger.close();
  const bytes = readFileSync(journalIn(copy));
  bytes[bytes.indexOf("torn")] = 0;
  writeFileSync(journalIn(copy), bytes);
  const again = await open(copy);
  expect(await waiting(again)).toEqual(['["first"]']);
  // Nor when its number is given again, to something else.
  await append(again, inboxRows(["other"]));
  const later = crashed(copy);
  await again.close();
  const last = await open(later);
  expect((await last.inbox.backlog()).newestInboxId).toBe(2);
  await last.close();
});

test("a record behind a torn one is not taken, although it is whole and in the other half of the file", async () => {
  const folder = newFolder();
  const ledger = await open(folder, 800);
  const timers = spyOn(globalThis, "setTimeout").mockReturnValue(setTimeout(() => undefined));
  for (const row of ["first", "torn", "behind"]) await append(ledger, inboxRows([row.padEnd(100, ".")]));
  timers.mockRestore();
  const copy = crashed(folder);
  await ledger.close();
  const bytes = readFileSync(journalIn(copy));
  expect([bytes.indexOf("torn") < 800, bytes.indexOf("behind") > 800]).toEqual([true, true]);
  bytes[bytes.indexOf("torn")] = 0;
  writeFileSync(journalIn(copy), bytes);
  const again = await open(copy, 800);
  expect(await waiting(again)).toEqual([`["${"first".padEnd(100, ".")}"]`]);
  await again.close();
});

test("a file of any other content is taken for empty", async () => {
  const folder = newFolder();
  await (await open(folder)).close();
  for (const content of [
    new Uint8Array(0),
    Buffer.alloc(77, 0xff),
    crypto.getRandomValues(new Uint8Array(5_000)),
  ]) {
    writeFileSync(journalIn(folder), content);
    const ledger = await open(folder);
    expect((await ledger.inbox.backlog()).newestInboxId).toBe(0);
    await ledger.close();
  }
});

test("groups that are larger than the journal, or find no room in it, go to SQLite", async () => {
  const folder = newFolder();
  const ledger = await open(folder, 1_000);
  const rows = Array.from({ length: 200 }, (_, n) => `row ${n} ${"x".repeat(n * 10)}`);
  await Promise.all(rows.map((row) => append(ledger, inboxRows([row]))));
  const copy = crashed(folder);
  await ledger.close();
  const again = await open(copy, 1_000);
  expect((await waiting(again)).toSorted()).toEqual(rows.map((row) => JSON.stringify([row])).toSorted());
  await again.close();
});

test("after a burst that the journal had no room for, it takes what comes", async () => {
  const folder = newFolder();
  const ledger = await open(folder, 1_000);
  const burst = Array.from({ length: 300 }, (_, n) => append(ledger, inboxRows([`${n} ${"x".repeat(n)}`])));
  await Promise.all(burst);
  // A full half of the journal has to be written to SQLite first, which happens in the background.
  for (let n = 0; ; n++) {
    await append(ledger, inboxRows([`late ${n} `]));
    if (readFileSync(journalIn(folder)).includes(`late ${n} `)) break;
  }
  await ledger.close();
});

test("a half is written over only when what is in it rests elsewhere", async () => {
  const path = join(newFolder(), "journal");
  const file = await JournalFile.open(path, 100);
  const record = (text: string) => Buffer.from(`${" ".repeat(recordHeadBytes)}${text}`);
  const texts = () => readRecords(path).map((bytes) => bytes.toString());
  expect(file.append(record("1".repeat(60)), 1, 0)).toBe(true);
  expect(file.append(record("2".repeat(60)), 2, 0)).toBe(true);
  expect(file.append(record("3".repeat(60)), 3, 0)).toBe(false);
  expect(texts()).toEqual(["1".repeat(60), "2".repeat(60)]);
  expect(file.append(record("3".repeat(60)), 3, 1)).toBe(true);
  expect(texts()).toEqual(["3".repeat(60), "2".repeat(60)]);
  expect(file.append(record("4".repeat(101)), 4, 4)).toBe(false);
  await file.close();
});

test("after a power failure, which takes what was not synced, all that was acknowledged is there", async () => {
  const folder = newFolder();
  const ledger = await open(folder, 1_000);
  const disk = new SlowDisk(folder);
  const acknowledged: string[] = [];
  try {
    for (let burst = 0; burst < 8; burst++) {
      const rows = Array.from({ length: 12 }, (_, n) => `${burst} ${n} ${"x".repeat(n * 9)}`);
      await Promise.all(
        rows.map(async (row) => {
          await append(ledger, inboxRows([row]));
          acknowledged.push(JSON.stringify([row]));
        }),
      );
      const left = await open(disk.afterPowerFailure(), 1_000);
      const there = await waiting(left);
      expect([there.length, acknowledged.filter((row) => !there.includes(row))]).toEqual([there.length, []]);
      expect(new Set(there).size).toBe(there.length);
      await left.close();
    }
  } finally {
    disk.restore();
  }
  await ledger.close();
});

test("nothing of what was journaled is in the file after an erasure", async () => {
  const folder = newFolder();
  const ledger = await open(folder);
  const { id } = await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs }, settingUp);
  await writePeople(ledger, { users: [user(id, "ada")] });
  await append(ledger, inboxRows(["marker"]));
  const erasure = await ledger.erasures.begin(id, "ada");
  if (erasure === undefined) throw new Error("the user is not known");
  for (const batch of await ledger.inbox.freeze(100)) await ledger.inbox.finish(batch.number, []);
  await append(ledger, inboxRows(["later"]));
  expect(readFileSync(journalIn(folder)).includes("marker")).toBe(true);
  const nothing = { dayCounts: [], versions: 0, versionSum: 0, days: 0 };
  await ledger.erasures.counted([{ id: erasure.id, ...nothing }]);
  await ledger.erasures.finish([erasure.id]);
  expect(readFileSync(journalIn(folder)).includes("marker")).toBe(false);
  const copy = crashed(folder);
  await ledger.close();
  const again = await open(copy);
  expect(await waiting(again)).toEqual(['["later"]']);
  await again.close();
});

test("a ledger that is closed leaves no journal behind, and one that is removed brings nothing back", async () => {
  const folder = newFolder();
  const ledger = await open(folder);
  expect(await remember(ledger, keys("m"), nowMs)).toEqual([]);
  await ledger.close();
  expect(existsSync(journalIn(folder))).toBe(false);
  const again = await open(folder);
  expect(await remember(again, keys("m"), nowMs)).toEqual(keys("m"));
  await again.close();
});

test("after a sync of SQLite's log that failed the journal stays, because it may have the only copy", async () => {
  const folder = newFolder();
  const ledger = await open(folder);
  await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs }, settingUp);
  await append(ledger, inboxRows(["kept"]));
  await ledger.flush();
  const original = fs.fdatasync;
  const fail = (_: number, done: (error: NodeJS.ErrnoException | null) => void) => done(new Error("broken"));
  fs.fdatasync = Object.assign(fail, { __promisify__: original.__promisify__ });
  await expect(writePeople(ledger, { users: [user(1, "ada")] })).rejects.toThrow("broken");
  fs.fdatasync = original;
  await ledger.close();
  expect(readFileSync(journalIn(folder)).includes("kept")).toBe(true);
});

test("rows from after a half-failed erasure are found after a crash", async () => {
  const path = join(newFolder(), "journal");
  const record = (text: string) => Buffer.from(`${" ".repeat(recordHeadBytes)}${text}`);
  const file = await JournalFile.open(path, 1_000);
  expect(file.append(record("before"), 1, 0)).toBe(true);
  const original = fs.fdatasyncSync;
  Object.assign(fs, {
    fdatasyncSync: () => {
      throw new Error("broken");
    },
  });
  expect(() => file.erase()).toThrow("broken");
  Object.assign(fs, { fdatasyncSync: original });
  expect(file.append(record("after"), 2, 1)).toBe(true);
  expect(readRecords(path).map((bytes) => bytes.toString())).toEqual(["after"]);
  await file.close();
});

test("a closed ledger takes nothing more, although an event needs nothing of SQLite", async () => {
  const ledger = await open(newFolder());
  await append(ledger, inboxRows(["a"]));
  await ledger.close();
  await expect(append(ledger, inboxRows(["b"]))).rejects.toThrow("closed");
});
