/**
 * The cost of figures of revenue: 200,000 subscriptions of 150,000 accounts with 5 changes each. MRR and
 * movements of 12 months, of 5 years, by plan and by attribute, and in two currencies; cohorts; MRR at risk;
 * some of them of a segment with half of the accounts. Beside them, in the same run, reading all changes in
 * one sum.
 *
 *   cli/with-bun bench/revenue.ts [thousands of subscriptions, 200 by default]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setOfRows } from "../server/analytics/entities/entity-sets.ts";
import { withinPayerSet } from "../server/analytics/entities/within-set.ts";
import { revenueQuestion, unconfirmedSubscriptions } from "../server/analytics/revenue/currencies.ts";
import type { RevenueSplit } from "../server/analytics/revenue/payer-groups.ts";
import { type RevenuePeriod, revenue } from "../server/analytics/revenue/revenue.ts";
import { mrrAtRisk } from "../server/analytics/revenue/revenue-at-risk.ts";
import { revenueCohorts } from "../server/analytics/revenue/revenue-cohorts.ts";
import { openChdbWarehouse } from "../server/warehouse/engine/chdb.ts";
import { printTook, timed } from "./history/timed.ts";

const repeats = 11;
const subscriptions = Number(process.argv[2] ?? 200) * 1_000;
const payers = Math.ceil(subscriptions * 0.75);
const monthMs = (month: number) => Date.UTC(2021, month, 1);
const nowMonth = 66;

const folder = mkdtempSync(join(tmpdir(), "rekindle-revenue-"));
let warehouse = await openChdbWarehouse({ folder });

/** Begins at any time of five and a half years, changes each 50 days on average, and ends in one of three
 * histories. */
function load(organization: number, currencies: string): Promise<void> {
  const index = "arrayEnumerate(range(5))";
  const begin = `toInt64(${monthMs(0)}) + toInt64(cityHash64(number, 1) % ${66 * 30}) * 86400000`;
  return warehouse.command(
    `INSERT INTO subscriptions (organization, subscription, version, rules, events, events_hash, "from", status, plan, mrr,
       currency, payer_account, payer_user, is_involuntary, last_event)
     SELECT {organization:UInt32}, concat('sub_', toString(number)), 1, 'bench', 5, 1,
       arrayMap(i -> fromUnixTimestamp64Milli(${begin} + i * 4320000000 + toInt64(cityHash64(number, i) % 86400000)), ${index}),
       arrayMap(i -> if(i = 5 AND number % 3 = 0, 'canceled', 'active'), ${index}),
       arrayMap(i -> concat('Plan ', toString(cityHash64(number, intDiv(i, 3)) % 6)), ${index}),
       arrayMap(i -> if(i = 5 AND number % 3 = 0, toInt64(0), toInt64(1000 + cityHash64(number, i, 7) % 9000)), ${index}),
       arrayMap(i -> ${currencies}, ${index}),
       arrayMap(i -> toUInt32(1 + number % {payers:UInt32}), ${index}),
       arrayMap(i -> toUInt32(1 + number % {payers:UInt32}), ${index}),
       arrayMap(i -> i = 5 AND number % 6 = 0, ${index}),
       arrayMap(i -> fromUnixTimestamp64Milli(${begin}), ${index})
     FROM numbers({subscriptions:UInt32})`,
    { organization, payers, subscriptions },
  );
}

