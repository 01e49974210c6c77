/** Amounts of money as the pages write them, with the digits of their currency, and subscriptions in
 * words. */
import { expect, test } from "bun:test";
import { currenciesWithoutRate } from "../../contract/billing/currencies.ts";
import { cancelingText } from "../../dashboard/pages/entity/score-text.ts";
import { historyText } from "../../dashboard/parts/billing/history-text.ts";
import { moneyIn } from "../../dashboard/text/money.ts";

const plain = (text: string) => text.replaceAll("\u00a0", " ");

test.each([
  ["USD", 410_050, "$4,100.50", "$4,101", "$4.1K"],
  ["USD", 4_950, "$49.50", "$49.50", "$49.5"],
  ["CAD", 4_950, "CA$49.50", "CA$49.50", "CA$49.5"],
  ["EUR", 0, "€0.00", "€0.00", "€0"],
  ["JPY", 1_234, "¥1,234", "¥1,234", "¥1K"],
  ["ISK", 5, "ISK 5", "ISK 5", "ISK 5"],
  ["KWD", 1_234_567, "KWD 1,234.567", "KWD 1,235", "KWD 1.2K"],
  ["CHF", 120_000, "CHF 1,200.00", "CHF 1,200", "CHF 1.2K"],
])("%s: %d minor units", (currency, amount, exact, short, compact) => {
  const money = moneyIn(currency);
  expect([money.exact, money.short, money.compact].map((text) => plain(text(amount)))).toEqual([
    exact,
    short,
    compact,
  ]);
});

test("a change has its sign, and a missing amount is a dash", () => {
  const { change, exact } = moneyIn("USD");
  expect([change(100), change(-2_550), change(0), exact(null)]).toEqual(["+$1.00", "-$25.50", "$0.00", "–"]);
});

test("of payers with MRR in a currency without a rate, their other currencies have one", () => {
  const unrated = ["CHF", "EUR", "USD"].map((currency) => ({ currency }));
  const answer = { unrated, rates: [{ currency: "EUR" }], reportingCurrency: "USD" };
  expect(currenciesWithoutRate(answer)).toEqual(["CHF"]);
});

test("amounts of two currencies are each in their own", () => {
  const entry = {
    subscriptionId: "s",
    at: "2026-11-01T00:00:00.000Z",
    what: "plan_changed" as const,
    plan: "Team",
    planBefore: "Team",
    mrr: 4_900,
    mrrBefore: 5_000,
    currency: "USD",
    currencyDigits: 2,
    currencyBefore: "JPY",
    currencyDigitsBefore: 0,
    endsAt: null,
    isInvoluntary: false,
    reason: null,
    reasonFrom: null,
    comment: null,
  } as const;
  expect(historyText(entry, false, String)).toBe("Plan changed: MRR ¥5,000 to $49.00");
});

test("the day of a scheduled end is that of the organization's timezone", () => {
  const endsAt = "2026-11-30T23:00:00.000Z";
  expect(cancelingText({ endsAt }, "Europe/Paris")).toEndWith("is scheduled for 1 Dec 2026.");
  expect(cancelingText({ endsAt }, "UTC")).toEndWith("is scheduled for 30 Nov 2026.");
  expect(cancelingText({ endsAt: null }, "UTC")).toBeUndefined();
});
