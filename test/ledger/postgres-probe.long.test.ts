/** doctor's report on PostgreSQL, on a real server that is set wrong in one way after another. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { features } from "../../server/features/features.ts";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import {
  type LivingNode,
  livingNodes,
  type ProbeOptions,
  probePostgres,
} from "../../server/ledger/postgres/probe.ts";
import { PostgresServer } from "../postgres.ts";
import { until } from "../until.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

const nodesOf = (...roles: readonly string[]): readonly LivingNode[] =>
  roles.map((role) => ({ role, version: "0.1.0", url: null }));
const usual: ProbeOptions = {
  connections: 8,
  nodes: nodesOf("analysis", "intake", "intake"),
  nowMs: Date.now,
};

/** The failed checks, after these statements on the one connection that the probe uses. */
async function wrong(url: string, statements: readonly string[] = [], options: Partial<ProbeOptions> = {}) {
  const sql = openPool(url, { connections: 1 });
  try {
    for (const statement of statements) await sql.unsafe(statement);
    const probed = await probePostgres(sql, { ...usual, ...options });
    return probed.filter(({ ok }) => !ok).map(({ name, words }) => `${name}: ${words}`);
  } finally {
    await sql.end();
  }
}

async function madeDatabase(): Promise<string> {
  const url = await server.database();
  await (await openPostgresLedger({ features, url, connections: 1 })).close();
  return url;
}

test("a server that is set as it should be is well, before and after the tables are made", async () => {
  expect(await wrong(await server.database())).toEqual([]);
  expect(await wrong(await madeDatabase())).toEqual([]);
});

test("every check has a result in words", async () => {
  const sql = openPool(await madeDatabase(), { connections: 1 });
  const probed = await probePostgres(sql, usual);
  await sql.end();
  const words = Object.fromEntries(probed.map(({ name, words }) => [name, words]));
  expect(words).toMatchObject({
    version: expect.stringMatching(/^18/),
    "accepts writes": "yes",
    synchronous_commit: "on",
    rights: "can create and drop tables",
    nodes: "2 with the role intake, 1 with analysis, version 0.1.0",
  });
  expect(words.connections).toEndWith(": 40 of 197");
});

test("a session that does not wait for the disk is noticed", async () => {
  const [found = ""] = await wrong(await madeDatabase(), ["SET synchronous_commit = off"]);
  expect(found).toStartWith("synchronous_commit: off: acknowledged requests may be lost");
});

test("a server without fsync and without autovacuum is noticed", async () => {
  const url = await madeDatabase();
  const set = async (value: string) => {
    const sql = openPool(url, { connections: 1 });
    for (const name of ["fsync", "full_page_writes", "autovacuum"]) {
      await sql.unsafe(`ALTER SYSTEM SET ${name} = ${value}`);
    }
    await sql`SELECT pg_reload_conf()`;
    await sql.end();
  };
  await set("off");
  try {
    const found = await until(
      "the server has read its settings",
      () => wrong(url),
      ({ length }) => length > 0,
    );
    expect(found).toEqual([
      "survives a power failure: fsync and full_page_writes are off: a power failure can destroy the database; set them to on",
      "autovacuum: off: tables grow, and in the end PostgreSQL rejects all writes; set it to on",
    ]);
  } finally {
    await set("on");
  }
});

test("more processes than connections are noticed, also where only the user or the database is limited", async () => {
  const url = await madeDatabase();
  const [many = ""] = await wrong(url, [], {
    nodes: nodesOf(...Array.from({ length: 19 }, () => "intake" as const)),
  });
  expect(many).toContain("connections: 19 processes, and one more during a restart, use 10 each");
  expect(many).toContain(": 200, and 197 are allowed: raise max_connections");
  const [limited = ""] = await wrong(url, [
    `ALTER DATABASE ${new URL(url).pathname.slice(1)} CONNECTION LIMIT 20`,
  ]);
  expect(limited).toContain(": 40, and 20 are allowed");
});

