/** A ledger of version 0.1.0 is brought to today's form, on both engines. */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { migrate as migratePostgres } from "../../server/ledger/postgres/migrations/migrations.ts";
import { uuidOf } from "../../server/ledger/rules/message-id-hash.ts";
import { accountVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { bytesOf } from "../../server/ledger/sqlite/message-ids.ts";
import { migrate as migrateSqlite } from "../../server/ledger/sqlite/migrations/migrations.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { PostgresServer } from "../postgres.ts";
import { inboxRows, look, needs, remember, writes } from "./writes.ts";

/** Steps of 0.1.0. */
const [sqliteSteps, postgresSteps] = [14, 2];

/** The rows that both engines store in the same columns. */
const stored = [
  `INSERT INTO users (organization, number, account, user_id, email, first_identified_at_ms, updated_at_ms, version,
     traits, said_at_ms, fields_said_at_ms)
   VALUES (1, 1, 1, 'ada', 'Ada@Example.com', 1, 1, 1, '{}', 1, '{}'),
     (1, 2, 0, 'äda', 'ÄDA@Bücher.example', 1, 1, 1, '{}', 1, '{}'), (1, 3, 0, 'none', '', 1, 1, 1, '{}', 1, '{}')`,
  `INSERT INTO accounts (organization, number, account_id, name, created_at_ms, updated_at_ms, version)
   VALUES (1, 1, 'acme', 'ACME', 1000, 5000, 3)`,
  `INSERT INTO ingestion_warnings (organization, utc_day, kind, endpoint, detail, count, first_seen_ms, last_seen_ms)
   VALUES (1, 20000, 'parked_full', 'sources', '', 2, 1, 1), (1, 20000, 'duplicate', 'track', '', 3, 1, 2)`,
  `INSERT INTO audit_log (organization, at_ms, action, summary, detail)
   VALUES (1, 1, 'dead_letters.dropped', 'Dropped', '{}'), (1, 2, 'token.created', 'Created', '{}')`,
  `INSERT INTO sources (organization, source, accepted, parked, duplicate, rejected, ignored, first_ms, last_ms)
   VALUES (1, 'segment', 1, 2, 3, 4, 5, 1, 1)`,
  `INSERT INTO dead_letters (at_ms, batch, warehouse_table, row, reason, organization, schema, year, bytes)
   VALUES (1, 1, 'events', '[1]', 'bad', 1, 1, 2024, 4)`,
  `INSERT INTO erasures (organization, "user", user_hmac, state, upto_inbox_id, requested_at_ms, dead_letters)
   VALUES (1, 9, 'x', 'done', 0, 1, 7)`,
];
/** The last numbers of 0.1.0. Its rows are loaded and deleted. */
const usedNumbers = { inbox: 70, batches: 30 };
/** An id as 0.1.0 kept it: SHA-1 of "sign-up", cut to 96 bits, and shifted by the organization 1. */
const oldId = { first: 3_128_921_688, second: 481_718_470, third: 3_234_372_633 };
const clock = { nowMs: Date.now() };
const [yes, sqliteYes] = ["true", "1"];
const links = (isWaiting: string) => [
  `INSERT INTO person_links (organization, id, user_id, at_ms, written_at_ms, waits)
   VALUES (1, 'visitor v', 'mailto:äda@bücher.example', 1, 1, ${isWaiting}),
     (1, 'visitor w', 'mailto:nobody@example.com', 1, 1, ${isWaiting})`,
  "UPDATE parked_totals SET links = 2 WHERE organization = 1",
];

let server: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), "rekindle-older-"));
const file = join(folder, "ledger.sqlite");
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function openSqlite(): Promise<Ledger> {
  const db = new Database(file, { create: true });
  migrateSqlite(db, features, sqliteSteps);
  db.run(
    "INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms) VALUES ('acme', 'UTC', 1000, 1)",
  );
  db.run("INSERT INTO parked_totals (organization, people, items, bytes) VALUES (1, 0, 0, 0)");
  for (const statement of [...stored, ...links(sqliteYes)]) db.run(statement);
  db.run("INSERT INTO message_ids (committed_at_ms, ids) VALUES (?, ?)", [Date.now(), bytesOf([oldId])]);
  db.run(`INSERT INTO inbox (id, warehouse_table, year, schema, rows, bytes, body)
    VALUES (${usedNumbers.inbox}, 'users', 0, 1, 1, 2, 'x')`);
  db.run(`INSERT INTO frozen_batches VALUES (${usedNumbers.batches}, 'users', 0, 1, 1, 2, 69, 70, 1)`);
  db.run("DELETE FROM inbox; DELETE FROM frozen_batches");
  db.run(`UPDATE inbox_position SET frozen_upto_inbox_id = ${usedNumbers.inbox}`);
  db.close();
  return openSqliteLedger({ features, file, clock: () => clock.nowMs });
}

