/** Renewals by month in the engine: which month they belong to, what is expected, and what came of it. */
import { expect, test } from "bun:test";
import { revenueQuestion } from "../../server/analytics/revenue/currencies.ts";
import { renewingPayers } from "../../server/analytics/revenue/renewal-payers.ts";
import type { RenewalMonth, RenewalsQuestion } from "../../server/analytics/revenue/renewal-rows.ts";
import { renewalsOfMonths } from "../../server/analytics/revenue/renewals.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { expectedRenewals, isCompared } from "../../server/revenue/renewals.ts";
import { subscriptions } from "../../server/warehouse/schema/billing-tables.ts";
import { Random } from "../../simulation/random.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const dayMs = 86_400_000;
const utc = (month: number, day: number) => Date.UTC(2026, month - 1, day);
const nowMs = utc(6, 15);

interface Change {
  readonly atMs: number;
  readonly mrr: number;
  readonly status?: string;
  readonly periodEndMs?: number | null;
  readonly endsAtMs?: number | null;
}

interface Life {
  readonly account: number;
  readonly interval: string;
  readonly plan?: string;
  readonly currency?: string;
  readonly changes: readonly Change[];
}

async function store(organization: number, lives: readonly Life[]): Promise<void> {
  const columns = [
    ...["organization", "subscription", "version", "rules", "events", "events_hash"],
    ...["from", "status", "plan", "mrr", "currency", "quantity", "period_end", "ends_at"],
    ...["payer_account", "payer_user", "is_involuntary", "last_event", "price_interval", "trial_ends_at"],
  ];
  const rows = lives.map(({ account, interval, plan = "Team", currency = "USD", changes }, index) => [
    ...[organization, `s${index}`, 1, "test", changes.length, 1],
    changes.map(({ atMs }) => atMs),
    changes.map(({ mrr, status }) => status ?? (mrr > 0 ? "active" : "canceled")),
    changes.map(() => plan),
    changes.map(({ mrr }) => mrr),
    changes.map(() => currency),
    changes.map(() => null),
    changes.map(({ periodEndMs }) => periodEndMs ?? null),
    changes.map(({ endsAtMs }) => endsAtMs ?? null),
    changes.map(() => account),
    changes.map(() => 1),
    changes.map(() => false),
    changes.map(({ atMs }) => atMs),
    changes.map(() => interval),
    changes.map(() => null),
  ]);
  const body = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await subject.warehouse.insertInto(subscriptions.name, columns, {
    rows: rows.length,
    body,
    token: crypto.randomUUID(),
  });
}

async function score(organization: number, day: number, risks: readonly (number | null)[]): Promise<void> {
  await subject.warehouse.command(
    `INSERT INTO account_scores (organization, day, account, version, state, colour, risk)
     SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), {day:Int32}), number + 1, 1, 'active', 'healthy',
       nullIf({risks:Array(Float64)}[number + 1], -1)
     FROM numbers({count:UInt32})`,
    { organization, day, risks: risks.map((risk) => risk ?? -1), count: risks.length },
  );
}

/** The months before and of June as of their start, later months as of now; with risks where scored. */
function months(from: number, until: number, scored: readonly number[] = []): RenewalMonth[] {
  return Array.from({ length: until - from + 1 }, (_, index) => {
    const month = from + index;
    const isComing = month > 6;
    const asOfMs = isComing ? nowMs : utc(month, 1);
    return {
      fromDay: utc(month, 1) / dayMs,
      untilDay: utc(month + 1, 1) / dayMs,
      fromMs: utc(month, 1),
      asOfDay: asOfMs / dayMs,
      asOfMs,
      hasUndated: month === 7,
      risks: scored.includes(month) ? { day: asOfMs / dayMs, rowsVersion: 1, horizonDays: 28 } : null,
    };
  });
}

async function questionOf(
  organization: number,
  more: Partial<RenewalsQuestion> = {},
): Promise<RenewalsQuestion> {
  const asked = { organization, reportingCurrency: "USD", currencyRates: { EUR: 2 } };
  const question = await revenueQuestion(subject.warehouse, asked);
  const { transitions } = new Zone("UTC");
  return { ...question, kind: "account", nowMs, transitions, months: months(5, 8), interval: "all", ...more };
}

async function sums(organization: number, more: Partial<RenewalsQuestion> = {}) {
  const question = await questionOf(organization, more);
  const found = await renewalsOfMonths(subject.warehouse, question, []);
  return found.map(({ dueMrr, scheduledMrr, renewedMrr, lostMrr, openMrr }) => [
    dueMrr,
    scheduledMrr,
    renewedMrr,
    lostMrr,
    openMrr,
  ]);
}

