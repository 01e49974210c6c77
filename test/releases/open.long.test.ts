/** Installations of earlier releases, kept by make.ts as a kill left them, open under this version with
 * everything in them. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Browser } from "../people/support.ts";
import { PostgresServer } from "../postgres.ts";
import { Server } from "../server.ts";
import { ClickHouseProcess, clickhouseDatabase, unpack } from "./kept.ts";
import { restore } from "./postgres-dump.ts";
import { type Filled, importEvents, shown } from "./recipe.ts";

interface Kept {
  readonly filled: Filled;
  readonly shown: Awaited<ReturnType<typeof shown>>;
}

const releases = readdirSync(import.meta.dir, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const work = mkdtempSync(join(tmpdir(), "rekindle-releases-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

test("a release is kept", () => expect(releases).toContain("0.1.0"));

describe.each(releases)("an installation of %s", (release) => {
  const kept = (name: string) => join(import.meta.dir, release, name);
  const json = (name: string) => JSON.parse(gunzipSync(readFileSync(kept(name))).toString());

  test("in one folder", async () => {
    const dataDir = join(work, release, "data");
    unpack(kept("data-dir.tar.gz"), dataDir);
    const before: Kept = json("data-dir-shown.json.gz");
    const server = await startedThen(before, { dataDir });
    try {
      await isWhole(server, before);
    } finally {
      await server.stop();
    }
  });

  test("in PostgreSQL and ClickHouse", async () => {
    const folder = join(work, release, "clickhouse");
    unpack(kept("cluster-warehouse.tar.gz"), folder);
    const postgres = await PostgresServer.start();
    const clickhouse = await ClickHouseProcess.start(folder);
    try {
      const DATABASE_URL = await postgres.database();
      await restore(DATABASE_URL, json("cluster-ledger.json.gz"));
      const CLICKHOUSE_URL = clickhouse.url + clickhouseDatabase;
      const env = { DATABASE_URL, CLICKHOUSE_URL, DATABASE_CONNECTIONS: "4" };
      const before: Kept = json("cluster-shown.json.gz");
      const server = await startedThen(before, { dataDir: join(work, release, "node"), env });
      try {
        await isWhole(server, before);
      } finally {
        await server.stop();
      }
    } finally {
      await clickhouse.stop();
      await postgres.stop();
    }
  });
});

/**
 * Starts a server whose clock shows the evening of the day on which the installation was kept. It is the same
 * day in Paris as in UTC. Later, more weeks of retention are complete, and held events have expired.
 */
async function startedThen({ filled }: Kept, options: { dataDir: string; env?: Record<string, string> }) {
  const aheadMs = Date.parse(`${filled.scoredOn}T20:00:00Z`) - Date.now();
  mkdirSync(options.dataDir, { recursive: true });
  return Server.start({ ...options, time: { aheadMs } });
}

/** An answer of 0.1.0, with today's name of a field. */
function inTodaysWords(answer: unknown): string {
  return JSON.stringify(answer).replaceAll('"colour":', '"healthBand":');
}

interface OldSettings {
  readonly settings: {
    readonly churnEvent: string;
    readonly healthWeights: Readonly<Record<string, number>>;
  };
}

/** Settings of 0.1.0, whose churn event is the users' churn target. Its weights of health added up to 1. */
function inTodaysTargets({ settings, ...version }: OldSettings): object {
  const { churnEvent, healthWeights, ...others } = settings;
  const percentages = Object.entries(healthWeights).map(([part, weight]) => [part, 100 * weight]);
  const user = { by: "event", event: churnEvent, undoneBy: null };
  return {
    ...version,
    settings: {
      ...others,
      healthWeights: Object.fromEntries(percentages),
      churnTargets: { user, account: { by: "silence" } },
    },
  };
}

/** Everything is shown as it was, and every credential does what it did. */
async function isWhole(server: Server, { filled, shown: before }: Kept): Promise<void> {
  await server.ready();
  expect(before.events.filter((event) => event.includes('"event":"unloaded"'))).toHaveLength(40);
  const now = await shown(server, filled);
  expect(now.events).toEqual(before.events);
  expect(now.users).toEqual(before.users);
  // 0.1.0 knew no attributes of accounts.
  expect(now.accounts.map((account) => JSON.parse(account))).toEqual(
    before.accounts.map((account) => ({ ...JSON.parse(account), properties: {} })),
  );
  // A later version may know more settings, and say more about a cell.
  expect(now.settings).toMatchObject(inTodaysTargets(before.settings as unknown as OldSettings));
  expect(now.retention.cells).toMatchObject(before.retention.cells);
  expect(now.scores).toEqual(JSON.parse(inTodaysWords(before.scores)));

  await goesOn(server, filled);
  const identified = { anonymousId: "visitor", userId: "u3", messageId: "named-at-last" };
  expect((await server.post("/v1/identify", filled.token, identified)).status).toBe(200);
  const after = await shown(server, filled);
  const added = after.events.filter((event) => !before.events.includes(event)).join("\n");
  expect(added).toContain('"event":"Held_Event"');
  expect(added).toContain('"event":"new"');
  expect(added).toContain('"event":"by_webhook"');
  expect(after.events).toHaveLength(before.events.length + 3);
  const changed = after.accounts.filter((account) => !now.accounts.includes(account));
  expect(changed.map((account) => JSON.parse(account))).toEqual([
    { id: "a1", name: "Account 1", avatar: null, properties: { tier: "gold" } },
  ]);
}

async function goesOn(server: Server, { token, revokedToken, owner, webhook }: Filled): Promise<void> {
  const account = { id: "a1", name: "Account 1", properties: { tier: "gold" } };
  const member = { userId: "in an account of before", email: "new@example.com", account };
  expect((await server.post("/identify", token, member)).status).toBe(201);
  const event = { userId: "u1", event: "new" };
  expect((await server.post("/track", token, event)).status).toBe(201);
  expect((await server.post("/track", revokedToken, event)).status).toBe(401);
  expect((await server.post("/track", token, { ...event, userId: "u58" })).status).toBe(404);
  const hooked = { person: "u1", what: "by_webhook", when: "2026-10-01T00:00:00Z" };
  expect((await server.post(webhook, undefined, hooked)).status).toBe(200);
  const unsigned = await server.post(`/v1/webhooks/stripe/${token}`, undefined, {});
  expect(unsigned.status).toBe(400);
  await importEvents(server);

  const browser = new Browser(server);
  await browser.json("POST", "/api/session", owner, 201);
  const session = await browser.json<{ organizations: { id: number; role: string }[] }>(
    "GET",
    "/api/session",
  );
  expect(session.organizations.map(({ role }) => role)).toEqual(["owner"]);
  const ask = (path: string) => browser.json(`GET`, `${path}?organization=${session.organizations[0]?.id}`);
  expect(await ask("/api/members")).toMatchObject({
    members: [{ name: "Olga Owner" }, { name: "Vera Viewer", role: "viewer" }],
  });
  expect(await ask("/api/views")).toMatchObject({ views: [{ name: "Pro", query: "plan=pro" }] });
  expect(await ask("/api/exclusions")).toMatchObject({ rules: [{ value: "vendor.example" }] });
  expect(await ask("/api/audit-log")).toMatchObject({ entries: expect.any(Array) });
}
