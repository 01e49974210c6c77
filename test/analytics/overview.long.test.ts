/** The overview page's figures, read through HTTP and recounted from other answers. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Static } from "typebox";
import type { AccountListAnswer } from "../../contract/api/lists.ts";
import type {
  AccountsAtRiskAnswer,
  HealthByWeekAnswer,
  WeekSummaryAnswer,
} from "../../contract/api/overview.ts";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import type {
  HistoryAnswer,
  MoversAnswer,
  ScoreListAnswer,
  SummaryAnswer,
} from "../../contract/api/scores.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { Server } from "../server.ts";

let server: Server;
const today = todayIn(quietZone);
const keys = new Map<string, string>();

interface Sent {
  readonly users: readonly { readonly id: string; readonly account?: string }[];
  readonly events: readonly { readonly user: string; readonly daysAgo: number; readonly event?: string }[];
}

/** An organization with people and what they did at noon of some days. */
async function organization(name: string, { users, events }: Sent): Promise<void> {
  const token = await server.organization(name, "--timezone", quietZone);
  keys.set(name, (await server.command("key", "create", "--organization", name)).trim());
  const all = [
    ...users.map(({ id, account }) => ({
      type: "identify",
      userId: id,
      email: `${id}@example.com`,
      ...(account !== undefined && { account: { id: account, name: `The ${account}` } }),
    })),
    ...events.map(({ user, daysAgo, event = "opened" }) => ({
      type: "track",
      userId: user,
      event,
      timestamp: `${formatDay(today - daysAgo)}T12:00:00Z`,
    })),
  ];
  for (let from = 0; from < all.length; from += 1_000) {
    const response = await server.post("/batch", token, { batch: all.slice(from, from + 1_000) });
    expect(await response.json()).toMatchObject({ rejected: [] });
  }
  await server.exported("events", name);
}

