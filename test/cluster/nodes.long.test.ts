/** Two intake nodes and two analysis nodes on one PostgreSQL and one ClickHouse: what they know of each
 * other. */
import { afterAll, expect, test } from "bun:test";
import { settingUp } from "../../server/ledger/audit.ts";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { inTransaction } from "../../server/ledger/postgres/transaction.ts";
import { joined } from "../people/support.ts";
import { Watching } from "../people/watching.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";
import { type AnalysisNode, TestCluster } from "./support.ts";

const cluster = await TestCluster.start();
const admin = openPool(cluster.env.DATABASE_URL ?? "", { connections: 2 });
afterAll(() => admin.end());
const analysis: readonly AnalysisNode[] = [await cluster.analysis(), await cluster.analysis()];
const nodes: readonly [Server, Server] = [await cluster.node(), await cluster.node()];
await Promise.all(nodes.map((node) => node.ready()));

function statusOf(node: Server, token: string): Promise<number> {
  return node.post("/identify", token, { userId: "u1", email: "a@example.com" }).then(({ status }) => status);
}

async function ask(node: Server, key: string, path: string): Promise<Response> {
  return fetch(node.url + path, { headers: { Authorization: `Bearer ${key}` } });
}

test("data that one node stores is read through another, whichever analysis node answers", async () => {
  const { token, key } = await cluster.organization("asked");
  expect(await statusOf(nodes[0], token)).toBe(201);
  const tracked = await nodes[1].post("/track", token, { userId: "u1", event: "report_created" });
  expect(tracked.status).toBe(201);
  await until("the event is seen", async () => {
    const answers = await Promise.all(
      [0, 1, 2, 3].map((n) => ask(nodes[n % 2 === 0 ? 0 : 1], key, "/api/events")),
    );
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    return texts.every((text) => text.includes("report_created"));
  });
  const csv = await ask(nodes[0], key, "/api/users?format=csv");
  expect(csv.headers.get("content-type")).toContain("text/csv");
  expect(await csv.text()).toContain("u1");
});

test("a node's analysis answers only requests with the nodes' key", async () => {
  const [{ url } = { url: "" }] = await admin<
    { url: string }[]
  >`SELECT url FROM nodes WHERE url IS NOT NULL LIMIT 1`;
  for (const headers of [{}, { Authorization: "Bearer wrong" }]) {
    expect((await fetch(`${url}/status`, { headers })).status).toBe(401);
    expect((await fetch(`${url}/call`, { method: "POST", headers })).status).toBe(401);
  }
});

test("metrics of an intake node have those of the analysis node that leads", async () => {
  const [{ key } = { key: "" }] = await admin<{ key: string }[]>`SELECT key FROM node_key`;
  const urls = () => admin<{ url: string }[]>`SELECT url FROM nodes WHERE leader_says IS NOT NULL`;
  await until(
    "one leads",
    async () => await urls(),
    ({ length }) => length === 1,
  );
  const [{ url } = { url: "" }] = await urls();
  const startOf = (text: string) => /^rekindle_analysis_process_start_time_seconds .*$/m.exec(text)?.[0];
  const headers = { Authorization: `Bearer ${key}` };
  const own = startOf(await (await fetch(`${url}/metrics`, { headers })).text());
  expect(own).toBeString();
  for (const node of nodes) {
    // A node shows the result of its last look, before which there may have been no leader.
    const shown = await until(
      "the leader's are shown",
      async () => (await fetch(`${node.url}/metrics`)).text(),
      (text) => startOf(text) === own && /^rekindle_loader_failing 0$/m.test(text),
    );
    const explained = [...shown.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]);
    expect(new Set(explained).size).toBe(explained.length);
  }
});

