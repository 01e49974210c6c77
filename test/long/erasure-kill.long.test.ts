/** Kills the service with SIGKILL in the middle of an erasure: it goes on at the next start, and what is left is
 * the same as if nothing had happened. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ownPort, restart } from "../durability/killing.ts";
import { api, erasingKey, figures, identify, sendAll, track } from "../erasure/support.ts";
import { ownServer } from "../own-server.ts";
import type { Server } from "../server.ts";

export const runsOn = { disk: true };

let server: Server = await ownServer(() => server, { env: await ownPort() });

/** The state of the newest erasure, looked up beside the running server. */
class ErasureWatch {
  readonly #db: Database;

  constructor(dataDir: string) {
    this.#db = new Database(join(dataDir, "ledger.sqlite"), { readonly: true });
    this.#db.run("PRAGMA busy_timeout = 5000");
  }

  async until(organization: string, states: readonly string[], pauseMs: number): Promise<string> {
    while (true) {
      const state = this.#db
        .query<{ state: string }, [string]>(
          `SELECT state FROM erasures
           WHERE organization = (SELECT id FROM organizations WHERE name = ?) ORDER BY id DESC LIMIT 1`,
        )
        .get(organization)?.state;
      if (state !== undefined && states.includes(state)) return state;
      await Bun.sleep(pauseMs);
    }
  }

  close(): void {
    this.#db.close();
  }
}

async function watch(organization: string, states: readonly string[], pauseMs = 1): Promise<string> {
  const watching = new ErasureWatch(server.dataDir);
  try {
    return await watching.until(organization, states, pauseMs);
  } finally {
    watching.close();
  }
}

const events = (userId: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    track(userId, `e${index % 5}`, new Date(Date.UTC(2026, 3, 1) + index * 3_600_000).toISOString()),
  );

/** An organization of two users, and another that only ever had the second. */
async function prepare(name: string): Promise<{ token: string; key: string; expected: unknown }> {
  const [token, never] = [await server.organization(name), await server.organization(`${name} never`)];
  const [key, neverKey] = [await erasingKey(server, name), await erasingKey(server, `${name} never`)];
  const bob = [identify("bob"), ...events("bob", 300)];
  await sendAll(server, never, bob);
  await sendAll(server, token, [...bob, identify("ada"), ...events("ada", 1_000)]);
  await server.exported("events", `${name} never`);
  return { token, key, expected: await figures(server, neverKey) };
}

const moments: readonly (readonly [string, readonly string[], number])[] = [
  ["the user is deleted and the rows are still loaded", ["begun"], 0],
  ["the warehouse is asked what it has", ["begun"], 100],
  ["the counts are taken and nothing is deleted yet", ["counted"], 0],
  ["tables are being written anew", ["counted"], 150],
  ["most tables are done", ["counted"], 500],
];

test.each(moments)("a kill while %s only delays it", async (name, states, extraMs) => {
  const { token, key, expected } = await prepare(name);
  const asked = api(server, key, "/api/users/ada", "DELETE").catch(() => undefined);
  await watch(name, [...states, "done"]);
  await Bun.sleep(extraMs);
  await server.crash();
  await asked;
  server = await restart(server);
  const known = await server.post("/track", token, { userId: "ada", event: "after" });
  expect(known.status).toBe(404);
  await watch(name, ["done"], 50);
  await server.ready();
  expect(await figures(server, key)).toEqual(expected);
  expect((await server.exported("events", name)).every(({ userId }) => userId === "bob")).toBe(true);
  expect(await server.exported("events", name)).toHaveLength(300);
  expect(await server.command("doctor")).toContain(`${name}: ledger, events and rollups agree`);
  const trail = await server.command("erase", "list", "--organization", name);
  expect(trail.trim().split("\n").at(-1)).toMatch(/Z +1000 +1 +0 +\d+ +42$/);
});

/** Sends the requests at once, kills the service, and sends those again whose users are still there. */
async function killedWhileErasingMany(
  asked: readonly { readonly key: string; readonly userId: string }[],
  moment: () => Promise<void>,
): Promise<void> {
  const erase = ({ key, userId }: (typeof asked)[number]) =>
    api(server, key, `/api/users/${userId}`, "DELETE");
  const answers = asked.map((one) => erase(one).catch(() => undefined));
  await moment();
  await server.crash();
  await Promise.all(answers);
  server = await restart(server);
  await server.ready();
  const again = await Promise.all(asked.map(erase));
  expect(again.map(({ status }) => status).filter((status) => status !== 200 && status !== 404)).toEqual([]);
}

