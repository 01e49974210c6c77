/** A change of settings or of exclusions, through HTTP: today is scored again, and the past stays and is
 * marked. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Static } from "typebox";
import type { HistoryAnswer, MoversAnswer, ScoreAnswer } from "../../contract/api/scores.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { warehouseFolder } from "../../server/process/data-folder.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { answer, newKey } from "../specification/operation-support.ts";
import { becomes } from "../until.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-changed-settings-"));
let server: Server;
let key: string;
const today = todayIn(quietZone);
const ago = (days: number) => formatDay(today - days);
const since = ago(3);

type History = Static<typeof HistoryAnswer>;
type Movers = Static<typeof MoversAnswer>;
type Score = Static<typeof ScoreAnswer>;

beforeAll(async () => {
  server = await Server.start({ dataDir, time: { ...quick, scheduleMs: 500 } });
  await server.ready();
  const token = await server.organization("Acme", "--timezone", quietZone);
  key = await newKey(server, "Acme", "manage");
  const response = await server.post("/batch", token, { batch: tenDays() });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  // Every day of the past that has scores, so that nothing is left to be done by itself.
  for (const daysAgo of [3, 2, 1])
    await server.command("score", "--organization", "Acme", "--as-of", ago(daysAgo));
  await server.command("score", "--organization", "Acme");
  await server.kill("SIGTERM");
  await tellTwoDaysEarlier();
  server = await Server.start({ dataDir, time: { ...quick, scheduleMs: 500 } });
  await server.ready();
});
afterAll(async () => {
  await server.kill("SIGTERM");
  rmSync(dataDir, { recursive: true });
});

/** Six users of one account. u5 is one of our own. */
function tenDays(): object[] {
  const users = Array.from({ length: 6 }, (_, index) => `u${index}`);
  const track = (userId: string, event: string, daysAgo: number) => ({
    type: "track",
    userId,
    event,
    timestamp: `${ago(daysAgo)}T12:00:00Z`,
  });
  const daysAgo = Array.from({ length: 10 }, (_, index) => 10 - index);
  return users.flatMap((userId, index) => [
    {
      type: "identify",
      userId,
      email: `${userId}@${userId === "u5" ? "acme" : "customer"}.com`,
      account: { id: "account", name: "Account" },
    },
    ...daysAgo.filter((days) => days % (1 + (index % 3)) === 0).map((days) => track(userId, "opened", days)),
    ...daysAgo.filter((days) => days % 2 === 0).map((days) => track(userId, "mail_opened", days)),
  ]);
}

/** Changes the scores of days before today, as if they had been published when their days began. */
async function tellTwoDaysEarlier(): Promise<void> {
  const warehouse = await openChdbWarehouse({ folder: warehouseFolder(dataDir) });
  await warehouse.command(
    `INSERT INTO score_records SETTINGS insert_deduplicate = 0
     SELECT * REPLACE (toUInt64(86400000 * toInt64(toInt32(day))) AS first_published_at_ms)
     FROM (SELECT * FROM score_records FINAL WHERE what = 'run' AND day < addDays(toDate32('1970-01-01'), {today:Int32}))`,
    { today },
  );
  await warehouse.close();
}

const score = (path: string) => answer<Score>(server, key, `/api/${path}/score?since=${since}`);
const movers = () => answer<Movers>(server, key, `/api/movers?since=${since}`);
const history = (path: string) => answer<History>(server, key, `/api/${path}/score/history`);

function partsOf({ change }: Score) {
  const { health, engagement } = change ?? {};
  if (health == null || engagement == null) throw new Error("there is no change");
  for (const { total, behaviour, time, settings } of [health, engagement]) {
    expect(behaviour + time + settings).toBeCloseTo(total, 9);
  }
  return { health, engagement };
}

async function change(settings: object): Promise<void> {
  const response = await fetch(`${server.url}/api/settings`, {
    method: "PATCH",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(settings),
  });
  expect(response.status).toBe(200);
}

test("a change of settings scores today again by itself, and the published past stays, with a mark", async () => {
  const paths = ["users/u1", "accounts/account"];
  const before = await Promise.all(
    paths.map(async (path) => [await history(path), await score(path)] as const),
  );
  expect(before.map(([{ marks }]) => marks)).toEqual([[], []]);
  expect(await movers()).toMatchObject({ sinceDay: since, rulesChanged: false });
  await change({ passiveEvents: ["mail_opened"], churnHorizonDays: 56, weekStart: 7 });
  const mark = {
    day: ago(0),
    changes: [
      { setting: "churnHorizonDays", from: 28, to: 56 },
      { setting: "passiveEvents", from: [], to: ["mail_opened"] },
    ],
    exclusionsChanged: false,
  };
  for (const path of paths) await becomes(async () => (await history(path)).marks, [mark]);
  expect(await movers()).toMatchObject({ sinceDay: since, rulesChanged: true });
  for (const [index, path] of paths.entries()) {
    const [historyBefore, scoreBefore] = before[index] ?? failed();
    const { days } = await history(path);
    expect(days.slice(0, 3)).toEqual(historyBefore.days.slice(0, 3));
    expect(days.at(-1)).not.toEqual(historyBefore.days.at(-1));
    // The contributions of behaviour and time are unchanged. The whole jump comes from the settings.
    const [old, now] = [partsOf(scoreBefore), partsOf(await score(path))];
    for (const name of ["health", "engagement"] as const) {
      expect(now[name].behaviour).toBeCloseTo(old[name].behaviour, 9);
      expect(now[name].time).toBeCloseTo(old[name].time, 9);
      expect(Math.abs(now[name].settings)).toBeGreaterThan(0.5);
      expect(now[name].total - old[name].total).toBeCloseTo(now[name].settings - old[name].settings, 9);
    }
  }
});

test("a change of exclusions is marked, and does not count as behaviour of others in the account", async () => {
  const before = partsOf(await score("accounts/account"));
  const query = new URLSearchParams({ kind: "email_domain", value: "acme.com", key: "" });
  await answer(server, key, `/api/exclusions?${query}`, "POST");
  await becomes(
    async () =>
      (await answer<{ freshness: { excludedUsers: number } }>(server, key, "/api/active-users?days=1"))
        .freshness.excludedUsers,
    1,
  );
  // The user has no score at once. The account keeps its scores until the next run.
  expect((await score("users/u5")).state).toBe("no_data");
  const kept = partsOf(await score("accounts/account"));
  await server.command("score", "--organization", "Acme");
  const { marks } = await history("accounts/account");
  expect(marks.map(({ day, exclusionsChanged }) => [day, exclusionsChanged])).toEqual([[ago(0), true]]);
  const now = partsOf(await score("accounts/account"));
  for (const name of ["health", "engagement"] as const) {
    expect(kept[name].total).toBe(before[name].total);
    expect(kept[name].behaviour).toBeCloseTo(now[name].behaviour, 9);
  }
  expect(now.engagement.settings).not.toBeCloseTo(before.engagement.settings, 3);
  expect((await score("users/u5")).state).toBe("no_data");
});

function failed(): never {
  throw new Error("there is nothing to compare with");
}
