/** The choice of the leader while ClickHouse cannot be reached, is silent, or takes no rows, and a change of
 * it between two chunks of a rule. */
import { afterAll, expect, test } from "bun:test";
import { commandLine } from "../../server/ledger/audit.ts";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { nodeKey } from "../../server/ledger/postgres/nodes.ts";
import { inTransaction } from "../../server/ledger/postgres/transaction.ts";
import { nodePeer } from "../../server/process/control.ts";
import { openClickHouseWarehouse } from "../../server/warehouse/engine/clickhouse.ts";
import { freePort } from "../deploy/running.ts";
import { alertRule } from "../ledger/alert-decision.ts";
import { until } from "../until.ts";
import { type AnalysisNode, TestCluster } from "./support.ts";

const cluster = await TestCluster.start();
const admin = openPool(cluster.env.DATABASE_URL ?? "", { connections: 2 });
afterAll(() => admin.end());
const intake = await cluster.node();
/** Scores and rules are looked at every second, and not every ten. */
const often = { scheduleMs: 1_000, actionsMs: 1_000 };

async function analysisNodes(): Promise<number> {
  return (await admin`SELECT FROM nodes WHERE role = 'analysis'`).length;
}

async function isLeaseFree(): Promise<boolean> {
  return (await admin`SELECT FROM loader_lease WHERE until > clock_timestamp()`).length === 0;
}

async function textAt({ url }: AnalysisNode, path: string): Promise<string> {
  const answer = await nodePeer(url, await nodeKey(admin)).fetch(path);
  return answer.text();
}

async function loadedUpto(newestInboxId: number): Promise<boolean> {
  return (await cluster.ledger.inbox.backlog()).loadedUptoInboxId >= newestInboxId;
}

/** Stores something. @returns its inbox id */
async function stored(organization: string): Promise<number> {
  const { token } = await cluster.organization(organization);
  const answer = await intake.post("/identify", token, { userId: "u1", email: "a@example.com" });
  expect(answer.status).toBe(201);
  return (await cluster.ledger.inbox.backlog()).newestInboxId;
}

test("a node that cannot reach ClickHouse leaves leading to one that can, which leaves while ClickHouse is silent", async () => {
  const away = await cluster.analysis({ CLICKHOUSE_URL: `http://127.0.0.1:${await freePort()}/cluster` });
  await until("it says that it waits", async () => {
    if ((await analysisNodes()) === 0) return false;
    return (await textAt(away, "/status").catch(() => "")).includes("nothing listens there");
  });
  // It would have asked for the lease before.
  expect(await isLeaseFree()).toBe(true);
  const leader = await cluster.analysis();
  const newest = await stored("led");
  await until("it is loaded", () => loadedUpto(newest));
  away.process.kill("SIGTERM");
  await away.process.exited;

  cluster.clickhouse.plan(/./, { kind: "hang" }, Number.POSITIVE_INFINITY);
  try {
    const ofBatches = /^INSERT INTO user(s|_versions) /;
    const inserts = () => cluster.clickhouse.queries.filter(({ sql }) => ofBatches.test(sql)).length;
    // Counted before: the loader may send the batch while the request is answered.
    const count = inserts();
    await stored("not loaded yet");
    await until(
      "it inserts in vain",
      () => inserts(),
      (seen) => seen > count,
    );
    leader.process.kill("SIGTERM");
    // An insert that is not answered is given up after five minutes, which is longer than this test may take.
    expect(await leader.process.exited).toBe(0);
    // It gives the lease back, or PostgreSQL is so slow that the lease ends before.
    await until("the lease is free", isLeaseFree);
  } finally {
    cluster.clickhouse.forget();
  }
});

test("a leader whose first batch cannot be inserted says why, and goes on when it can", async () => {
  const newest = await stored("full");
  const fault = { kind: "fail", code: 243, text: "no space left" } as const;
  cluster.clickhouse.plan(/INSERT INTO (events|users|accounts)/, fault, Number.POSITIVE_INFINITY);
  const leader = await cluster.analysis();
  await until("it says why", async () => {
    return (await textAt(leader, "/status").catch(() => "")).includes("no space left");
  });
  expect(await textAt(leader, "/metrics")).toMatch(/^rekindle_loader_failing(\{.*\})? 1$/m);
  cluster.clickhouse.forget();
  await until("it is loaded", () => loadedUpto(newest));
  await until("it says so", async () => (await textAt(leader, "/status")).includes('"failure":null'));
  leader.process.kill("SIGTERM");
  await leader.process.exited;
});

const dayMs = 86_400_000;

/** Stores the events of a user on four days. @returns the organization's id */
async function usedForDays(organization: string): Promise<number> {
  const { id, token } = await cluster.organization(organization);
  await intake.post("/identify", token, { userId: "u1", email: "a@example.com" });
  for (const daysAgo of [3, 2, 1, 0]) {
    const timestamp = new Date(Date.now() - daysAgo * dayMs).toISOString();
    const tracked = await intake.post("/track", token, { userId: "u1", event: "used", timestamp });
    expect(tracked.status).toBe(201);
  }
  return id;
}

