/** Which events are billing events, and which of them the write API refuses. */
import { describe, expect, test } from "bun:test";
import { currencyCode, currencyDigits } from "../../contract/billing/currencies.ts";
import {
  billingInterval,
  billingLimits,
  isBillingEvent,
  whyNotBilling,
} from "../../contract/billing/events.ts";
import type { JsonObject } from "../../contract/json.ts";
import { parseEventTime } from "../../server/calendar/event-time.ts";
import { billingProperties } from "../../server/revenue/billing-event.ts";
import { utc } from "./support.ts";

const isTime = (text: string) => parseEventTime(text, utc) !== undefined;
const why = (event: string, properties: JsonObject) => whyNotBilling(event, properties, isTime);

test.each<[string, JsonObject, boolean]>([
  ["subscription_started", { subscriptionId: "s" }, true],
  ["subscription_started", { subscriptionId: 42 }, true],
  ["subscription_started", { amount: 4_900 }, false],
  ["subscription_started", { subscriptionId: null }, false],
  ["trial_started", { subscriptionId: "s" }, true],
  ["payment_failed", { subscriptionId: "s" }, true],
  ["payment_failed", { amount: 4_900 }, true],
  ["payment_failed", { amount: null }, false],
  ["payment_failed", {}, false],
  ["card_updated", { cardExpires: "2026-11" }, true],
  ["card_removed", { cardExpires: 11 }, true],
  ["card_updated", { cardExpires: null, subscriptionId: "s" }, false],
  ["card_expired", { cardExpires: "2026-11" }, false],
  ["order_completed", { subscriptionId: "s", amount: 4_900 }, false],
  ["constructor", { subscriptionId: "s" }, false],
])("%s with %j is a billing event: %p", (event, properties, is) => {
  expect(isBillingEvent(event, properties)).toBe(is);
});

test.each<[unknown, boolean]>([
  ["2026-11", true],
  ["2299-12", true],
  ["2026-13", false],
  ["2026-00", false],
  ["11/2026", false],
  ["2026-11-30", false],
  ["2026-11\n", false],
  ["0026-11", false],
  [202_611, false],
  [["2026-11"], false],
])("the last month of a card %p: %p", (cardExpires, isRight) => {
  const problem = "properties.cardExpires is not a month: send the last month of the card, such as 2026-11.";
  expect(why("card_updated", { cardExpires, accountId: "a" })).toBe(isRight ? undefined : problem);
});

test("a card names its payer, and nothing else of it is judged", () => {
  const card = { cardExpires: "2026-11" };
  expect(why("card_updated", { ...card, accountId: ["a"] })).toContain("properties.accountId is not");
  expect(why("card_removed", { ...card, amount: "many", plan: 7 })).toBeUndefined();
});

