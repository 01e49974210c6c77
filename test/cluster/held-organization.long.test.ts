/** An organization whose rows in PostgreSQL are locked from outside: no other organization waits for it. */
import { afterAll, expect, test } from "bun:test";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";
import { TestCluster } from "./support.ts";

const cluster = await TestCluster.start();
const admin = openPool(cluster.env.DATABASE_URL ?? "", { connections: 2 });
afterAll(() => admin.end());
const node = await cluster.node();

/** Locks an organization's row, as a slow transaction of another node does. @returns what ends that */
function hold(organization: number): Promise<() => Promise<void>> {
  return holdBy(`SELECT FROM populations WHERE organization = ${organization} FOR UPDATE`);
}

/** Holds the locks that a statement takes. @returns what ends that */
async function holdBy(statement: string): Promise<() => Promise<void>> {
  const connection = await admin.pool.take();
  await connection.script(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; ${statement}`);
  return async () => {
    await connection.script("ROLLBACK");
    admin.pool.give(connection);
  };
}

async function writesOf(server: Server): Promise<string> {
  return ((await (await fetch(`${server.url}/readyz`)).json()) as { writes: string }).writes;
}

test("requests of others are answered while an organization is locked, and its own when it is free", async () => {
  const held = await cluster.organization("held");
  const others = await Promise.all(["one", "two", "three"].map((name) => cluster.organization(name)));
  const identify = (token: string, n: number) =>
    node
      .post("/identify", token, { userId: `u${n}`, email: `u${n}@example.com` })
      .then(({ status }) => status);
  for (const { token } of [held, ...others]) expect(await identify(token, 0)).toBe(201);
  const release = await hold(held.id);
  const answered: number[] = [];
  const heldUp: Promise<unknown>[] = [];
  const own = (path: string, body: object) => {
    heldUp.push(node.post(path, held.token, body).then(({ status }) => answered.push(status)));
  };
  const ofOthers: Promise<number>[] = [];
  for (let n = 1; n <= 30; n += 1) {
    own("/identify", { userId: `u${n}`, email: `u${n}@example.com` });
    for (const { token } of others) ofOthers.push(identify(token, n));
  }
  const batch = Array.from({ length: 200 }, (_, n) => ({
    type: "alias",
    previousId: `visitor-${n}`,
    userId: `person-${n}`,
    messageId: `m${n}`,
  }));
  own("/v1/batch", { batch });
  expect(await Promise.all(ofOthers)).toEqual(ofOthers.map(() => 201));
  // All that the node has under way now is the held organization's.
  for (const { token } of others) expect(await identify(token, 31)).toBe(201);
  expect(answered).toEqual([]);
  await release();
  await Promise.all(heldUp);
  expect(answered.toSorted()).toEqual([200, ...Array(30).fill(201)]);
  const [count] = await admin<
    { users: number }[]
  >`SELECT users FROM populations WHERE organization = ${held.id}`;
  expect(count?.users).toBe(31);
});

test("an organization that is locked has room for so many requests, and others are answered when it is used up", async () => {
  const held = await cluster.organization("held, and sending much");
  const other = await cluster.organization("sending little");
  for (const { token } of [held, other]) {
    expect((await node.post("/identify", token, { userId: "ada", email: "ada@example.com" })).status).toBe(
      201,
    );
  }
  const release = await hold(held.id);
  const waiting: Promise<number>[] = [];
  let refused: unknown;
  while (refused === undefined) {
    const batch = Array.from({ length: 1_000 }, (_, n) => ({
      type: "identify",
      userId: `u${waiting.length}-${n}`,
      email: `u${n}@example.com`,
    }));
    const answered = node.post("/batch", held.token, { batch }).then(async (response) => {
      const { message } = (await response.json()) as { message?: string };
      // A busy machine may answer later than it is waited for here.
      refused ??= [response.status, message];
      return response.status;
    });
    waiting.push(answered);
    // Those that wait are not answered.
    await Promise.race([answered, Bun.sleep(200)]);
  }
  expect(refused).toEqual([
    429,
    "Too many requests: earlier requests of this organization wait to be stored. Please send again later.",
  ]);
  const seen = { userId: "ada", event: "seen" };
  expect((await node.post("/track", other.token, seen)).status).toBe(201);
  expect((await node.post("/v1/track", other.token, seen)).status).toBe(200);
  expect((await node.post("/v1/track", held.token, seen)).status).toBe(429);
  expect(await writesOf(node)).toBe("open");
  await release();
  const stored = (await Promise.all(waiting)).filter((status) => status !== 429);
  expect(stored).toEqual(Array(5).fill(201));
  expect((await node.post("/track", held.token, seen)).status).toBe(201);
});

test("a lock that is no organization's is waited for for longer, and /readyz tells of it", async () => {
  const other = await cluster.organization("waits for a table");
  const release = await holdBy("LOCK TABLE users IN ACCESS EXCLUSIVE MODE");
  const identify = () => node.post("/identify", other.token, { userId: "ada", email: "ada@example.com" });
  expect((await identify()).status).toBe(500);
  expect(await writesOf(node)).toBe("failing, see the log");
  await release();
  expect((await identify()).status).toBe(201);
  expect(await writesOf(node)).toBe("open");
});

test("the loader freezes what others have written while an organization is locked", async () => {
  const held = await cluster.organization("held, and loaded");
  const other = await cluster.organization("loaded");
  for (const { token } of [held, other]) {
    await node.post("/identify", token, { userId: "ada", email: "ada@example.com" });
  }
  const release = await hold(held.id);
  const waiting = node.post("/identify", held.token, { userId: "bea", email: "bea@example.com" });
  await until("the organization's request waits", async () => {
    const found = await admin`
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%populations%'`;
    return found.length > 0;
  });
  expect((await node.post("/track", other.token, { userId: "ada", event: "seen" })).status).toBe(201);
  const [inbox] = await admin<{ locks: number }[]>`
    SELECT count(*) AS locks FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND pg_locks.mode = 'ShareLock' AND wait_event_type = 'Lock'
      AND query LIKE '%populations%'`;
  // A request that waits for the organization must not hold a lock of the inbox. The loader would wait for
  // it.
  expect(inbox?.locks).toBe(0);
  expect((await cluster.ledger.inbox.freeze(1_000)).length).toBeGreaterThan(0);
  await release();
  expect((await waiting).status).toBe(201);
});
