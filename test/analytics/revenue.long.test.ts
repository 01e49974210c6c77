/** Figures of revenue in SQL: the same as the pure figures of server/revenue, on random histories. */
import { describe, expect, test } from "bun:test";
import { revenueQuestion, unconfirmedSubscriptions } from "../../server/analytics/revenue/currencies.ts";
import { departuresByReason } from "../../server/analytics/revenue/departures-by-reason.ts";
import { revenue } from "../../server/analytics/revenue/revenue.ts";
import { mrrAtRisk } from "../../server/analytics/revenue/revenue-at-risk.ts";
import { revenueCohorts } from "../../server/analytics/revenue/revenue-cohorts.ts";
import { unratedMrr } from "../../server/analytics/revenue/unrated-mrr.ts";
import { conversionAt } from "../../server/revenue/rates.ts";
import { balancesOf } from "../revenue/balances.ts";
import { randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import {
  beginMs,
  endMs,
  expectedPeriods,
  histories,
  lastMs,
  monthMs,
  periodsOf,
  settings,
} from "./revenue-expected.ts";
import { type History, payerName, randomChanges, store } from "./revenue-support.ts";

const subject = new WarehouseUnderTest();
const random = randomOfThisRun("revenue");

async function stored(history: Pick<History, "currencies" | "hasTransfers">, subscriptions = 60) {
  const organization = subject.newOrganization();
  const changes = randomChanges(random, { ...history, subscriptions, beginMs, endMs });
  await store(subject.warehouse, organization, changes);
  const question = await revenueQuestion(subject.warehouse, { organization, ...settings });
  return { organization, changes, question };
}

for (const [name, history] of Object.entries(histories)) {
  describe(`with ${name}`, () => {
    test.each([
      ["months", 0, 1],
      ["the last months, after a history", 20, 1],
      ["quarters", 0, 3],
      ["years", 0, 12],
    ])("movements and retention of %s are those of each payer's balances", async (_name, first, months) => {
      const { changes, question } = await stored(history);
      const periods = periodsOf(first, months);
      const groups = await revenue(subject.warehouse, question, periods, null);
      expect(groups).toEqual([{ kind: "all", value: null, periods: expectedPeriods(changes, periods) }]);
    });

    test("groups by attribute have each payer once", async () => {
      const { organization, changes, question } = await stored(history);
      await withAttributes(organization);
      const periods = periodsOf(14, 3);
      const groups = await revenue(subject.warehouse, question, periods, { by: "trait", trait: "tier" });
      for (const [tier, value] of [["even", "even"] as const, ["odd", null] as const]) {
        const isOwn = (payer: string) => (Number(payer.split(" ")[1]) % 2 === 0) === (tier === "even");
        const group = groups.find((one) => one.value === value);
        expect(group).toMatchObject({ kind: value === null ? "none" : "value" });
        expect(group?.periods).toEqual(expectedPeriods(changes, periods, isOwn));
      }
      expect(groups).toHaveLength(2);
    });

    test("groups by plan add up to all payers", async () => {
      const { question } = await stored(history);
      const periods = periodsOf(10, 1);
      const [all] = await revenue(subject.warehouse, question, periods, null);
      const groups = await revenue(subject.warehouse, question, periods, { by: "plan" });
      expect(groups.length).toBeGreaterThan(1);
      for (const [index, period] of (all?.periods ?? []).entries()) {
        const sum = (of: (one: (typeof groups)[number]["periods"][number]) => number) =>
          groups.reduce(
            (total, { periods: own }) => total + (own[index] === undefined ? 0 : of(own[index])),
            0,
          );
        expect(sum(({ movements }) => movements.endMrr)).toBe(period.movements.endMrr);
        expect(sum(({ movements }) => movements.churned.mrr)).toBe(period.movements.churned.mrr);
        expect(sum(({ retention }) => retention.payers)).toBe(period.retention.payers);
      }
    });

    test("departures by reason are those of the movements, also by bands of MRR and endings", async () => {
      const { organization, question } = await stored(history);
      const periods = periodsOf(0, 1);
      const [all] = await revenue(subject.warehouse, question, periods, null);
      const edges = [...periods.flatMap(({ monthsMs }) => monthsMs), periods.at(-1)?.endMs ?? 0];
      const expected = (all?.periods ?? []).map(({ movements: { churned, churnedInvoluntarily } }) => [
        churned.mrr,
        churned.payers,
        churnedInvoluntarily.mrr,
        churnedInvoluntarily.payers,
      ]);
      expect(expected.some(([, payers = 0]) => payers > 0)).toBe(true);
      for (const split of ["none", "mrr", "ending", "plan"] as const) {
        const asked = { ...question, organization, churnEvents: ["left"], edges, split, comments: 1 };
        const { sums } = await departuresByReason(subject.warehouse, asked);
        const found = periods.map(({ monthsMs: [edge] }) => {
          const own = sums.filter((row) => row.edge === edge);
          const sum = (name: "mrr" | "payers" | "involuntaryMrr" | "involuntaryPayers") =>
            own.reduce((total, row) => total + row[name], 0);
          return [sum("mrr"), sum("payers"), sum("involuntaryMrr"), sum("involuntaryPayers")];
        });
        expect([split, found]).toEqual([split, expected]);
      }
    });

    test("cohorts have the MRR of their payers at each later edge", async () => {
      const { changes: all, question } = await stored(history);
      // A subscription that passed to another payer is that one's from its start.
      const lastOf = new Map(all.map(({ subscription, payer }) => [subscription, payer]));
      const changes = all.map((one) => ({ ...one, payer: lastOf.get(one.subscription) ?? one.payer }));
      const edges = [12, 15, 18, 21].map(monthMs);
      const convert = conversionAt({ reporting: "USD", rates: settings.currencyRates });
      const { reported } = balancesOf(changes, edges, convert);
      const cohorts = await revenueCohorts(subject.warehouse, question, edges, null);
      const cohortOf = (ms: number) => edges.findLastIndex((edge) => edge <= ms);
      for (const cohort of [0, 1, 2]) {
        const own = reported.filter(({ firstPaidMs }) => cohortOf(firstPaidMs) === cohort);
        const found = cohorts.find((one) => one.cohort === cohort);
        expect(found?.payers ?? 0).toBe(own.length);
        const sums = edges
          .slice(cohort + 1)
          .map((_edge, index) => own.reduce((sum, { mrrs }) => sum + (mrrs[cohort + 1 + index] ?? 0), 0));
        expect((found?.cells ?? []).map(({ mrr }) => mrr)).toEqual(own.length === 0 ? [] : sums);
        // Just after the first instant with MRR.
        const entry = own.reduce((sum, { payer, firstPaidMs }) => {
          const of = changes.filter((change) => change.payer === payer);
          const other = changes.filter(({ subscription }) =>
            of.some((one) => one.subscription === subscription),
          );
          const at = balancesOf(other, [firstPaidMs + 1], convert).reported.find(
            (one) => one.payer === payer,
          );
          return sum + (at?.mrrs[0] ?? 0);
        }, 0);
        expect(found?.entryMrr ?? 0).toBe(entry);
      }
    });

    test("payers with a currency without a rate are shown in each of their currencies", async () => {
      const { changes, question } = await stored(history);
      const edges = [6, 18, 29].map(monthMs);
      const convert = conversionAt({ reporting: "USD", rates: settings.currencyRates });
      const { unreported } = balancesOf(changes, edges, convert);
      const expected = [...unreported].map(([currency, balances]) => ({
        currency,
        payers: balances.filter(({ mrrs }) => (mrrs.at(-1) ?? 0) > 0).length,
        mrrs: edges.map((_edge, index) => balances.reduce((sum, { mrrs }) => sum + (mrrs[index] ?? 0), 0)),
      }));
      const found = await unratedMrr(subject.warehouse, question, edges);
      expect(found).toEqual(expected.toSorted((a, b) => (a.currency < b.currency ? -1 : 1)));
    });

    test("the MRR now of accounts and of users adds up to that of all payers", async () => {
      const { changes, question } = await stored(history);
      const asked = { scored: undefined, highRisk: 0.5, loss: null, nowMs: lastMs, limit: 10 };
      const convert = conversionAt({ reporting: "USD", rates: settings.currencyRates });
      const { reported } = balancesOf(changes, [lastMs + 1], convert);
      for (const kind of ["account", "user"] as const) {
        const own = reported.filter(({ payer, mrrs }) => payer.startsWith(kind) && (mrrs[0] ?? 0) > 0);
        const found = await mrrAtRisk(subject.warehouse, { ...question, ...asked, kind });
        const mrr = own.reduce((sum, { mrrs }) => sum + (mrrs[0] ?? 0), 0);
        expect(found).toMatchObject({
          mrr,
          payers: own.length,
          payersWithRisk: 0,
          expectedLoss: null,
          rows: [],
        });
      }
    });
  });
}

/** Accounts and users with an even number have the tier "even". */
async function withAttributes(organization: number): Promise<void> {
  const tier = "if(number % 2 = 0, '{\"tier\":\"even\"}', '{}')";
  const now = "toDateTime64('2026-01-01 00:00:00', 3, 'UTC')";
  await subject.warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version, traits)
     SELECT {organization:UInt32}, number, toString(number), '', ${now}, ${now}, 1, ${tier} FROM numbers(1, 20)`,
    { organization },
  );
  await subject.warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, account, first_identified_at, updated_at, version)
     SELECT {organization:UInt32}, number, toString(number), '', ${tier}, 0, ${now}, ${now}, 1 FROM numbers(1, 20)`,
    { organization },
  );
}