test("a monthly subscription renews in each month, and a yearly one in the month of its period's end", async () => {
  const organization = subject.newOrganization();
  await store(organization, [
    {
      account: 1,
      interval: "1 month",
      changes: [
        { atMs: utc(4, 20), mrr: 100, periodEndMs: utc(5, 20) },
        { atMs: utc(5, 20), mrr: 100, periodEndMs: utc(6, 20) },
      ],
    },
    { account: 2, interval: "1 year", changes: [{ atMs: utc(1, 9), mrr: 1_000, periodEndMs: utc(8, 9) }] },
    // Weekly: once a month.
    { account: 3, interval: "1 week", changes: [{ atMs: utc(6, 10), mrr: 7, periodEndMs: utc(6, 17) }] },
    // The 31st of a month without one is its last day.
    { account: 4, interval: "1 month", changes: [{ atMs: utc(6, 2), mrr: 40, periodEndMs: utc(7, 31) }] },
  ]);
  expect(await sums(organization)).toEqual([
    [100, 0, 100, 0, 0],
    [100, 0, 0, 0, 100],
    [147, 0, 0, 0, 147],
    [1_147, 0, 0, 0, 1_147],
  ]);
  expect(await sums(organization, { interval: "yearly" })).toEqual([
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
    [1_000, 0, 0, 0, 1_000],
  ]);
  const [month] = months(8, 8);
  if (month === undefined) throw new TypeError("a month");
  const { payers, total } = await renewingPayers(subject.warehouse, {
    ...(await questionOf(organization)),
    month,
    limit: 2,
    offset: 0,
  });
  expect(total).toBe(4);
  expect(payers.map(({ entity, day, due }) => [entity, day * dayMs, due])).toEqual([
    [3, utc(8, 5), 7],
    [2, utc(8, 9), 1_000],
  ]);
});

test("renewed and lost are what came, and neither is counted before it is known", async () => {
  const organization = subject.newOrganization();
  const begun = (periodEndMs: number) => ({ atMs: utc(4, 1), mrr: 10, periodEndMs });
  const monthly = { interval: "1 month" };
  await store(organization, [
    // Renewed, and canceled at the end of the next period: that is June's.
    {
      ...monthly,
      account: 1,
      changes: [
        begun(utc(5, 5)),
        { atMs: utc(5, 5), mrr: 10, periodEndMs: utc(6, 5) },
        { atMs: utc(6, 5), mrr: 0 },
      ],
    },
    // The period moved on, the payment failed, and it ended 20 days later.
    {
      ...monthly,
      account: 2,
      changes: [
        begun(utc(5, 5)),
        { atMs: utc(5, 5), mrr: 10, periodEndMs: utc(6, 5) },
        { atMs: utc(5, 6), mrr: 10, status: "past_due", periodEndMs: utc(6, 5) },
        { atMs: utc(5, 25), mrr: 0 },
      ],
    },
    // Left in the middle of the period.
    { ...monthly, account: 3, changes: [begun(utc(5, 20)), { atMs: utc(5, 11), mrr: 0 }] },
    // Nothing was heard.
    { ...monthly, account: 4, changes: [begun(utc(5, 20))] },
    // Paused: pays nothing.
    { ...monthly, account: 5, changes: [begun(utc(5, 20)), { atMs: utc(5, 20), mrr: 0, status: "paused" }] },
  ]);
  const [may, june] = await sums(organization);
  expect(may).toEqual([50, 0, 10, 30, 10]);
  // Account 4 renews on 20 June, which is to come.
  expect(june).toEqual([20, 0, 0, 10, 10]);
});

test("an end that was scheduled on the day of a month stands apart, and one scheduled later does not", async () => {
  const organization = subject.newOrganization();
  const scheduled = (atMs: number) => [
    { atMs: utc(4, 1), mrr: 10, periodEndMs: utc(5, 9) },
    { atMs, mrr: 10, periodEndMs: utc(5, 9), endsAtMs: utc(5, 9) },
    { atMs: utc(5, 9), mrr: 0 },
  ];
  await store(organization, [
    { account: 1, interval: "1 month", changes: scheduled(utc(4, 20)) },
    { account: 2, interval: "1 month", changes: scheduled(utc(5, 2)) },
    // Ends in two months: it renews until then.
    {
      account: 3,
      interval: "1 month",
      changes: [{ atMs: utc(6, 12), mrr: 5, periodEndMs: utc(7, 12), endsAtMs: utc(8, 12) }],
    },
  ]);
  expect(await sums(organization)).toEqual([
    [10, 10, 0, 10, 0],
    [0, 0, 0, 0, 0],
    [5, 0, 0, 0, 5],
    [0, 5, 0, 0, 0],
  ]);
});

