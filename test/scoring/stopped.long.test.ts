/** Data that stops, and a quiet season, from the requests of a sender to the overview and `rekindle
 * score`. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Static } from "typebox";
import type { WeekSummaryAnswer } from "../../contract/api/overview.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { rekindle, Server } from "../server.ts";
import { answer, newKey } from "../specification/operation-support.ts";
import { writeHistory } from "../specification/source-history.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-stopped-"));
const today = todayIn(quietZone);
const hoursPerDay = 24;
const weeks = 8;
let server: Server;

beforeAll(async () => {
  server = await Server.start({ dataDir });
  await server.ready();
});
afterAll(async () => {
  await server.kill("SIGTERM");
  rmSync(dataDir, { recursive: true });
});

/** Sends an event at noon of each of these days for the first so many users. */
async function organization(name: string, usersOn: (daysAgo: number) => number): Promise<string> {
  const token = await server.organization(name, "--timezone", quietZone);
  const days = Array.from({ length: 7 * weeks }, (_, index) => index + 1);
  const userIds = Array.from({ length: Math.max(...days.map(usersOn)) }, (_, index) => `u${index}`);
  const identifies = userIds.map((userId) => ({ type: "identify", userId, email: `${userId}@example.com` }));
  const tracks = days.flatMap((daysAgo) =>
    userIds.slice(0, usersOn(daysAgo)).map((userId) => ({
      type: "track",
      userId,
      event: "opened",
      timestamp: `${formatDay(today - daysAgo)}T12:00:00Z`,
    })),
  );
  const all = [...identifies, ...tracks];
  for (let from = 0; from < all.length; from += 1_000) {
    const sent = await server.post("/batch", token, { batch: all.slice(from, from + 1_000) });
    expect(await sent.json()).toMatchObject({ rejected: [] });
  }
  return newKey(server, name);
}

/** As if an hour's requests had come until so many hours ago. */
async function receivedUntil(name: string, toHoursAgo: number): Promise<void> {
  await server.kill("SIGTERM");
  const fromHoursAgo = 7 * weeks * hoursPerDay;
  await writeHistory(dataDir, name, [{ source: "api", fromHoursAgo, toHoursAgo }]);
  server = await Server.start({ dataDir });
  await server.ready();
}

const week = (key: string) => answer<Static<typeof WeekSummaryAnswer>>(server, key, "/api/week-summary");
const score = (name: string, ...options: string[]) =>
  rekindle(dataDir, "score", "--organization", name, ...options);

test("scores stay as they were while nothing is received, and the overview says since when", async () => {
  const key = await organization("Stopped", (daysAgo) => (daysAgo > 3 ? 12 : 0));
  await receivedUntil("Stopped", 3 * hoursPerDay);
  const frozen = await score("Stopped");
  expect(frozen.exitCode).toBe(2);
  expect(frozen.stderr).toContain("Stopped: no data was received since");
  const found = await week(key);
  const since = found.dataStoppedSince ?? "";
  expect([formatDay(today - 4), formatDay(today - 3)]).toContain(since);
  expect(found.sentences[0]).toMatchObject({ about: "data", tone: "bad" });
  expect(found.sentences[0]?.text).toStartWith(`No data since ${since}: `);
  expect(found.sentences.some(({ text }) => text.includes("below usual"))).toBe(false);

  const before = await score("Stopped", "--as-of", since);
  expect(before.stderr).toContain(`scored Stopped as of ${since}: 12 users`);
  const forced = await score("Stopped", "--even-if-stopped");
  expect(forced.stderr).toContain(`scored Stopped as of ${formatDay(today)}: 12 users`);
  expect((await week(key)).day).toBe(formatDay(today));
});

test("scores go on in a quiet season, and the overview says how far activity is below usual", async () => {
  const key = await organization("Quiet", (daysAgo) => (daysAgo > 7 ? 40 : 18));
  await receivedUntil("Quiet", 0);
  const scored = await score("Quiet");
  expect([scored.exitCode, scored.stderr]).toEqual([
    0,
    expect.stringContaining(`scored Quiet as of ${formatDay(today)}: 40 users`),
  ]);
  const { sentences, dataStoppedSince } = await week(key);
  expect(dataStoppedSince).toBeNull();
  expect(sentences.map(({ text }) => text)).toContain(
    "Activity is 55% below usual: 40 users were active in the median of earlier weeks. Data keeps arriving, so scores go on.",
  );
});
