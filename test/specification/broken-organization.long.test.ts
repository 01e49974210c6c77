/** Broken data of one organization stops no other, through HTTP. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rekindle, Server } from "../server.ts";
import { agreement, asTracked, expected, identify, sent } from "../sources/subscription-support.ts";
import { openWarehouseOf } from "../stored.ts";
import { becomes } from "../until.ts";
import { answer, newKey } from "./operation-support.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-broken-"));
let server = await Server.start({ dataDir });
afterAll(async () => {
  await server.kill("SIGTERM");
  rmSync(dataDir, { recursive: true });
});

interface Figures {
  readonly freshness: { readonly failures: readonly { readonly of: string }[] };
}

/** Ten users who were active every second day. Whatever the time is, their days are over in UTC. */
async function history(token: string): Promise<void> {
  const batch = Array.from({ length: 10 }, (_, user) =>
    Array.from({ length: 20 }, (_, index) => ({
      type: "track",
      userId: `u${user}`,
      event: "opened",
      timestamp: new Date(Date.now() - 2 * (index + 1) * 86_400_000).toISOString(),
    })),
  ).flat();
  const users = Array.from({ length: 10 }, (_, user) => ({
    type: "identify",
    userId: `u${user}`,
    email: `u${user}@example.com`,
  }));
  const response = await server.post("/batch", token, { batch: [...users, ...batch] });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
}

const failuresOf = async (key: string) => {
  const { freshness } = await answer<Figures>(server, key, "/api/active-users?days=1");
  return freshness.failures.map(({ of }) => of);
};

test("an organization whose records cannot be read does not keep the one behind it from its scores", async () => {
  await server.ready();
  const tokens = [await server.organization("Broken"), await server.organization("Sound")];
  const [broken, sound] = [await newKey(server, "Broken"), await newKey(server, "Sound")];
  for (const token of tokens) await history(token);
  for (const name of ["Broken", "Sound"]) await server.exported("events", name);
  await server.kill("SIGTERM");
  const warehouse = await openWarehouseOf(dataDir);
  for (const table of ["score_records", "user_scores", "account_scores"]) {
    await warehouse.command(`TRUNCATE TABLE ${table}`);
  }
  // The scale of every day on which one could be measured.
  await warehouse.command(
    `INSERT INTO score_records (organization, kind, what, day, version, stale, body) SETTINGS insert_deduplicate = 0
     SELECT organization, 'user', 'scale', addDays(toDate32(now()), -number), 1000, false, 'no JSON'
     FROM (SELECT min(organization) AS organization FROM user_spans) AS first, numbers(80) AS days`,
  );
  await warehouse.close();
  server = await Server.start({ dataDir });
  await server.ready();
  const isScored = async (key: string) =>
    (await answer<{ day: string | null }>(server, key, "/api/users/u1/score")).day !== null;
  await becomes(() => isScored(sound), true);
  await becomes(() => failuresOf(broken), ["scores"]);
  expect(await failuresOf(sound)).toEqual([]);
  expect(await isScored(broken)).toBe(false);
});

test("subscriptions that cannot be computed are named by figures, and found by doctor", async () => {
  const [stuck, sound] = ["Stuck", "Paying"] as const;
  for (const name of [stuck, sound]) {
    await sent(server, name, identify("ada"), ...asTracked());
    expect(await server.exported("subscriptions", name)).toEqual(expected());
  }
  const [stuckKey, soundKey] = [await newKey(server, stuck), await newKey(server, sound)];
  expect(await failuresOf(stuckKey)).toEqual([]);
  await server.kill("SIGTERM");
  const change = async (statement: string) => {
    const warehouse = await openWarehouseOf(dataDir);
    await warehouse.command(statement);
    await warehouse.close();
  };
  await change(
    `INSERT INTO billing_events (organization, subscription, event, time, properties) SETTINGS insert_deduplicate = 0
     SELECT max(organization) - 1, 'sub_1', 'subscription_changed', now64(3), 'no JSON' FROM billing_events`,
  );
  server = await Server.start({ dataDir });
  await server.ready();
  await becomes(() => failuresOf(stuckKey), ["subscriptions"]);
  expect(await failuresOf(soundKey)).toEqual([]);
  const said = await rekindle(dataDir, "doctor");
  expect([said.exitCode, said.stderr]).toEqual([1, ""]);
  expect(said.stdout).toContain(agreement(sound));
  expect(said.stdout).toContain("the changes of 1 are not those of their billing events");
});
