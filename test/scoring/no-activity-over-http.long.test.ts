/** Users and accounts without any activity in lists and on their pages' answers: no data, and no error. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { Server } from "../server.ts";

const organization = "No activity";
const today = todayIn(quietZone);
const noon = (daysAgo: number) => `${formatDay(today - daysAgo)}T12:00:00Z`;

let server: Server;
let key = "";

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  const token = await server.organization(organization, "--timezone", quietZone);
  key = (await server.command("key", "create", "--organization", organization)).trim();
  const batch = ["busy", "known", "paying"].flatMap((userId) => [
    {
      type: "identify",
      userId,
      email: `${userId}@example.com`,
      timestamp: noon(50),
      account: { id: `${userId}-co`, name: `${userId} co` },
    },
    ...(userId === "busy" ? [1, 2, 9, 16] : []).map((daysAgo) => ({
      type: "track",
      userId,
      event: "opened",
      timestamp: noon(daysAgo),
    })),
    ...(userId === "known" ? [] : [40]).map((daysAgo) => ({
      type: "track",
      userId,
      event: "subscription_started",
      timestamp: noon(daysAgo),
      properties: {
        subscriptionId: `sub_${userId}`,
        plan: "Team",
        amount: 4_900,
        currency: "EUR",
        interval: "month",
      },
    })),
  ]);
  const response = await server.post("/batch", token, { batch });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  await server.command("settings", "set", "--organization", organization, "--account-churn", "subscription");
  await server.exported("events", organization);
  await server.exported("subscriptions", organization);
  await server.command("score", "--organization", organization, "--as-of", formatDay(today));
});
afterAll(() => server?.stop());

async function get<Answer>(path: string): Promise<Answer> {
  const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
  expect([path, response.status]).toEqual([path, 200]);
  return response.json() as Promise<Answer>;
}

test("their scores are null with the state no_data", async () => {
  for (const path of ["users/known", "users/paying", "accounts/known-co", "accounts/paying-co"]) {
    const score = await get<RouteAnswer<"GET /api/users/:userId/score">>(`/api/${path}/score`);
    expect(score).toMatchObject({
      state: "no_data",
      verdict: "no_score",
      risk: null,
      engagement: null,
      momentum: null,
      activityRank: null,
      churnedDay: null,
      churnCause: null,
      health: { score: null, healthBand: "none", contributions: {} },
    });
    expect(score.note).toStartWith("Nothing was done before this day");
  }
});

test("lists have them, and the filter by the state finds them and no other", async () => {
  const all = await get<RouteAnswer<"GET /api/accounts">>("/api/accounts");
  expect(all.accounts.map(({ accountId }) => accountId).toSorted()).toEqual([
    "busy-co",
    "known-co",
    "paying-co",
  ]);
  const { accounts } = await get<RouteAnswer<"GET /api/accounts">>("/api/accounts?state=no_data");
  expect(
    accounts.map(({ accountId, state, health, mrr }) => [accountId, state, health, mrr]).toSorted(),
  ).toEqual([
    ["known-co", "no_data", null, null],
    ["paying-co", "no_data", null, 4_900],
  ]);
  const { users } = await get<RouteAnswer<"GET /api/users">>("/api/users?state=no_data");
  expect(users.map(({ userId, verdict }) => [userId, verdict]).toSorted()).toEqual([
    ["known", "no_score"],
    ["paying", "no_score"],
  ]);
});

test("figures of scores leave them out, and MRR at risk counts the MRR of those that pay", async () => {
  const { scores } = await get<RouteAnswer<"GET /api/scores/accounts">>("/api/scores/accounts");
  expect(scores.map(({ id }) => id)).toEqual(["busy-co"]);
  const { weeks } = await get<RouteAnswer<"GET /api/health-by-week">>("/api/health-by-week?kind=account");
  expect(weeks.at(-1)).toMatchObject({ churned: 0, inactive: 0, none: 0 });
  const atRisk = await get<RouteAnswer<"GET /api/revenue/at-risk">>("/api/revenue/at-risk");
  expect(atRisk).toMatchObject({ mrr: 9_800, payers: 2, payersWithRisk: 0 });
  expect(atRisk.withoutRisk.reduce((sum, { mrr }) => sum + mrr, 0)).toBe(9_800);
});
