/** Waits between connections on PostgreSQL: one that is slow, or holds a transaction open, stops no other. */

import { afterAll, beforeAll, expect, setSystemTime, test } from "bun:test";
import { pino } from "pino";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import { openPool, type Sql } from "../../server/ledger/postgres/connect.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { sendLive } from "../../server/ledger/postgres/live-items.ts";
import { advisoryLocks } from "../../server/ledger/postgres/locks.ts";
import { ClusterNode } from "../../server/ledger/postgres/node.ts";
import { systemTime } from "../../server/process/time.ts";
import { PostgresServer } from "../postgres.ts";
import { until } from "../until.ts";
import { loadAll } from "./filled-ledger.ts";
import { SilentProxy } from "./silent-proxy.ts";
import { append, inboxRows, needs, user, writePeople, writes } from "./writes.ts";

const minuteMs = 60_000;
let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

/** Two nodes and an organization on a database of their own, and connections that block them. */
async function twoNodes() {
  const url = await server.database();
  const one = await openPostgresLedger({ features, url, connections: 4 });
  const other = await openPostgresLedger({ features, url, connections: 4 });
  const sql = openPool(url, { connections: 4 });
  const { id } = await one.organizations.create({ name: "acme", timezone: "UTC", nowMs: 1 }, settingUp);
  const close = () => Promise.all([one.close(), other.close(), sql.end()]);
  return { url, one, other, sql, id, close };
}

