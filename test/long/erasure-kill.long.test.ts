/** Kills the service with SIGKILL in the middle of an erasure: it goes on at the next start, and what is left
 * is the same as if nothing had happened. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { HoldPoint } from "../durability/hold-points.ts";
import { Holds, heldServer, killAtEach, killed } from "../durability/holds.ts";
import { ownPort, restart } from "../durability/killing.ts";
import { api, erasingKey, figures, identify, sendAll, track } from "../erasure/support.ts";
import { ownServer } from "../own-server.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";

const as = { entry: heldServer, time: quick };
let server: Server = await ownServer(() => server, { ...as, env: await ownPort() });
const start = (before: Server) => restart(before, as);

/** Waits until the newest erasure of an organization has this state, or is done, beside the running
 * server. */
async function watch(organization: string, state: "begun" | "done"): Promise<void> {
  const db = new Database(join(server.dataDir, "ledger.sqlite"), { readonly: true });
  try {
    db.run("PRAGMA busy_timeout = 5000");
    const query = db.query<{ state: string }, [string]>(
      `SELECT state FROM erasures
       WHERE organization = (SELECT id FROM organizations WHERE name = ?) ORDER BY id DESC LIMIT 1`,
    );
    const look = () => query.get(organization)?.state;
    const isSo = (seen?: string) => seen === "done" || (state === "begun" && seen !== undefined);
    await until(`the erasure of ${organization} is ${state}`, look, isSo);
  } finally {
    db.close();
  }
}

const events = (userId: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    track(userId, `e${index % 5}`, new Date(Date.UTC(2026, 3, 1) + index * 3_600_000).toISOString()),
  );
const bob = [identify("bob"), ...events("bob", 300)];

async function prepared(name: string, items: readonly object[]) {
  const [token, key] = [await server.organization(name), await erasingKey(server, name)];
  await sendAll(server, token, items);
  await server.exported("events", name);
  return { token, key };
}

/** Figures of an organization that only ever had Bob. */
const never = await prepared("never", bob);
const expected = await figures(server, never.key);

/** Nobody is left but Bob, and figures are as if nobody else had ever been there. */
async function expectErased(name: string, key: string, counts: readonly number[]): Promise<void> {
  expect(await figures(server, key)).toEqual(expected);
  const left = await server.exported("events", name);
  expect(left.every(({ userId }) => userId === "bob")).toBe(true);
  expect(left).toHaveLength(300);
  expect(await server.command("doctor")).toContain(`${name}: ledger, events and rollups agree`);
  const trail = (await server.command("erasure", "list", "--organization", name)).trim().split("\n");
  const found = trail.flatMap((line) => /Z +(\d+) +1 +0 +\d+ +\d+$/.exec(line)?.[1] ?? []);
  expect(found.map(Number).toSorted((a, b) => a - b)).toEqual([...counts]);
}

const points: readonly HoldPoint[] = [
  // The user is deleted, and rows are still loaded.
  { step: "within", of: "INSERT INTO events" },
  // The warehouse was asked what it has.
  { step: "before", of: "erasures.counted" },
  { step: "arrived", of: "erasures.counted" },
  // The counts are taken, and nothing is deleted yet.
  { step: "after", of: "erasures.counted" },
  // Tables are being written anew.
  { step: "within", of: "ALTER TABLE" },
  { step: "after", of: "ALTER TABLE", count: 4 },
  { step: "before", of: "erasures.finish" },
  { step: "arrived", of: "erasures.finish" },
  { step: "after", of: "erasures.finish" },
];

test("kills at each step of a user's erasure only delay it", async () => {
  const name = "One user";
  const { token, key } = await prepared(name, [...bob, identify("ada"), ...events("ada", 900)]);
  server = await killAtEach(
    server,
    {
      points,
      begin: async () => {
        await sendAll(server, token, events("ada", 100));
        await api(server, key, "/api/users/ada", "DELETE");
      },
      begun: () => watch(name, "begun"),
      afterKill: async (running) => {
        const known = await running.post("/track", token, { userId: "ada", event: "after" });
        expect(known.status).toBe(404);
      },
    },
    start,
  );
  await watch(name, "done");
  await server.ready();
  await expectErased(name, key, [1_000]);
});

test("kills while many users of two organizations are erased leave each erased once", async () => {
  const userIds = Array.from({ length: 25 }, (_, index) => `user-${index}`);
  const items = [...bob, identify("ada"), ...events("ada", 1_000)];
  items.push(...userIds.flatMap((userId, index) => [identify(userId), ...events(userId, 10 + index)]));
  const names = ["Many users", "Many users too"];
  const keys = [];
  for (const name of names) keys.push((await prepared(name, items)).key);
  const asked = keys.flatMap((key) => ["ada", ...userIds].map((userId) => ({ key, userId })));
  const erase = ({ key, userId }: (typeof asked)[number]) =>
    api(server, key, `/api/users/${userId}`, "DELETE");
  server = await killAtEach(
    server,
    {
      points: [
        { step: "before", of: "erasures.counted" },
        { step: "after", of: "erasures.counted" },
        { step: "within", of: "ALTER TABLE", count: 2 },
      ],
      begin: () => Promise.allSettled(asked.map(erase)),
    },
    start,
  );
  await server.ready();
  // Users whose erasure had not begun are still there.
  const statuses = (await Promise.all(asked.map(erase))).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200 && status !== 404)).toEqual([]);
  for (const [at, name] of names.entries()) {
    await watch(name, "done");
    await expectErased(name, keys[at] ?? "", [...userIds.map((_, index) => 10 + index), 1_000]);
  }
});

test("killing the analysis process alone delays it as well, and the request fails with an application_error", async () => {
  const name = "Analysis alone";
  const { key } = await prepared(name, [...bob, identify("ada"), ...events("ada", 1_000)]);
  const hold = new Holds(server.dataDir).next({ step: "before", of: "erasures.counted" });
  const asked = api(server, key, "/api/users/ada", "DELETE");
  await hold.reached();
  await killed(server, "analysis", () => start(server), hold);
  const answer = await asked;
  expect(answer.status).toBe(500);
  expect(((await answer.json()) as { name: string }).name).toBe("application_error");
  await watch(name, "done");
  await server.ready();
  expect((await api(server, key, "/api/users/ada", "DELETE")).status).toBe(404);
  await expectErased(name, key, [1_000]);
});

test("kills at each step of an account's erasure only delay it, and double nothing", async () => {
  const name = "Account";
  const account = { id: "secret", name: "Secret Ltd" };
  const all = ["ada", "bob"].flatMap((userId) => [identify(userId, { account }), ...events(userId, 500)]);
  const { key } = await prepared(name, all);
  const [before, ownFigures] = [await server.exported("events", name), await figures(server, key)];
  server = await killAtEach(
    server,
    {
      points: [
        { step: "before", of: "erasures.accountCounted" },
        { step: "after", of: "erasures.accountCounted" },
        { step: "within", of: "ALTER TABLE" },
        { step: "before", of: "erasures.finish" },
      ],
      begin: () => api(server, key, "/api/accounts/secret", "DELETE"),
    },
    start,
  );
  await watch(name, "done");
  await server.ready();
  expect((await api(server, key, "/api/accounts/secret")).status).toBe(404);
  expect(await server.exported("accounts", name)).toEqual([]);
  expect(await server.exported("events", name)).toEqual(before);
  expect(await figures(server, key)).toEqual(ownFigures);
  expect(await server.command("doctor")).toContain(`${name}: ledger, events and rollups agree`);
});