async function ask<Answer>(name: string, path: string): Promise<Answer> {
  const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${keys.get(name)}` } });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json() as Promise<Answer>;
}

/** Scores the days so many weeks ago, the oldest first. */
async function scored(name: string, ...weeksAgo: readonly number[]): Promise<void> {
  for (const weeks of weeksAgo) {
    await server.command("score", "--organization", name, "--as-of", formatDay(today - 7 * weeks));
  }
}

const callsOf = (name: string, query = "") =>
  ask<RouteAnswer<"GET /api/call-list">>(name, `/api/call-list${query}`);
const weekOf = (name: string) => ask<Static<typeof WeekSummaryAnswer>>(name, "/api/week-summary");

/** Five accounts with 2 to 6 members each, who are active every other day. The members of the second and the
 * fourth account stopped. With 60 accounts of one member more, there is a model of users and of accounts. */
function customers(): Sent {
  const users = Array.from({ length: 65 }, (_, account) =>
    Array.from({ length: account < 5 ? 2 + account : 1 }, (_, member) => ({
      id: `u${account}-${member}`,
      account: `a${account}`,
    })),
  ).flat();
  const events = users.flatMap(({ id, account }, index) => {
    const until = account === "a1" ? 16 : account === "a3" ? 18 : 1;
    return Array.from({ length: 90 }, (_, day) => 90 - day)
      .filter((daysAgo) => daysAgo >= until && (daysAgo + index) % 2 === 0)
      .map((daysAgo) => ({ user: id, daysAgo }));
  });
  return { users, events };
}

/** Two accounts that stopped beside one that goes on: the members of one fell silent, those of the other left
 * with an event. */
function falling(): Sent {
  const users = ["falling", "gone", "busy"].flatMap((account) =>
    Array.from({ length: account === "busy" ? 60 : 12 }, (_, member) => ({
      id: `${account}-${member}`,
      account,
    })),
  );
  // With a churn event and without 30 churned accounts there is no risk, so health alone has to fall by 15 in
  // a week.
  const isActive = (account: string, daysAgo: number) =>
    account === "falling"
      ? (daysAgo >= 8 && daysAgo <= 35) || daysAgo > 85
      : daysAgo >= (account === "gone" ? 12 : 1);
  const events = users.flatMap(({ id, account }) =>
    Array.from({ length: 90 }, (_, day) => 90 - day)
      .filter((daysAgo) => isActive(account, daysAgo))
      .map((daysAgo) => ({ user: id, daysAgo })),
  );
  const left = users.filter(({ account }) => account === "gone");
  return {
    users,
    events: [...events, ...left.map(({ id }) => ({ user: id, daysAgo: 11, event: "left_us" }))],
  };
}

const sentOf = (name: string) => (name === "Falling" ? falling() : customers()).users;

beforeAll(async () => {
  // One that scores nothing by itself: health by week has the three days below, whatever the time.
  server = await Server.startShared();
  await server.ready();
  const { users, events } = customers();
  await organization("Customers", { users, events });
  await organization("Loners", { users: users.map(({ id }) => ({ id })), events });
  await organization("Mixed", {
    users: users.map(({ id }) => ({ id, account: "all" })),
    events,
  });
  await organization("Falling", falling());
  const targets = ["--user-churn", "event left_us", "--account-churn", "event left_us"];
  await server.command("settings", "set", "--organization", "Falling", ...targets);
  await scored("Customers", 3, 1, 0);
  for (const name of ["Loners", "Mixed", "Falling"]) await scored(name, 1, 0);
  await organization("Newcomers", {
    users: [{ id: "first" }],
    events: [
      { user: "first", daysAgo: 0 },
      { user: "first", daysAgo: 1 },
    ],
  });
  await organization("Nobody", { users: [], events: [] });
});
afterAll(() => server.stop());

const colours = [
  ["healthy", "healthy"],
  ["watch", "watch"],
  ["atRisk", "at_risk"],
  ["onboarding", "onboarding"],
  ["churned", "churned"],
  ["none", "none"],
] as const;

test("health by week equals a recount of everybody's history, and skips a week without scores", async () => {
  const { weeks, day } = await ask<Static<typeof HealthByWeekAnswer>>("Customers", "/api/health-by-week");
  expect([day, weeks.map((week) => week.day)]).toEqual([
    formatDay(today),
    [21, 7, 0].map((daysAgo) => formatDay(today - daysAgo)),
  ]);
  const scores: Static<typeof HistoryAnswer>["days"] = [];
  for (const { id } of customers().users) {
    const path = `/api/users/${id}/score/history`;
    scores.push(...(await ask<Static<typeof HistoryAnswer>>("Customers", path)).days);
  }
  for (const week of weeks) {
    const ofDay = scores.filter((score) => score.day === week.day);
    for (const [key, healthBand] of colours) {
      expect([healthBand, week[key]]).toEqual([
        healthBand,
        ofDay.filter((score) => score.healthBand === healthBand).length,
      ]);
    }
    const risks = ofDay.flatMap(({ risk }) => risk ?? []);
    const sum = risks.reduce((total, risk) => total + risk, 0);
    expect(week.withRisk).toBe(risks.length);
    expect(week.expectedChurn).toBeCloseTo(sum, 9);
    expect(week.meanRisk).toBeCloseTo(sum / risks.length, 9);
  }
});

test("health by week goes back as far as is asked", async () => {
  const daysOf = async (weeks: number) =>
    (
      await ask<Static<typeof HealthByWeekAnswer>>(
        "Customers",
        `/api/health-by-week?kind=account&weeks=${weeks}`,
      )
    ).weeks.map(({ day }) => day);
  expect(await daysOf(1)).toEqual([formatDay(today)]);
  expect(await daysOf(3)).toEqual([formatDay(today - 7), formatDay(today)]);
});

test("accounts at risk are those of the list of scores, the largest first", async () => {
  const atRisk = await ask<Static<typeof AccountsAtRiskAnswer>>("Customers", "/api/accounts-at-risk");
  const since = formatDay(today - 7);
  const [listed, all, accounts] = await Promise.all([
    ask<Static<typeof ScoreListAnswer>>(
      "Customers",
      `/api/scores/accounts?healthBand=at_risk&since=${since}`,
    ),
    ask<Static<typeof SummaryAnswer>>("Customers", "/api/score-summary?kind=account"),
    ask<Static<typeof AccountListAnswer>>("Customers", "/api/accounts"),
  ]);
  const sizes = new Map(accounts.accounts.map(({ accountId, members }) => [accountId, members]));
  const expected = listed.scores
    .map(({ id, label, health, risk, riskBand, ratioToBaseRate, change }) => ({
      id,
      label,
      health,
      risk,
      riskBand,
      ratioToBaseRate,
      change,
      mrr: null,
      members: sizes.get(id) ?? 0,
    }))
    .sort((a, b) => b.members - a.members);
  expect(expected.map(({ id }) => id)).toEqual(["a3", "a1"]);
  expect(atRisk.accounts.map(({ activeMembers: _, ...account }) => account)).toEqual(expected);
  expect(atRisk).toMatchObject({ total: 2, members: 8, payersOnly: false, sinceDay: since });
  const there = all.counts.filter(({ healthBand }) => healthBand !== "churned" && healthBand !== "none");
  expect(atRisk.scored).toBe(there.reduce((sum, { count }) => sum + count, 0));
  const one = await ask<Static<typeof AccountsAtRiskAnswer>>("Customers", "/api/accounts-at-risk?limit=1");
  expect([one.accounts.length, one.total, one.members]).toEqual([1, 2, 8]);
});

test("movers can be limited to users who have not churned", async () => {
  const moversOf = async (parameters: string) =>
    (await ask<Static<typeof MoversAnswer>>("Loners", `/api/movers?limit=100${parameters}`)).movers;
  const [all, active] = [await moversOf(""), await moversOf("&state=active")];
  expect(active).toEqual(all.filter(({ state }) => state === "active"));
  expect(active.length).toBeGreaterThan(5);
});

test("the week's summary has the same figures as the other pages", async () => {
  const week = await weekOf("Customers");
  const { days } = await ask<{ days: { weekly: number }[] }>(
    "Customers",
    `/api/active-users?days=8&to=${formatDay(today - 1)}`,
  );
  const of = (about: string) => week.sentences.find((sentence) => sentence.about === about);
  expect([week.fromDay, week.toDay]).toEqual([formatDay(today - 7), formatDay(today - 1)]);
  expect(of("active")?.parts[0]?.value).toBe(days.at(-1)?.weekly ?? null);
  expect(of("active")?.isUnusual).toBe(false);
  const [first] = (await callsOf("Customers")).rows;
  expect([first?.accountId, first?.reason]).toEqual([
    "a3",
    expect.stringMatching(/^Not active for 1[89] days$/),
  ]);
  expect(of("call")?.text).toStartWith(`Call The a3 first: ${first?.reason}. Then `);
});

/** Saves a segment of "Customers". @returns its id */
async function segmentOf(title: string, kind: "users" | "accounts", ids: readonly string[]): Promise<string> {
  const of = ["--organization", "Customers"];
  const file = join(tmpdir(), `week-${kind}-${process.pid}.csv`);
  writeFileSync(file, `id\n${ids.join("\n")}\n`);
  const words = ["--name", title, ...of, "--kind", kind, "--ids", file, "--json"];
  const { id } = JSON.parse(await server.command("segment", "create", ...words)) as { id: number };
  rmSync(file);
  return String(id);
}

test("the week of a segment has its users and accounts, and the lists behind it have exactly these", async () => {
  const accounts = ["a0", "a3", "a20", "a21", "a22"];
  const members = customers().users.filter(({ account = "" }) => accounts.includes(account));
  const ids = members.map(({ id }) => id);
  const segments = {
    accounts: await segmentOf("Of accounts", "accounts", accounts),
    users: await segmentOf("Of users", "users", ids),
  };
  const weeks = Object.entries(segments).map(async ([kind, segment]) => {
    const path = `/api/week-summary?segment=${segment}`;
    const week = await ask<Static<typeof WeekSummaryAnswer>>("Customers", path);
    const parts = week.sentences.flatMap((each) => each.parts);
    const counted = parts.filter(({ list, value }) => list !== undefined && value !== 0);
    for (const { list, value } of counted) {
      const query = new URLSearchParams(list?.query);
      const { total } = await ask<{ total: number }>("Customers", `/api/${list?.page}?${query}`);
      expect([kind, String(query), total]).toEqual([kind, String(query), Number(value)]);
    }
    const of = (about: string) => week.sentences.find((sentence) => sentence.about === about);
    const { weeks } = await ask<Static<typeof HealthByWeekAnswer>>(
      "Customers",
      `/api/health-by-week?segment=${segment}`,
    );
    // The members of a3 stopped. All others were active in the week.
    const active = members.filter(({ account }) => account !== "a3").length;
    expect([kind, of("active")?.parts[0]?.value]).toEqual([kind, active]);
    expect([kind, of("health")?.parts[0]?.value]).toEqual([kind, weeks.at(-1)?.atRisk ?? null]);
    expect([kind, of("risk")?.text]).toEqual([
      kind,
      expect.stringContaining(` of ${weeks.at(-1)?.withRisk} user`),
    ]);
    return week;
  });
  const [ofAccounts, ofUsers] = await Promise.all(weeks);
  const calledIn = async (segment: string) => (await callsOf("Customers", `?segment=${segment}`)).rows;
  const accountsCalled = await calledIn(segments.accounts);
  expect(accountsCalled.map(({ accountId }) => accountId)).toEqual(["a3"]);
  expect(ofAccounts?.sentences.at(-1)?.text).toStartWith("Call The a3 first: ");
  const usersCalled = await calledIn(segments.users);
  expect(usersCalled.map(({ kind }) => kind)).toEqual(usersCalled.map(() => "user"));
  expect(usersCalled.filter(({ userId }) => !ids.includes(userId ?? ""))).toEqual([]);
  expect(ofUsers?.sentences.at(-1)?.text).toStartWith(`Call ${usersCalled[0]?.name} first: `);
});

test("without revenue a high risk comes before a fall, by risk × members active in 90 days", async () => {
  for (const name of ["Customers", "Loners", "Falling"]) {
    const kind = name === "Loners" ? "user" : "account";
    const { scores } = await ask<Static<typeof ScoreListAnswer>>(
      name,
      `/api/scores/${kind}s?since=${formatDay(today - 7)}&limit=1000`,
    );
    const members = (id: string) =>
      kind === "user" ? 1 : sentOf(name).filter(({ account }) => account === id).length;
    const toCall = scores.filter(
      ({ state, riskBand, change }) => state !== "churned" && (riskBand === "high" || (change ?? 0) <= -15),
    );
    const high = toCall
      .filter(({ riskBand }) => riskBand === "high")
      .sort((a, b) => (b.risk ?? 0) * members(b.id) - (a.risk ?? 0) * members(a.id));
    const { rows } = await callsOf(name);
    const ids = rows.map(({ accountId, userId }) => accountId ?? userId ?? "");
    expect([name, ids.length > 0]).toEqual([name, true]);
    expect([name, ids.slice(0, high.length)]).toEqual([name, high.map(({ id }) => id)]);
    expect(rows.map((each) => each.class)).toEqual(
      rows.map((_, at) => (at < high.length ? "high_risk" : "falling")),
    );
    expect([name, toCall.filter(({ id }) => !ids.includes(id))]).toEqual([name, []]);
    const listed = await ask<{ total: number }>(name, `/api/${kind}s?toCall=true&limit=1000`);
    const others = await ask<{ total: number }>(name, `/api/${kind}s?toCall=false`);
    const all = await ask<{ total: number }>(name, `/api/${kind}s`);
    expect([name, listed.total, others.total]).toEqual([name, toCall.length, all.total - toCall.length]);
  }
});

test("an account that cancelled is not to be called, however large", async () => {
  const ids = (await callsOf("Falling")).rows.map(({ accountId }) => accountId);
  const { scores } = await ask<Static<typeof ScoreListAnswer>>("Falling", "/api/scores/accounts");
  expect(scores.find(({ id }) => id === "gone")?.state).toBe("churned");
  expect(ids).not.toContain("gone");
  expect(ids).toContain("falling");
});

test("where no account is to be called, users are", async () => {
  const { rows } = await callsOf("Mixed");
  expect(await ask<object>("Mixed", "/api/accounts?toCall=true")).toMatchObject({ total: 0 });
  expect(rows.length).toBeGreaterThan(0);
  expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(["user"]));
  expect((await weekOf("Mixed")).sentences.at(-1)?.text).toStartWith(`Call ${rows[0]?.name} first: `);
});

test("with little data the week says so", async () => {
  const newcomers = await weekOf("Newcomers");
  expect(newcomers.sentences[0]?.text).toBe(
    `1 user was active in the 7 days to ${formatDay(today - 1)}. Nothing to compare yet: the data does not cover the week before.`,
  );
  expect(newcomers.sentences.some(({ about }) => about === "lifecycle")).toBe(false);
  const nobody = await weekOf("Nobody");
  expect([nobody.sentences.map(({ about }) => about), nobody.day]).toEqual([["data"], null]);
  expect(await callsOf("Nobody")).toMatchObject({ day: null, rows: [], note: "No scores of users yet." });
  expect(await ask<object>("Nobody", "/api/accounts-at-risk")).toMatchObject({
    total: 0,
    accounts: [],
    day: null,
  });
  expect(await ask<object>("Nobody", "/api/health-by-week")).toMatchObject({ weeks: [], baseRate: null });
});

test("before the first scores, churn means what the settings say", async () => {
  const target = ["--user-churn", "event left undone by returned", "--churn-horizon", "14"];
  await server.command("settings", "set", "--organization", "Nobody", ...target);
  const churn = { horizonDays: 14, churnMeans: "left, not undone by returned" };
  for (const path of ["/api/model", "/api/health-by-week"]) {
    expect(await ask<object>("Nobody", path)).toMatchObject(churn);
  }
});

test("invalid parameters are refused", async () => {
  for (const path of [
    "/api/health-by-week?weeks=0",
    "/api/health-by-week?kind=team",
    "/api/accounts-at-risk?since=soon",
    "/api/week-summary?days=7",
  ]) {
    const response = await fetch(server.url + path, {
      headers: { Authorization: `Bearer ${keys.get("Nobody")}` },
    });
    expect([path, response.status]).toEqual([path, 400]);
  }
});
