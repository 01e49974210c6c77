/** Amounts of money as the pages write them: with the digits of their currency. */
import { expect, test } from "bun:test";
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
    ...[exact, short, compact],
  ]);
});

test("a change has its sign, and a missing amount is a dash", () => {
  const { change, exact } = moneyIn("USD");
  expect([change(100), change(-2_550), change(0), exact(null)]).toEqual([
    ...["+$1.00", "-$25.50", "$0.00", "–"],
  ]);
});
