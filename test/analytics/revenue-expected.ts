/** Random histories of revenue, their periods, and the figures of them by the pure functions of
 * server/revenue. */
import type { RevenuePeriod } from "../../server/analytics/revenue/revenue.ts";
import { sumOfMovements } from "../../server/revenue/movements.ts";
import { conversionAt } from "../../server/revenue/rates.ts";
import { balancesOf, type MrrChange } from "../revenue/balances.ts";
import { movementsOf, retentionBetween } from "../revenue/movements.ts";
import type { History } from "./revenue-support.ts";

/** First instants of months since January 2024. */
export const monthMs = (month: number) => Date.UTC(2024, month, 1);
export const beginMs = monthMs(0);
export const endMs = monthMs(30);
/** The last month goes on: its end is in its middle. */
export const lastMs = Date.UTC(2026, 3, 17, 5);
export const settings = { reportingCurrency: "USD", currencyRates: { EUR: 1.0842, JPY: 0.0067, KWD: 3.255 } };

export const histories: Readonly<Record<string, Pick<History, "currencies" | "hasTransfers">>> = {
  "one currency": { currencies: ["USD"], hasTransfers: false },
  "one currency, subscriptions that pass to other payers": { currencies: ["USD"], hasTransfers: true },
  "several currencies": { currencies: ["USD", "EUR", "JPY", "KWD"], hasTransfers: false },
  "a currency without a rate": { currencies: ["USD", "USD", "EUR", "JPY", "CHF"], hasTransfers: true },
  "a currency without a rate, and one payer for each subscription": {
    currencies: ["USD", "USD", "EUR", "JPY", "CHF"],
    hasTransfers: false,
  },
};

/** Periods of so many months from a month on, the last until `lastMs`. */
export function periodsOf(firstMonth: number, months: number): RevenuePeriod[] {
  const periods: RevenuePeriod[] = [];
  for (let month = firstMonth; monthMs(month) < lastMs; month += months) {
    const starts = Array.from({ length: months }, (_, index) => monthMs(month + index));
    const end = Math.min(monthMs(month + months), lastMs);
    periods.push({ monthsMs: starts.filter((ms) => ms < end), endMs: end });
  }
  return periods;
}

/** The periods by the pure figures. @param counts which payers; all of them without it */
export function expectedPeriods(
  changes: readonly MrrChange[],
  periods: readonly RevenuePeriod[],
  counts: (payer: string) => boolean = () => true,
) {
  const edges = [...periods.flatMap(({ monthsMs }) => monthsMs), periods.at(-1)?.endMs ?? 0];
  const convert = conversionAt({ reporting: "USD", rates: settings.currencyRates });
  const reported = balancesOf(changes, edges, convert).reported.filter(({ payer }) => counts(payer));
  const movements = movementsOf(reported, edges);
  let month = 0;
  return periods.map(({ monthsMs }) => {
    const from = month;
    month += monthsMs.length;
    const to = month;
    return {
      movements: sumOfMovements(movements.slice(from, to)),
      retention: retentionBetween(reported, from, to),
      endPayers: reported.filter(({ mrrs }) => (mrrs[to] ?? 0) > 0).length,
    };
  });
}