test("scores that one leader has made are not made again by the next", async () => {
  const first = await cluster.analysis({}, often);
  const organization = await usedForDays("scored once");
  await until("it is ready", async () => (await fetch(`${intake.url}/readyz`)).ok);
  const warehouse = await openClickHouseWarehouse({
    url: cluster.env.CLICKHOUSE_URL ?? "",
    migrates: false,
  });
  // The day that ended last, whatever day begins meanwhile.
  const since = Math.floor(Date.now() / dayMs) - 1;
  const runs = (of: number) =>
    warehouse.rows<{ kind: string; day: string; version: number; body: string }>(
      `SELECT kind, day, version, body FROM score_records FINAL
       WHERE organization = {of:UInt32} AND what = 'run' AND toInt32(day) >= {since:UInt32} ORDER BY kind, day`,
      { of, since },
    );
  const isScored = async (of: number) => new Set((await runs(of)).map(({ kind }) => kind)).size === 2;
  await until("users and accounts are scored", () => isScored(organization));
  const made = await runs(organization);
  const next = await cluster.analysis({}, often);
  first.process.kill("SIGTERM");
  await first.process.exited;
  // A round looks at the organizations in their order.
  const later = await usedForDays("scored later");
  await until("the next scores", () => isScored(later));
  // Of the next day there may be others by now.
  expect(await runs(organization)).toEqual(expect.arrayContaining(made));
  await warehouse.close();
  next.process.kill("SIGTERM");
  await next.process.exited;
});

/** More than a chunk holds. */
const usersOfRule = 150;

/** An organization whose rule fires for all of its users, once they have scores. @returns the rule's id, and
 * the organization's */
async function ruleForMany(name: string) {
  const { id, token } = await cluster.organization(name);
  const nowMs = Date.now();
  const batch = Array.from({ length: usersOfRule }, (_, n) => `user ${n}`).flatMap((userId) => [
    { type: "identify", userId, email: `${userId.replace(" ", ".")}@example.com` },
    ...[3, 2, 1, 0].map((daysAgo) => ({
      type: "track",
      userId,
      event: "used",
      timestamp: new Date(nowMs - daysAgo * dayMs).toISOString(),
    })),
  ]);
  for (let from = 0; from < batch.length; from += 500) {
    const stored = await intake.post("/batch", token, { batch: batch.slice(from, from + 500) });
    expect(stored.status).toBe(201);
  }
  const hook = { kind: "webhook", name: "hook", address: "https://example.org/", notices: [] } as const;
  const { destinations, alertRules } = cluster.ledger;
  const to = await destinations.add(id, { ...hook, secrets: ["whsec_a"] }, commandLine, nowMs);
  await destinations.change(id, to.id, { state: "paused" }, commandLine, nowMs);
  const condition = { kind: "state", state: "new" } as const;
  const wanted = { ...alertRule, condition, cap: 1_000, destinations: [to.id] };
  return { organization: id, rule: (await alertRules.add(id, wanted, commandLine, nowMs)).id };
}

test("a leader that wakes up after another one went on between two chunks of a rule commits nothing", async () => {
  const { organization, rule } = await ruleForMany("decided once");
  const mark = async () => {
    const [found] = await cluster.ledger.ruleDecisions.toDecide(organization);
    if (found?.version.rule !== rule) throw new Error("the rule is not decided");
    return found.watermark;
  };
  const former = await cluster.analysis({}, often);
  const locked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  // The last chunk of a day reads the destinations before its transaction begins.
  const lock = inTransaction(admin, async (tx) => {
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await tx`LOCK TABLE destinations IN ACCESS EXCLUSIVE MODE`;
    locked.resolve();
    await gone.promise;
  });
  await Promise.race([locked.promise, lock]);
  await until(
    "the first chunk is committed",
    async () => (await mark()).part,
    (seen) => seen !== null,
  );
  const { sequence } = await mark();
  former.process.kill("SIGSTOP");
  await admin`UPDATE loader_lease SET until = clock_timestamp() - interval '1 second'`;
  const next = await cluster.analysis({}, often);
  gone.resolve();
  await lock;
  await until(
    "the next leader decides the day",
    async () => (await mark()).decidedThrough,
    (seen) => seen !== null,
  );
  expect(await mark()).toMatchObject({ sequence: sequence + 1, part: null });
  former.process.kill("SIGCONT");
  // It waits for the look in hand.
  former.process.kill("SIGTERM");
  const { stdout, stderr } = await former.result;
  const refused =
    /"Another node has taken over.*"rule":(\d+),"msg":"an alert rule is decided at the next look"/;
  expect(Number(refused.exec(`${stdout}${stderr}`)?.[1])).toBe(rule);
  expect(await mark()).toMatchObject({ sequence: sequence + 1 });
  const alerts = await admin<{ user: number; sent: number }[]>`
    SELECT user_number AS user, is_sent AS sent FROM alerts WHERE rule = ${rule}`;
  expect([alerts.length, new Set(alerts.map(({ user }) => user)).size]).toEqual([usersOfRule, usersOfRule]);
  expect(alerts.every(({ sent }) => Number(sent) === 1)).toBe(true);
  const deliveries = await admin<{ id: string }[]>`
    SELECT message_id AS id FROM deliveries WHERE organization = ${organization}`;
  expect([deliveries.length, new Set(deliveries.map(({ id }) => id)).size]).toEqual([
    usersOfRule,
    usersOfRule,
  ]);
  next.process.kill("SIGTERM");
  await next.process.exited;
});
