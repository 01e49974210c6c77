/** Cohorts of revenue by plan and by attribute, as of the first MRR; and groups of attributes with very many
 * values. */
import { expect, test } from "bun:test";
import { revenueQuestion } from "../../server/analytics/revenue/currencies.ts";
import type { RevenueSplit } from "../../server/analytics/revenue/payer-groups.ts";
import { revenue } from "../../server/analytics/revenue/revenue.ts";
import { revenueCohorts } from "../../server/analytics/revenue/revenue-cohorts.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { store } from "./revenue-support.ts";

const subject = new WarehouseUnderTest();
const monthMs = (month: number) => Date.UTC(2026, month, 1);
const [hourMs, entryMs] = [3_600_000, monthMs(0) + 12 * 3_600_000];
const edges = [0, 1, 2].map(monthMs);
const settings = { reportingCurrency: "USD", currencyRates: {} };

interface Paying {
  readonly account?: number;
  readonly user?: number;
  readonly fromMs?: number;
  readonly mrr?: number;
  readonly plan?: string;
}

function paid({ account = 0, user = 0, fromMs = entryMs, mrr = 100, plan = "Team" }: Paying) {
  const payer = account === 0 ? `user ${user}` : `account ${account}`;
  return {
    subscription: `of ${payer}`,
    payer,
    account,
    user,
    fromMs,
    mrr,
    plan,
    currency: "USD",
    isInvoluntary: false,
  };
}

interface Version {
  readonly version: number;
  readonly atMs: number;
  readonly traits: object;
}

async function know(organization: number, kind: "account" | "user", entity: number, versions: Version[]) {
  for (const { version, atMs, traits } of versions) {
    await subject.warehouse.command(
      `INSERT INTO ${kind}_versions (organization, ${kind}, version, at, traits)
       SELECT {organization:UInt32}, {entity:UInt32}, {version:UInt32}, fromUnixTimestamp64Milli({atMs:Int64}), {traits:String}`,
      { organization, entity, version, atMs, traits: JSON.stringify(traits) },
    );
  }
}

/** The payers of each group, by its value. */
async function cohortsBy(organization: number, split: RevenueSplit) {
  const question = await revenueQuestion(subject.warehouse, { organization, ...settings });
  const cohorts = await revenueCohorts(subject.warehouse, question, edges, split);
  return Object.fromEntries(
    cohorts.map(({ kind, value, payers, entryMrr, cells }) => [
      value ?? kind,
      { payers, entryMrr, mrrs: cells.map(({ mrr }) => mrr) },
    ]),
  );
}

test("a cohort is split by the attribute when the payer first had MRR, or within a day after", async () => {
  const organization = subject.newOrganization();
  await store(subject.warehouse, organization, [
    paid({ account: 1 }),
    paid({ account: 1, fromMs: monthMs(1) + 1, mrr: 150 }),
    paid({ account: 2 }),
    paid({ account: 3 }),
    paid({ account: 4 }),
    paid({ user: 5 }),
  ]);
  const at = (version: number, atMs: number, tier: unknown) => ({ version, atMs, traits: { tier } });
  // Account 1 was silver at entry, account 2 within a day, account 3 first heard of a month later, account 4
  // never.
  await know(organization, "account", 1, [at(1, entryMs - hourMs, "silver"), at(2, monthMs(1), "gold")]);
  await know(organization, "account", 2, [
    at(1, entryMs - hourMs, "gold"),
    at(2, entryMs + 23 * hourMs, "silver"),
  ]);
  await know(organization, "account", 3, [at(1, monthMs(1), "gold"), at(2, monthMs(1) + 1, "silver")]);
  await know(organization, "account", 4, [at(1, entryMs, null)]);
  await know(organization, "user", 5, [at(1, entryMs, "gold")]);
  expect(await cohortsBy(organization, { by: "trait", trait: "tier" })).toEqual({
    silver: { payers: 2, entryMrr: 200, mrrs: [200, 250] },
    gold: { payers: 2, entryMrr: 200, mrrs: [200, 200] },
    none: { payers: 1, entryMrr: 100, mrrs: [100, 100] },
  });
});

