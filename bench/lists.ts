/**
 * The cost of subscriptions in lists of 100,000 users in 12,500 accounts: a page of 100 rows and the number
 * of all, with and without subscriptions. 15,000 subscriptions are paid by accounts; then 100,000 by users
 * without one. Each has 12 changes. Processor time says most on a busy machine.
 *
 *   cli/with-bun bench/lists.ts [millions of events, 1 by default]
 */
import { withTemporaryWarehouse } from "../cli/backtest/warehouse.ts";
import { lists } from "../server/analytics/entities/lists.ts";
import { revenueQuestion } from "../server/analytics/revenue/currencies.ts";
import { hasPayers, type PayersQuestion, payersNow } from "../server/analytics/revenue/payers-now.ts";
import { msPerDay, Zone } from "../server/calendar/zone.ts";
import type { EntityKind } from "../server/scoring/queries/engagement-events.ts";
import type { Warehouse } from "../server/warehouse/engine/warehouse.ts";
import { loadHistory } from "./history/history.ts";
import { printTook, timed } from "./history/timed.ts";

const organization = 1;
const repeats = 9;
const users = 100_000;
const today = Math.floor(Date.now() / msPerDay);
const settings = { organization, reportingCurrency: "USD", currencyRates: { EUR: 1.0842 } };
const { transitions } = new Zone("Europe/Paris");

interface Paid {
  readonly by: EntityKind;
  readonly subscriptions: number;
  readonly payers: number;
}

/** Each began within two years, and changes each 50 days. Some are in EUR, and some ended. */
async function loadSubscriptions(warehouse: Warehouse, { by, subscriptions, payers }: Paid): Promise<void> {
  const index = "arrayEnumerate(range(12))";
  const begin = `toInt64(${(today - 730) * msPerDay}) + toInt64(cityHash64(number, 1) % 200) * ${msPerDay}`;
  const payer = "toUInt32(1 + number % {payers:UInt32})";
  await warehouse.command("TRUNCATE TABLE subscriptions");
  await warehouse.command(
    `INSERT INTO subscriptions (organization, subscription, version, rules, events, events_hash, of_users, of_accounts,
       "from", status, plan, mrr, currency, quantity, period_end, ends_at, payer_account, payer_user, is_involuntary, last_event)
     SELECT {organization:UInt32}, concat('sub_', toString(cityHash64(number))), 1, 'bench', 12, 1, [], [],
       arrayMap(i -> fromUnixTimestamp64Milli(${begin} + i * 4320000000), ${index}),
       arrayMap(i -> if(i = 12 AND number % 3 = 0, 'canceled', 'active'), ${index}),
       arrayMap(i -> concat('Plan ', toString(cityHash64(number, intDiv(i, 3)) % 6)), ${index}),
       arrayMap(i -> if(i = 12 AND number % 3 = 0, toInt64(0), toInt64(1000 + cityHash64(number, i, 7) % 9000)), ${index}),
       arrayMap(i -> if(number % 4 = 0, 'EUR', 'USD'), ${index}),
       arrayMap(i -> NULL, ${index}),
       arrayMap(i -> fromUnixTimestamp64Milli(${begin} + (i + 1) * 4320000000), ${index}),
       arrayMap(i -> NULL, ${index}),
       arrayMap(i -> ${by === "account" ? payer : "toUInt32(0)"}, ${index}), arrayMap(i -> ${payer}, ${index}),
       arrayMap(i -> false, ${index}), arrayMap(i -> fromUnixTimestamp64Milli(${begin}), ${index})
     FROM numbers({subscriptions:UInt32})`,
    { organization, payers, subscriptions },
  );
}

/** As the handler of the list has it. */
async function payersOf(warehouse: Warehouse, kind: EntityKind): Promise<PayersQuestion | undefined> {
  if (!(await hasPayers(warehouse, organization, kind))) return undefined;
  return {
    ...(await revenueQuestion(warehouse, settings)),
    kind,
    nowMs: Date.now(),
    untilMs: null,
    transitions,
  };
}

const base = {
  organization,
  toDay: today,
  passiveEvents: [],
  run: undefined,
  earlier: undefined,
  search: "",
  limit: 100,
  offset: 0,
  descending: true,
};

async function page(
  warehouse: Warehouse,
  kind: EntityKind,
  asked: object & { readonly sort: "name" | "lastSeen" | "mrr" | "renewsAt" },
) {
  const question = { ...base, ...asked, payers: await payersOf(warehouse, kind) };
  const { payers } = question;
  const list = lists[kind];
  const [rows] = await Promise.all([list.page(warehouse, question), list.count(warehouse, question)]);
  const numbers = rows.map(({ entity }) => entity);
  if (payers !== undefined) await payersNow(warehouse, payers, numbers);
}

const questions = {
  "by name": { sort: "name" },
  "by last seen": { sort: "lastSeen" },
  "by MRR": { sort: "mrr" },
  "by renewal": { sort: "renewsAt" },
  "active, MRR from 50": { sort: "mrr", subscriptionStatus: "active", mrrFrom: 5_000 },
} as const;

async function measure(warehouse: Warehouse, millions: number): Promise<void> {
  const loaded = await loadHistory(warehouse, {
    organization,
    events: millions * 1e6,
    users,
    days: 182,
    toDay: today,
  });
  console.log(`${loaded.users} users with ${loaded.events} events, loaded in ${loaded.seconds.toFixed(0)} s`);
  await compare(warehouse, "account", { by: "account", subscriptions: 15_000, payers: 12_500 });
  await compare(warehouse, "user", { by: "account", subscriptions: 15_000, payers: 12_500 });
  await compare(warehouse, "user", { by: "user", subscriptions: users, payers: users });
}

/** A list without subscriptions, and with those that are paid by accounts or by users. */
async function compare(warehouse: Warehouse, kind: EntityKind, paid: Paid): Promise<void> {
  console.log(
    `\nThe list of ${kind}s, with ${paid.subscriptions} subscriptions of ${paid.payers} ${paid.by}s`,
  );
  await warehouse.command("TRUNCATE TABLE subscriptions");
  const without = new Map<string, number>();
  for (const [name, asked] of Object.entries(questions).slice(0, 2)) {
    const took = await timed(() => page(warehouse, kind, asked), repeats);
    without.set(name, took.cpuMs);
    printTook(`${name}, without subscriptions`, took);
  }
  await loadSubscriptions(warehouse, paid);
  for (const [name, asked] of Object.entries(questions)) {
    const took = await timed(() => page(warehouse, kind, asked), repeats);
    const beside = without.get(name) ?? without.get("by last seen") ?? 1;
    const as = without.has(name) ? "without" : "by last seen without";
    printTook(name, took, `${(took.cpuMs / beside).toFixed(2)} times the CPU ${as}`);
  }
  printTook("which payers and currencies there are", await timed(() => payersOf(warehouse, kind), repeats));
}

await withTemporaryWarehouse((warehouse) => measure(warehouse, Number(process.argv[2] ?? 1)));
process.exit(0);
