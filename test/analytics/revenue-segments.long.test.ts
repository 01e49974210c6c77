/** Figures of revenue of some payers: those of exactly these payers, and of two sets that have all payers
 * they add up to the whole. */
import { describe, expect, test } from "bun:test";
import { setOfNumbers } from "../../server/analytics/entities/entity-sets.ts";
import { withinPayerSet } from "../../server/analytics/entities/within-set.ts";
import { revenueQuestion, unconfirmedSubscriptions } from "../../server/analytics/revenue/currencies.ts";
import { revenue } from "../../server/analytics/revenue/revenue.ts";
import { mrrAtRisk } from "../../server/analytics/revenue/revenue-at-risk.ts";
import { revenueCohorts } from "../../server/analytics/revenue/revenue-cohorts.ts";
import { unratedMrr } from "../../server/analytics/revenue/unrated-mrr.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
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
import { type History, payerName, randomChanges, randomDetails, store } from "./revenue-support.ts";

const subject = new WarehouseUnderTest();
const random = randomOfThisRun("revenue of segments");

/** Numbers from 1 on, as random histories have them. */
const numbers = {
  account: Array.from({ length: 12 }, (_, index) => index + 1),
  user: Array.from({ length: 15 }, (_, index) => index + 1),
};

interface Side {
  readonly warehouse: Warehouse;
  readonly has: (payer: string) => boolean;
}

/** Two random sets of payers, each of which has those that the other has not. */
async function sidesOf(organization: number): Promise<[Side, Side]> {
  const first = {
    account: numbers.account.filter(() => random.chance(0.5)),
    user: numbers.user.filter(() => random.chance(0.5)),
  };
  const second = {
    account: numbers.account.filter((one) => !first.account.includes(one)),
    user: numbers.user.filter((one) => !first.user.includes(one)),
  };
  return [await sideOf(organization, first), await sideOf(organization, second)];
}

async function sideOf(organization: number, of: Record<"account" | "user", number[]>): Promise<Side> {
  const { warehouse } = subject;
  const names = new Set([
    ...of.account.map((account) => payerName({ account, user: 0 })),
    ...of.user.map((user) => payerName({ account: 0, user })),
  ]);
  const accounts = await setOfNumbers(warehouse, "account", { organization, numbers: of.account });
  const users = await setOfNumbers(warehouse, "user", { organization, numbers: of.user });
  return { warehouse: withinPayerSet(warehouse, { accounts, users }), has: (payer) => names.has(payer) };
}

