/** The SQLite ledger: the contract of every ledger, and what only it has: one file, bounds, a full disk. */

import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../contract/limits.ts";
import { Refusal } from "../../contract/refusal.ts";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openInboxReader } from "../../server/ledger/sqlite/inbox-reader.ts";
import { migrate } from "../../server/ledger/sqlite/migrations/migrations.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { BesideSqlite } from "./beside.ts";
import { allParts, ledgerContract } from "./contract.ts";
import { heldIn, linksIn, maxHeldEventBytes, maxWaitingLinks } from "./held-event-support.ts";
import { append, inboxRows, look, user, writePeople } from "./writes.ts";

const fileIn = (folder: string) => join(folder, "ledger.sqlite");
const besideSqlite = async (folder: string) => new BesideSqlite(fileIn(folder));

/** A ledger with tables, to be copied: that takes a quarter of the processor time of making them for every
 * test. */
let made: string;
beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), "rekindle-made-"));
  await (await openSqliteLedger({ features, file: fileIn(made) })).close();
});
afterAll(() => rm(made, { recursive: true, force: true }));

ledgerContract(
  "SQLite",
  async (folder, options) => {
    const file = fileIn(folder);
    if (!existsSync(file)) await copyFile(fileIn(made), file);
    return openSqliteLedger({ features, file, maxHeldEventBytes, maxWaitingLinks, ...options });
  },
  besideSqlite,
  allParts,
);

const line = "x".repeat(1_000);
const kilobytes = (count: number) => inboxRows(Array.from({ length: count }, () => line));

async function loadEverything(ledger: Ledger): Promise<void> {
  for (;;) {
    const batches = await ledger.inbox.freeze(100_000);
    if (batches.length === 0) return;
    for (const batch of batches) await ledger.inbox.finish(batch.number, []);
  }
}

