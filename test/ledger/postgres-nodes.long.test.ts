/** Several nodes on one PostgreSQL: what they promise together, while connections are cut and the server is
 * killed. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { FrozenBatch } from "../../server/ledger/inbox.ts";
import { openPool, queriesOn } from "../../server/ledger/postgres/connect.ts";
import {
  openPostgresLedger,
  type PostgresLedger,
  type PostgresLedgerOptions,
} from "../../server/ledger/postgres/ledger.ts";
import { OrganizationsHeld } from "../../server/ledger/transact.ts";
import { PostgresServer } from "../postgres.ts";
import { until } from "../until.ts";
import { SilentProxy } from "./silent-proxy.ts";
import { account, inboxRows, messageOf, needs, user, writes } from "./writes.ts";

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

async function nodes(
  count: number,
  options: Pick<PostgresLedgerOptions, "clock"> = {},
): Promise<{ url: string; all: PostgresLedger[]; organization: number }> {
  const url = await server.database();
  const all = await Promise.all(
    Array.from({ length: count }, () => openPostgresLedger({ features, url, connections: 4, ...options })),
  );
  const wanted = { name: "acme", timezone: "UTC", nowMs: 1 };
  const { id } = await nodeOf(all, 0).organizations.create(wanted, settingUp);
  return { url, all, organization: id };
}

function nodeOf(all: readonly PostgresLedger[], n: number): PostgresLedger {
  const node = all[n % all.length];
  if (node === undefined) throw new Error("there is no such node");
  return node;
}

/** Stores a row for each of these messages that is new, as intake does. */
function store(ledger: PostgresLedger, organization: number, messageIds: readonly string[]): Promise<void> {
  const keys = messageIds.map((messageId) => ({ organization, kind: "track" as const, messageId }));
  return ledger.transact(needs({ messageIds: keys }), (stored) => {
    const fresh = keys.flatMap((key) => {
      const message = messageOf(stored, key);
      return message.remembered ? [] : [{ key, message }];
    });
    return writes(Date.now(), {
      messages: fresh.map(({ message }) => message),
      inbox: fresh.length === 0 ? [] : [inboxRows(fresh.map(({ key }) => key.messageId))],
      dayCounts:
        fresh.length === 0
          ? []
          : [{ organization, utcDay: 20_000, events: fresh.length, checksum: fresh.length }],
    });
  });
}

/** Identifies a user as `decide` does. A new user gets the next number, and a known one the next version. */
function identify(ledger: PostgresLedger, organization: number, userId: string): Promise<void> {
  const needed = needs({
    users: [{ organization, userId }],
    accounts: [{ organization, accountId: userId }],
  });
  return ledger.transact(needed, (stored) => {
    const before = stored.user(organization, userId);
    const owned = stored.account(organization, userId);
    const number = before?.number ?? stored.lastUserNumber(organization) + 1;
    const version = (before?.version ?? 0) + 1;
    return writes(Date.now(), {
      users: [user(organization, userId, { number, version })],
      accounts: [
        account(organization, userId, {
          number: owned?.number ?? stored.lastAccountNumber(organization) + 1,
          version: (owned?.version ?? 0) + 1,
        }),
      ],
      versionRows: [{ organization, rows: 1, versions: version }],
    });
  });
}

/** Loads all waiting rows. @returns the rows, as often as they were in a batch that was finished */
async function loadAll(ledger: PostgresLedger): Promise<string[]> {
  const loaded: string[] = [];
  for (;;) {
    const batches = await untilDone(() => ledger.inbox.freeze(7));
    if (batches.length === 0) return loaded;
    for (const batch of batches) loaded.push(...(await load(ledger, batch)));
  }
}

/** Loads until nothing waits. For a second after a writer that committed slowly nothing is frozen. */
async function loadRest(ledger: PostgresLedger): Promise<string[]> {
  const loaded: string[] = [];
  do loaded.push(...(await loadAll(ledger)));
  while ((await untilDone(() => ledger.inbox.backlog())).rows > 0);
  return loaded;
}

async function load(ledger: PostgresLedger, batch: FrozenBatch): Promise<string[]> {
  const body = await untilDone(() => ledger.inbox.read(batch));
  await untilDone(() => ledger.inbox.finish(batch.number, []));
  return body
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => String(JSON.parse(line)[0]));
}

/** Repeats a call until it is acknowledged, as a sender does. A node may notice a cut connection later than
 * the test. */
async function untilDone<Result>(work: () => Promise<Result>): Promise<Result> {
  const attempt = () => work().then((result) => ({ result }), String);
  const seen = await until("the call is acknowledged", attempt, (one) => typeof one !== "string");
  if (typeof seen === "string") throw new Error(seen);
  return seen.result;
}

/** Repeats a transaction that was refused because another one held its organization's lock for long, as
 * intake does: on a busy machine a commit takes longer than the lock is waited for. Nothing of it is
 * stored. */