test("the attribute renewsAt comes before the period, as it was on the day of the month", async () => {
  const organization = subject.newOrganization();
  const monthly = (account: number): Life => ({
    account,
    interval: "1 month",
    changes: [{ atMs: utc(4, 20), mrr: 10, periodEndMs: utc(5, 20) }],
  });
  await store(organization, [monthly(1), monthly(2)]);
  const said: readonly (readonly [account: number, atMs: number, renewsAt: string])[] = [
    [1, utc(4, 1), "2026-08-03"],
    [2, utc(5, 10), "2026-07-31T23:30:00Z"],
  ];
  for (const [index, [account, atMs, renewsAt]] of said.entries()) {
    await subject.warehouse.command(
      `INSERT INTO account_versions (organization, account, version, at, traits)
       SELECT {organization:UInt32}, {account:UInt32}, {version:UInt32}, fromUnixTimestamp64Milli({atMs:Int64}, 'UTC'), {traits:String}`,
      { organization, account, version: index + 1, atMs, traits: JSON.stringify({ renewsAt }) },
    );
  }
  // In May only the attribute of account 1 was known.
  expect((await sums(organization)).map(([due]) => due)).toEqual([10, 0, 10, 10]);
});

test("payers without a known renewal are in no month, and are counted", async () => {
  const organization = subject.newOrganization();
  await store(organization, [
    { account: 1, interval: "1 month", changes: [{ atMs: utc(4, 20), mrr: 10 }] },
    { account: 2, interval: "", changes: [{ atMs: utc(4, 20), mrr: 5, periodEndMs: utc(5, 20) }] },
  ]);
  const found = await renewalsOfMonths(subject.warehouse, await questionOf(organization), []);
  expect(found.map(({ dueMrr, undatedMrr, undatedPayers }) => [dueMrr, undatedMrr, undatedPayers])).toEqual([
    [5, 0, 0],
    [0, 0, 0],
    [0, 15, 2],
    [0, 0, 0],
  ]);
});

test("expected is the sum of MRR × (1 − p), by the scores of the day, and payers without a risk stand apart", async () => {
  const organization = subject.newOrganization();
  const renewing = (account: number, mrr: number, periodEndMs: number, currency = "USD"): Life => ({
    account,
    currency,
    interval: "1 year",
    changes: [{ atMs: utc(3, 1), mrr, periodEndMs }],
  });
  await store(organization, [
    renewing(1, 1_000, utc(5, 29)),
    renewing(2, 100, utc(5, 10), "EUR"),
    renewing(3, 50, utc(5, 10)),
    // 56 days after the newest scores: twice the horizon.
    renewing(4, 400, utc(8, 10)),
    renewing(5, 9_999, utc(5, 10), "CHF"),
  ]);
  await score(organization, utc(5, 1) / dayMs, [0.1, 0.5, null, 0.9]);
  await score(organization, nowMs / dayMs, [0.7, 0.7, 0.7, 0.2]);
  const asked = months(5, 8, [5, 8]);
  const found = await renewalsOfMonths(
    subject.warehouse,
    await questionOf(organization, { months: asked }),
    [],
  );
  expect(found[0]).toMatchObject({ duePayers: 3, dueMrr: 1_250, withoutRiskPayers: 1, withoutRiskMrr: 50 });
  // 28 days are the horizon: 1,000 × .9 + 200 × .5.
  expect(found[0]?.expected?.expected).toBeCloseTo(1_000, 6);
  expect(found[0]?.expected?.interval).toEqual({ low: 200, high: 1_200 });
  expect(found[3]?.expected?.expected).toBeCloseTo(400 * 0.8 ** 2, 6);
  expect(found[1]?.expected).toBeNull();
});

test("any past month is what a recount of random lives says, and renewed, lost and open are what was due", async () => {
  const organization = subject.newOrganization();
  const random = new Random(71);
  const lives = Array.from({ length: 120 }, (_, index) => randomLife(random, index + 1));
  await store(organization, lives);
  const asked = months(1, 6);
  const found = await sums(organization, { months: asked });
  expect(found).toEqual(asked.map((month) => recounted(lives, month)));
  for (const [due, , renewed = 0, lost = 0, open = 0] of found) expect(renewed + lost + open).toBe(due ?? 0);
  expect(found.reduce((sum, [, , , lost = 0]) => sum + lost, 0)).toBeGreaterThan(0);
});

