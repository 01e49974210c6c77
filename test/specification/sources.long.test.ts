/** The state of sources in the API. Scores wait for a silent source, until it sends again or is retired. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Static } from "typebox";
import type { SourcesAnswer } from "../../contract/sources.ts";
import { rekindle, Server } from "../server.ts";
import { becomes } from "../until.ts";
import { answer, ask, newKey } from "./operation-support.ts";
import { writeHistory } from "./source-history.ts";
import { send, user } from "./support.ts";

type Sources = Static<typeof SourcesAnswer>["sources"];

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-sources-"));
const msPerHour = 3_600_000;
let server: Server;

beforeAll(async () => {
  server = await Server.start({ dataDir });
  await server.ready();
});
afterAll(async () => {
  await server.kill("SIGTERM");
  rmSync(dataDir, { recursive: true });
});

async function sourceNamed(key: string, name: string): Promise<Sources[number] | undefined> {
  const { sources } = await answer<{ sources: Sources }>(server, key, "/api/sources");
  return sources.find(({ source }) => source === name);
}

/** Stops the server, gives an organization a past, and starts it again. Returns the hour from which it was
 * counted back. */
async function restartedWith(
  ...past: Parameters<typeof writeHistory> extends [string, ...infer Rest] ? Rest : never
): Promise<number> {
  await server.kill("SIGTERM");
  const thisHour = await writeHistory(dataDir, ...past);
  server = await Server.start({ dataDir });
  await server.ready();
  return thisHour;
}

test("the write API is counted as a sender, by what became of each item, and survives a stop", async () => {
  const token = await server.organization("Counted");
  const other = await newKey(server, "default");
  const key = await newKey(server, "Counted");
  const before = await answer<{ sources: Sources }>(server, key, "/api/sources");
  expect(before.sources.map(({ source, state }) => [source, state])).toEqual(
    [
      "segment",
      "rudderstack",
      "customerio",
      "posthog",
      "jitsu",
      "dittofeed",
      "openpanel",
      "mixpanel",
      "stripe",
      "webhook",
      "api",
    ].map((name) => [name, "never_sent"]) as never,
  );
  const beforeMs = Date.now();
  await send(server, "/identify", token, user("u"));
  const track = { userId: "u", event: "e", messageId: "once" };
  await send(server, "/track", token, track);
  await send(server, "/track", token, track);
  await server.post("/track", token, { userId: "nobody", event: "e" });
  await server.post("/track", token, { event: "e" });
  await server.post("/batch", token, {
    batch: [
      { type: "track", userId: "u", event: "e" },
      { type: "track", event: "e" },
    ],
  });
  const expected = { accepted: 3, held: 0, duplicate: 1, rejected: 3, ignored: 0 };
  const found = await sourceNamed(key, "api");
  expect([found?.day, found?.week]).toEqual([expected, expected]);
  expect(found?.hours).toHaveLength(168);
  expect(found?.hours.reduce((sum, items) => sum + items, 0)).toBe(4);
  expect(found?.state).toBe("sending");
  expect(Date.parse(found?.lastSentAt ?? "")).toBeWithin(beforeMs, Date.now() + 1);
  // Less than a week is known of it.
  expect([found?.rhythm, found?.silentFrom]).toEqual([null, null]);
  expect((await sourceNamed(other, "api"))?.state).toBe("never_sent");
  await server.kill("SIGTERM");
  server = await Server.start({ dataDir });
  await server.ready();
  expect((await sourceNamed(key, "api"))?.week).toEqual(expected);
});

test("items of a connected source are counted as its own, bad ones and bodies that cannot be read as well", async () => {
  const token = await server.organization("Connected");
  const key = await newKey(server, "Connected");
  const messages = [
    { type: "identify", userId: "s1", traits: { email: "s1@example.com" }, messageId: "m1" },
    { type: "track", userId: "s1", event: "Order Completed", messageId: "m2" },
    { type: "track", userId: "s1", event: "Order Completed", messageId: "m2" },
    { type: "track", anonymousId: "a1", event: "Seen", messageId: "m3" },
    { type: "nonsense", messageId: "m4" },
    { type: "alias", previousId: "a1", userId: "nobody-yet", messageId: "m5" },
  ];
  const headers = { Authorization: `Basic ${btoa(`${token}:`)}`, "Content-Type": "application/json" };
  const post = (body: string) => fetch(`${server.url}/v1/batch`, { method: "POST", headers, body });
  expect((await post(JSON.stringify({ batch: messages }))).status).toBe(200);
  expect((await post("{")).status).toBe(400);
  const expected = { accepted: 3, held: 1, duplicate: 1, rejected: 2, ignored: 0 };
  expect((await sourceNamed(key, "segment"))?.day).toEqual(expected);
  expect((await sourceNamed(key, "api"))?.state).toBe("never_sent");
  const { held } = await answer<{ held: object }>(server, key, "/api/sources");
  expect(held).toEqual({
    people: 1,
    items: 1,
    oldestAt: expect.any(String),
    droppedFull: 0,
    droppedExpired: 0,
    // Clients do not say whether the one before was a user's id or a visitor's: it is both.
    links: 2,
  });
});

