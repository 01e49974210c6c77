/** A whole SQLite ledger moves into PostgreSQL. Every answer is as before, and new numbers follow the old
 * ones. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { finishMoveIn, moveIntoPostgres } from "../../server/ledger/postgres/move-in.ts";
import { userKey } from "../../server/ledger/rules/held-events.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { PostgresServer } from "../postgres.ts";
import { dayMs, everythingIn, fillLedger, loadAll, oddText, send } from "./filled-ledger.ts";
import { append, inboxRows, look, user } from "./writes.ts";

const nowMs = Date.UTC(2026, 0, 10, 12);
const clock = () => nowMs;
let server: PostgresServer;
let folder: string;
let file: string;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-moving-"));
  file = join(folder, "ledger.sqlite");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function withSqlite<Result>(work: (ledger: Ledger) => Promise<Result>, atMs = nowMs): Promise<Result> {
  const ledger = await openSqliteLedger({ features, file, clock: () => atMs, messageIdsPerRun: 20 });
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

async function withPostgres<Result>(url: string, work: (ledger: Ledger) => Promise<Result>): Promise<Result> {
  await finishMoveIn(url);
  const ledger = await openPostgresLedger({ features, url, connections: 4, clock });
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

test("a ledger in PostgreSQL answers like the one in SQLite, text by text and number by number", async () => {
  const url = await server.database();
  const before = await withSqlite(async (ledger) => {
    await fillLedger(ledger, nowMs);
    return everythingIn(ledger, nowMs);
  });
  const progress = new Map<string, number>();
  const moved = await moveIntoPostgres({
    features,
    file,
    url,
    clock,
    progress: ({ table, rows }) => progress.set(table, rows),
  });
  await expect(openPostgresLedger({ features, url })).rejects.toThrow("migrate-to was not finished");
  expect(await withPostgres(url, (ledger) => everythingIn(ledger, nowMs))).toEqual(before);
  const filled = Object.entries(moved).filter(([, rows]) => rows > 0);
  expect(Object.fromEntries(progress)).toEqual(Object.fromEntries(filled));
  const empty = Object.keys(moved).filter((table) => moved[table] === 0);
  expect(empty).toEqual([]);
});

test("numbers go on behind the highest that was ever given", async () => {
  const url = await server.database();
  const [organization, lastBatch, newest] = await withSqlite(async (ledger) => {
    const id = await fillLedger(ledger, nowMs);
    await append(ledger, inboxRows(["last"]));
    const last = await loadAll(ledger);
    return [id, last, (await ledger.inbox.backlog()).newestInboxId] as const;
  });
  await moveIntoPostgres({ features, file, url, clock });
  await withPostgres(url, async (ledger) => {
    await append(ledger, inboxRows(["first"]));
    const [batch] = await ledger.inbox.freeze(10);
    // The count of a batch number is in its lower 31 bits, a random mark above them.
    expect((batch?.number ?? 0) % 2 ** 31).toBe(lastBatch + 1);
    expect(batch).toMatchObject({ afterInboxId: newest, uptoInboxId: newest + 1 });
    expect((await ledger.inbox.read(batch ?? never())).toString()).toBe('["first"]\n');
    await ledger.inbox.finish(batch?.number ?? 0, []);
    const created = await ledger.organizations.create({ name: "third", timezone: "UTC", nowMs }, settingUp);
    expect(created.id).toBe(3);
    const rule = await ledger.exclusions.add(
      organization,
      { kind: "email", key: "", value: "x" },
      settingUp,
      nowMs,
    );
    expect(rule.id).toBe(4);
    const known = { users: [user(organization, "eve"), user(organization, "ada")] };
    const told = await look(ledger, known, (stored) => [
      stored.lastUserNumber(organization),
      stored.lastAccountNumber(organization),
      stored.erasedAtMs(userKey(organization, "eve")),
      stored.erasedAtMs(userKey(organization, "ada")),
      stored.transaction > newest,
    ]);
    expect(told).toEqual([4, 1, nowMs, undefined, true]);
    const [pending] = await ledger.erasures.pending();
    const found = { dayCounts: [], versions: 0, versionSum: 0, days: 0 };
    await ledger.erasures.counted([{ id: pending?.id ?? 0, ...found }]);
    await ledger.erasures.finish([pending?.id ?? 0]);
    expect(await ledger.erasures.pending()).toEqual([]);
  });
});

test("message ids of the last 24 hours are known, wherever SQLite kept them, and older ones are not", async () => {
  const url = await server.database();
  const names = (word: string) => Array.from({ length: 25 }, (_, n) => `${word} ${n} ${oddText}`);
  let organization = 0;
  await withSqlite(async (ledger) => {
    organization = (await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs }, settingUp))
      .id;
    await send(ledger, organization, names("too old"), nowMs - dayMs - 2_000);
    await send(ledger, organization, names("in a run"), nowMs - dayMs + 2_000);
    await ledger.tidy(nowMs - dayMs);
    await send(ledger, organization, names("in a commit"), nowMs - 1_000);
    await loadAll(ledger);
  }, nowMs - dayMs);
  const moved = await moveIntoPostgres({ features, file, url, clock });
  expect(moved.message_ids).toBe(50);
  await withPostgres(url, async (ledger) => {
    const again = ["too old", "in a run", "in a commit"].flatMap(names);
    expect(await send(ledger, organization, again, nowMs)).toEqual(
      ["in a run", "in a commit"].flatMap(names),
    );
    expect(await send(ledger, organization + 1, names("in a run"), nowMs)).toEqual([]);
  });
});

test("nothing moves while rows wait, nodes run, or the other ledger is not empty, and nothing is left behind", async () => {
  const url = await server.database();
  await expect(moveIntoPostgres({ features, file, url, clock })).rejects.toThrow("There is no ledger at");
  await withSqlite(async (ledger) => {
    await fillLedger(ledger, nowMs);
    await append(ledger, inboxRows(["waits"]));
  });
  await expect(moveIntoPostgres({ features, file, url, clock })).rejects.toThrow("1 rows still wait");
  await withSqlite(loadAll);
  await withPostgres(url, async (ledger) => {
    await ledger.organizations.list();
    await expect(moveIntoPostgres({ features, file, url, clock })).rejects.toThrow("stop all of them");
  });
  await breakTrigger(url, "NEW.updated_at_ms := NEW.updated_at_ms + 1; RETURN NEW");
  const sum = `1 values of updated_at_ms with the sum ${nowMs + 1} instead of 1 with ${nowMs} in views`;
  await expect(moveIntoPostgres({ features, file, url, clock })).rejects.toThrow(sum);
  await breakTrigger(url, "RETURN NULL");
  await expect(moveIntoPostgres({ features, file, url, clock })).rejects.toThrow(
    "0 rows instead of 1 in views",
  );
  await withPostgres(url, async (ledger) => {
    expect(await ledger.organizations.list()).toEqual([]);
    await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs }, settingUp);
  });
  await expect(moveIntoPostgres({ features, file, url, clock })).rejects.toThrow("organizations has rows");
  await withSqlite(async (ledger) => expect(await ledger.organizations.list()).toHaveLength(2));
});

/** Makes of what is written to views something else. */
async function breakTrigger(url: string, body: string): Promise<void> {
  const sql = openPool(url, { connections: 1 });
  await sql.unsafe(`
    CREATE OR REPLACE FUNCTION breaks() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN ${body}; END';
    CREATE OR REPLACE TRIGGER breaks BEFORE INSERT ON views FOR EACH ROW EXECUTE FUNCTION breaks()`);
  await sql.end();
}

function never(): never {
  throw new Error("nothing was frozen");
}