test("a cohort is split by the plan of the first MRR", async () => {
  const organization = subject.newOrganization();
  await store(subject.warehouse, organization, [
    paid({ account: 1 }),
    paid({ account: 1, fromMs: monthMs(1) + 1, mrr: 900, plan: "Gold" }),
    paid({ account: 2, plan: "Gold" }),
    paid({ account: 2, fromMs: monthMs(1) + 1, mrr: 0, plan: "Gold" }),
  ]);
  expect(await cohortsBy(organization, { by: "plan" })).toEqual({
    Team: { payers: 1, entryMrr: 100, mrrs: [100, 900] },
    Gold: { payers: 1, entryMrr: 100, mrrs: [100, 0] },
  });
});

test("the values with the most payers are groups of their own, all others are one", async () => {
  const organization = subject.newOrganization();
  const payers = Array.from({ length: 60 }, (_, index) => index + 1);
  await store(
    subject.warehouse,
    organization,
    payers.map((account) => paid({ account })),
  );
  await subject.warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version)
     SELECT {organization:UInt32}, number, if(number <= 20, 'large', toString(number)), '', now64(3), now64(3), 1 FROM numbers(1, 60)`,
    { organization },
  );
  const byId = { by: "trait", trait: "id" } as const;
  expect(await cohortsBy(organization, byId)).toMatchObject({ large: { payers: 20 }, other: { payers: 36 } });
  const question = await revenueQuestion(subject.warehouse, { organization, ...settings });
  const period = { monthsMs: [monthMs(0)], endMs: monthMs(1) };
  const groups = await revenue(subject.warehouse, question, [period], byId);
  expect(groups).toHaveLength(21);
  const endPayers = Object.fromEntries(
    groups.map(({ kind, value, periods }) => [value ?? kind, periods[0]?.endPayers]),
  );
  expect(endPayers).toMatchObject({ large: 20, other: 21 });
});

test("an attribute with a value for each of 100,000 payers costs little more than no split", async () => {
  const organization = subject.newOrganization();
  const payers = 100_000;
  await subject.warehouse.command(
    `INSERT INTO subscriptions (organization, subscription, version, rules, events, events_hash, "from", status, plan, mrr, currency,
       payer_account, payer_user, is_involuntary, last_event)
     SELECT {organization:UInt32}, toString(number), 1, '', 1, 1, [fromUnixTimestamp64Milli({entryMs:Int64})], ['active'],
       [concat('Plan ', toString(number))], [100], ['USD'], [number], [1], [false], [fromUnixTimestamp64Milli({entryMs:Int64})]
     FROM numbers(1, {payers:UInt32})`,
    { organization, payers, entryMs },
  );
  await subject.warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version)
     SELECT {organization:UInt32}, number, toString(number), '', now64(3), now64(3), 1 FROM numbers(1, {payers:UInt32})`,
    { organization, payers },
  );
  const question = await revenueQuestion(subject.warehouse, { organization, ...settings });
  const months = Array.from({ length: 60 }, (_, month) => ({
    monthsMs: [monthMs(month - 58)],
    endMs: monthMs(month - 57),
  }));
  const cpuMsOf = async (split: RevenueSplit | null) => {
    const before = process.cpuUsage();
    const groups = await revenue(subject.warehouse, question, months, split);
    const { user, system } = process.cpuUsage(before);
    return { cpuMs: (user + system) / 1_000, groups };
  };
  const alone = await cpuMsOf(null);
  for (const split of [{ by: "trait", trait: "id" }, { by: "plan" }] as const) {
    const { cpuMs, groups } = await cpuMsOf(split);
    expect(groups).toHaveLength(21);
    const endPayers = groups.reduce((sum, { periods }) => sum + (periods.at(-1)?.endPayers ?? 0), 0);
    expect(endPayers).toBe(payers);
    expect(cpuMs / alone.cpuMs).toBeLessThan(12);
  }
});