describe("the SQLite ledger's files", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "rekindle-sqlite-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("a database of a newer version is refused, and left as it is", async () => {
    await (await openSqliteLedger({ features, file: fileIn(folder) })).close();
    const db = new Database(fileIn(folder));
    db.run("PRAGMA user_version = 999");
    db.close();
    const attempt = openSqliteLedger({ features, file: fileIn(folder) });
    await expect(attempt).rejects.toBeInstanceOf(Refusal);
    await expect(attempt).rejects.toThrow("newer Rekindle");
    const after = new Database(fileIn(folder));
    expect(after.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version).toBe(999);
    after.close();
  });

  test("a ledger of the first form is brought to today's, and its organizations are rebuilt", async () => {
    const db = new Database(fileIn(folder), { create: true });
    migrate(db, features, 1);
    db.run(
      "INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms) VALUES ('acme', 'UTC', 1000, 1)",
    );
    db.close();
    const ledger = await openSqliteLedger({ features, file: fileIn(folder) });
    const [acme] = await ledger.organizations.list();
    expect(acme).toMatchObject({ name: "acme", keepEventsDays: null });
    expect(await ledger.rebuildsPending()).toEqual([acme?.id ?? 0]);
    await ledger.close();
  });

  test("people of 0.1.0 keep their e-mail, which counts as not verified, and keys get the maker that the audit log names", async () => {
    const db = new Database(fileIn(folder), { create: true });
    migrate(db, features, 14);
    db.run(
      "INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms) VALUES ('acme', 'UTC', 1000, 1)",
    );
    db.run(
      "INSERT INTO people (email, name, password_hash, created_at_ms) VALUES ('a@example.com', 'Ada', 'x', 1)",
    );
    for (const name of ["made by Ada", "of the command line"]) {
      db.run(
        `INSERT INTO read_keys (organization, name, rights, sha256, last_four, created_at_ms)
         VALUES (1, ?1, 'read', ?1, 'abcd', 1)`,
        [name],
      );
    }
    db.run(
      `INSERT INTO audit_log (organization, at_ms, person, person_name, action, summary, detail)
       VALUES (1, 1, 1, 'Ada', 'read_key.created', '', '{"id":1,"name":"made by Ada"}'),
         (1, 1, NULL, NULL, 'read_key.created', '', '{"id":2,"by":"command line"}')`,
    );
    db.close();
    const ledger = await openSqliteLedger({ features, file: fileIn(folder) });
    expect(await ledger.members.withEmail("a@example.com")).toMatchObject({
      isEmailVerified: false,
      fallbackEmail: null,
    });
    expect((await ledger.readKeys.list(1)).map(({ madeBy }) => madeBy)).toEqual([
      { id: 1, name: "Ada" },
      null,
    ]);
    await ledger.close();
  });

  test("items and links from before ids had kinds belong to visitors, and have 30 days from now on", async () => {
    const db = new Database(fileIn(folder), { create: true });
    migrate(db, features, 13);
    db.run(
      "INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms) VALUES ('acme', 'UTC', 1000, 1)",
    );
    db.run(
      `INSERT INTO users (organization, number, user_id, account, email, traits, is_account_owner,
         first_identified_at_ms, said_at_ms, fields_said_at_ms, updated_at_ms, version)
       VALUES (1, 1, 'u', 0, 'Ada@example.com', '{}', NULL, 1, 1, '{}', 1, 1)`,
    );
    db.run("INSERT INTO parked_totals (organization, people, items, bytes) VALUES (1, 1, 1, 2)");
    db.run("INSERT INTO parked_people VALUES (1, 'v', 1, 2)");
    db.run(
      `INSERT INTO parked_items (organization, person, received_at_ms, at_ms, bytes, body) VALUES (1, 'v', 1, 1, 2, '{}')`,
    );
    for (const to of ["u", "mailto:ada@example.com", "nobody"]) {
      db.run("INSERT INTO person_links VALUES (1, ?, ?, 7)", [`to ${to}`, to]);
    }
    db.close();
    const ledger = await openSqliteLedger({ features, file: fileIn(folder) });
    expect(await heldIn(ledger, 1, "v")).toHaveLength(1);
    expect(await linksIn(ledger, 1, ["to u", "to nobody"])).toEqual([
      "to u → u at 7",
      "to nobody → nobody at 7",
    ]);
    await ledger.tidy(Date.now() + (limits.heldEventDays - 1) * 86_400_000);
    expect(await ledger.heldEvents.counts(1)).toMatchObject({ people: 0, droppedExpired: 1, links: 1 });
    await ledger.tidy(Date.now() + (limits.heldEventDays + 1) * 86_400_000);
    expect(await ledger.heldEvents.counts(1)).toMatchObject({ links: 0 });
    expect(await linksIn(ledger, 1, ["to u", "to mailto:ada@example.com"])).toHaveLength(2);
    await ledger.close();
  });

  test("a closed ledger's file alone is the whole ledger", async () => {
    const ledger = await openSqliteLedger({ features, file: fileIn(folder) });
    await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs: 1 }, settingUp);
    await ledger.close();
    await copyFile(fileIn(folder), join(folder, "copy.sqlite"));
    const copy = new Database(join(folder, "copy.sqlite"));
    expect(copy.query("SELECT name FROM organizations").all()).toEqual([{ name: "acme" }]);
    copy.close();
  });

  test("another process reads the same rows of a frozen batch from the file", async () => {
    const ledger = await openSqliteLedger({ features, file: fileIn(folder) });
    await append(ledger, inboxRows(["a", "ä"]));
    const reader = openInboxReader(fileIn(folder));
    await append(ledger, inboxRows(["b"]));
    const [batch] = await ledger.inbox.freeze(100);
    if (batch === undefined) throw new Error("nothing was frozen");
    expect(await reader.read(batch)).toEqual(await ledger.inbox.read(batch));
    await ledger.inbox.finish(batch.number, []);
    await ledger.tidy(Date.now() + 7_200_000);
    await expect(reader.read(batch)).rejects.toThrow("holds 0 rows");
    reader.close();
    await ledger.close();
  });

  test("more users than the cache holds are all known", async () => {
    const ledger = await openSqliteLedger({ features, file: fileIn(folder), knownUsersCapacity: 10 });
    const { id } = await ledger.organizations.create({ name: "a", timezone: "UTC", nowMs: 1 }, settingUp);
    const users = Array.from({ length: 50 }, (_, at) => user(id, `user ${at}`, { number: at + 1 }));
    await writePeople(ledger, { users });
    for (let round = 0; round < 2; round++) {
      const found = await look(ledger, { known: users }, (stored) =>
        users.map(({ userId }) => stored.known(id, userId)?.number),
      );
      expect(found).toEqual(users.map(({ number }) => number));
    }
    await ledger.close();
  });

  test("a batch is bounded in bytes too, because it is one block of the engine's memory", async () => {
    const ledger = await openSqliteLedger({ features, file: fileIn(folder) });
    for (let body = 0; body < 40; body++) await append(ledger, kilobytes(1_000));
    const [batch] = await ledger.inbox.freeze(100_000);
    if (batch === undefined) throw new Error("nothing was frozen");
    expect(batch.bytes).toBeLessThan(34_000_000);
    await ledger.inbox.finish(batch.number, []);
    const [rest] = await ledger.inbox.freeze(100_000);
    expect(batch.rows + (rest?.rows ?? 0)).toBe(40_000);
    await ledger.close();
  });

  test("loaded rows beyond the bound go before their hour, the oldest first", async () => {
    const ledger = await openSqliteLedger({ features, file: fileIn(folder), inboxMaxRetainedBytes: 600_000 });
    await append(ledger, kilobytes(500));
    const [oldest] = await ledger.inbox.freeze(500);
    await loadEverything(ledger);
    await append(ledger, kilobytes(500));
    const [newest] = await ledger.inbox.freeze(500);
    await loadEverything(ledger);
    if (oldest === undefined || newest === undefined) throw new Error("nothing was frozen");
    await ledger.tidy(Date.now());
    await expect(ledger.inbox.read(oldest)).rejects.toThrow("holds 0 rows");
    expect(await ledger.inbox.read(newest)).toHaveLength(newest.bytes);
    await ledger.close();
  });

  test("after a long backlog is loaded, its disk is given back and the log is short", async () => {
    const ledger = await openSqliteLedger({
      features,
      file: fileIn(folder),
      inboxMaxRetainedBytes: 1_000_000,
    });
    for (let round = 0; round < 100; round++) await append(ledger, kilobytes(1_500));
    await ledger.tidy(Date.now());
    expect((await stat(fileIn(folder))).size).toBeGreaterThan(140_000_000);
    await loadEverything(ledger);
    for (let second = 0; second < 40; second++) await ledger.tidy(Date.now());
    await append(ledger, inboxRows(["after"]));
    expect((await stat(fileIn(folder))).size).toBeLessThan(80_000_000);
    expect((await stat(`${fileIn(folder)}-wal`)).size).toBeLessThan(17_000_000);
    expect(await ledger.inbox.backlog()).toMatchObject({ rows: 1 });
    await ledger.close();
  });

  test("when the rejected events are full a batch stays until there is room, and nothing of it is lost", async () => {
    const ledger = await openSqliteLedger({
      features,
      file: fileIn(folder),
      rejectedEventLimits: { rows: 3, bytes: 1_000 },
    });
    const rejectedRows = (count: number, row = "[1]") =>
      Array.from({ length: count }, () => ({ table: "events", row, reason: "bad" }) as const);
    await append(ledger, inboxRows(["a", "b"]));
    const [first] = await ledger.inbox.freeze(10);
    await ledger.inbox.finish(first?.number ?? 0, rejectedRows(2));
    await append(ledger, inboxRows(["c", "d"]));
    const [second] = await ledger.inbox.freeze(10);
    const finishing = ledger.inbox.finish(second?.number ?? 0, rejectedRows(2));
    await expect(finishing).rejects.toBeInstanceOf(Refusal);
    await expect(finishing).rejects.toThrow("rekindle rejected-events");
    await expect(
      ledger.inbox.finish(second?.number ?? 0, rejectedRows(1, "x".repeat(1_000))),
    ).rejects.toThrow();
    expect(await ledger.inbox.freeze(10)).toHaveLength(1);
    expect(await ledger.rejectedEvents.count({})).toBe(2);
    expect(await ledger.rejectedEvents.drop({ ids: [1] }, settingUp, 1)).toBe(1);
    await ledger.inbox.finish(second?.number ?? 0, rejectedRows(2));
    expect(await ledger.rejectedEvents.count({})).toBe(3);
    expect(await ledger.inbox.freeze(10)).toEqual([]);
    await ledger.close();
  });
});
