/** MRR at risk: what is scheduled, what is expected to be lost, and with which interval. */
import { expect, test } from "bun:test";
import { revenueQuestion } from "../../server/analytics/revenue/currencies.ts";
import { type LossQuestion, mrrAtRisk } from "../../server/analytics/revenue/revenue-at-risk.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { store } from "./revenue-support.ts";

const subject = new WarehouseUnderTest();
const [dayMs, nowMs] = [86_400_000, Date.UTC(2026, 2, 1)];
const day = nowMs / dayMs;
const untilMs = nowMs + 28 * dayMs;
const horizon = { untilMs, laterMs: untilMs, calibration: null };

/** Accounts 1 to 5: churn risks .2, none, .5, none, .9. Account 2 ends within the horizon, and a part of
 * account 3. */
async function company(): Promise<number> {
  const organization = subject.newOrganization();
  const change = (subscription: string, account: number, fromMs: number, mrr: number) => ({
    subscription,
    payer: `account ${account}`,
    account,
    user: account,
    plan: "Team",
    fromMs,
    mrr,
    currency: "USD",
    isInvoluntary: false,
  });
  const [begun, soon, later] = [nowMs - 90 * dayMs, nowMs + 10 * dayMs, nowMs + 28 * dayMs];
  await store(subject.warehouse, organization, [
    change("a", 1, begun, 1_000),
    change("a", 1, later, 0),
    change("b", 2, begun, 500),
    change("b", 2, soon, 0),
    change("c", 3, begun, 300),
    change("d", 3, begun, 200),
    change("d", 3, soon, 0),
    change("e", 4, begun, 700),
    change("f", 5, begun, 50),
    change("f", 5, nowMs - dayMs, 0),
  ]);
  const { warehouse } = subject;
  await warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version)
     SELECT {organization:UInt32}, number, concat('a', toString(number)), concat('Account ', toString(number)), now64(3), now64(3), 1
     FROM numbers(1, 5)`,
    { organization },
  );
  await warehouse.command(
    `INSERT INTO account_scores (organization, day, account, version, state, colour, risk)
     SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), {day:Int32}), number, 1, 'active', 'healthy',
       [.2, NULL, .5, NULL, .9][number]
     FROM numbers(1, 5)`,
    { organization, day },
  );
  return organization;
}

async function atRisk(
  organization: number,
  loss: LossQuestion | null,
  hasModel = true,
  controls: readonly number[] = [],
) {
  const question = await revenueQuestion(subject.warehouse, {
    organization,
    reportingCurrency: null,
    currencyRates: {},
  });
  const run = { organization, kind: "account", day, rowsVersion: 1 } as const;
  const scored = { run, atMs: nowMs - dayMs, hasModel };
  const asked = { kind: "account", scored, highRisk: 0.5, nowMs, limit: 10, loss } as const;
  return mrrAtRisk(subject.warehouse, { ...question, ...asked, controls });
}

test("the expected loss is MRR that ends as scheduled, and churn risk × other MRR", async () => {
  const found = await atRisk(await company(), horizon);
  expect(found).toMatchObject({ mrr: 2_700, payers: 4, mrrWithRisk: 2_000, payersWithRisk: 3 });
  expect(found.rows).toEqual([
    { id: "a2", name: "Account 2", mrr: 500, risk: 1, scheduled: 500, expectedLoss: 500, laterMrr: 0 },
    { id: "a3", name: "Account 3", mrr: 500, risk: 0.5, scheduled: 200, expectedLoss: 350, laterMrr: 0 },
    { id: "a1", name: "Account 1", mrr: 1_000, risk: 0.2, scheduled: 0, expectedLoss: 200, laterMrr: 0 },
  ]);
  // Both others leave with a probability of .1, neither with .4.
  expect(found.expectedLoss).toEqual({
    mrr: 1_050,
    payers: 3,
    scheduledMrr: 700,
    low: 700,
    high: 2_000,
    laterMrr: 0,
    laterPayers: 0,
  });
});

test("an end after the horizon stands apart, and comes first as on the call list", async () => {
  const organization = await company();
  const found = await atRisk(organization, { ...horizon, laterMs: nowMs + 90 * dayMs });
  expect(found.rows.map(({ id, expectedLoss, laterMrr }) => [id, expectedLoss, laterMrr])).toEqual([
    ["a1", 200, 1_000],
    ["a2", 500, 0],
    ["a3", 350, 0],
  ]);
  expect(found.expectedLoss).toMatchObject({
    mrr: 1_050,
    scheduledMrr: 700,
    laterMrr: 1_000,
    laterPayers: 1,
  });
});

test("a start in the future hides no scheduled end, and payers without a risk are rows with their scheduled part", async () => {
  const organization = await company();
  const change = (subscription: string, account: number, fromMs: number, mrr: number) => ({
    subscription,
    payer: `account ${account}`,
    account,
    user: account,
    plan: "Team",
    fromMs,
    mrr,
    currency: "USD",
    isInvoluntary: false,
  });
  const begun = nowMs - 90 * dayMs;
  // Account 4 has no risk: 40 of its MRR end, and 60 begin later. The MRR of account 5 begins at this
  // instant.
  await store(subject.warehouse, organization, [
    change("g", 4, begun, 40),
    change("g", 4, nowMs + 10 * dayMs, 0),
    change("h", 4, nowMs + 20 * dayMs, 60),
    change("i", 5, nowMs, 10),
  ]);
  const found = await atRisk(organization, horizon);
  expect(found.rows.slice(-2)).toEqual([
    { id: "a4", name: "Account 4", mrr: 740, risk: null, scheduled: 40, expectedLoss: 40, laterMrr: 0 },
    { id: "a5", name: "Account 5", mrr: 10, risk: 0.9, scheduled: 0, expectedLoss: 9, laterMrr: 0 },
  ]);
  expect(found).toMatchObject({ mrr: 2_750, payers: 5, mrrWithRisk: 2_010, payersWithRisk: 4 });
  expect(found.expectedLoss).toMatchObject({ mrr: 1_099, payers: 5, scheduledMrr: 740 });
  expect(found.withoutRisk).toEqual([{ reason: "unused", payers: 1, mrr: 740 }]);
  // Without a model there is no prediction, and scheduled ends are still known.
  const unmodelled = await atRisk(organization, horizon, false);
  expect(unmodelled.expectedLoss?.scheduledMrr).toBe(740);
});

test("draws correct churn risks by the calibration of the back-test, and the expected loss stays", async () => {
  const organization = await company();
  const covariance = { slope: 0, intercept: 0, both: 0 };
  const lossAt = async (intercept: number, of = covariance) => {
    const calibration = { slope: 1, intercept, covariance: of };
    return (await atRisk(organization, { ...horizon, calibration })).expectedLoss;
  };
  expect(await lossAt(-20)).toEqual({
    mrr: 1_050,
    payers: 3,
    scheduledMrr: 700,
    low: 700,
    high: 700,
    laterMrr: 0,
    laterPayers: 0,
  });
  expect(await lossAt(20)).toMatchObject({ mrr: 1_050, low: 2_000, high: 2_000 });
  expect(await lossAt(-20, { ...covariance, intercept: 400 })).toMatchObject({ low: 700, high: 2_000 });
});

test("without the target `subscription` nothing is multiplied, and payers with a high risk are listed", async () => {
  const found = await atRisk(await company(), null);
  expect(found).toMatchObject({ mrrWithRisk: 1_500, highRiskMrr: 500, highRiskPayers: 1 });
  expect(found.expectedLoss).toBeNull();
  expect(found.rows).toEqual([
    { id: "a3", name: "Account 3", mrr: 500, risk: 0.5, scheduled: 0, expectedLoss: null, laterMrr: 0 },
  ]);
});

test("controls of a hold-out are in all sums, and are not listed", async () => {
  const organization = await company();
  for (const [loss, others] of [
    [horizon, ["a2", "a1"]],
    [null, []],
  ] as const) {
    const { rows: _, ...sums } = await atRisk(organization, loss);
    const { rows, ...withControl } = await atRisk(organization, loss, true, [3]);
    expect(rows.map(({ id }) => id)).toEqual([...others]);
    expect(withControl).toEqual(sums);
  }
});

test("payers without a risk are counted by the reason", async () => {
  const organization = await company();
  const { warehouse } = subject;
  const change = (account: number, fromMs: number, mrr: number) => ({
    subscription: `s${account}`,
    payer: `account ${account}`,
    account,
    user: account,
    plan: "Team",
    fromMs,
    mrr,
    currency: "USD",
    isInvoluntary: false,
  });
  // Account 6 began after the scores, account 7 has met the churn target, and 8 was never used.
  await store(warehouse, organization, [
    change(6, nowMs - dayMs / 2, 40),
    change(7, nowMs - 90 * dayMs, 30),
    change(8, nowMs - 90 * dayMs, 20),
  ]);
  await warehouse.command(
    `INSERT INTO account_scores (organization, day, account, version, state, colour, risk)
     SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), {day:Int32}), 7, 1, 'churned', 'churned', NULL`,
    { organization, day },
  );
  // Account 4 has a score without a risk, and account 2 only with a target by which its scheduled end is no
  // churn.
  const { withoutRisk, payers, payersWithRisk } = await atRisk(organization, horizon);
  expect(withoutRisk).toEqual([
    { reason: "unused", payers: 2, mrr: 720 },
    { reason: "new", payers: 1, mrr: 40 },
    { reason: "churned", payers: 1, mrr: 30 },
  ]);
  expect(payers - payersWithRisk).toBe(4);
  expect((await atRisk(organization, null)).withoutRisk[0]).toEqual({
    reason: "unused",
    payers: 3,
    mrr: 1_220,
  });
  expect((await atRisk(organization, horizon, false)).withoutRisk).toEqual([
    { reason: "no_model", payers: 4, mrr: 790 },
  ]);
});