async function stored(history: Pick<History, "currencies" | "hasTransfers">) {
  const organization = subject.newOrganization();
  const changes = randomChanges(random, { ...history, subscriptions: 60, beginMs, endMs });
  await store(subject.warehouse, organization, changes, randomDetails(random));
  // Each is known, as users and accounts that pay are.
  await subject.warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, account, first_identified_at, updated_at, version)
     SELECT {organization:UInt32}, number, toString(number), '', '{}', 0, now64(3), now64(3), 1 FROM numbers(1, 15)`,
    { organization },
  );
  const question = await revenueQuestion(subject.warehouse, { organization, ...settings });
  return { organization, changes, question, sides: await sidesOf(organization) };
}

/** The answers about both sets, and about all payers. */
async function ofEach<Answer>(sides: readonly Side[], ask: (warehouse: Warehouse) => Promise<Answer>) {
  const parts: Answer[] = [];
  for (const { warehouse } of sides) parts.push(await ask(warehouse));
  return { whole: await ask(subject.warehouse), parts };
}

/** The sum of a number of rows, by their keys. Zeros are left out. */
function sumsBy<Row>(rows: readonly Row[], key: (row: Row) => string, number: (row: Row) => number) {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(key(row), (sums.get(key(row)) ?? 0) + number(row));
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0).sort());
}

for (const [name, history] of Object.entries(histories)) {
  describe(`with ${name}`, () => {
    test.each([
      ["months", 14, 1],
      ["quarters", 0, 3],
    ])("movements and retention of %s are those of the payers of the set", async (_name, first, months) => {
      const { changes, question, sides } = await stored(history);
      const periods = periodsOf(first, months);
      const { whole, parts } = await ofEach(sides, (warehouse) =>
        revenue(warehouse, question, periods, null),
      );
      for (const [index, { has }] of sides.entries()) {
        expect(parts[index]).toEqual([
          { kind: "all", value: null, periods: expectedPeriods(changes, periods, has) },
        ]);
      }
      type Period = NonNullable<(typeof whole)[number]["periods"][number]>;
      const figures: ((period: Period) => number)[] = [
        ({ movements }) => movements.startMrr,
        ({ movements }) => movements.endMrr,
        ({ movements }) => movements.new.mrr,
        ({ movements }) => movements.churned.payers,
        ({ retention }) => retention.payers,
        ({ endPayers }) => endPayers,
      ];
      for (const figure of figures) {
        const byPeriod = (groups: typeof whole) => groups.flatMap((group) => group.periods.map(figure));
        const sums = byPeriod(whole).map((_, at) =>
          parts.reduce((sum, part) => sum + (byPeriod(part)[at] ?? 0), 0),
        );
        expect(sums).toEqual(byPeriod(whole));
      }
    });

    test("groups by plan and cohorts add up to those of all payers", async () => {
      const { question, sides } = await stored(history);
      const groups = await ofEach(sides, (warehouse) =>
        revenue(warehouse, question, periodsOf(20, 1), { by: "plan" }),
      );
      const endMrrs = (some: typeof groups.whole) =>
        sumsBy(
          some.flatMap(({ kind, value, periods }) =>
            periods.map(({ movements }, at) => ({ key: `${kind} ${value} ${at}`, mrr: movements.endMrr })),
          ),
          ({ key }) => key,
          ({ mrr }) => mrr,
        );
      expect(endMrrs(groups.parts.flat())).toEqual(endMrrs(groups.whole));
      const cohorts = await ofEach(sides, (warehouse) =>
        revenueCohorts(warehouse, question, [0, 6, 12, 18, 24].map(monthMs), null),
      );
      for (const figure of ["payers", "entryMrr"] as const) {
        const by = (some: typeof cohorts.whole) =>
          sumsBy(
            some,
            ({ cohort }) => String(cohort),
            (cohort) => cohort[figure],
          );
        expect(by(cohorts.parts.flat())).toEqual(by(cohorts.whole));
      }
    });

    test("MRR at risk, in currencies without a rate and unconfirmed adds up to that of all payers", async () => {
      const { organization, question, sides } = await stored(history);
      const asked = { scored: undefined, highRisk: 0.5, loss: null, nowMs: lastMs, limit: 10 };
      for (const kind of ["account", "user"] as const) {
        const { whole, parts } = await ofEach(sides, (warehouse) =>
          mrrAtRisk(warehouse, { ...question, ...asked, kind }),
        );
        for (const figure of ["mrr", "payers"] as const) {
          expect(parts.reduce((sum, part) => sum + part[figure], 0)).toBe(whole[figure]);
        }
      }
      const currency = (row: { readonly currency: string }) => row.currency;
      const unrated = await ofEach(sides, (warehouse) =>
        unratedMrr(warehouse, question, [monthMs(12), lastMs]),
      );
      const unconfirmed = await ofEach(sides, (warehouse) =>
        unconfirmedSubscriptions(warehouse, organization, lastMs),
      );
      const payers = (rows: typeof unrated.whole) => sumsBy(rows, currency, (row) => row.payers);
      const subscriptions = (rows: typeof unconfirmed.whole) =>
        sumsBy(rows, currency, (row) => row.subscriptions);
      expect(payers(unrated.parts.flat())).toEqual(payers(unrated.whole));
      expect(subscriptions(unconfirmed.parts.flat())).toEqual(subscriptions(unconfirmed.whole));
      expect(unconfirmed.whole.length).toBeGreaterThan(0);
    });
  });
}

test("excluded payers are in no set: users, and accounts whose users are all excluded", async () => {
  const organization = subject.newOrganization();
  const at = (account: number, user: number, mrr: number) => ({
    subscription: `sub ${account} ${user}`,
    payer: payerName({ account, user }),
    account,
    user,
    fromMs: monthMs(1),
    mrr,
    currency: "USD",
    isInvoluntary: false,
    plan: "Team",
  });
  await store(subject.warehouse, organization, [
    at(1, 1, 1),
    at(2, 2, 10),
    at(3, 3, 100),
    at(0, 5, 1_000),
    at(0, 6, 10_000),
  ]);
  // User 1 is in account 1, users 2 and 4 are in account 2, no user is in account 3. Users 1, 2 and 5 are
  // excluded.
  await subject.warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, account, first_identified_at, updated_at, version)
     SELECT {organization:UInt32}, number, toString(number), '', '{}', [1, 2, 0, 2, 0, 0][number], now64(3), now64(3), 1
     FROM numbers(1, 6)`,
    { organization },
  );
  await subject.warehouse.command(
    `INSERT INTO excluded_users SELECT {organization:UInt32}, 1, groupBitmapState(toUInt32(number))
     FROM numbers(1, 6) WHERE number IN (1, 2, 5)`,
    { organization },
  );
  const { warehouse } = await sideOf(organization, { account: [1, 2, 3], user: [5, 6] });
  const question = await revenueQuestion(warehouse, { organization, ...settings });
  const period = { monthsMs: [monthMs(2)], endMs: monthMs(3) };
  const [all] = await revenue(warehouse, question, [period], null);
  expect(all?.periods[0]?.movements.endMrr).toBe(10_110);
});