/** Begins a transaction that does this and stands still. @returns what ends it */
async function standing(sql: Sql, statement: string): Promise<() => Promise<void>> {
  const connection = await sql.pool.take();
  // However long that takes.
  await connection.script(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; ${statement}`);
  return async () => {
    await connection.script("ROLLBACK");
    sql.pool.give(connection);
  };
}

/** @param work waits only for a limited time. When it has ended, this function returns as well. */
async function untilOneWaits(sql: Sql, work?: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work?.then(over, over);
  await until("one waits for a lock", async () => {
    const waiting = await sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return isOver || waiting.length > 0;
  });
}

async function segmentsOf(sql: Sql): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_name ~ '^inbox_[0-9]+$' ORDER BY name`;
  return tables.map(({ name }) => name);
}

test("while pg_dump has the inbox open an erasure ends, others write, and the rest is tidied", async () => {
  const { one, other, sql, id, close } = await twoNodes();
  await writePeople(one, { users: [user(id, "ada")] });
  await append(one, inboxRows(["a"]));
  const erasure = (await one.erasures.begin(id, "ada"))?.id ?? 0;
  await loadAll(one);
  await one.erasures.counted([{ id: erasure, dayCounts: [], versions: 0, versionSum: 0, days: 0 }]);
  const end = await standing(sql, "SELECT FROM inbox_000001");
  const finished = one.erasures.finish([erasure]);
  await untilOneWaits(sql, finished);
  await append(other, inboxRows(["b"]));
  await finished;
  expect(await one.erasures.find(erasure)).toMatchObject({ state: "done" });
  await sql`INSERT INTO message_ids VALUES (gen_random_uuid(), 1)`;
  await one.tidy(Date.now());
  expect(await sql`SELECT FROM message_ids`).toHaveLength(0);
  expect(await segmentsOf(sql)).toEqual(["inbox_000001", "inbox_000002"]);
  await end();
  await one.tidy(Date.now());
  expect(await segmentsOf(sql)).toEqual(["inbox_000002"]);
  await close();
});

test("old live messages are deleted, also when no watcher is left", async () => {
  const { one, sql, id, close } = await twoNodes();
  await sendLive(sql, crypto.randomUUID(), [
    { organization: id, message: "older" },
    { organization: id, message: "newer" },
  ]);
  await sql`UPDATE live_items SET at = at - interval '11 s' WHERE message = 'older'`;
  await sql`UPDATE live_items SET at = at + interval '1 hour' WHERE message = 'newer'`;
  await one.tidy(Date.now());
  expect([...(await sql`SELECT message FROM live_items`)]).toEqual([{ message: "newer" }]);
  await close();
});

test("a step of tidying that fails keeps no other from being done", async () => {
  const { one, sql, close } = await twoNodes();
  await sql`ALTER TABLE frozen_batches RENAME TO away`;
  await sql`INSERT INTO message_ids VALUES (gen_random_uuid(), 1)`;
  await expect(one.tidy(Date.now())).rejects.toThrow("frozen_batches");
  expect(await sql`SELECT FROM message_ids`).toHaveLength(0);
  await close();
});

test("a writer that stands still stops neither other writers nor tidying, and an erasure begins after it", async () => {
  const { one, other, sql, id, close } = await twoNodes();
  await writePeople(one, { users: [user(id, "ada")] });
  await append(one, inboxRows(["a"]));
  const end = await standing(sql, `SELECT pg_advisory_xact_lock_shared(${advisoryLocks.inbox})`);
  const frozen = one.inbox.freeze(100);
  await untilOneWaits(sql, frozen);
  await append(other, inboxRows(["b"]));
  expect(await frozen).toEqual([]);
  await one.tidy(Date.now() + 11 * minuteMs);
  expect(await segmentsOf(sql)).toEqual(["inbox_000001"]);
  const begun = one.erasures.begin(id, "ada");
  await untilOneWaits(sql);
  await append(other, inboxRows(["c"]));
  await end();
  expect(await begun).toMatchObject({ uptoInboxId: 3 });
  const batches = await until(
    "a batch is frozen",
    () => one.inbox.freeze(100),
    ({ length }) => length > 0,
  );
  expect(batches).toMatchObject([{ rows: 3 }]);
  await close();
});

test("message ids are forgotten by one node at a time, more than come in a second", async () => {
  const { one, sql, close } = await twoNodes();
  await sql`INSERT INTO message_ids SELECT gen_random_uuid(), n FROM generate_series(1, 12000) AS n`;
  await sql`INSERT INTO message_ids VALUES (gen_random_uuid(), ${Date.now()})`;
  const end = await standing(sql, `SELECT pg_advisory_xact_lock(${advisoryLocks.forgetting})`);
  await one.tidy(Date.now());
  expect((await sql`SELECT FROM message_ids`).length).toBe(12_001);
  await end();
  await one.tidy(Date.now());
  expect((await sql`SELECT FROM message_ids`).length).toBe(1);
  await close();
});

test("a node whose heartbeat is too old commits nothing of what it admitted", async () => {
  const url = await server.database();
  let isStale = false;
  const refuseStaleHeartbeat = () => {
    if (isStale) throw new Error("the heartbeat is too old");
  };
  const one = await openPostgresLedger({
    features,
    url,
    node: { refuseStaleHeartbeat, countsFlushed: async () => undefined },
  });
  const decided = one.transact(needs({}), () => {
    isStale = true;
    return writes(1, { inbox: [inboxRows(["late"])] });
  });
  await expect(decided).rejects.toThrow("heartbeat is too old");
  expect(await one.inbox.backlog()).toMatchObject({ rows: 0 });
  await one.close();
});

// Other tests of jumps give servers a clock. Here the machine's own jumps, as `systemTime` reads it.
test("a node whose machine slept writes nothing, although its monotonic clock stood still", async () => {
  const { url, close } = await twoNodes();
  const node = new ClusterNode({
    databaseUrl: url,
    role: "intake",
    version: "1",
    nodeUrl: null,
    nowMs: systemTime.nowMs,
    log: pino({ level: "silent" }),
  });
  await node.start();
  expect(node.refuseStaleHeartbeat).not.toThrow();
  setSystemTime(new Date(Date.now() + 9_000));
  try {
    expect(node.refuseStaleHeartbeat).toThrow("heartbeat is too old");
  } finally {
    setSystemTime();
  }
  await node.leave();
  await node.close();
  await close();
});

test("a node that has left is not brought back by what it still had to say", async () => {
  const { url, sql, close } = await twoNodes();
  const node = new ClusterNode({
    databaseUrl: url,
    role: "intake",
    version: "1",
    nodeUrl: null,
    nowMs: systemTime.nowMs,
    log: pino({ level: "silent" }),
  });
  await node.start();
  const settled = Promise.withResolvers<void>();
  const nothing = async () => undefined;
  node.whenChanged({ forget: () => undefined, settled: () => settled.promise, flushCounts: nothing });
  await node.leave();
  settled.resolve();
  await settled.promise;
  await node.beat();
  expect(await sql`SELECT FROM nodes`).toHaveLength(0);
  await node.close();
  await close();
});

test("warnings are locked when all else is written", async () => {
  const { one, sql, id, close } = await twoNodes();
  const end = await standing(sql, `SELECT pg_advisory_xact_lock(${advisoryLocks.warnings})`);
  const nothing = { taken: [], held: [], links: [], labels: [] };
  const done = one.transact(needs({}), () =>
    writes(1, {
      heldEvents: { ...nothing, refused: [{ organization: id, message: "too much" }] },
      inbox: [inboxRows(["a"])],
    }),
  );
  await untilOneWaits(sql);
  const [written] = await sql`
    SELECT FROM pg_locks WHERE relation = 'inbox_000001'::regclass AND mode = 'RowExclusiveLock'`;
  expect(written).toBeDefined();
  await end();
  await done;
  expect(await one.warnings.list(id, 10)).toMatchObject([{ kind: "held_refused" }]);
  await close();
});

test("rejected events of many organizations are dropped in the order in which others lock organizations", async () => {
  const { one, sql, id: first, close } = await twoNodes();
  const { id: second } = await one.organizations.create(
    { name: "later", timezone: "UTC", nowMs: 1 },
    settingUp,
  );
  await writePeople(one, { users: [user(first, "ada"), user(second, "ada")] });
  await sql`
    INSERT INTO rejected_events (at_ms, batch, year, schema, warehouse_table, row, reason, bytes, organization, version)
    SELECT 1, 1, 2026, 1, 'user_versions', '[]', 'no', 2, organization, 1
    FROM unnest(${[second, first]}::bigint[]) AS given (organization)`;
  const end = await standing(sql, `SELECT FROM populations WHERE organization = ${first} FOR UPDATE`);
  const dropped = one.rejectedEvents.drop({}, settingUp, 1);
  await untilOneWaits(sql);
  expect(await sql`SELECT FROM populations WHERE organization = ${second} FOR UPDATE NOWAIT`).toHaveLength(1);
  await end();
  expect(await dropped).toBe(2);
  await close();
});

test("the millionth segment has a name of its own", async () => {
  const { one, sql, close } = await twoNodes();
  await sql.unsafe("ALTER TABLE inbox_segments ALTER COLUMN segment RESTART WITH 1000000");
  for (const round of [1, 2]) {
    await append(one, inboxRows([`${round}`]));
    await one.tidy(Date.now() + round * 11 * minuteMs);
  }
  expect(await segmentsOf(sql)).toEqual(["inbox_000001", "inbox_1000000", "inbox_1000001"]);
  await close();
});

test("the rows of a user are counted in steps of bodies", async () => {
  const { one, sql, id, close } = await twoNodes();
  await writePeople(one, { users: [user(id, "ada")] });
  const body = `[${id},1,"a"]\n[${id},2,"b"]\n[${id},1,"c"]\n`;
  await sql`
    INSERT INTO inbox_000001 (warehouse_table, year, schema, rows, bytes, body)
    SELECT 'events', 2026, 1, 3, 40 * 1024 * 1024, ${body} FROM generate_series(1, 3)`;
  const erasure = (await one.erasures.begin(id, "ada"))?.id ?? 0;
  await one.erasures.counted([{ id: erasure, dayCounts: [], versions: 0, versionSum: 0, days: 0 }]);
  expect(await one.erasures.find(erasure)).toMatchObject({ inboxRows: 6 });
  await close();
});

test("a group counts its days in a slot that no other of the node is writing to", async () => {
  const { one, sql, id, close } = await twoNodes();
  const dayCounts = [{ organization: id, utcDay: 1, events: 1, checksum: 1 }];
  const endFirst = await standing(sql, "LOCK TABLE accounts");
  const first = one.transact(needs({ accounts: [{ organization: id, accountId: "a" }] }), () =>
    writes(1, {}),
  );
  await untilOneWaits(sql);
  const endSecond = await standing(sql, "LOCK TABLE inbox_000001 IN SHARE MODE");
  const second = one.transact(needs({}), () => writes(1, { dayCounts, inbox: [inboxRows(["a"])] }));
  await endFirst();
  await first;
  await untilOneWaits(sql);
  // It would wait for the second, which waits still.
  await one.transact(needs({}), () => writes(1, { dayCounts }));
  await endSecond();
  await second;
  expect(await one.dayCounts(id)).toMatchObject([{ events: 2 }]);
  await close();
});

test("connections to a server that is silent are closed all the same", async () => {
  const way = await SilentProxy.open(await server.database());
  const sql = openPool(way.url, { connections: 2 });
  await Promise.all([sql`SELECT 1`, sql`SELECT 2`]);
  const inUse = await sql.pool.take();
  way.isSilent = true;
  await sql.end({ timeout: 0.1 });
  expect(inUse.isLost).toBe(true);
  way.close();
});
