/** Figures of revenue over HTTP and on the command line, from billing events to CSV; and the owner's
 * rates. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";
import { expectError, send, user } from "./support.ts";

let server: Server;
let key: string;
let place: Awaited<ReturnType<typeof company>>;

const sent = (userId: string, event: string, timestamp: string, properties: object) => ({
  userId,
  event,
  timestamp,
  messageId: `${userId} ${event} ${timestamp}`,
  properties: { subscriptionId: `sub ${userId}`, ...properties },
});
const price = (amount: number, currency: string, more: object = {}) => ({
  plan: "Team",
  amount,
  currency,
  interval: "month",
  ...more,
});

beforeAll(async () => {
  server = await Server.shared();
  place = await company(server, "Revenue");
  await server.ready();
  for (const userId of ["ada", "bob", "cyd"]) await send(server, "/identify", place.token, user(userId));
  const events = [
    sent("ada", "subscription_started", "2025-01-10T00:00:00Z", price(10_000, "USD")),
    sent("ada", "subscription_changed", "2025-02-10T00:00:00Z", price(12_000, "USD", { plan: "Gold" })),
    sent("bob", "subscription_started", "2025-01-20T00:00:00Z", price(5_000, "EUR")),
    sent("bob", "subscription_canceled", "2025-03-05T00:00:00Z", {}),
    sent("cyd", "subscription_started", "2025-02-20T00:00:00Z", price(700, "CHF")),
  ];
  for (const event of events) await send(server, "/track", place.token, event);
  key = (await server.command("key", "create", "--organization", "Revenue", "--right", "manage")).trim();
  await server.command(
    "settings",
    "set",
    "--organization",
    "Revenue",
    "--reporting-currency",
    "usd",
    "--currency-rate",
    "EUR=1.1",
  );
  // The export waits for all changes of subscriptions.
  expect(await server.exported("subscriptions", "Revenue")).not.toEqual([]);
});
afterAll(() => server.stop());

function get(path: string): Promise<Response> {
  return fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
}

async function revenueOf(parameters: string): Promise<RouteAnswer<"GET /api/revenue">> {
  const response = await get(`/api/revenue?${parameters}`);
  expect(response.status).toBe(200);
  return (await response.json()) as RouteAnswer<"GET /api/revenue">;
}

test("months have their movements, in the reporting currency", async () => {
  const answer = await revenueOf("period=month&periods=3&to=2025-03-31");
  expect(answer).toMatchObject({
    settingsVersion: 1,
    reportingCurrency: "USD",
    currencyDigits: 2,
    hasSubscriptions: true,
    rates: [{ currency: "EUR", rate: 1.1 }],
    unrated: [{ currency: "CHF", payers: 1, mrr: 700 }],
    unconfirmed: [],
    unpriced: 0,
  });
  expect(answer.periods).toMatchObject([
    { kind: "all", fromDay: "2025-01-01", isComplete: true, startMrr: 0, newMrr: 15_500, nrr: null },
    { fromDay: "2025-02-01", startMrr: 15_500, newMrr: 0, expansionMrr: 2_000, endMrr: 17_500, grr: 1 },
    { toDay: "2025-03-31", churnedMrr: 5_500, churnedPayers: 1, endMrr: 12_000, logoChurn: 0.5 },
  ]);
});

test("a quarter has the sums of its months, and compares its ends", async () => {
  const { periods } = await revenueOf("period=quarter&periods=1&to=2025-03-31");
  expect(periods).toMatchObject([
    { fromDay: "2025-01-01", newMrr: 15_500, newPayers: 2, expansionMrr: 2_000, churnedMrr: 5_500 },
  ]);
  expect(periods[0]).toMatchObject({ startPayers: 0, endPayers: 1, nrr: null });
});

test("groups are plans, or values of an attribute", async () => {
  const byPlan = await revenueOf("period=month&periods=1&to=2025-03-31&split=plan");
  expect(byPlan.periods.map(({ value, endMrr }) => [value, endMrr])).toEqual(
    expect.arrayContaining([
      ["Gold", 12_000],
      ["Team", 0],
    ]),
  );
  const byTrait = await revenueOf("period=month&periods=1&to=2025-03-31&split=trait&trait=none");
  expect(byTrait.periods).toMatchObject([{ kind: "none", value: null, endMrr: 12_000 }]);
});

test("cohorts have what their payers kept", async () => {
  const response = await get("/api/revenue/cohorts?periods=3&to=2025-03-31");
  const { cells } = (await response.json()) as RouteAnswer<"GET /api/revenue/cohorts">;
  expect(cells).toMatchObject([
    { cohortDay: "2025-01-01", payers: 2, entryMrr: 15_500, period: 0, mrr: 15_500, ratio: 1 },
    { period: 1, mrr: 17_500 },
    { period: 2, mrr: 12_000, isComplete: true },
  ]);
});

test("MRR at risk is of users without an account, or of accounts", async () => {
  const response = await get("/api/revenue/at-risk?kind=user");
  expect(await response.json()).toMatchObject({ mrr: 12_000, payers: 1, expectedLoss: null });
  expect(await (await get("/api/revenue/at-risk")).json()).toMatchObject({ mrr: 0, payers: 0, atRisk: [] });
});

test("tables are CSV, too", async () => {
  const response = await get("/api/revenue?periods=2&to=2025-03-31&format=csv&columns=fromDay,endMrr");
  expect(await response.text()).toBe(
    "fromDay,currency,endMrr\r\n2025-02-01,USD,175.00\r\n2025-03-01,USD,120.00\r\n",
  );
});

test("the command prints the same figures", async () => {
  const options = ["--organization", "Revenue", "--periods", "2", "--to", "2025-03-31"];
  const table = await server.command("revenue", ...options);
  expect(table).toMatch(/2025-03-01 +2025-03-31 +true +175.00 USD/);
  expect(table).toMatch(/^settingsVersion +1$/m);
  expect(table).toMatch(/^CURRENCY +PAYERS +MRR.*\nCHF +1 +7.00 CHF$/m);
  const json = JSON.parse(await server.command("revenue", ...options, "--format", "json"));
  expect(json.periods).toEqual((await revenueOf("periods=2&to=2025-03-31")).periods);
  expect(await server.command("revenue", ...options, "--by", "plan", "--format", "csv")).toContain("Gold");
});

describe("is refused:", () => {
  test.each([
    ["/api/revenue?period=week", "period"],
    ["/api/revenue?periods=61", "periods"],
    ["/api/revenue?period=year&periods=11", "periods"],
    ["/api/revenue?split=trait", "trait"],
    ["/api/revenue?trait=tier", "trait"],
    ["/api/revenue?to=yesterday", "to"],
    ["/api/revenue/cohorts?periods=13&split=plan", "periods"],
    ["/api/revenue/at-risk?kind=nobody", "kind"],
  ])("%s", async (path, field) => {
    await expectError(await get(path), "validation_error", field);
  });
});

describe("only owners change the rates:", () => {
  const change = { reportingCurrency: "EUR", currencyRates: null };

  test("neither a member nor a read key does, nor by restoring a version", async () => {
    const body = JSON.stringify(change);
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const byKey = await fetch(`${server.url}/api/settings`, { method: "PATCH", headers, body });
    await expectError(byKey, "forbidden", "owners");
    const { member, at } = place;
    await expectError(await member.ask("PATCH", at("/api/settings"), change), "forbidden", "owners");
    const restored = await member.ask("POST", at("/api/settings/restore"), { to: 0 });
    await expectError(restored, "forbidden", "owners");
    expect((await revenueOf("periods=1")).settingsVersion).toBe(1);
  });

  test("an owner does, and every answer has the new version", async () => {
    const { owner, at } = place;
    await owner.json("PATCH", at("/api/settings"), { currencyRates: { EUR: 1.2 } });
    const { periods, settingsVersion } = await revenueOf("periods=3&to=2025-03-31");
    expect(settingsVersion).toBe(2);
    expect(periods[0]).toMatchObject({ newMrr: 16_000 });
  });

  test.each<[object, string]>([
    [{ reportingCurrency: "ZZZ" }, "reportingCurrency"],
    [{ reportingCurrency: "usd" }, "reportingCurrency"],
    [{ currencyRates: { USD: 1 } }, "currencyRates"],
    [{ currencyRates: { QQQ: 2 } }, "currencyRates"],
    [{ currencyRates: { JPY: 0 } }, "JPY"],
    [{ currencyRates: { JPY: 1e10 } }, "JPY"],
    [{ reportingCurrency: null }, "currencyRates"],
  ])("%j is refused", async (body, field) => {
    const { owner, at } = place;
    await expectError(await owner.ask("PATCH", at("/api/settings"), body), "validation_error", field);
  });
});