test("a revoked token is refused by every node, also by one that cannot be notified", async () => {
  const { token } = await cluster.organization("revoked");
  for (const node of nodes) expect(await statusOf(node, token)).toBe(201);
  const [{ id } = { id: 0 }] = await admin<{ id: number }[]>`SELECT max(id) AS id FROM tokens`;
  await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()`;
  // Nodes look for changes in this table, and now wait for it.
  await inTransaction(admin, async (tx) => {
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await tx`LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE`;
    const revoking = openPool(cluster.env.DATABASE_URL ?? "", { connections: 1 });
    await revoking`UPDATE tokens SET revoked_at_ms = 1 WHERE id = ${id}`;
    const revokedMs = performance.now();
    await revoking.end();
    for (const node of nodes) {
      await until("it is refused", async () => {
        const askedMs = performance.now();
        const status = await statusOf(node, token);
        if (askedMs - revokedMs > 1_000) expect(status).not.toBe(201);
        return status === 401;
      });
    }
  });
});

test("a token that is made on one machine is known everywhere at once, and a list shows it", async () => {
  await cluster.organization("made");
  const token = (await cluster.command("token", "create", "--organization", "made")).trim();
  for (const node of nodes) expect(await statusOf(node, token)).toBe(201);
  expect(await cluster.command("token", "list", "--organization", "made")).toContain(token.slice(-4));
});

/** Nodes are waited for 5 s, and a list may lack what one that is slower has counted. */
const waitedMs = 5_000;

/** Counts something new, and asks for the list of it, again while a node may have been too slow. */
async function wholeList(count: (round: number) => Promise<string>, ...command: string[]): Promise<string> {
  for (let round = 1; ; round += 1) {
    const counted = await count(round);
    const askedMs = performance.now();
    const list = await cluster.command(...command);
    if (new RegExp(counted, "m").test(list) || performance.now() - askedMs < waitedMs) return list;
  }
}

test("a token that a command has revoked is refused by every node when the command has ended", async () => {
  const { token } = await cluster.organization("ended");
  const use = async () => {
    for (const node of nodes) expect(await statusOf(node, token)).toBe(201);
    return " \\S+Z +\\S+Z +- +server$";
  };
  const [, row = ""] = (await wholeList(use, "token", "list", "--organization", "ended")).split("\n");
  // The time of the last use is known, although nodes write it down once a minute.
  expect(row).toMatch(/ \S+Z +\S+Z +- +server$/);
  await cluster.command("token", "revoke", row.split(" ")[0] ?? "");
  for (const node of nodes) expect(await statusOf(node, token)).toBe(401);
});

test("a list of warnings has those of every node, up to the moment of the question", async () => {
  const { token } = await cluster.organization("warned");
  let last = 0;
  const surprise = async (round: number) => {
    for (const [number, node] of nodes.entries()) {
      const body = { userId: "u1", email: "a@example.com", [`surprise_${round}_${number}`]: 1 };
      expect((await node.post("/identify", token, body)).status).toBe(201);
    }
    last = round;
    return `surprise_${round}_0[^]*surprise_${round}_1|surprise_${round}_1[^]*surprise_${round}_0`;
  };
  const warnings = await wholeList(surprise, "warnings", "--organization", "warned");
  expect(warnings).toContain(`surprise_${last}_0`);
  expect(warnings).toContain(`surprise_${last}_1`);
});

test("a limit is shared out over the nodes that take requests", async () => {
  const { id, token } = await cluster.organization("limited");
  expect(await statusOf(nodes[0], token)).toBe(201);
  await cluster.ledger.organizations.set(id, { requestsPerSecond: 20 }, settingUp, 1);
  const crowd = async (node: Server) => {
    const startedMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 40 }, () => node.post("/track", token, {})));
    const refused = answers.filter(({ status }) => status === 429);
    const refilled = Math.ceil(((performance.now() - startedMs) / 1_000) * 10);
    return { refused, passed: answers.length - refused.length, refilled };
  };
  for (const node of nodes) {
    await until(
      "the limit is known",
      async () => (await crowd(node)).refused,
      ({ length }) => length > 0,
    );
    // Then as much is there as ever is.
    await Bun.sleep(2_000);
    const { refused, passed, refilled } = await crowd(node);
    expect(passed).toBeLessThanOrEqual(10 + refilled);
    for (const { headers } of refused) {
      expect(headers.get("RateLimit-Limit")).toBe("20");
      expect(Number(headers.get("Retry-After"))).toBeGreaterThanOrEqual(1);
    }
  }
});

test("the live view of one node shows the requests of another", async () => {
  const { id, token } = await cluster.organization("live");
  const viewer = await joined(nodes[0], "live", "viewer", "a viewer");
  const watching = await Watching.open(nodes[0], viewer, `/api/live?organization=${id}`);
  let sent = 0;
  await until("it is seen", async () => {
    sent += 1;
    await nodes[1].post("/identify", token, { userId: `u${sent}`, email: "a@example.com" });
    return watching.items.length > 0;
  });
  const before = sent;
  await until("all is seen from then on", () => watching.items.some(({ userId }) => userId === `u${before}`));
  expect(new Set(watching.items.map((item) => item.id)).size).toBe(watching.items.length);
  watching.stop();
});

test("an import, a rebuild and the doctor work where no server runs", async () => {
  await cluster.organization("imported");
  const file = `${cluster.folder()}/users.csv`;
  await Bun.write(file, "userId,email\na,a@example.com\nb,b@example.com\n");
  const options = [
    "--organization",
    "imported",
    "--type",
    "users",
    "--user-id",
    "userId",
    "--email",
    "email",
  ];
  await cluster.command("import", file, ...options);
  const exported = await cluster.command(
    "export",
    "users",
    "--organization",
    "imported",
    "--format",
    "jsonl",
  );
  expect(exported.trim().split("\n")).toHaveLength(2);
  await cluster.command("rebuild", "--organization", "imported");
  expect(await cluster.command("doctor")).toContain("imported: ledger, events and rollups agree");
});

test("a user who is erased through one node is forgotten by all, and scores are made by the one that leads", async () => {
  const { token } = await cluster.organization("erased");
  for (const node of nodes) {
    await node.post("/identify", token, { userId: "secret-name", email: "a@example.com" });
    // The surplus field and the time in the future cause a warning that names the user. Its node counts it in
    // memory.
    await node.post("/track", token, {
      userId: "secret-name",
      event: "seen",
      surplus: 1,
      timestamp: "2099-01-01T00:00:00Z",
    });
  }
  const receipt = await cluster.command("erase", "user", "secret-name", "--organization", "erased");
  expect(JSON.parse(receipt)).toMatchObject({ userId: "secret-name" });
  // Until then a node may write down what it had counted.
  await until(
    "all have forgotten",
    async () => await admin`SELECT FROM erased_names`,
    ({ length }) => length === 0,
  );
  expect(await cluster.command("warnings", "--organization", "erased")).not.toContain("secret-name");
  await cluster.command("score", "--organization", "erased");
});

test("an account is erased, and an organization deleted, on all nodes: none writes for it any more", async () => {
  const { token, id } = await cluster.organization("deleted");
  const body = { userId: "u", email: "u@example.com", account: { id: "secret-account", name: "Secret" } };
  for (const node of nodes) expect((await node.post("/identify", token, body)).status).toBe(201);
  const receipt = await cluster.command("erase", "account", "secret-account", "--organization", "deleted");
  expect(JSON.parse(receipt)).toMatchObject({ accountId: "secret-account", members: 1 });
  await until(
    "all have forgotten",
    async () => await admin`SELECT FROM erased_names`,
    ({ length }) => length === 0,
  );
  expect(await cluster.command("doctor")).toContain("deleted: ledger, events and rollups agree");
  for (const node of nodes) await node.post("/track", token, { userId: "u", event: "seen", surplus: 1 });
  await cluster.command("organization", "delete", "deleted", "--confirm", "deleted");
  for (const node of nodes) {
    await until("the token is refused", async () => {
      const answer = await node.post("/track", token, { userId: "u", event: "late" });
      return answer.status === 401;
    });
  }
  const tables = await admin<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_name = 'organization'`;
  expect(tables.length).toBeGreaterThan(25);
  for (const { name } of tables) {
    const rows = await admin`SELECT FROM ${admin(name)} WHERE organization = ${id}`;
    expect([name, rows.length]).toEqual([name, 0]);
  }
  expect(await admin`SELECT FROM organizations WHERE id = ${id}`).toHaveLength(0);
});