test("clocks that differ by more than two seconds are noticed, in either direction", async () => {
  const url = await madeDatabase();
  // It stands still, so that only the time until the server is asked is added.
  const nowMs = Date.now();
  const [ahead = ""] = await wrong(url, [], { nowMs: () => nowMs - 60_000 });
  const [, aheadSeconds] = /^clock: (\S+) s ahead of this machine's/.exec(ahead) ?? [];
  expect(Number(aheadSeconds)).toBeWithin(60, 60.1 + (Date.now() - nowMs) / 1_000);
  const [behind = ""] = await wrong(url, [], { nowMs: () => nowMs + 600_000 });
  const [, behindSeconds] = /^clock: (\S+) s behind this machine's/.exec(behind) ?? [];
  expect(Number(behindSeconds)).toBeWithin(599.9 - (Date.now() - nowMs) / 1_000, 600.1);
});

test("a user without rights, and tables of another owner, are noticed", async () => {
  const url = await madeDatabase();
  const [without = ""] = await wrong(url, ["CREATE ROLE stranger", "SET ROLE stranger"]);
  expect(without).toStartWith("rights: this user cannot create tables");
  const rights = "GRANT CREATE, USAGE ON SCHEMA public TO stranger";
  const [foreign = ""] = await wrong(url, [rights, "SET ROLE stranger"]);
  expect(foreign).toMatch(/^rights: \d+ tables belong to another user/);
});

/** The check of old transactions with an age limit of 0, as a user of that name. */
async function oldTransactions(url: string, user: string) {
  const sql = openPool(url.replace("postgres@", `${user}@`), { connections: 1 });
  const probed = await probePostgres(sql, { ...usual, oldTransactionMs: 0 });
  await sql.end();
  return probed.find(({ name }) => name === "old transactions");
}

test("a transaction that stays open is a warning that names its process, and not what it asks", async () => {
  const url = await madeDatabase();
  const sql = openPool(url, { connections: 1 });
  const holder = await sql.pool.take();
  await holder.script("CREATE ROLE other_user LOGIN");
  await holder.script("BEGIN; SET LOCAL application_name = 'a dump'; SELECT 'secret' FROM users");
  expect(await wrong(url)).toEqual([]);
  const found = await oldTransactions(url, "postgres");
  expect(found).toMatchObject({ ok: true, warns: true });
  expect(found?.words).toMatch(/^process \d+ \(a dump, idle in transaction\) has one open for 0 min: rows/);
  expect(found?.words).not.toContain("secret");
  expect(found?.words.length).toBeLessThan(200);
  expect(await oldTransactions(url, "other_user")).toMatchObject({
    ok: true,
    words: expect.stringMatching(/GRANT pg_read_all_stats TO it to see those of \d+ other sessions/),
  });
  await holder.script("ROLLBACK");
  sql.pool.give(holder);
  expect(await oldTransactions(url, "postgres")).toEqual({
    name: "old transactions",
    ok: true,
    words: "none",
  });
  await sql.end();
});

test("a database that takes no writes is noticed", async () => {
  const [found = ""] = await wrong(await madeDatabase(), ["SET default_transaction_read_only = on"]);
  expect(found).toStartWith("accepts writes: no, default_transaction_read_only is on");
});

test("a cluster without a loading node is noticed", async () => {
  const [found = ""] = await wrong(await madeDatabase(), [], { nodes: nodesOf("intake") });
  expect(found).toStartWith("nodes: 1 with the role intake, 0 with analysis");
});

test.each([
  ["http://analysis-1:8081", true],
  ["http://10.0.0.7:8081", true],
  ["http://127.0.0.1.evil.test:8081", true],
  ["https://analysis-1:8081", false],
  ["http://127.0.0.1:8081", false],
  ["http://localhost:8081", false],
  ["http://[::1]:8081", false],
] as const)("a node that is reached at %s is warned of: %p", async (url, warns) => {
  const sql = openPool(await madeDatabase(), { connections: 1 });
  const nodes = [{ role: "analysis", version: "0.1.0", url }];
  const probed = await probePostgres(sql, { ...usual, nodes });
  await sql.end();
  const traffic = probed.find(({ name }) => name === "traffic between nodes");
  expect([traffic?.ok, traffic?.warns ?? false]).toEqual([true, warns]);
  if (warns) expect(traffic?.words).toStartWith(`${url} over http: others in the network can read`);
});

test("a database without tables has no living nodes", async () => {
  const sql = openPool(await server.database(), { connections: 1 });
  expect(await livingNodes(sql)).toEqual([]);
  await sql.end();
});
