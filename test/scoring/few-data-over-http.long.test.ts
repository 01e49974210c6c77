/** An organization with too little data for a model, through HTTP: no churn risk, an order by activity, a
 * base rate. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { UserListAnswer } from "../../contract/api/lists.ts";
import type { WeekSummaryAnswer } from "../../contract/api/overview.ts";
import type {
  HistoryAnswer,
  ModelAnswer,
  ScoreAnswer,
  ScoreListAnswer,
  SummaryAnswer,
} from "../../contract/api/scores.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { Server } from "../server.ts";

let server: Server;
const today = todayIn(quietZone);

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
});
afterAll(() => server.stop());

type DaysAgo = Readonly<Record<string, readonly number[]>>;

/** An organization whose users did `opened` on these days before today, and `canceled` on those. */
async function organization(name: string, opened: DaysAgo, canceled: DaysAgo = {}) {
  const token = await server.organization(name, "--timezone", quietZone);
  const key = (await server.command("key", "create", "--organization", name)).trim();
  const events = (days: DaysAgo, event: string) =>
    Object.entries(days).flatMap(([userId, all]) =>
      all.map((daysAgo) => ({
        type: "track",
        userId,
        event,
        timestamp: `${formatDay(today - daysAgo)}T12:00:00Z`,
      })),
    );
  const identify = Object.keys(opened).map((userId) => ({
    type: "identify",
    userId,
    email: `${userId}@example.com`,
    account: { id: `account of ${userId}`, name: userId },
  }));
  const all = [...identify, ...events(opened, "opened"), ...events(canceled, "canceled")];
  for (let from = 0; from < all.length; from += 1_000) {
    const response = await server.post("/batch", token, { batch: all.slice(from, from + 1_000) });
    expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  }
  return async <Answer>(path: string): Promise<Answer> => {
    const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json() as Promise<Answer>;
  };
}

const every = (step: number, from: number, to = 1) =>
  Array.from({ length: Math.floor((from - to) / step) + 1 }, (_, index) => to + index * step);

describe("four users", () => {
  let get: Awaited<ReturnType<typeof organization>>;
  const leastActiveFirst = ["once", "fortnightly", "daily", "gone"];

  beforeAll(async () => {
    get = await organization("Few users", {
      daily: every(1, 50),
      fortnightly: every(14, 52, 3),
      once: [20],
      gone: [60],
    });
    await server.command("score", "--organization", "Few users");
  });

  test("have no churn risk, but a rank by activity", async () => {
    const ranks: unknown[] = [];
    for (const user of leastActiveFirst) {
      const { risk, returnProbability, activityRank, health, model } = await get<Static<typeof ScoreAnswer>>(
        `/api/users/${user}/score`,
      );
      expect([risk, returnProbability, model?.model, model?.lacksData]).toEqual([null, null, null, true]);
      expect(Object.keys(health.contributions)).not.toContain("outlook");
      ranks.push(activityRank);
      const { days } = await get<Static<typeof HistoryAnswer>>(`/api/users/${user}/score/history`);
      expect(days.map((each) => each.risk)).toEqual([null]);
    }
    expect(ranks).toEqual([{ position: 3, of: 3 }, { position: 2, of: 3 }, { position: 1, of: 3 }, null]);
    const account = await get<Static<typeof ScoreAnswer>>("/api/accounts/account%20of%20fortnightly/score");
    expect([account.risk, account.activityRank]).toEqual([null, { position: 2, of: 3 }]);
  });

  test("are in no risk band, and lists by risk are in the order by activity", async () => {
    const { counts } = await get<Static<typeof SummaryAnswer>>("/api/score-summary");
    expect(counts.map(({ riskBand }) => riskBand)).toEqual(counts.map(() => null));
    const query = "sort=risk&order=descending";
    const { scores } = await get<Static<typeof ScoreListAnswer>>(`/api/scores/users?${query}`);
    const { users } = await get<Static<typeof UserListAnswer>>(`/api/users?${query}`);
    const positions = [3, 2, 1, null];
    const expected = leastActiveFirst.map((id, index) => [id, null, null, positions[index] ?? null]);
    expect(scores.map((row) => [row.id, row.risk, row.riskBand, row.activityPosition])).toEqual(expected);
    expect(users.map((row) => [row.userId, row.risk, row.riskBand, row.activityPosition])).toEqual(expected);
    const most = await get<Static<typeof UserListAnswer>>("/api/users?sort=risk&order=ascending&limit=2");
    expect(most.users.map(({ userId }) => userId)).toEqual(["daily", "fortnightly"]);
  });

  test("are said to be too few, on the model card and in the week's sentences", async () => {
    const card = await get<Static<typeof ModelAnswer>>("/api/model");
    expect(card).toMatchObject({ model: null, isProven: false, lacksData: true, observedBaseRate: null });
    expect(card.why).toStartWith("there is too little data for a churn risk; ");
    expect(card.next).toMatchObject({
      model: "bgbb",
      missing: [{ what: "entities", have: 4, need: 60 }, {}],
    });
    const { sentences } = await get<Static<typeof WeekSummaryAnswer>>("/api/week-summary");
    const texts = sentences.map(({ parts }) => parts.map(({ text }) => text).join(""));
    expect(texts).toContain("Too little data for a churn risk: users are ordered by activity.");
  });
});

test("two departures by an event give the base rate of past cut-off dates with its interval, and no risk", async () => {
  const name = "Few departures";
  const users = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`u${index}`, every(2, 100)]));
  const get = await organization(name, users, { u0: [40], u1: [45] });
  await server.command("settings", "set", "--organization", name, "--user-churn", "event canceled");
  await server.command("score", "--organization", name);
  const card = await get<Static<typeof ModelAnswer>>("/api/model");
  // Cut-offs are 28, 56 and 84 days before a Monday of this week. Both left after the second.
  const { low = 1, high = 0, ...counts } = card.observedBaseRate ?? {};
  expect(counts).toEqual({ cutoffs: 3, count: 20 + 20 + 18, churned: 2, rate: 2 / 58 });
  expect(low).toBeWithin(0.001, 2 / 58);
  expect(high).toBeWithin(2 / 58, 0.2);
  expect(card).toMatchObject({ model: null, lacksData: true });
  // 20 users are enough, if 30 had left and 30 had stayed.
  expect(card.next).toMatchObject({
    model: "logistic",
    missing: [
      { what: "churnedLabels", need: 30 },
      { what: "retainedLabels", need: 30 },
    ],
  });
  const stays = await get<Static<typeof ScoreAnswer>>("/api/users/u5/score");
  expect([stays.risk, stays.activityRank]).toEqual([null, { position: 1, of: 18 }]);
  const left = await get<Static<typeof ScoreAnswer>>("/api/users/u0/score");
  expect([left.state, left.risk, left.activityRank]).toEqual(["churned", null, null]);
});