await load(1, "'USD'");
await load(2, "if(number % 4 = 0, 'EUR', 'USD')");
for (const organization of [1, 2]) {
  await warehouse.command(
    `INSERT INTO account_scores (organization, day, account, version, state, colour, risk)
     SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), {day:Int32}), number, 1, 'active', 'healthy',
       cityHash64(number) % 1000 / 1000
     FROM numbers(1, {payers:UInt32})`,
    { organization, payers, day: monthMs(nowMonth) / 86_400_000 },
  );
  await warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version, traits)
     SELECT {organization:UInt32}, number, toString(number), '', now64(3), now64(3), 1,
       concat('{"size":"', toString(number % 30), '","plan":"Team"}')
     FROM numbers(1, {payers:UInt32})`,
    { organization, payers },
  );
}

// The billing events behind the changes, of an organization that no question reads: queries of a warehouse
// with few rows have one thread. Rows are counted at the start.
await warehouse.command(
  `INSERT INTO billing_events (organization, subscription, event, id)
   SELECT 3, concat('sub_', toString(number % {subscriptions:UInt32})), 'subscription_updated', generateUUIDv4(number)
   FROM numbers(10 * {subscriptions:UInt32})`,
  { subscriptions },
);
await warehouse.close();
warehouse = await openChdbWarehouse({ folder });

const settings = { reportingCurrency: "USD", currencyRates: { EUR: 1.0842 } };

/** The last so many periods of so many months. */
function periodsOf(count: number, months: number): RevenuePeriod[] {
  return Array.from({ length: count }, (_, index) => {
    const first = nowMonth - (count - index) * months;
    return {
      monthsMs: Array.from({ length: months }, (_, month) => monthMs(first + month)),
      endMs: monthMs(first + months),
    };
  });
}

/** The accounts of a segment, as they are bound to queries. */
const half = withinPayerSet(warehouse, {
  accounts: await setOfRows(warehouse, "account", {
    number: "account",
    from: "FROM accounts FINAL WHERE organization = 1 AND account % 2 = 0",
    parameters: {},
  }),
  users: await setOfRows(warehouse, "user", {
    number: "user",
    from: "FROM users WHERE false",
    parameters: {},
  }),
});

/** All that the page's first request asks. */
async function page(
  organization: number,
  periods: readonly RevenuePeriod[],
  split: RevenueSplit | null,
  of = warehouse,
) {
  const [question] = await Promise.all([
    revenueQuestion(warehouse, { organization, ...settings }),
    unconfirmedSubscriptions(of, organization, monthMs(nowMonth)),
  ]);
  await revenue(of, question, periods, split);
}

async function cohorts(months: number, count = 12, of = warehouse) {
  const question = await revenueQuestion(warehouse, { organization: 1, ...settings });
  const edges = Array.from({ length: count + 1 }, (_, index) => monthMs(nowMonth - (count - index) * months));
  await revenueCohorts(of, question, edges, null);
}

async function atRisk(isOfSubscription: boolean, of = warehouse) {
  const nowMs = monthMs(nowMonth);
  const covariance = { slope: 0.01, intercept: 0.01, both: 0 };
  const untilMs = nowMs + 28 * 86_400_000;
  const loss = {
    untilMs,
    laterMs: nowMs + 90 * 86_400_000,
    calibration: { slope: 1, intercept: 0, covariance },
  };
  const run = { organization: 1, kind: "account", day: nowMs / 86_400_000, rowsVersion: 1 } as const;
  const question = await revenueQuestion(warehouse, { organization: 1, ...settings });
  const asked = {
    kind: "account",
    scored: { run, atMs: nowMs, hasModel: true },
    highRisk: 0.5,
    nowMs,
    limit: 100,
  } as const;
  await mrrAtRisk(of, { ...question, ...asked, loss: isOfSubscription ? loss : null });
}

const reading = await timed(
  () =>
    warehouse.rows(
      "SELECT sum(amount) AS total FROM subscriptions FINAL ARRAY JOIN mrr AS amount WHERE organization = 1",
    ),
  repeats,
);
printTook("reading all changes", reading);

const questions: Readonly<Record<string, () => Promise<unknown>>> = {
  "12 months": () => page(1, periodsOf(12, 1), null),
  "8 quarters": () => page(1, periodsOf(8, 3), null),
  "5 years": () => page(1, periodsOf(5, 12), null),
  "12 months, two currencies": () => page(2, periodsOf(12, 1), null),
  "12 months by plan": () => page(1, periodsOf(12, 1), { by: "plan" }),
  "12 months by an attribute": () => page(1, periodsOf(12, 1), { by: "trait", trait: "size" }),
  "12 cohorts": () => cohorts(1),
  "24 cohorts of quarters": () => cohorts(3, 24),
  "MRR at risk": () => atRisk(false),
  "expected loss": () => atRisk(true),
  "12 months of a segment": () => page(1, periodsOf(12, 1), null, half),
  "12 months of a segment by an attribute": () =>
    page(1, periodsOf(12, 1), { by: "trait", trait: "size" }, half),
  "12 cohorts of a segment": () => cohorts(1, 12, half),
  "expected loss of a segment": () => atRisk(true, half),
};
for (const [name, ask] of Object.entries(questions)) {
  const took = await timed(ask, repeats);
  printTook(name, took, `${(took.cpuMs / reading.cpuMs).toFixed(1)} times reading`);
}
await warehouse.close();
rmSync(folder, { recursive: true });