test("while a source is silent scores wait and every figure says so, until it is retired", async () => {
  const token = await server.organization("Silent");
  const key = await newKey(server, "Silent");
  const manager = await newKey(server, "Silent", "manage");
  await send(server, "/identify", token, user("u"));
  const weekAgo = new Date(Date.now() - 7 * 24 * msPerHour).toISOString();
  await send(server, "/track", token, { userId: "u", event: "e", timestamp: weekAgo });
  const thisHour = await restartedWith("Silent", [
    { source: "segment", fromHoursAgo: 400, toHoursAgo: 30 },
    { source: "posthog", fromHoursAgo: 400, toHoursAgo: 60, perHour: 1 },
    { source: "stripe", fromHoursAgo: 400, toHoursAgo: 0, perHour: 20 },
  ]);
  const since = new Date((thisHour - 30) * msPerHour).toISOString();
  const segment = await sourceNamed(key, "segment");
  expect(segment).toMatchObject({ state: "silent", silentSince: since, freezesScores: true });
  expect(segment?.rhythm).toBe("every hour or more often");
  expect(segment?.share).toBeCloseTo(5 / 26, 1);
  // A fiftieth of what comes: silence is shown, and nothing waits for it.
  expect(await sourceNamed(key, "posthog")).toMatchObject({ state: "silent", freezesScores: false });
  expect(await sourceNamed(key, "stripe")).toMatchObject({ state: "sending", silentSince: null });
  const silent = async () =>
    (await answer<{ freshness: { silentSources: object[] } }>(server, key, "/api/retention")).freshness
      .silentSources;
  expect(await silent()).toEqual([
    { source: "posthog", since: expect.any(String), freezesScores: false },
    { source: "segment", since, freezesScores: true },
  ]);
  const score = (...options: string[]) => rekindle(dataDir, "score", "--organization", "Silent", ...options);
  const silentScore = await score();
  expect(silentScore.stderr).toContain(`the source segment is silent since ${since}`);
  expect(silentScore.exitCode).toBe(2);
  const dayBefore = new Date(Date.parse(since)).toISOString().slice(0, 10);
  expect((await score("--as-of", dayBefore)).stderr).toContain(`scored Silent as of ${dayBefore}`);
  expect((await score("--even-if-stopped")).stderr).toContain("scored Silent as of");
  expect((await ask(server, key, "/api/sources/segment/retire", "POST")).status).toBe(403);
  expect((await ask(server, manager, "/api/sources/webhook/retire", "POST")).status).toBe(404);
  expect((await ask(server, manager, "/api/sources/nothing/retire", "POST")).status).toBe(404);
  const retired = await answer<object>(server, manager, "/api/sources/segment/retire", "POST");
  expect(retired).toEqual({ source: "segment", retiredAt: expect.any(String) });
  expect(await answer<object>(server, manager, "/api/sources/segment/retire", "POST")).toEqual(retired);
  expect(await sourceNamed(key, "segment")).toMatchObject({ state: "retired", freezesScores: false });
  expect(await silent()).toHaveLength(1);
  expect((await score()).stderr).toContain("scored Silent as of");
});

test("a silent sender that sends again is silent no longer, also when it had been retired", async () => {
  const token = await server.organization("Back");
  const manager = await newKey(server, "Back", "manage");
  await send(server, "/identify", token, user("u"));
  await restartedWith("Back", [{ source: "api", fromHoursAgo: 300, toHoursAgo: 40 }]);
  const frozen = async () => (await sourceNamed(manager, "api"))?.state;
  expect(await frozen()).toBe("silent");
  await answer(server, manager, "/api/sources/api/retire", "POST");
  // A rejected request does not count as activity of the source.
  expect((await server.post("/track", token, { event: "e" })).status).toBe(400);
  expect(await frozen()).toBe("retired");
  await send(server, "/track", token, { userId: "u", event: "e" });
  await becomes(frozen, "sending");
});
