/** The parts that tests of revenue pages share: companies with billing events, and figures as they stand
 * there. */
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { company } from "../people/support.ts";
import { world } from "./world.ts";

const { server } = await world();

/** Of 200 characters. */
export const longPlan = "A plan whose name never ends ".repeat(7).slice(0, 200);
export const longAccount = "An account whose name never ends ".repeat(7).slice(0, 200);
/** Three months that are over. */
export const summer = "?periods=3&to=2026-08-31";

export type Company = Awaited<ReturnType<typeof company>>;

const tracked = (userId: string, event: string, timestamp: string, properties: object = {}) => ({
  userId,
  event,
  timestamp,
  properties: { subscriptionId: `of ${userId}`, ...properties },
});
const price = (plan: string, amount: number, currency: string) => ({
  plan,
  amount,
  currency,
  interval: "month",
});

/** A company with billing events, and USD as its reporting currency. Only euros have a rate. */
export async function companyWithMoney(name: string): Promise<Company> {
  const made = await company(server, name);
  await sendBilling(made);
  const settings = { reportingCurrency: "USD", currencyRates: { EUR: 1.1 } };
  await made.owner.json("PATCH", made.at("/api/settings"), settings);
  return made;
}

/** Acme grows, Bolt's payments fail, Coil pays in francs, and Dyno begins with long names. */
export async function sendBilling({ name, token }: Company): Promise<void> {
  const accounts = { acme: "Acme", bolt: "Bolt", coil: "Coil", dyno: longAccount };
  for (const [userId, account] of Object.entries(accounts)) {
    const sent = { userId, email: `${userId}@example.com`, account: { id: userId, name: account } };
    expect((await server.post("/identify", token, sent)).status).toBe(201);
  }
  const events = [
    tracked("acme", "subscription_started", "2026-06-10T00:00:00Z", price("Team", 10_000, "USD")),
    tracked("acme", "subscription_changed", "2026-07-10T00:00:00Z", price("Gold", 12_000, "USD")),
    tracked("bolt", "subscription_started", "2026-06-20T00:00:00Z", price("Team", 5_000, "EUR")),
    tracked("bolt", "payment_failed", "2026-08-01T00:00:00Z", { amount: 5_000, currency: "EUR" }),
    tracked("bolt", "subscription_canceled", "2026-08-05T00:00:00Z"),
    tracked("coil", "subscription_started", "2026-06-20T00:00:00Z", price("Team", 700, "CHF")),
    tracked("dyno", "subscription_started", "2026-08-20T00:00:00Z", {
      ...price(longPlan, 4_000, "USD"),
      currentPeriodEnd: "2026-09-20T00:00:00Z",
    }),
  ];
  for (const event of events) expect((await server.post("/track", token, event)).status).toBe(201);
  // The export waits for all changes of subscriptions.
  expect(await server.exported("subscriptions", name)).not.toEqual([]);
}

/** The texts of the figure with this label. */
export const stat = (page: Page, label: string) =>
  page.locator("dl").filter({ hasText: label }).first().locator("dd").allInnerTexts();
