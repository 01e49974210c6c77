/** MRR and subscriptions from /track to the lists, their CSV and the answers about one payer. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { quietZone } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { expectError, send, user } from "../specification/support.ts";
import { payersAt } from "./payers-support.ts";

const { dateOf, onDay, sendPayers } = payersAt(Date.now());
type Accounts = RouteAnswer<"GET /api/accounts">;
type Timeline = RouteAnswer<"GET /api/users/:userId/timeline">;
type Users = RouteAnswer<"GET /api/users">;

let server: Server;
let key: string;

beforeAll(async () => {
  server = await Server.shared();
  const token = await server.organization("Payers", "--timezone", quietZone);
  await server.ready();
  await sendPayers(server, "Payers", token);
  const paid = { accountId: "theta", amount: 1_200, currency: "USD" };
  await send(server, "/track", token, { userId: "solo", event: "payment_succeeded", properties: paid });
  await server.exported("subscriptions", "Payers");
  key = (await server.command("key", "create", "--organization", "Payers")).trim();
});
afterAll(() => server.stop());

function get(path: string, of = key): Promise<Response> {
  return fetch(server.url + path, { headers: { Authorization: `Bearer ${of}` } });
}

async function ask<Answer>(path: string): Promise<Answer> {
  const response = await get(path);
  const text = await response.text();
  expect([path, response.status, text.slice(0, 200)]).toEqual([path, 200, text.slice(0, 200)]);
  return JSON.parse(text) as Answer;
}

async function accountIds(query: string): Promise<string[]> {
  const { accounts, total } = await ask<Accounts>(`/api/accounts?${query}`);
  expect(total).toBe(accounts.length);
  return accounts.map(({ accountId }) => accountId);
}

const none = {
  mrr: null,
  unratedMrr: [],
  plan: null,
  subscriptions: null,
  subscriptionStatus: null,
  renewsAt: null,
  subscriptionEndsAt: null,
};

test("an account has its MRR, plan, status and renewal", async () => {
  const { accounts, billing } = await ask<Accounts>("/api/accounts?sort=accountId&order=ascending");
  expect(billing).toEqual({
    settingsVersion: 1,
    reportingCurrency: "USD",
    currencyDigits: 2,
    hasExpectedLoss: false,
  });
  const rows = Object.fromEntries(accounts.map((account) => [account.accountId, account]));
  const paid = (mrr: number, plan: string, subscriptionStatus: string, more: object = {}) => ({
    ...none,
    mrr,
    plan,
    subscriptions: 1,
    subscriptionStatus,
    ...more,
  });
  expect(rows).toMatchObject({
    acme: paid(12_000, "Business", "active", { subscriptions: 2, renewsAt: dateOf(5) }),
    beta: paid(5_500, "Team", "canceling", { subscriptionEndsAt: onDay(20) }),
    gamma: paid(3_000, "Team", "past_due", { renewsAt: dateOf(40) }),
    delta: {
      ...paid(0, "Team", "active", { renewsAt: dateOf(9) }),
      mrr: null,
      unratedMrr: [{ currency: "CHF", mrr: 700 }],
    },
    epsilon: paid(0, "Business", "trialing"),
    zeta: paid(0, "Team", "paused"),
    eta: { ...none, mrr: 0, subscriptions: 0, subscriptionStatus: "canceled" },
    theta: { ...none, renewsAt: dateOf(3) },
  });
  // No churn risk is that of losing a subscription yet.
  expect(accounts.filter((account) => "expectedLoss" in account)).toEqual([]);
});

test("a timeline's events are all among those to choose", async () => {
  type Named = RouteAnswer<"GET /api/users/:userId/events">;
  const of = {
    "/api/accounts/gamma": { payment_failed: 1, subscription_started: 1 },
    "/api/users/solo": { payment_succeeded: 1, subscription_started: 1 },
    // A user who is no member of the account has paid for it.
    "/api/accounts/theta": { payment_succeeded: 1 },
  };
  for (const [path, counts] of Object.entries(of)) {
    const { events } = await ask<Named>(`${path}/events?kinds=all`);
    expect(Object.fromEntries(events.map(({ event, count }) => [event, count]))).toEqual(counts);
    const { events: shown } = await ask<Timeline>(`${path}/timeline`);
    expect(shown.map(({ event }) => event).sort()).toEqual(Object.keys(counts));
    expect((await ask<Named>(`${path}/events`)).events).toEqual([]);
  }
});

test("a user pays only without an account", async () => {
  const { users } = await ask<Users>("/api/users?sort=mrr");
  expect(users[0]).toMatchObject({
    userId: "solo",
    mrr: 999,
    plan: "Solo",
    subscriptionStatus: "active",
    renewsAt: dateOf(20),
  });
  expect(users.slice(1).map(({ mrr }) => mrr)).toEqual(users.slice(1).map(() => null));
});

test("lists are sorted by MRR and by renewal, and rows without one come last", async () => {
  const byMrr = await accountIds("sort=mrr");
  expect(byMrr.slice(0, 3)).toEqual(["acme", "beta", "gamma"]);
  expect(byMrr.slice(3, 6).sort()).toEqual(["epsilon", "eta", "zeta"]);
  expect(byMrr.slice(6).sort()).toEqual(["delta", "theta"]);
  const up = await accountIds("sort=mrr&order=ascending");
  expect(up.slice(3, 6)).toEqual(["gamma", "beta", "acme"]);
  const byRenewal = await accountIds("sort=renewsAt&order=ascending");
  expect(byRenewal.slice(0, 4)).toEqual(["theta", "acme", "delta", "gamma"]);
});

test.each([
  ["mrrFrom=3000&mrrTo=5500", ["beta", "gamma"]],
  ["mrrTo=0", ["epsilon", "eta", "zeta"]],
  ["subscriptionPlan=Business", ["acme", "epsilon"]],
  ["subscriptionPlan=Storage", ["acme"]],
  ["subscriptionPlan=' OR 1=1 --", []],
  ["renewsWithinDays=5", ["acme", "theta"]],
  ["renewsWithinDays=4", ["theta"]],
  ["subscriptionStatus=past_due", ["gamma"]],
  ["subscriptionStatus=canceling", ["beta"]],
  ["subscriptionStatus=active&trait=tier&value=gold", ["acme"]],
])("accounts with %s", async (filter, ids) => {
  expect((await accountIds(filter)).sort()).toEqual(ids);
});

test("users are filtered by what they pay", async () => {
  for (const filter of [
    "mrrFrom=1",
    "subscriptionPlan=Solo",
    "renewsWithinDays=20",
    "subscriptionStatus=active",
  ]) {
    const { users } = await ask<Users>(`/api/users?${filter}`);
    expect([filter, users.map(({ userId }) => userId)]).toEqual([filter, ["solo"]]);
  }
});

test.each([
  ["mrrFrom=-1", "mrrFrom"],
  ["mrrTo=1.5", "mrrTo"],
  ["mrrFrom=99999999999999999999", "mrrFrom"],
  ["renewsWithinDays=3651", "renewsWithinDays"],
  ["subscriptionStatus=late", "subscriptionStatus"],
])("%s is refused", async (filter, name) => {
  await expectError(await get(`/api/accounts?${filter}`), "validation_error", `${name} is`);
});

test("CSV has the same columns", async () => {
  const text = await (await get("/api/accounts?format=csv&sort=mrr")).text();
  const [header = "", first = ""] = text.split("\r\n");
  expect(header).toContain(
    "currency,mrr,unratedMrr,plan,subscriptions,subscriptionStatus,renewsAt,subscriptionEndsAt",
  );
  expect(header).not.toContain("expectedLoss");
  expect(first).toEndWith(`,USD,120.00,[],Business,2,active,${dateOf(5)},`);
  const chosen = await (
    await get("/api/accounts?format=csv&sort=mrr&columns=accountId,mrr,expectedLoss")
  ).text();
  expect(chosen.split("\r\n").slice(0, 2)).toEqual([
    "accountId,currency,mrr,expectedLoss",
    "acme,USD,120.00,",
  ]);
});

test("plans in use are listed", async () => {
  const { plans } = await ask<RouteAnswer<"GET /api/plans">>("/api/plans?kind=account");
  expect(plans).toEqual([
    { plan: "Team", subscriptions: 4 },
    { plan: "Business", subscriptions: 2 },
    { plan: "Storage", subscriptions: 1 },
  ]);
  expect(await ask<object>("/api/plans?kind=user")).toMatchObject({
    plans: [{ plan: "Solo", subscriptions: 1 }],
  });
});

type Subscriptions = RouteAnswer<"GET /api/accounts/:accountId/subscriptions">;

test("an account has its subscriptions and their history", async () => {
  const acme = await ask<Subscriptions>("/api/accounts/acme/subscriptions");
  expect(acme).toMatchObject({ payer: { mrr: 12_000, subscriptions: 2, renewsAt: dateOf(5) }, total: 2 });
  expect(acme.subscriptions).toMatchObject([
    { subscriptionId: "a2", plan: "Storage", currency: "USD", currencyDigits: 2, pastDueSince: null },
    { subscriptionId: "a1", plan: "Business", mrr: 10_000, status: "active", startedAt: onDay(-90) },
  ]);
  expect(acme.history).toMatchObject([
    { subscriptionId: "a2", what: "started", at: onDay(-20), plan: "Storage", planBefore: null },
    {
      what: "upgraded",
      at: onDay(-30),
      plan: "Business",
      planBefore: "Team",
      mrr: 10_000,
      mrrBefore: 8_000,
      currencyBefore: "USD",
    },
    { subscriptionId: "a1", what: "started", at: onDay(-90), mrrBefore: 0 },
  ]);
  const gamma = await ask<Subscriptions>("/api/accounts/gamma/subscriptions");
  expect(gamma.subscriptions).toMatchObject([{ status: "past_due", pastDueSince: onDay(-3) }]);
  expect(gamma.history.map(({ what }) => what)).toEqual(["payment_failed", "started"]);
  const beta = await ask<Subscriptions>("/api/accounts/beta/subscriptions?history=1");
  expect(beta.history).toMatchObject([{ what: "end_scheduled", endsAt: onDay(20) }]);
  const eta = await ask<Subscriptions>("/api/accounts/eta/subscriptions");
  expect(eta.subscriptions).toMatchObject([{ status: "canceled", endsAt: onDay(-8), startedAt: onDay(-80) }]);
  const theta = await ask<Subscriptions>("/api/accounts/theta/subscriptions");
  expect(theta).toMatchObject({ payer: null, total: 0, subscriptions: [], history: [] });
  await expectError(await get("/api/accounts/nobody/subscriptions"), "not_found");
});

test("a user has only the subscriptions that no account pays", async () => {
  const solo = await ask<Subscriptions>("/api/users/solo/subscriptions");
  expect(solo).toMatchObject({
    payer: { mrr: 999, plan: "Solo" },
    subscriptions: [{ subscriptionId: "s1" }],
  });
  expect(await ask<object>("/api/users/ada/subscriptions")).toMatchObject({ payer: null, subscriptions: [] });
});

test("subscriptions without a known amount are counted, and free ones are not", async () => {
  const token = await server.organization("No amounts");
  await send(server, "/identify", token, user("ada"));
  const started = (subscriptionId: string, properties: object) =>
    send(server, "/track", token, {
      userId: "ada",
      event: "subscription_started",
      timestamp: onDay(-9),
      properties: { subscriptionId, plan: "Tiers", ...properties },
    });
  const free = { amount: 0, currency: "USD", interval: "month" };
  await started("tiers", { currency: "USD", interval: "month" });
  await started("trial", { trialEndsAt: onDay(9) });
  await started("free", free);
  await started("paid", { ...free, amount: 500 });
  await server.exported("subscriptions", "No amounts");
  const own = (await server.command("key", "create", "--organization", "No amounts")).trim();
  const answer = await (await get("/api/revenue", own)).json();
  expect(answer).toMatchObject({ unpriced: 1, unconfirmed: [] });
  const table = await server.command("revenue", "--organization", "No amounts");
  expect(table).toMatch(/^unpriced +1$/m);
});

test("without subscriptions nothing of it is there", async () => {
  const token = await server.organization("No payers");
  await send(server, "/identify", token, user("ada", { account: { id: "acme", name: "Acme" } }));
  await server.exported("users", "No payers");
  const own = (await server.command("key", "create", "--organization", "No payers")).trim();
  for (const [path, table] of [
    ["/api/accounts", "accounts"],
    ["/api/users", "users"],
  ] as const) {
    const answer = (await (await get(path, own)).json()) as Record<string, unknown[]>;
    expect(answer.billing).toBeNull();
    expect(answer[table]).toHaveLength(1);
    expect(Object.keys(answer[table]?.[0] ?? {})).not.toContain("mrr");
    const [header = ""] = (await (await get(`${path}?format=csv`, own)).text()).split("\r\n");
    expect(header).not.toContain("mrr");
    expect(header).not.toContain("currency");
    const sorted = (await (await get(`${path}?sort=expectedLoss`, own)).json()) as Record<string, unknown[]>;
    expect(sorted[table]).toHaveLength(1);
    const filtered = (await (await get(`${path}?mrrFrom=0`, own)).json()) as Record<string, unknown[]>;
    expect(filtered[table]).toEqual([]);
  }
  expect(await (await get("/api/accounts/acme/subscriptions", own)).json()).toMatchObject({ billing: null });
});
