/** `rekindle doctor` in a cluster, by the command line. It prints the servers' faults before it opens
 * anything. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { rekindleWith, run } from "../server.ts";
import { root } from "../tidy/source-files.ts";
import { becomes, until } from "../until.ts";
import { TestCluster } from "./support.ts";

/** An address without a listener. */
const nowhere = "127.0.0.1:1";
const cluster = await TestCluster.start();

test("PostgreSQL and ClickHouse that do not answer are named, without their passwords", async () => {
  const { exitCode, stdout, stderr } = await rekindleWith(
    cluster.folder(),
    {
      DATABASE_URL: `postgres://someone:secret@${nowhere}/x`,
      CLICKHOUSE_URL: `http://a:secret@${nowhere}/x`,
    },
    "doctor",
  );
  expect(exitCode).toBe(1);
  expect(stdout).toContain("WRONG  answers: connect ECONNREFUSED");
  expect(stdout).toMatch(/ClickHouse\n {2}WRONG {2}answers: .*: see CLICKHOUSE_URL/);
  expect(stdout).toContain("were not compared");
  expect(stdout + stderr).not.toContain("secret");
});

test("failed checks of PostgreSQL are printed beside the passed ones", async () => {
  const url = await cluster.postgres.database();
  const sql = openPool(url, { connections: 1 });
  await sql.unsafe(`ALTER DATABASE ${new URL(url).pathname.slice(1)} CONNECTION LIMIT 8`);
  await sql.end();
  const { exitCode, stdout } = await rekindleWith(
    cluster.folder(),
    { DATABASE_URL: url, CLICKHOUSE_URL: `http://${nowhere}/x` },
    "doctor",
  );
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/ok {5}version: 18/);
  expect(stdout).toContain("ok     accepts writes: yes");
  expect(stdout).toMatch(/WRONG {2}connections: .* and 8 are allowed: raise max_connections/);
});

test("failed checks of ClickHouse are printed before a warehouse is opened on it", async () => {
  cluster.clickhouse.plan(/^CHECK GRANT ALTER/, { kind: "answer", body: "0\n" });
  const { exitCode, stdout } = await rekindleWith(
    cluster.folder(),
    { ...cluster.env, DATABASE_URL: `postgres://someone@${nowhere}/x` },
    "doctor",
  );
  expect(exitCode).toBe(1);
  expect(stdout).toContain("WRONG  rights: this user lacks ALTER on cluster: GRANT them");
  expect(stdout).toMatch(/ok {5}clock: \d+\.\d s (behind|ahead of) this machine's/);
});

/** To make all tables by HTTP takes 10 s on a busy machine, which no other test has to wait for. */
const patienceMs = 5 * 60_000;

async function wellCluster(): Promise<void> {
  const analysisFolder = cluster.folder();
  const analysis = await cluster.analysis({ DATA_DIR: analysisFolder });
  const intake = await cluster.node("intake");
  await becomes(async () => (await fetch(`${intake.url}/readyz`)).status, 200);
  const printed = await cluster.command("doctor");
  expect(printed).toContain("ok     nodes: 1 with the role intake, 1 with analysis, version");
  expect(printed).toMatch(/ClickHouse\n {2}ok {5}version: 26/);
  expect(printed).toContain("ok     settings: can be set");
  expect(printed).toContain("ok     deduplication: rows that are sent twice under one token are stored once");
  expect(printed).toContain("default: ledger, events and rollups agree");
  expect(printed).not.toContain("WRONG");
  const health = (env: Record<string, string>) =>
    run([process.execPath, join(root, "cli/health.ts")], { env: { ...process.env, ...cluster.env, ...env } });
  const { port } = new URL(intake.url);
  expect((await health({ PORT: port, DATA_DIR: intake.dataDir })).exitCode).toBe(0);
  expect(await health({ PORT: "1", DATA_DIR: analysisFolder })).toMatchObject({ exitCode: 0 });
  await intake.stop();
  analysis.process.kill("SIGTERM");
  await analysis.process.exited;
  expect((await health({ PORT: "1", DATA_DIR: analysisFolder })).exitCode).toBe(1);
}

test(
  "a cluster that is well is well, and its nodes are counted; each passes the container's health check",
  wellCluster,
  patienceMs,
);

async function secondLedger(): Promise<void> {
  const env = { ...cluster.env, DATABASE_URL: await cluster.postgres.database() };
  const node = await cluster.node("all", env);
  await until("it says what is wrong", async () => {
    const ready = await fetch(`${node.url}/readyz`);
    return ready.status === 503 && (await ready.text()).includes("belongs to another ledger");
  });
  await node.stop();
  const { exitCode, stdout } = await rekindleWith(cluster.folder(), env, "doctor");
  expect(exitCode).toBe(1);
  expect(stdout).toContain("WRONG  ledger: the database in CLICKHOUSE_URL belongs to another ledger than");
  expect(stdout).toContain("were not compared");
  expect(await cluster.command("doctor")).toContain("ok     ledger: the one in DATABASE_URL");
}

test(
  "a second ledger on a warehouse in use is refused, on /readyz and by doctor: its rows would be dropped there",
  secondLedger,
  patienceMs,
);