test("excluded users, and accounts of excluded users alone, are left out", async () => {
  const leftOut = new Set([
    ...[1, 2, 3, 15].map((user) => payerName({ account: 0, user })),
    payerName({ account: 1, user: 0 }),
  ]);
  const some = () => stored({ currencies: ["USD"], hasTransfers: false });
  let { organization, changes, question } = await some();
  // One of 9,000 random histories has none of these payers.
  while (!changes.some(({ payer }) => leftOut.has(payer)))
    ({ organization, changes, question } = await some());
  const now = "toDateTime64('2026-01-01 00:00:00', 3, 'UTC')";
  // Users 1 and 2 are in account 1, users 3 and 4 in account 2. Users 1, 2, 3 and 15 are excluded.
  await subject.warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, account, first_identified_at, updated_at, version)
     SELECT {organization:UInt32}, number, toString(number), '', '{}', if(number <= 4, intDiv(number + 1, 2), 0), ${now}, ${now}, 1
     FROM numbers(1, 15)`,
    { organization },
  );
  await subject.warehouse.command(
    `INSERT INTO excluded_users SELECT {organization:UInt32}, 1, groupBitmapState(toUInt32(number))
     FROM numbers(1, 15) WHERE number IN (1, 2, 3, 15)`,
    { organization },
  );
  const periods = periodsOf(12, 1);
  const [all] = await revenue(subject.warehouse, question, periods, null);
  expect(all?.periods).toEqual(expectedPeriods(changes, periods, (payer) => !leftOut.has(payer)));
});

test("NRR and GRR are of payers and never of totals", async () => {
  const organization = subject.newOrganization();
  const at = (payer: number, fromMs: number, mrr: number, plan = "Team") => ({
    subscription: `sub_${payer}`,
    payer: `account ${payer}`,
    account: payer,
    user: payer,
    plan,
    fromMs,
    mrr,
    currency: "USD",
    isInvoluntary: payer === 2 && mrr === 0,
  });
  // 5,000 become 6,000, although half of the payers leave.
  await store(subject.warehouse, organization, [
    at(1, monthMs(0) + 1, 2_500),
    at(2, monthMs(0) + 1, 2_500),
    at(2, monthMs(1) + 1, 0),
    at(3, monthMs(1) + 2, 3_500),
  ]);
  const question = await revenueQuestion(subject.warehouse, { organization, ...settings });
  const period = { monthsMs: [monthMs(1)], endMs: monthMs(2) };
  const [all] = await revenue(subject.warehouse, question, [period], null);
  expect(all?.periods[0]?.movements).toMatchObject({ startMrr: 5_000, endMrr: 6_000 });
  expect(all?.periods[0]?.retention).toMatchObject({ nrr: 0.5, grr: 0.5, churn: 0.5, involuntaryChurn: 0.5 });
});

test("without a setting the currency of the most changes is reported, and an empty organization has none", async () => {
  const unset = { reportingCurrency: null, currencyRates: {} };
  const { organization } = await stored({ currencies: ["JPY", "JPY", "JPY", "EUR"], hasTransfers: false });
  const asked = await revenueQuestion(subject.warehouse, { organization, ...unset });
  expect(asked).toMatchObject({ reporting: "JPY", rates: {}, used: ["JPY", "EUR"] });
  const empty = subject.newOrganization();
  const question = await revenueQuestion(subject.warehouse, { organization: empty, ...unset });
  expect(question).toMatchObject({ reporting: "USD", used: [], hasTransfers: false });
  const periods = periodsOf(24, 1);
  expect(await revenue(subject.warehouse, question, periods, null)).toEqual([
    { kind: "all", value: null, periods: expectedPeriods([], periods) },
  ]);
  expect(await revenue(subject.warehouse, question, periods, { by: "plan" })).toEqual([]);
  expect(await revenueCohorts(subject.warehouse, question, [beginMs, endMs], null)).toEqual([]);
  expect(await unconfirmedSubscriptions(subject.warehouse, empty, lastMs)).toEqual([]);
});
