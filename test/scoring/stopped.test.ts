/** `rekindle score` while data has stopped. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { ScoreAnswer } from "../../contract/api/scores.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { rekindle, Server } from "../server.ts";

let server: Server;
const today = todayIn(quietZone);

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
}, 180_000);
afterAll(() => server.stop());

async function scoredDay(key: string): Promise<string | null> {
  const response = await fetch(`${server.url}/api/users/u1/score`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  return ((await response.json()) as Static<typeof ScoreAnswer>).day;
}

test("`rekindle score` leaves scores as they were while data has stopped, says so, and can be told otherwise", async () => {
  const token = await server.organization("Silent", "--timezone", quietZone);
  const key = (await server.command("key", "create", "--organization", "Silent")).trim();
  const userIds = Array.from({ length: 12 }, (_, index) => `u${index}`);
  // Nothing on the last three days, after five weeks of every day.
  const tracks = userIds.flatMap((userId) =>
    Array.from({ length: 35 }, (_, index) => ({
      ...{ type: "track", userId, event: "opened" },
      timestamp: `${formatDay(today - 4 - index)}T12:00:00Z`,
    })),
  );
  const identifies = userIds.map((userId) => ({ type: "identify", userId, email: `${userId}@example.com` }));
  const sent = await server.post("/batch", token, { batch: [...identifies, ...tracks] });
  expect(((await sent.json()) as { rejected: unknown }).rejected).toEqual([]);
  const score = (...options: string[]) =>
    rekindle(server.dataDir, "score", "--organization", "Silent", ...options);

  const frozen = await score();
  expect(frozen.exitCode).toBe(2);
  expect(frozen.stderr).toContain(`data has stopped since ${formatDay(today - 3)}`);
  expect(frozen.stderr).toContain("--even-if-stopped");
  expect(await scoredDay(key)).not.toBe(formatDay(today));

  const before = await score("--as-of", formatDay(today - 3));
  expect(before.stderr).toContain(`scored Silent as of ${formatDay(today - 3)}: 12 users`);

  const forced = await score("--even-if-stopped");
  expect(forced.stderr).toContain(`scored Silent as of ${formatDay(today)}: 12 users`);
  expect(await scoredDay(key)).toBe(formatDay(today));
});