async function openPostgres(): Promise<Ledger> {
  const url = await server.database();
  const sql = openPool(url, { connections: 1 });
  await migratePostgres(sql, features, postgresSteps);
  await sql`INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms) VALUES ('acme', 'UTC', 1000, 1)`;
  await sql`INSERT INTO parked_totals (organization, items, bytes) VALUES (1, 0, 0)`;
  for (const statement of [...stored, ...links(yes)]) await sql.unsafe(statement);
  await sql`INSERT INTO message_ids (id, at_ms) VALUES (${uuidOf(oldId)}::uuid, ${Date.now()})`;
  await sql.end();
  return openPostgresLedger({ features, url, clock: () => clock.nowMs });
}

describe.each([
  ["SQLite", openSqlite, usedNumbers],
  ["PostgreSQL", openPostgres, { inbox: 0, batches: 0 }],
])("%s", (_, open, used) => {
  let ledger: Ledger;
  beforeAll(async () => {
    ledger = await open();
  });
  afterAll(() => ledger.close());

  test("users are found by their addresses in any case, and links to them wait no longer", async () => {
    const { identities } = ledger;
    expect(await identities.withEmail(1, "ada@EXAMPLE.com")).toEqual(["ada"]);
    expect(await identities.withEmail(1, "äda@BÜCHER.example")).toEqual(["äda"]);
    expect(await identities.withEmail(1, "")).toEqual([]);
    expect((await ledger.heldEvents.counts(1)).links).toBe(1);
  });

  test("a message id of before counts for an identify and a track until 24 hours are over, one of now for one", async () => {
    const kinds = ["identify", "track"] as const;
    const keys = (messageId: string) => kinds.map((kind) => ({ organization: 1, kind, messageId }));
    clock.nowMs = Date.now() + 2_000;
    expect(await remember(ledger, keys("sign-up"), clock.nowMs)).toEqual(keys("sign-up"));
    for (const key of keys("new")) expect(await remember(ledger, [key], clock.nowMs)).toEqual([]);
    expect(await remember(ledger, keys("new"), clock.nowMs)).toEqual(keys("new"));
    clock.nowMs += 24 * 3_600_000;
    for (const key of keys("sign-up")) expect(await remember(ledger, [key], clock.nowMs)).toEqual([]);
  });

  test("the name of an account holds until something is said after its last change", async () => {
    expect((await ledger.findUser(1, "ada"))?.account).toMatchObject({
      name: "ACME",
      avatar: null,
      timestampMs: 5_000,
      fieldTimestampsMs: {},
      updatedAtMs: 5_000,
      version: 3,
      traits: {},
    });
  });

  test("warnings, counts, entries and rejected events are there under the names of today", async () => {
    const kinds = (await ledger.warnings.list(1, 9)).map(({ kind, count }) => [kind, count]);
    expect(kinds).toEqual([
      ["duplicate", 3],
      ["held_full", 2],
    ]);
    expect(await ledger.warnings.list(1, 9, "held_full")).toHaveLength(1);
    const actions = (await ledger.audit.list(1, { limit: 9 })).map(({ action }) => action);
    expect(actions).toEqual(["token.created", "rejected_events.dropped"]);
    expect(await ledger.sources.totals(1)).toMatchObject([{ accepted: 1, held: 2, duplicate: 3 }]);
    expect(await ledger.rejectedEvents.list({ organization: 1 }, 9)).toMatchObject([{ row: "[1]" }]);
    expect(await ledger.erasures.list(1)).toMatchObject([{ user: 9, rejectedEvents: 7 }]);
  });

  test("an account of before takes attributes, and the inbox their history", () =>
    takeAttributes(ledger, used));
});

/** Numbers of rows and batches go on after those of before, which are deleted. */
async function takeAttributes(ledger: Ledger, used: typeof usedNumbers): Promise<void> {
  const acme = { organization: 1, accountId: "acme" };
  const before = await look(ledger, { accounts: [acme] }, (known) => known.account(1, "acme"));
  if (before === undefined) throw new Error("the account is gone");
  const after = { ...before, traits: { tier: "gold" }, version: 4 };
  const row = accountVersionRow(after, { atMs: 6_000, traits: after.traits });
  await ledger.transact(needs({ accounts: [acme] }), () =>
    writes(clock.nowMs, {
      accounts: [after],
      inbox: [inboxRows([], { table: "account_versions", year: 0 })].map((rows) => ({
        ...rows,
        rows: 1,
        body: `${row}\n`,
      })),
      accountVersionRows: [{ organization: 1, rows: 1, versions: 4 }],
    }),
  );
  expect((await ledger.findUser(1, "ada"))?.account).toMatchObject({ traits: { tier: "gold" } });
  expect((await ledger.populations(1)).accountVersionRows).toEqual({ rows: 1, versions: 4 });
  const batch = (await ledger.inbox.freeze(9)).find(({ table }) => table === "account_versions");
  if (batch === undefined) throw new Error("there is no batch of account_versions");
  expect((await ledger.inbox.read(batch)).toString()).toBe(`${row}\n`);
  expect(batch.uptoInboxId).toBeGreaterThan(used.inbox);
  expect(batch.number).toBeGreaterThan(used.batches);
  await ledger.inbox.finish(batch.number, [{ table: batch.table, row, reason: "no" }]);
  expect((await ledger.rejectedEvents.missing(1)).accountVersions).toEqual({ rows: 1, versions: 4 });
}