const momentsOfMany: readonly (readonly [string, string, number])[] = [
  ["the first users are deleted", "begun", 0],
  ["the counts of some are taken", "counted", 0],
  ["tables are written without them", "counted", 300],
];

test.each(momentsOfMany)(
  "a kill while many users of two organizations are erased and %s leaves each erased once",
  async (name, state, extraMs) => {
    const [first, second] = [await prepare(name), await prepare(`${name} too`)];
    const userIds = Array.from({ length: 25 }, (_, index) => `user-${index}`);
    for (const { token } of [first, second]) {
      const rows = userIds.flatMap((userId, index) => [identify(userId), ...events(userId, 10 + index)]);
      await sendAll(server, token, rows);
    }
    await server.exported("events", `${name} too`);
    const asked = [first, second].flatMap(({ key }) =>
      ["ada", ...userIds].map((userId) => ({ key, userId })),
    );
    await killedWhileErasingMany(asked, async () => {
      await watch(name, [state, "done"]);
      await Bun.sleep(extraMs);
    });
    await watch(name, ["done"], 50);
    await watch(`${name} too`, ["done"], 50);
    for (const [of, { key, expected }] of [[name, first] as const, [`${name} too`, second] as const]) {
      expect(await figures(server, key)).toEqual(expected);
      expect((await server.exported("events", of)).every(({ userId }) => userId === "bob")).toBe(true);
      expect(await server.exported("events", of)).toHaveLength(300);
      expect(await server.command("doctor")).toContain(`${of}: ledger, events and rollups agree`);
      const trail = (await server.command("erase", "list", "--organization", of)).trim().split("\n");
      const counts = trail.flatMap((line) => /Z +(\d+) +1 +0 +\d+ +\d+$/.exec(line)?.[1] ?? []);
      expect(counts.map(Number).toSorted((a, b) => a - b)).toEqual([
        ...userIds.map((_, index) => 10 + index),
        1_000,
      ]);
    }
  },
);

/** Erases users of new organizations until analysis is killed before the end of it. */
async function killedWhileErasing() {
  for (let attempt = 1; ; attempt += 1) {
    const name = `Analysis alone ${attempt}`;
    const { key, expected } = await prepare(name);
    const asked = api(server, key, "/api/users/ada", "DELETE");
    await watch(name, ["begun", "counted", "done"]);
    const pid = server.analysisPid();
    if (pid === undefined) throw new Error("there is no analysis process");
    process.kill(pid, "SIGKILL");
    const answer = await asked;
    if (answer.status !== 200) return { name, key, expected, answer };
    while (server.analysisPid() === pid) await Bun.sleep(5);
    await server.ready();
  }
}

test("killing the analysis process alone delays it as well, and the request fails with an application_error", async () => {
  const { name, key, expected, answer } = await killedWhileErasing();
  expect(answer.status).toBe(500);
  expect(((await answer.json()) as { name: string }).name).toBe("application_error");
  await watch(name, ["done"], 50);
  await server.ready();
  expect(await figures(server, key)).toEqual(expected);
  expect((await api(server, key, "/api/users/ada", "DELETE")).status).toBe(404);
  expect(await server.command("doctor")).toContain(`${name}: ledger, events and rollups agree`);
});

test("a kill in the middle of an account's erasure only delays it, and doubles nothing", async () => {
  const name = "Account";
  const [token, key] = [await server.organization(name), await erasingKey(server, name)];
  const account = { id: "secret", name: "Secret Ltd" };
  const all = ["ada", "bob"].flatMap((userId) => [identify(userId, { account }), ...events(userId, 500)]);
  await sendAll(server, token, all);
  const before = await server.exported("events", name);
  const expected = await figures(server, key);
  for (const extraMs of [0, 300, 600]) {
    const asked = api(server, key, "/api/accounts/secret", "DELETE").catch(() => undefined);
    await watch(name, ["begun", "counted", "done"]);
    await Bun.sleep(extraMs);
    await server.crash();
    await asked;
    server = await restart(server);
  }
  await watch(name, ["done"], 50);
  await server.ready();
  expect((await api(server, key, "/api/accounts/secret")).status).toBe(404);
  expect(await server.exported("accounts", name)).toEqual([]);
  expect(await server.exported("events", name)).toEqual(before);
  expect(await figures(server, key)).toEqual(expected);
  expect(await server.command("doctor")).toContain(`${name}: ledger, events and rollups agree`);
});