test("an analysis node at whose address another one answers is not asked in circles", async () => {
  const { id } = await cluster.organization("misdirected");
  const [{ key } = { key: "" }] = await admin<{ key: string }[]>`SELECT key FROM node_key`;
  const [leader] = await admin<{ id: string; url: string }[]>`
    SELECT id::text AS id, url FROM nodes WHERE leader_says IS NOT NULL`;
  const follower = analysis.find(({ url }) => url !== leader?.url);
  // As if both had the NODE_URL http://localhost:8081.
  await admin`UPDATE nodes SET url = ${follower?.url ?? ""} WHERE id = ${leader?.id ?? ""}`;
  await until("it is said", async () => {
    const answer = await fetch(`${follower?.url}/call`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}` },
      body: JSON.stringify({ operation: "analysis.check", parameters: [id] }),
    });
    return (await answer.text()).includes("NODE_URL");
  });
  await admin`UPDATE nodes SET url = ${leader?.url ?? ""} WHERE id = ${leader?.id ?? ""}`;
});

test("when the analysis node that leads is killed the other answers, and leads", async () => {
  const { key } = await cluster.organization("left");
  const [leader] = await admin<{ id: string; url: string }[]>`
    SELECT id::text AS id, url FROM nodes WHERE leader_says IS NOT NULL`;
  analysis.find(({ url }) => url === leader?.url)?.process.kill("SIGKILL");
  for (let n = 0; n < 20; n += 1) {
    const answer = await ask(nodes[n % 2 === 0 ? 0 : 1], key, "/api/events");
    expect(answer.status).toBe(200);
  }
  // As if the 30 seconds of its lease had passed.
  await admin`UPDATE loader_lease SET until = '-infinity'`;
  await until("the other leads", async () => {
    const leaders = await admin<{ id: string }[]>`
      SELECT id::text AS id FROM nodes WHERE leader_says IS NOT NULL`;
    return leaders.some(({ id }) => id !== leader?.id);
  });
});