test("what is expected of a past month is what was expected on its first day, whatever came since", async () => {
  const organization = subject.newOrganization();
  const random = new Random(72);
  const lives = Array.from({ length: 60 }, (_, index) => randomLife(random, index + 1));
  await store(organization, lives);
  const asked = months(2, 6, [2, 3, 4, 5, 6]);
  for (const { asOfDay } of asked) {
    const risks = lives.map(() => (random.chance(0.2) ? null : random.between(1, 60) / 100));
    await score(organization, asOfDay, risks);
  }
  const read = (more: Partial<RenewalsQuestion>) =>
    questionOf(organization, more).then((question) => renewalsOfMonths(subject.warehouse, question, []));
  const later = await read({ months: asked });
  for (const [index, month] of asked.entries()) {
    const [onTheDay] = await read({ months: [month], nowMs: month.asOfMs });
    const { expected, dueMrr, withoutRiskMrr, scheduledMrr } = later[index] ?? {};
    expect(onTheDay).toMatchObject({ dueMrr, withoutRiskMrr, scheduledMrr, renewedMrr: 0 });
    expect(expected?.expected).toBeGreaterThan(0);
    expect(onTheDay?.expected).toEqual(expected ?? null);
  }
});

/** A monthly or quarterly life with payments, failures, scheduled ends and plain ends. */
function randomLife(random: Random, account: number): Life {
  const step = random.pick([1, 3]);
  const day = random.between(1, 28);
  const at = (month: number, plus = 0) => Date.UTC(2025, 9 + month, day + plus);
  const changes: Change[] = [];
  const mrr = random.between(1, 90);
  for (let month = 0; at(month) < nowMs; month += step) {
    const periodEndMs = at(month + step);
    changes.push({ atMs: at(month), mrr, periodEndMs });
    if (random.chance(0.1)) {
      changes.push({ atMs: at(month, 2), mrr, status: "past_due", periodEndMs });
      if (random.chance(0.5)) {
        changes.push({ atMs: at(month, 16), mrr: 0 });
        break;
      }
      changes.push({ atMs: at(month, 9), mrr, periodEndMs });
    }
    if (random.chance(0.1)) {
      changes.push({ atMs: at(month, 12), mrr, periodEndMs, endsAtMs: periodEndMs });
      changes.push({ atMs: periodEndMs, mrr: 0 });
      break;
    }
    if (random.chance(0.05)) break;
  }
  return { account, interval: `${step} month`, changes };
}

/** Other arithmetic than the query's: period by period from the calendar. */
function recounted(lives: readonly Life[], month: RenewalMonth): number[] {
  const [due, scheduled, came] = [[0], [0], { renewed: 0, lost: 0, open: 0 }];
  for (const { interval, changes } of lives) {
    const held = (atMs: number) => changes.filter((change) => change.atMs <= atMs).at(-1);
    const then = held(month.asOfMs);
    if (then === undefined || then.mrr === 0 || then.periodEndMs == null) continue;
    let renewal = new Date(then.periodEndMs);
    while (renewal.getTime() < month.asOfMs) {
      renewal = new Date(
        Date.UTC(
          renewal.getUTCFullYear(),
          renewal.getUTCMonth() + Number.parseInt(interval, 10),
          renewal.getUTCDate(),
        ),
      );
    }
    const renewsMs = renewal.getTime();
    const endsMs = then.endsAtMs ?? Number.POSITIVE_INFINITY;
    const dayOfRenewal = Math.min(renewsMs, endsMs) / dayMs;
    if (dayOfRenewal < month.fromDay || dayOfRenewal >= month.untilDay) continue;
    if (endsMs <= renewsMs) {
      scheduled.push(then.mrr);
      continue;
    }
    due.push(then.mrr);
    const last = held(Math.min(nowMs, renewsMs + 28 * dayMs) - 1);
    if (last === undefined || last.mrr === 0) came.lost += then.mrr;
    else if (last.status === undefined && (last.periodEndMs ?? 0) > renewsMs) came.renewed += then.mrr;
    else came.open += then.mrr;
  }
  const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
  return [sum(due), sum(scheduled), came.renewed, came.lost, came.open];
}

test("the interval is MRR less what may be lost, and a month is compared once a tenth or less is open", () => {
  const certain = { calibration: null, uniform: () => 0.5 };
  expect(expectedRenewals([], certain.calibration, certain.uniform)).toBeNull();
  expect(expectedRenewals([{ mrr: 100, churnRisk: 0.2 }], null, () => 0.5)).toEqual({
    expected: 80,
    interval: { low: 100, high: 100 },
  });
  expect(isCompared({ mrr: 100, openMrr: 10 })).toBe(true);
  expect(isCompared({ mrr: 100, openMrr: 11 })).toBe(false);
  expect(isCompared({ mrr: 0, openMrr: 0 })).toBe(false);
});
