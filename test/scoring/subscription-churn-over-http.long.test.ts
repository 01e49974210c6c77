/** From billing events of an application to the state, the end and the cause in the answers about scores. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { DeparturesAnswer } from "../../contract/api/figures.ts";
import type { AccountListAnswer } from "../../contract/api/lists.ts";
import type { ScoreAnswer } from "../../contract/api/scores.ts";
import type { RevenueAtRiskAnswer } from "../../contract/billing/revenue.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { Server } from "../server.ts";

const organization = "Subscription churn";
const today = todayIn(quietZone);
const noon = (daysAgo: number) => `${formatDay(today - daysAgo)}T12:00:00Z`;

let server: Server;
let [token, key] = ["", ""];

/** Days ago, the event, and its properties. */
type Happened = readonly [daysAgo: number, event: string, properties?: object];

const price = { plan: "Team", amount: 4_900, currency: "EUR", interval: "month" };
const started: Happened = [50, "subscription_started", price];

/** The billing events of each user's subscription. All but the last user pay for their accounts. */
const lives: Readonly<Record<string, readonly Happened[]>> = {
  canceled: [started, [10, "subscription_canceled"]],
  failed: [started, [12, "payment_failed", { amount: 4_900, currency: "EUR" }], [8, "subscription_canceled"]],
  ending: [started, [5, "cancellation_scheduled", { endsAt: noon(-20) }]],
  withdrawn: [started, [9, "cancellation_scheduled", { endsAt: noon(-20) }], [4, "cancellation_withdrawn"]],
  trial: [
    [40, "trial_started", { ...price, trialEndsAt: noon(20) }],
    [20, "subscription_canceled"],
  ],
  paused: [started, [15, "subscription_paused"]],
  due: [started, [6, "payment_failed", { amount: 4_900, currency: "EUR" }]],
  paying: [started],
  none: [],
  alone: [started, [10, "subscription_canceled"]],
};

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  token = await server.organization(organization, "--timezone", quietZone);
  key = (await server.command("key", "create", "--organization", organization)).trim();
  const batch = Object.entries(lives).flatMap(([userId, life]) => [
    {
      type: "identify",
      userId,
      email: `${userId}@example.com`,
      ...(userId !== "alone" && { account: { id: `${userId}-co`, name: `${userId} co` } }),
    },
    ...Array.from({ length: 60 }, (_, index) => ({
      type: "track",
      userId,
      event: "opened",
      timestamp: noon(index + 1),
    })),
    ...life.toReversed().map(([daysAgo, event, properties = {}]) => ({
      type: "track",
      userId,
      event,
      timestamp: noon(daysAgo),
      properties: { subscriptionId: `sub_${userId}`, ...properties },
    })),
  ]);
  const response = await server.post("/batch", token, { batch });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  await server.command(
    "settings",
    "set",
    "--organization",
    organization,
    "--user-churn",
    "subscription",
    "--account-churn",
    "subscription",
  );
  await server.exported("events", organization);
  await server.exported("subscriptions", organization);
  await server.command("score", "--organization", organization, "--as-of", formatDay(today));
});
afterAll(() => server?.stop());

