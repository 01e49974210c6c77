/** Payers as they are read for a page, in SQL for a list, and by their balances: the same on random
 * histories. */
import { describe, expect, test } from "bun:test";
import { lists } from "../../server/analytics/entities/lists.ts";
import { revenueQuestion, unconfirmedSubscriptions } from "../../server/analytics/revenue/currencies.ts";
import {
  mrrAt,
  mrrOfHighestTenth,
  type PayersQuestion,
  payersNow,
  payersSql,
  plansInUse,
} from "../../server/analytics/revenue/payers-now.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { conversionAt } from "../../server/revenue/rates.ts";
import { balancesOf } from "../revenue/balances.ts";
import { randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { type History, payerName, randomChanges, randomDetails, store } from "./revenue-support.ts";

const subject = new WarehouseUnderTest();
const random = randomOfThisRun("payers now");
const beginMs = Date.UTC(2024, 0, 1);
const endMs = Date.UTC(2026, 6, 1);
const nowMs = Date.UTC(2026, 2, 17, 5);
const zone = new Zone("America/Sao_Paulo");
const settings = { reportingCurrency: "USD", currencyRates: { EUR: 1.0842, JPY: 0.0067, KWD: 3.255 } };

const histories: Readonly<Record<string, Pick<History, "currencies" | "hasTransfers">>> = {
  "one currency": { currencies: ["USD"], hasTransfers: false },
  "several currencies, and subscriptions that pass to other payers": {
    currencies: ["USD", "EUR", "JPY", "KWD"],
    hasTransfers: true,
  },
  "a currency without a rate": { currencies: ["USD", "USD", "EUR", "JPY", "CHF"], hasTransfers: true },
};

const everybody = Array.from({ length: 40 }, (_, index) => index);

interface ListedPayer {
  readonly entity: number;
  readonly mrr: number | null;
  readonly scheduled: number | null;
  readonly plans: readonly string[];
  readonly status: string;
  readonly renewsDay: number | null;
}

async function listed(question: PayersQuestion): Promise<ListedPayer[]> {
  const { text, parameters } = payersSql(question, ["mrr", "scheduled", "plans", "status", "renewsDay"]);
  return subject.warehouse.rows<ListedPayer>(`SELECT * FROM ${text} ORDER BY entity`, parameters);
}

describe.each(Object.entries(histories))("with %s", (_, history) => {
  test.each(["account", "user"] as const)("an %s pays what its balance says", async (kind) => {
    const organization = subject.newOrganization();
    const changes = randomChanges(random, { ...history, subscriptions: 60, beginMs, endMs });
    await store(subject.warehouse, organization, changes, randomDetails(random));
    const { transitions } = zone;
    const asked = await revenueQuestion(subject.warehouse, { organization, ...settings });
    const question = { ...asked, kind, nowMs, untilMs: nowMs + 90 * 86_400_000, transitions };
    const found = await payersNow(subject.warehouse, question, everybody);
    const paid = [...found.values()].flatMap(({ mrr }) => (mrr !== null && mrr > 0 ? [mrr] : []));
    const highest = paid.toSorted((a, b) => b - a);
    expect(await mrrOfHighestTenth(subject.warehouse, question)).toBe(
      highest[Math.floor(highest.length / 10)],
    );

    // A balance is that just before its edge.
    const convert = conversionAt({ reporting: "USD", rates: settings.currencyRates });
    const { reported, unreported } = balancesOf(changes, [nowMs + 1], convert);
    const nameOf = (entity: number) =>
      payerName(kind === "account" ? { account: entity, user: 0 } : { account: 0, user: entity });
    const mrrOf = new Map(reported.map(({ payer, mrrs }) => [payer, mrrs[0] ?? 0]));
    const unrated = new Map<string, { currency: string; mrr: number }[]>();
    for (const [currency, balances] of [...unreported].sort(([a], [b]) => (a < b ? -1 : 1))) {
      for (const { payer, mrrs } of balances) {
        const [mrr = 0] = mrrs;
        const own = mrr > 0 ? [{ currency, mrr }] : [];
        unrated.set(payer, [...(unrated.get(payer) ?? []), ...own]);
      }
    }
    expect(found.size).toBeGreaterThan(0);
    for (const [entity, payer] of found) {
      const name = nameOf(entity);
      expect([name, payer.mrr]).toEqual([name, unrated.has(name) ? null : (mrrOf.get(name) ?? 0)]);
      expect([name, payer.unratedMrr]).toEqual([name, unrated.get(name) ?? []]);
    }

    const instants = [beginMs, beginMs + 200 * 86_400_000, nowMs, endMs];
    const asks = instants.flatMap((atMs) => everybody.map((entity) => ({ entity, atMs })));
    const at = await mrrAt(subject.warehouse, question, asks);
    for (const [step, instant] of instants.entries()) {
      const then = await payersNow(subject.warehouse, { ...question, nowMs: instant }, everybody);
      for (const entity of everybody) {
        const mrr = at[step * everybody.length + entity];
        const { mrr: wanted } = then.get(entity) ?? { mrr: 0 };
        // Who has not paid yet has an unknown MRR if the currency of later has no rate.
        if (then.has(entity) || mrr !== null)
          expect([entity, instant, mrr]).toEqual([entity, instant, wanted]);
      }
    }

    const rows = await listed(question);
    expect(rows.map(({ entity }) => entity)).toEqual([...found.keys()].sort((a, b) => a - b));
    for (const { entity, mrr, scheduled, plans, status, renewsDay } of rows) {
      const payer = found.get(entity);
      const day = payer?.renewsAtMs == null ? null : zone.dayOf(payer.renewsAtMs);
      expect({ entity, mrr, status, renewsDay }).toEqual({
        entity,
        mrr: payer?.mrr ?? null,
        status: payer?.status ?? "",
        renewsDay: day,
      });
      expect([entity, scheduled ?? 0]).toEqual([entity, payer?.scheduledMrr ?? 0]);
      expect(payer?.plan == null ? plans.length === 0 : plans.includes(payer.plan)).toBe(true);
    }
  });
});

test("excluded users, and accounts of excluded users alone, are in no list, and have their own page", async () => {
  const organization = subject.newOrganization();
  const { warehouse } = subject;
  // Account 1 has users 1 and 2, account 2 has user 3, and user 4 pays alone. Users 2, 3 and 4 are excluded.
  const now = "toDateTime64('2026-01-01 00:00:00', 3, 'UTC')";
  await warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, account, first_identified_at, updated_at, version)
     SELECT {organization:UInt32}, number, toString(number), '', '{}', [1, 1, 2, 0][number], ${now}, ${now}, 1 FROM numbers(1, 4)`,
    { organization },
  );
  await warehouse.command(
    `INSERT INTO excluded_users SELECT {organization:UInt32}, 1, groupBitmapState(toUInt32(number)) FROM numbers(2, 3)`,
    { organization },
  );
  const change = (account: number, user: number, currency: string, fromMs = beginMs) => ({
    subscription: `sub_${account}_${user}`,
    payer: payerName({ account, user }),
    account,
    user,
    fromMs,
    mrr: 500,
    currency,
    isInvoluntary: false,
    plan: `Plan ${account}`,
  });
  const changes = [change(1, 1, "USD"), change(2, 3, "EUR"), change(0, 4, "EUR")];
  const details = { status: "active", period_end: beginMs, ends_at: null };
  await store(warehouse, organization, changes, () => details);
  const automatic = { organization, reportingCurrency: null, currencyRates: {} };
  const asked = await revenueQuestion(warehouse, automatic);
  expect(asked).toMatchObject({ reporting: "USD", used: ["USD", "EUR"] });
  const of = (kind: "account" | "user") => ({
    ...asked,
    kind,
    nowMs,
    untilMs: null,
    transitions: zone.transitions,
  });
  expect((await listed(of("account"))).map(({ entity, mrr }) => [entity, mrr])).toEqual([[1, 500]]);
  expect(await listed(of("user"))).toEqual([]);
  expect(await mrrOfHighestTenth(warehouse, of("account"))).toBe(500);
  expect(await mrrOfHighestTenth(warehouse, of("user"))).toBeUndefined();
  expect([...(await payersNow(warehouse, of("account"), [1, 2])).keys()]).toEqual([1]);
  const own = await payersNow(warehouse, { ...of("account"), withExcluded: true }, [2]);
  expect(own.get(2)?.unratedMrr).toEqual([{ currency: "EUR", mrr: 500 }]);
  const plans = await plansInUse(warehouse, { organization, kind: "account", nowMs, limit: 9 });
  expect(plans).toEqual([{ plan: "Plan 1", subscriptions: 1 }]);
  expect(await unconfirmedSubscriptions(warehouse, organization, nowMs)).toMatchObject([
    { currency: "USD", subscriptions: 1, mrr: 500 },
  ]);
});

test("accounts are sorted by expected loss, only when the churn risk is that of losing the subscription", async () => {
  const organization = subject.newOrganization();
  const { warehouse } = subject;
  // MRR 1,000, 2,000, 3,000 and 4,000; risks .9, .5, .2 and none. The end of the fourth is scheduled, and the
  // fifth account pays nothing. Of the sixth without a risk, 700 of 5,000 end as scheduled.
  const endsMs = nowMs + 28 * 86_400_000;
  const change = (account: number, fromMs: number, mrr: number) => ({
    subscription: `sub_${account}`,
    payer: payerName({ account, user: 1 }),
    account,
    user: 1,
    plan: "",
    fromMs,
    mrr,
    currency: "USD",
    isInvoluntary: false,
  });
  const begun = [1, 2, 3, 4].map((account) => change(account, beginMs, account * 1_000));
  const sixth = [change(6, beginMs, 5_000), change(6, endsMs - 1, 4_300)];
  await store(warehouse, organization, [...begun, change(4, endsMs, 0), ...sixth]);
  const now = "toDateTime64('2026-01-01 00:00:00', 3, 'UTC')";
  await warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version, traits)
     SELECT {organization:UInt32}, number, toString(number), '', ${now}, ${now}, 1, '{}' FROM numbers(1, 6)`,
    { organization },
  );
  await warehouse.command(
    `INSERT INTO account_scores (organization, day, account, version, state, colour, risk)
     SELECT {organization:UInt32}, toDate32('2026-03-17'), number, 1, 'active', 'healthy', [0.9, 0.5, 0.2, NULL, 0.7, NULL][number]
     FROM numbers(1, 6)`,
    { organization },
  );
  const day = Date.UTC(2026, 2, 17) / 86_400_000;
  const asked = await revenueQuestion(warehouse, { organization, ...settings });
  const question = {
    organization,
    toDay: day,
    passiveEvents: [],
    search: "",
    earlier: undefined,
    run: { organization, kind: "account", day, rowsVersion: 1 },
    sort: "expectedLoss",
    descending: true,
    limit: 10,
    offset: 0,
  } as const;
  const sorted = (untilMs: number | null) =>
    lists.account.numbers(warehouse, {
      ...question,
      payers: { ...asked, kind: "account", nowMs, untilMs, transitions: zone.transitions },
    });
  expect(await sorted(endsMs)).toEqual([2, 1, 6, 3, 4, 5]);
  expect(await sorted(endsMs + 1)).toEqual([4, 2, 1, 6, 3, 5]);
  expect(await sorted(null)).toEqual([1, 2, 3, 4, 5, 6]);
});