async function untilUnlocked(work: () => Promise<void>): Promise<void> {
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OrganizationsHeld)) throw error;
    }
  }
}

/** While connections are cut a slow machine gets nothing done. */
const cutsAtMost = 60;
/** So that work comes through between two cuts. */
const [betweenCutsMs, betweenLoadsMs] = [5, 10];

test("whatever is cut, and when the server dies, what was acknowledged is stored once, and loaded once", async () => {
  const { url, all, organization } = await nodes(3);
  const admin = openPool(url, { connections: 1 });
  let isSending = true;
  const loaded: string[] = [];
  let cut = 0;
  // Any connection at any moment: while it is being opened, idle, or committing.
  const cutter = (async () => {
    while (cut < cutsAtMost) {
      await Bun.sleep(betweenCutsMs);
      const gone = await admin<{ done: boolean }[]>`
        SELECT pg_terminate_backend(pid) AS done FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1`.catch(
        () => [],
      );
      cut += gone.length;
    }
  })();
  const loader = (async () => {
    for (let n = 0; isSending; n += 1) {
      // Whether a batch was finished is known from the ledger: a connection may be cut while it says so.
      await nodeOf(all, n % 50 === 0 ? n : 0)
        .tidy(Date.now() + (n % 5) * 700_000)
        .catch(() => undefined);
      await Bun.sleep(betweenLoadsMs);
    }
  })();
  const messages = Array.from({ length: 480 }, (_, n) => `m${n}`);
  const senders = Array.from({ length: 6 }, async (_, sender) => {
    for (let at = 0; at < messages.length; at += 6) {
      // Every message is sent by two senders, to two nodes, in groups that overlap.
      const group = messages.slice(at, at + 8).toSorted(() => Math.random() - 0.5);
      if (at % 12 === (sender % 2) * 6 || sender < 2) {
        await untilDone(() => store(nodeOf(all, sender), organization, group));
      }
    }
  });
  await until("some connections have been cut", () => cut >= 10);
  await server.kill();
  await expect(nodeOf(all, 0).findUser(organization, "ada")).rejects.toThrow();
  await server.restart();
  await Promise.all([...senders, cutter]);
  isSending = false;
  await loader;
  loaded.push(...(await untilLoaded(all)));
  expect(loaded.toSorted()).toEqual(messages.toSorted());
  const counted = await untilDone(() => nodeOf(all, 1).dayCounts(organization));
  expect(counted).toEqual([{ organization, utcDay: 20_000, events: 480, checksum: 480 }]);
  expect(cut).toBe(cutsAtMost);
  await admin.end();
  for (const node of all) await node.close();
});

test("nothing is done of what is sent with a statement that fails, also where a transaction should begin", async () => {
  const sql = openPool(await server.database(), { connections: 1 });
  await sql.unsafe("CREATE TABLE written (n integer)");
  const connection = await sql.pool.take();
  const tx = queriesOn(connection);
  const sent = [
    tx`INSERT INTO written VALUES (1)`,
    tx`SELECT 1 / 0`,
    tx`INSERT INTO written VALUES (2)`,
    tx`COMMIT`,
  ];
  const answers = await Promise.allSettled(sent);
  expect(answers.map(({ status }) => status)).toEqual(sent.map(() => "rejected"));
  expect(await tx`SELECT FROM written`).toHaveLength(0);
  sql.pool.give(connection);
  await sql.end();
});

test("a server that is silent is given up, and found again", async () => {
  const { url, all, organization } = await nodes(1);
  const way = await SilentProxy.open(url);
  const node = await openPostgresLedger({
    features,
    url: way.url,
    connections: 2,
    statementTimeoutMs: 1_000,
  });
  await untilDone(() => store(node, organization, ["a"]));
  way.isSilent = true;
  await expect(store(node, organization, ["b"])).rejects.toThrow();
  way.isSilent = false;
  await untilDone(() => store(node, organization, ["b"]));
  expect(await loadAll(nodeOf(all, 0))).toEqual(["a", "b"]);
  await node.close();
  way.close();
  for (const one of all) await one.close();
});

async function untilLoaded(all: readonly PostgresLedger[]): Promise<string[]> {
  const loaded = await loadRest(nodeOf(all, 0));
  const left = await untilDone(() => nodeOf(all, 1).inbox.backlog());
  expect(left).toMatchObject({ rows: 0, bytes: 0 });
  return loaded;
}