describe("a billing event is refused with the field and what to send:", () => {
  const priced = { subscriptionId: "s", amount: 4_900, currency: "USD", interval: "month" };
  const id256 = "s".repeat(256);

  test.each<[string, unknown, string]>([
    ["amount", 49.5, "properties.amount is not a whole number of minor units: send 4900 for 49.00 USD."],
    ["amount", "4900", "send 4900 for 49.00 USD"],
    ["amount", -1, "send 4900 for 49.00 USD"],
    ["amount", billingLimits.amountMinorUnits + 1, "send 4900 for 49.00 USD"],
    ["amountAfterDiscount", 1.5, "properties.amountAfterDiscount is not a whole number"],
    ["currency", "US", "properties.currency is not a currency of ISO 4217"],
    ["currency", "XYZ", "send a code such as USD"],
    ["currency", 840, "send a code such as USD"],
    ["interval", "monthly", "properties.interval is not an interval: send day, week, month or year"],
    ["interval", "0 months", "properties.interval is"],
    ["interval", 3, "properties.interval is"],
    ["quantity", 1.5, "properties.quantity is not a whole number from 0"],
    ["currentPeriodEnd", "2026-02-30", "properties.currentPeriodEnd is not a time"],
    ["trialEndsAt", "2026-02-01T00:00:00", "properties.trialEndsAt is not a time"],
    ["endsAt", 1_767_225_600, "properties.endsAt is not a time"],
    ["discountEndsAt", "soon", "properties.discountEndsAt is not a time"],
    ["subscriptionId", `${id256}s`, "properties.subscriptionId is not an identifier"],
    ["subscriptionId", "", "send a string of 1 to 256 characters"],
    ["subscriptionId", 1.5, "properties.subscriptionId is not an identifier"],
    ["accountId", ["a"], "properties.accountId is not an identifier"],
    ["invoiceId", true, "properties.invoiceId is not an identifier"],
    ["plan", { name: "pro" }, "properties.plan is not a text"],
    ["reason", "r".repeat(1_001), "properties.reason is not a text"],
    ["feedback", 5, "properties.feedback is not a text"],
  ])("%s %p", (field, value, message) => {
    expect(why("subscription_changed", { ...priced, [field]: value })).toContain(message);
  });

  test.each<[string, JsonObject, string]>([
    ["subscription_changed", { subscriptionId: "s", amount: 1 }, "properties.currency is missing"],
    ["payment_failed", { amount: 1 }, "properties.currency is missing"],
    [
      "subscription_started",
      { subscriptionId: "s", amount: 1, currency: "USD" },
      "properties.interval is missing",
    ],
    [
      "subscription_changed",
      { ...priced, discountEndsAt: "2026-05-01" },
      "properties.amountAfterDiscount is missing",
    ],
    ["subscription_changed", { ...priced, amountAfterDiscount: 1 }, "properties.discountEndsAt is missing"],
  ])("%s %j", (event, properties, message) => {
    expect(why(event, properties)).toContain(message);
  });

  test.each<[string, JsonObject]>([
    ["subscription_started", priced],
    ["subscription_started", { ...priced, subscriptionId: id256, currency: "eur", interval: "3 Months" }],
    ["subscription_started", { subscriptionId: 42, plan: null, amount: null }],
    ["subscription_changed", { subscriptionId: "s", quantity: 0 }],
    ["subscription_changed", { subscriptionId: "s", amount: 0, currency: "JPY" }],
    ["subscription_changed", { ...priced, discountEndsAt: "2026-05-01", amountAfterDiscount: 9_900 }],
    ["cancellation_scheduled", { subscriptionId: "s", endsAt: "2026-05-17T09:30:00+02:00" }],
    ["payment_failed", { amount: 4_900, currency: "USD" }],
    ["payment_failed", { amount: 4_900, currency: "USD", plan: { id: 1 }, interval: "monthly", endsAt: 5 }],
    ["payment_failed", { amount: 4_900, currency: "USD", discountEndsAt: "2026-05-01" }],
    ["order_completed", { subscriptionId: "", amount: "49.00" }],
    ["subscription_started", { amount: "49.00" }],
  ])("but not %s %j", (event, properties) => {
    expect(why(event, properties)).toBeUndefined();
  });
});

test.each([
  ["day", 1, "day"],
  ["1 month", 1, "month"],
  ["3 months", 3, "month"],
  ["52 WEEKS", 52, "week"],
  ["999 years", 999, "year"],
] as const)("the interval %s is %p %s", (text, count, unit) => {
  expect(billingInterval(text)).toEqual({ count, unit });
});

test("currencies have the digits of ISO 4217", () => {
  expect(
    ["usd", "Eur", "JPY", "isk", "UGX", "MGA", "HUF", "KWD", "TND"].map((text) => currencyCode(text) ?? ""),
  ).toEqual(["USD", "EUR", "JPY", "ISK", "UGX", "MGA", "HUF", "KWD", "TND"]);
  const digits = ["USD", "JPY", "ISK", "UGX", "MGA", "HUF", "TWD", "KWD", "XOF"].map(currencyDigits);
  expect(digits).toEqual([2, 0, 0, 0, 2, 2, 2, 3, 0]);
  // The letter ı becomes I in upper case.
  for (const text of ["", "US", "USDX", "ıSK", "ＵＳＤ", "XAU"]) expect(currencyCode(text)).toBeUndefined();
});

test("stored properties that cannot be read are absent", () => {
  const stored: JsonObject = {
    subscriptionId: "s",
    plan: "",
    amount: "4900",
    currency: "US",
    interval: "monthly",
    quantity: -1,
    currentPeriodEnd: "soon",
    endsAt: 5,
    trialEndsAt: null,
    reason: {},
    invoiceId: 7,
  };
  const read = Object.entries(billingProperties(stored, utc)).filter(([, value]) => value !== undefined);
  expect(Object.fromEntries(read)).toEqual({ subscriptionId: "s", invoiceId: "7" });
});
