/** `rekindle migrate-to`: an installation of one machine goes on in PostgreSQL and ClickHouse, with the same
 * answers. */

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { openClickHouseWarehouse } from "../../server/warehouse/engine/clickhouse.ts";
import { TestCluster } from "../cluster/support.ts";
import { api, daysAgo, erasingKey, identify, sendAll, track } from "../erasure/support.ts";
import { zoneFarFromMidnight } from "../far-from-midnight.ts";
import { rekindle, rekindleWith, Server } from "../server.ts";
import { until } from "../until.ts";

const organization = "Movers & Söhne";
/** Its day does not end meanwhile: figures are compared with those of some minutes ago. */
const timezone = zoneFarFromMidnight("Asia/Kathmandu", "Asia/Tokyo");
/** Scores nothing by itself: with the scores of a week ago, lists would say which change of health is
 * usual. */
const time = { scheduleMs: null };
const since = daysAgo(90).slice(0, 10);
const dataDir = mkdtempSync(join(tmpdir(), "rekindle-moving-"));
const cluster = await TestCluster.start();
// A ledger must not be open while another is moved into it.
await cluster.ledger.close();

/** The answers of the installation to its users. */
interface Told {
  readonly figures: unknown;
  readonly events: readonly unknown[];
  readonly users: readonly unknown[];
  readonly accounts: readonly unknown[];
  readonly subscriptions: readonly unknown[];
  readonly settings: string;
  readonly tokens: string;
}

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** In no particular order. */
function sorted(rows: readonly Record<string, unknown>[]): readonly string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

async function told(server: Server, key: string): Promise<Told> {
  const paths = [
    "/api/active-users?days=100",
    `/api/retention?from=${since}&periods=12`,
    "/api/events-over-time?period=week&periods=12",
    "/api/users?limit=50&sort=risk",
    "/api/accounts?limit=20",
  ];
  // An export comes after all that waits has been loaded.
  const events = sorted(await server.exported("events", organization));
  const figures: unknown[] = [];
  for (const path of paths) {
    const response = await api(server, key, path);
    const { freshness: _, ...answer } = (await response.json()) as Record<string, unknown>;
    figures.push([path, response.status, answer]);
  }
  return {
    figures,
    events,
    users: sorted(await server.exported("users", organization)),
    accounts: sorted(await server.exported("accounts", organization)),
    subscriptions: sorted(await server.exported("subscriptions", organization)),
    settings: await server.command("settings", "show", "--organization", organization),
    tokens: await server.command("token", "list", "--organization", organization),
  };
}

function people(): object[] {
  return Array.from({ length: 60 }, (_, n) =>
    identify(`u${n}`, {
      properties: { plan: n % 3 === 0 ? "free" : "pro", odd: "\u0000\\'\n" },
      account: {
        id: `a${n % 7}`,
        name: `Account ${n % 7}`,
        createdAt: daysAgo(200),
        updatedAt: daysAgo(100),
        properties: { tier: n % 2 === 0 ? "gold" : "iron", odd: "\u0000\\'\n" },
      },
    }),
  );
}

function happenings(): object[] {
  return Array.from({ length: 3_000 }, (_, n) =>
    track(`u${n % 60}`, `event-${n % 5}`, daysAgo((n * 7) % 90), {
      messageId: `m${n}`,
      properties: { page: `p${n % 11}` },
    }),
  );
}

/** A subscription whose first payment fails. */
function billing(subscriptionId: string): object[] {
  const price = { subscriptionId, plan: "Pro", amount: 4_900, currency: "EUR", interval: "month" };
  return [
    track("u3", "subscription_started", daysAgo(60), { properties: price }),
    track("u3", "payment_failed", daysAgo(59), { properties: price }),
  ];
}

async function moving(...more: string[]) {
  const { DATABASE_URL = "", CLICKHOUSE_URL = "" } = cluster.env;
  const addresses = ["--database-url", DATABASE_URL, "--clickhouse-url", CLICKHOUSE_URL];
  return rekindle(dataDir, "migrate-to", ...addresses, ...more);
}