test("a loader misses no row of a transaction that commits late, and freezes none twice", async () => {
  // With a clock of their own, so that segments are dropped on the way.
  const { all, organization } = await nodes(3, { clock: Date.now });
  const messages = Array.from({ length: 300 }, (_, n) => `m${n}`);
  let isSending = true;
  const loader = (async () => {
    const loaded: string[] = [];
    for (let n = 1; isSending; n += 1) {
      loaded.push(...(await loadAll(nodeOf(all, 0))));
      if (n % 3 === 0) await nodeOf(all, 1).tidy(Date.now() + n * 700_000);
    }
    return [...loaded, ...(await loadRest(nodeOf(all, 0)))];
  })();
  await Promise.all(
    [0, 1, 2].map(async (sender) => {
      for (let n = sender; n < messages.length; n += 3) {
        await store(nodeOf(all, sender), organization, messages.slice(n, n + 1));
      }
    }),
  );
  isSending = false;
  expect((await loader).toSorted()).toEqual(messages.toSorted());
  for (const node of all) await node.close();
});

test("nodes that identify the same users give each one number, without gaps", async () => {
  const { all, organization } = await nodes(3);
  const ids = Array.from({ length: 20 }, (_, n) => `user ${n}`);
  await Promise.all(
    all.map(async (node) => {
      for (const userId of ids.toSorted(() => Math.random() - 0.5)) {
        await untilUnlocked(() => identify(node, organization, userId));
      }
    }),
  );
  const found = await Promise.all(ids.map((userId) => nodeOf(all, 0).findUser(organization, userId)));
  const numbers = found.map((one) => one?.user.number ?? 0).toSorted((a, b) => a - b);
  expect(numbers).toEqual(ids.map((_, n) => n + 1));
  expect(found.every((one) => one?.user.version === 3)).toBe(true);
  expect(await nodeOf(all, 2).populations(organization)).toEqual({
    users: 20,
    userVersions: 60,
    accounts: 20,
    accountVersions: 60,
    versionRows: { rows: 60, versions: 120 },
    accountVersionRows: { rows: 0, versions: 0 },
  });
  for (const node of all) await node.close();
});

test("a user whom another node has just identified is known", async () => {
  const { all, organization } = await nodes(2);
  for (const userId of ["ada", "bob"]) {
    await identify(nodeOf(all, 0), organization, userId);
    let known = false;
    await nodeOf(all, 1).transact(needs({ known: [{ organization, userId }] }), (stored) => {
      known = stored.known(organization, userId) !== undefined;
      return writes(1, {});
    });
    expect(known).toBe(true);
  }
  for (const node of all) await node.close();
});

test("one node loads at a time, and one that comes back late is refused", async () => {
  const { url, all, organization } = await nodes(2);
  const [first, second] = [nodeOf(all, 0), nodeOf(all, 1)];
  await store(first, organization, ["a"]);
  const [batch] = await first.inbox.freeze(10);
  if (batch === undefined) throw new Error("nothing was frozen");
  expect(await second.inbox.freeze(10)).toEqual([]);
  await expect(second.inbox.finish(batch.number, [])).rejects.toThrow("Another node has taken over");
  // The first stands still for longer than its lease.
  const admin = openPool(url, { connections: 1 });
  await admin`UPDATE loader_lease SET until = '-infinity'`;
  expect(await second.inbox.freeze(10)).toEqual([batch]);
  await admin`UPDATE loader_lease SET until = '-infinity'`;
  await expect(first.inbox.read(batch)).rejects.toThrow("Another node has taken over");
  await expect(first.inbox.finish(batch.number, [])).rejects.toThrow("Another node has taken over");
  await admin.end();
  for (const node of all) await node.close();
});

test("a node whose clock is hours ahead drops nothing that was loaded within the hour", async () => {
  const { all, organization } = await nodes(2);
  const [first, second] = [nodeOf(all, 0), nodeOf(all, 1)];
  await store(first, organization, ["a"]);
  const [batch] = await first.inbox.freeze(10);
  if (batch === undefined) throw new Error("nothing was frozen");
  await first.inbox.finish(batch.number, []);
  for (const hours of [2, 4]) {
    await second.tidy(Date.now() + hours * 3_600_000);
    await store(first, organization, [`after ${hours}`]);
    await loadAll(first);
  }
  expect((await first.inbox.read(batch)).length).toBe(batch.bytes);
  for (const node of all) await node.close();
});

test("settings of a connection are said when it is open, since PgBouncer refuses them before", async () => {
  const sql = openPool(await server.database(), { connections: 1, statementTimeoutMs: 9_000 });
  const found = await sql<{ name: string; setting: string; source: string }[]>`
    SELECT name, setting, source FROM pg_settings
    WHERE source = 'client' OR name IN ('statement_timeout', 'lock_timeout', 'synchronous_commit') ORDER BY name`;
  await sql.end();
  const said = found.filter(({ source }) => source === "session");
  expect(said.map(({ setting }) => setting)).toEqual(["4500", "9000", "on"]);
  // Those that PgBouncer knows.
  const known = ["application_name", "client_encoding", "DateStyle"];
  const others = found.filter(({ name, source }) => source === "client" && !known.includes(name));
  expect(others).toEqual([]);
});
