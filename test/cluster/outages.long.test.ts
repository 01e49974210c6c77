/** One of the servers is away: the node says so, takes what it can, and goes on by itself when the server is
 * back. */
import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { SilentProxy } from "../ledger/silent-proxy.ts";
import { until } from "../until.ts";
import { TestCluster } from "./support.ts";

/** Of PostgreSQL, in the folder that its address names. */
const socketName = ".s.PGSQL.5432";
const cluster = await TestCluster.start();
const node = await cluster.node("all");
await node.ready();

async function readiness(): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${node.url}/readyz`);
  return { status: answer.status, text: await answer.text() };
}

test("while ClickHouse is away writes go on, and everything is loaded afterwards", async () => {
  const { token, key } = await cluster.organization("loaded later");
  const identified = await node.post("/identify", token, { userId: "u1", email: "a@example.com" });
  expect(identified.status).toBe(201);
  await cluster.clickhouse.leave();
  await until(
    "it is not ready",
    async () => (await readiness()).text,
    (seen) => seen.includes("ClickHouse does not answer"),
  );
  expect(await readiness()).toMatchObject({ status: 503 });
  for (let n = 0; n < 50; n += 1) {
    const tracked = await node.post("/track", token, {
      userId: "u1",
      event: "while_away",
      messageId: `m${n}`,
    });
    expect(tracked.status).toBe(201);
  }
  const figures = await fetch(`${node.url}/api/events`, { headers: { Authorization: `Bearer ${key}` } });
  expect(figures.status).toBe(500);
  expect(await figures.text()).toContain("analysis is starting");
  await cluster.clickhouse.listen();
  await until(
    "it is ready",
    async () => (await readiness()).status,
    (seen) => seen === 200,
  );
  const events = await node.exported("events", "loaded later");
  expect(events.map(({ messageId }) => messageId).toSorted()).toEqual(
    Array.from({ length: 50 }, (_, n) => `m${n}`).toSorted(),
  );
});

test("a ClickHouse that refuses is reported differently from one that is away, without its own message", async () => {
  cluster.clickhouse.plan(/^SELECT 1/, { kind: "fail", code: 164, text: "secret is read-only" }, 1_000);
  await until(
    "it is said",
    async () => (await readiness()).text,
    (seen) => seen.includes("ClickHouse refuses the user"),
  );
  expect((await readiness()).text).not.toContain("secret");
  cluster.clickhouse.forget();
  await until(
    "it is ready",
    async () => (await readiness()).status,
    (seen) => seen === 200,
  );
});

test("while PostgreSQL is away nothing is acknowledged, and the node comes back by itself", async () => {
  const { token } = await cluster.organization("kept");
  await node.post("/identify", token, { userId: "u1", email: "a@example.com" });
  await cluster.postgres.kill();
  const refused = await node.post("/track", token, { userId: "u1", event: "lost", messageId: "lost" });
  expect(refused.status).toBe(500);
  await until(
    "it is not ready",
    async () => (await readiness()).text,
    (seen) => seen.includes("PostgreSQL does not answer"),
  );
  expect(await readiness()).toMatchObject({ status: 503 });
  await cluster.postgres.restart();
  await until(
    "it is ready",
    async () => (await readiness()).status,
    (seen) => seen === 200,
  );
  await until("it takes writes", async () => {
    const tracked = await node.post("/track", token, { userId: "u1", event: "kept", messageId: "kept" });
    return tracked.status === 201;
  });
  const events = await node.exported("events", "kept");
  expect(events.map(({ messageId }) => messageId)).toEqual(["kept"]);
});

test("a node writes nothing after a newer one has changed the ledger's form, and says what to do", async () => {
  const { token } = await cluster.organization("newer form");
  const identify = () => node.post("/identify", token, { userId: "u1", email: "a@example.com" });
  await until(
    "it takes writes",
    async () => (await identify()).status,
    (seen) => seen === 201,
  );
  const sql = openPool(cluster.env.DATABASE_URL ?? "", { connections: 1 });
  const leads = async () =>
    (
      await sql`SELECT 1 FROM nodes WHERE leader_says IS NOT NULL AND heartbeat > clock_timestamp() - interval '10 s'`
    ).length > 0;
  await until("it leads", leads);
  await sql`UPDATE ledger_form SET steps = steps + 1`;
  await until(
    "it says so",
    async () => (await readiness()).text,
    (seen) => seen.includes("upgrade this node"),
  );
  expect(await readiness()).toMatchObject({ status: 503 });
  expect((await identify()).status).toBe(500);
  await until("it does not lead", async () => !(await leads()));
  await sql`UPDATE ledger_form SET steps = steps - 1`;
  await sql.end();
  await until(
    "it takes writes",
    async () => (await identify()).status,
    (seen) => seen === 201,
  );
});

test("a node that is started before PostgreSQL waits for it, and says so", async () => {
  const address = new URL(cluster.env.DATABASE_URL ?? "");
  const socket = join(address.searchParams.get("host") ?? "", socketName);
  // A place of its own, because the other node asks PostgreSQL all the time.
  const folder = cluster.folder();
  address.searchParams.set("host", folder);
  const asked = Promise.withResolvers<void>();
  const deaf = createServer((connection) => {
    connection.destroy();
    asked.resolve();
  }).listen(join(folder, socketName));
  const starting = cluster.node("intake", { DATABASE_URL: address.href, LOG_LEVEL: "info" });
  await asked.promise;
  await new Promise((resolve) => deaf.close(resolve));
  symlinkSync(socket, join(folder, socketName));
  const started = await starting;
  expect(started.output()).toContain("waiting for PostgreSQL");
  expect(started.output()).not.toContain("secret");
  await until("it takes writes", async () => (await fetch(`${started.url}/healthz`)).ok);
});

test("a node that gets SIGTERM stops while PostgreSQL is silent, also with an open request", async () => {
  const { token } = await cluster.organization("left");
  const way = await SilentProxy.open(cluster.env.DATABASE_URL ?? "");
  const leaving = await cluster.node("intake", { DATABASE_URL: way.url });
  const identify = () => leaving.post("/identify", token, { userId: "u1", email: "a@example.com" });
  expect((await identify()).status).toBe(201);
  way.isSilent = true;
  const inHand = identify().then(
    ({ status }) => status,
    () => "cut off",
  );
  expect(await leaving.kill("SIGTERM")).toBe(0);
  expect(await inHand).not.toBe(201);
  way.close();
});
