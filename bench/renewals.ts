/**
 * The cost of renewals: 12 past months, the current and 6 coming ones of 100,000 paying accounts, with scores
 * of each start of a month; and the payers of one month. Four of five accounts pay monthly, others yearly.
 *
 *   cli/with-bun bench/renewals.ts [thousands of accounts, 100 by default]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { revenueQuestion } from "../server/analytics/revenue/currencies.ts";
import { renewingPayers } from "../server/analytics/revenue/renewal-payers.ts";
import type { RenewalMonth } from "../server/analytics/revenue/renewal-rows.ts";
import { renewalsOfMonths } from "../server/analytics/revenue/renewals.ts";
import { Zone } from "../server/calendar/zone.ts";
import { openChdbWarehouse } from "../server/warehouse/engine/chdb.ts";
import { printTook, timed } from "./history/timed.ts";

const repeats = 5;
const payers = Number(process.argv[2] ?? 100) * 1_000;
const dayMs = 86_400_000;
const monthMs = (month: number) => Date.UTC(2025, month, 1);
const nowMs = Date.UTC(2026, 5, 15);
/** June 2026, in months since January 2025. */
const current = 17;

const folder = mkdtempSync(join(tmpdir(), "rekindle-renewals-"));
const warehouse = await openChdbWarehouse({ folder });

// Each monthly account has a change a month for 18 months, yearly ones two.
await warehouse.command(
  `INSERT INTO subscriptions (organization, subscription, version, rules, events, events_hash, "from", status, plan, mrr,
     currency, period_end, ends_at, payer_account, payer_user, is_involuntary, last_event, price_interval)
   SELECT 1, concat('sub_', toString(number)), 1, 'bench', length(begins), 1, begins,
     arrayMap(i -> if(number % 7 = 0 AND i > number % 18, 'canceled', 'active'), index),
     arrayMap(i -> concat('Plan ', toString(number % 6)), index),
     arrayMap(i -> if(number % 7 = 0 AND i > number % 18, toInt64(0), toInt64(1000 + cityHash64(number) % 9000)), index),
     arrayMap(i -> 'USD', index), arrayMap(one -> addMonths(one, step), begins), arrayMap(i -> NULL, index),
     arrayMap(i -> toUInt32(number + 1), index), arrayMap(i -> toUInt32(number + 1), index), arrayMap(i -> false, index), begins,
     arrayMap(i -> if(step = 12, '1 year', '1 month'), index)
   FROM (
     SELECT number, if(number % 5 = 0, 12, 1) AS step, range(1, if(step = 12, 3, 19)) AS index,
       arrayMap(i -> addMonths(toDateTime64('2025-01-01 00:00:00', 3, 'UTC') + number % 27 * 86400, (i - 1) * step), index) AS begins
     FROM numbers({payers:UInt32}))`,
  { payers },
);
const months: RenewalMonth[] = Array.from({ length: 19 }, (_, index) => {
  const month = current - 12 + index;
  const asOfMs = month > current ? nowMs : monthMs(month);
  return {
    fromDay: monthMs(month) / dayMs,
    untilDay: monthMs(month + 1) / dayMs,
    fromMs: monthMs(month),
    asOfDay: asOfMs / dayMs,
    asOfMs,
    hasUndated: month === current + 1,
    risks: { day: asOfMs / dayMs, rowsVersion: 1, horizonDays: 28 },
  };
});
for (const day of new Set(months.map(({ asOfDay }) => asOfDay))) {
  await warehouse.command(
    `INSERT INTO account_scores (organization, day, account, version, state, colour, risk)
     SELECT 1, addDays(toDate32('1970-01-01'), {day:Int32}), number + 1, 1, 'active', 'healthy', cityHash64(number, {day:Int32}) % 200 / 1000
     FROM numbers({payers:UInt32})`,
    { day, payers },
  );
}

const question = {
  ...(await revenueQuestion(warehouse, { organization: 1, reportingCurrency: "USD", currencyRates: {} })),
  kind: "account",
  nowMs,
  transitions: new Zone("UTC").transitions,
  interval: "all",
} as const;
const calibration = { slope: 1, intercept: 0, covariance: { slope: 0.01, intercept: 0.01, both: 0 } };
const asked = { ...question, months };

printTook(
  `19 months of ${payers} accounts, one query`,
  await timed(
    () =>
      renewalsOfMonths(
        warehouse,
        asked,
        months.map(() => calibration),
      ),
    repeats,
  ),
);
const [month = months[0]] = months.slice(13);
if (month === undefined) throw new TypeError("There are months.");
const ofMonth = { ...question, month, limit: 200, offset: 0 };
printTook("the first 200 payers of a month", await timed(() => renewingPayers(warehouse, ofMonth), repeats));
await warehouse.close();
rmSync(folder, { recursive: true });