async function scoreOf(path: string): Promise<Static<typeof ScoreAnswer>> {
  const response = await fetch(`${server.url}/api/${path}/score`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  expect([path, response.status]).toEqual([path, 200]);
  return response.json() as Promise<Static<typeof ScoreAnswer>>;
}

async function suggested(): Promise<number | null> {
  const response = await fetch(`${server.url}/api/departures`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  return ((await response.json()) as Static<typeof DeparturesAnswer>).subscriptions;
}

const cause = { by: "subscription", event: null, trait: null, member: null };

test("an account has churned by the end of its last subscription, and ends by failed payments are told apart", async () => {
  expect(await scoreOf("accounts/canceled-co")).toMatchObject({
    state: "churned",
    verdict: "churned",
    risk: null,
    returnProbability: null,
    endsAt: null,
    churnedDay: formatDay(today - 10),
    churnCause: { ...cause, isInvoluntary: false },
    model: { churnTarget: { by: "subscription" }, churnMeans: "the last subscription ended" },
  });
  expect(await scoreOf("accounts/failed-co")).toMatchObject({
    state: "churned",
    churnedDay: formatDay(today - 8),
    churnCause: { ...cause, isInvoluntary: true },
  });
});

test("a scheduled end is the state canceling with its time, until it is withdrawn", async () => {
  expect(await scoreOf("accounts/ending-co")).toMatchObject({
    state: "canceling",
    endsAt: noon(-20).replace("Z", ".000Z"),
    churnedDay: null,
    churnCause: null,
  });
  expect(await scoreOf("accounts/withdrawn-co")).toMatchObject({ state: "active", endsAt: null });
});

test("health is at most 39 while the end is scheduled or a payment is due, and says why", async () => {
  for (const [name, capReasons] of [
    ["ending", ["end_scheduled"]],
    ["due", ["payment_failed"]],
  ] as const) {
    const { health } = await scoreOf(`accounts/${name}-co`);
    expect(health).toMatchObject({ score: 39, healthBand: "at_risk", capReasons });
  }
  const { health } = await scoreOf("accounts/paying-co");
  expect([health.healthBand, health.cap, health.capReasons]).toEqual(["healthy", 0, []]);
});

test("lists have the state canceling with its end", async () => {
  const response = await fetch(`${server.url}/api/accounts`, { headers: { Authorization: `Bearer ${key}` } });
  const { accounts } = (await response.json()) as Static<typeof AccountListAnswer>;
  const ends = accounts.flatMap(({ accountId, state, subscriptionEndsAt }) =>
    state === "canceling" ? [[accountId, subscriptionEndsAt]] : [],
  );
  expect([accounts.length, ends]).toEqual([
    Object.keys(lives).length - 1,
    [["ending-co", noon(-20).replace("Z", ".000Z")]],
  ]);
});

test("a lost trial, a pause and no subscription are no churn", async () => {
  for (const name of ["trial", "paused", "paying", "none"]) {
    expect(await scoreOf(`accounts/${name}-co`)).toMatchObject({
      state: "active",
      churnedDay: null,
      churnCause: null,
      endsAt: null,
    });
  }
});

test("a trial that ends unpaid is named trial_lost in lists and on its page, and an ended subscription canceled", async () => {
  const headers = { Authorization: `Bearer ${key}` };
  const withStatus = async (status: string) => {
    const response = await fetch(`${server.url}/api/accounts?subscriptionStatus=${status}`, { headers });
    const { accounts } = (await response.json()) as Static<typeof AccountListAnswer>;
    return accounts.map(({ accountId, subscriptionStatus }) => [accountId, subscriptionStatus]).toSorted();
  };
  expect(await withStatus("trial_lost")).toEqual([["trial-co", "trial_lost"]]);
  expect(await withStatus("canceled")).toEqual([
    ["canceled-co", "canceled"],
    ["failed-co", "canceled"],
  ]);
  const own = await fetch(`${server.url}/api/accounts/trial-co/subscriptions`, { headers });
  expect(await own.json()).toMatchObject({
    payer: { subscriptionStatus: "trial_lost", subscriptions: 0, mrr: 0 },
    subscriptions: [{ status: "canceled" }],
  });
});

test("a user without an account has churned by their own subscription, and members by none", async () => {
  expect(await scoreOf("users/alone")).toMatchObject({
    state: "churned",
    churnedDay: formatDay(today - 10),
    churnCause: { ...cause, isInvoluntary: false },
  });
  expect(await scoreOf("users/canceled")).toMatchObject({
    state: "active",
    verdict: "account_churned",
    churnCause: null,
  });
});

test("MRR that ends within the horizon is an expected loss in full, in MRR at risk and in lists", async () => {
  const headers = { Authorization: `Bearer ${key}` };
  const ask = async <Answer>(path: string) =>
    (await (await fetch(server.url + path, { headers })).json()) as Answer;
  const atRisk = await ask<Static<typeof RevenueAtRiskAnswer>>("/api/revenue/at-risk");
  expect(atRisk).toMatchObject({
    reportingCurrency: "EUR",
    churnTarget: { by: "subscription" },
    mrr: 19_600,
    payers: 4,
    expectedLoss: { mrr: 4_900, payers: 1, scheduledMrr: 4_900, low: 4_900, high: 4_900 },
    atRisk: [{ id: "ending-co", mrr: 4_900, churnRisk: 1, scheduledMrr: 4_900, expectedLoss: 4_900 }],
  });
  const list = await ask<Static<typeof AccountListAnswer>>("/api/accounts?sort=expectedLoss");
  expect(list.billing).toMatchObject({ reportingCurrency: "EUR", hasExpectedLoss: true });
  const known = list.accounts.filter(
    ({ expectedLoss = null, mrr = null }) => expectedLoss !== null && mrr !== 0,
  );
  expect(known.map(({ accountId, expectedLoss }) => ({ id: accountId, expectedLoss }))).toEqual(
    atRisk.atRisk.map(({ id, expectedLoss }) => ({ id, expectedLoss })),
  );
  const csv = await (
    await fetch(`${server.url}/api/accounts?sort=expectedLoss&format=csv`, { headers })
  ).text();
  const [header, first] = csv.split("\r\n");
  expect(header).toEndWith(",subscriptionEndsAt,expectedLoss");
  expect(first).toEndWith(",49.00");
});

test("the target is suggested for accounts once there are 10 subscriptions, and not beside it", async () => {
  const setAccounts = (target: string) =>
    server.command("settings", "set", "--organization", organization, "--account-churn", target);
  await setAccounts("silence");
  expect(await suggested()).toBeNull();
  const batch = ["second", "third"].map((name) => ({
    type: "track",
    userId: "paying",
    event: "subscription_started",
    timestamp: noon(3),
    properties: { subscriptionId: name, ...price },
  }));
  await server.post("/batch", token, { batch });
  await server.exported("subscriptions", organization);
  expect(await suggested()).toBe(11);
  await setAccounts("event subscription_canceled");
  expect(await suggested()).toBe(11);
  for (const target of ["event contract_ended", "trait status = canceled", "subscription"]) {
    await setAccounts(target);
    expect(await suggested()).toBeNull();
  }
});

test("a scheduled end of an account without a churn risk is a row of MRR at risk, as in lists and on its page", async () => {
  const response = await server.post("/track", token, {
    type: "track",
    userId: "paying",
    event: "cancellation_scheduled",
    timestamp: noon(2),
    properties: { subscriptionId: "third", endsAt: noon(-20) },
  });
  expect(response.status).toBe(201);
  await server.exported("subscriptions", organization);
  const get = async (path: string) =>
    (await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } })).text();
  const atRisk = JSON.parse(await get("/api/revenue/at-risk")) as Static<typeof RevenueAtRiskAnswer>;
  expect(atRisk).toMatchObject({
    mrr: 29_400,
    mrrWithRisk: 4_900,
    payersWithRisk: 1,
    expectedLoss: { mrr: 9_800, payers: 2, scheduledMrr: 9_800, low: 9_800, high: 9_800 },
    withoutRisk: [{ reason: "no_model", payers: 3, mrr: 24_500 }],
  });
  expect(atRisk.atRisk.find(({ id }) => id === "paying-co")).toEqual({
    id: "paying-co",
    name: "paying co",
    mrr: 14_700,
    churnRisk: null,
    scheduledMrr: 4_900,
    expectedLoss: 4_900,
    laterMrr: 0,
  });
  const csv = await get("/api/revenue/at-risk?format=csv&columns=id,mrr,churnRisk,expectedLoss");
  expect(csv.split("\r\n").slice(1, 3).toSorted()).toEqual([
    "ending-co,EUR,49.00,1,49.00",
    "paying-co,EUR,147.00,,49.00",
  ]);
  const list = JSON.parse(await get("/api/accounts?sort=expectedLoss")) as Static<typeof AccountListAnswer>;
  const first = list.accounts.slice(0, 2).toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
  expect(first.map(({ accountId, risk, expectedLoss }) => [accountId, risk, expectedLoss])).toEqual([
    ["ending-co", null, 4_900],
    ["paying-co", null, 4_900],
  ]);
  expect(JSON.parse(await get("/api/accounts/paying-co/subscriptions"))).toMatchObject({
    payer: { mrr: 14_700, expectedLoss: 4_900 },
  });
  const { paths } = JSON.parse(await get("/openapi.json")) as { readonly paths: Record<string, unknown> };
  expect(JSON.stringify(paths["/api/revenue/at-risk"])).toContain('"churnRisk":{"anyOf"');
});