test("a moved installation gives the same answers, and goes on where it stood", async () => {
  const before = await Server.start({ dataDir, time });
  await before.ready();
  const token = await before.organization(organization, "--timezone", timezone);
  const key = await erasingKey(before, organization);
  await sendAll(before, token, [...people(), ...happenings(), ...billing("sub_1")]);
  expect((await api(before, key, "/api/users/u7", "DELETE")).status).toBe(200);
  await before.command("exclude", "add", "--organization", organization, "--user", "u8");
  await before.command("score", "--organization", organization);
  await until("the excluded user is left out", async () => {
    const answer = await (await api(before, key, "/api/active-users?days=1")).json();
    return (answer as { freshness: { excludedUsers: number } }).freshness.excludedUsers === 1;
  });
  const was = await told(before, key);
  expect(was.subscriptions).toHaveLength(2);

  const whileItRuns = await moving();
  expect([whileItRuns.exitCode, whileItRuns.stderr]).toEqual([1, expect.stringContaining("stop it")]);
  await before.stop();

  // ClickHouse goes away in the middle: nothing is lost here, and the next try begins again.
  cluster.clickhouse.plan(/INSERT INTO user_event_days/, { kind: "fail", code: 243, text: "disk full" });
  const failed = await moving();
  expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining("disk full")]);
  const tooEarly = openClickHouseWarehouse({ url: cluster.env.CLICKHOUSE_URL ?? "" });
  await expect(tooEarly).rejects.toThrow("migrate-to was not finished");

  // The same behind the ledger's commit: neither side takes writes before the next try has finished it.
  cluster.clickhouse.plan(/CREATE MATERIALIZED VIEW/, { kind: "fail", code: 243, text: "disk full" });
  const moved = await moving();
  expect([moved.exitCode, moved.stderr]).toEqual([1, expect.stringContaining("disk full")]);
  const here = await Server.start({ dataDir }).catch(String);
  expect(here).toContain("being moved to PostgreSQL and ClickHouse");
  const there = openPostgresLedger({ features, url: cluster.env.DATABASE_URL ?? "" });
  await expect(there).rejects.toThrow("migrate-to was not finished");

  const { exitCode, stderr, stdout } = await moving();
  expect([stderr, exitCode]).toEqual([expect.stringContaining("had been cut off is finished"), 0]);
  expect(stdout).not.toContain(cluster.env.DATABASE_URL ?? "");

  const after = await cluster.node("all", {}, { time });
  await after.ready();
  expect(await told(after, key)).toEqual(was);

  // The same message is known, a new one is not, and ids go on behind the old.
  const [known] = happenings().slice(-1);
  await sendAll(after, token, [identify("new", { properties: { plan: "pro" } })]);
  const again = await after.post("/batch", token, { batch: [known, track("new", "event-1", daysAgo(1))] });
  expect(await again.json()).toMatchObject({ accepted: 1, duplicates: 1 });
  expect(await after.exported("events", organization)).toHaveLength(was.events.length + 1);
  await sendAll(after, token, billing("sub_2"));
  expect(await after.exported("subscriptions", organization)).toHaveLength(4);
  expect(await after.command("doctor")).toContain("ok");
  await goesOnAsUsual(after, token);

  const old = await Server.start({ dataDir }).catch((error: unknown) => String(error));
  expect(old).toContain("was moved to PostgreSQL and ClickHouse");
  expect((await moving()).stderr).toContain("was moved to PostgreSQL and ClickHouse");
});

/** Starts a node as its owner does, with the schedule of scores, and sends it an event. */
async function goesOnAsUsual(before: Server, token: string): Promise<void> {
  const kept = await before.exported("events", organization);
  await before.stop();
  const node = await cluster.node("all");
  await node.ready();
  await sendAll(node, token, [track("new", "event-1", daysAgo(1))]);
  expect(await node.exported("events", organization)).toHaveLength(kept.length + 1);
}

test("addresses may stand in variables, and every table's rows are printed", async () => {
  const folder = cluster.folder();
  const server = await Server.start({ dataDir: folder });
  await server.ready();
  await sendAll(server, server.firstToken, [identify("ada"), track("ada", "Signed-up", daysAgo(1))]);
  await server.stop();
  const target = {
    TARGET_DATABASE_URL: await cluster.postgres.database(),
    TARGET_CLICKHOUSE_URL: cluster.clickhouse.url("straight"),
  };
  const { stdout, stderr, exitCode } = await rekindleWith(folder, target, "migrate-to");
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("every count and sum is the same")]);
  for (const line of [/^ledger +users +1$/m, /^warehouse +events +1$/m, /^warehouse +user_event_days +1$/m]) {
    expect(stdout).toMatch(line);
  }
  const nowhere = await rekindle(folder, "migrate-to", "--database-url", target.TARGET_DATABASE_URL);
  expect([nowhere.exitCode, nowhere.stderr]).toEqual([1, expect.stringContaining("the target is missing")]);
});
