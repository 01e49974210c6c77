/** What payers pay now, read for a page and in SQL for a list: the same, and the same as their balances, on random histories. */
import { describe, expect, test } from "bun:test";
import { revenueQuestion } from "../../server/analytics/revenue/currencies.ts";
import { type PayersQuestion, payersNow, payersSql } from "../../server/analytics/revenue/payers-now.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { balancesOf, conversionAt } from "../../server/revenue/revenue.ts";
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
    ...{ currencies: ["USD", "EUR", "JPY", "KWD"], hasTransfers: true },
  },
  "a currency without a rate": { currencies: ["USD", "USD", "EUR", "JPY", "CHF"], hasTransfers: true },
};

const everybody = Array.from({ length: 40 }, (_, index) => index);

interface ListedPayer {
  readonly entity: number;
  readonly mrr: number | null;
  readonly plans: readonly string[];
  readonly status: string;
  readonly renewsDay: number | null;
}

async function listed(question: PayersQuestion): Promise<ListedPayer[]> {
  const { text, parameters } = payersSql(question, ["mrr", "plans", "status", "renewsDay"]);
  return subject.warehouse.rows<ListedPayer>(`SELECT * FROM ${text} ORDER BY entity`, parameters);
}

describe.each(Object.entries(histories))("with %s", (_, history) => {
  test.each(["account", "user"] as const)("an %s pays what its balance says", async (kind) => {
    const organization = subject.newOrganization();
    const changes = randomChanges(random, { ...history, subscriptions: 60, beginMs, endMs });
    await store(subject.warehouse, organization, changes, randomDetails(random));
    const { transitions } = zone;
    const asked = await revenueQuestion(subject.warehouse, { organization, ...settings });
    const question = { ...asked, kind, nowMs, transitions };
    const found = await payersNow(subject.warehouse, question, everybody);

    // What holds at an instant holds just before the next one.
    const convert = conversionAt({ reporting: "USD", rates: settings.currencyRates });
    const { reported, unreported } = balancesOf(changes, [nowMs + 1], convert);
    const nameOf = (entity: number) =>
      payerName(kind === "account" ? { account: entity, user: 0 } : { account: 0, user: entity });
    const mrrOf = new Map(reported.map(({ payer, mrrs }) => [payer, mrrs[0] ?? 0]));
    const unrated = new Map<string, object[]>();
    for (const [currency, balances] of [...unreported].sort(([a], [b]) => (a < b ? -1 : 1))) {
      for (const { payer, mrrs } of balances) {
        const own = (mrrs[0] ?? 0) > 0 ? [{ currency, mrr: mrrs[0] }] : [];
        unrated.set(payer, [...(unrated.get(payer) ?? []), ...own]);
      }
    }
    expect(found.size).toBeGreaterThan(5);
    for (const [entity, payer] of found) {
      const name = nameOf(entity);
      expect([name, payer.mrr]).toEqual([name, unrated.has(name) ? null : (mrrOf.get(name) ?? 0)]);
      expect([name, payer.unratedMrr]).toEqual([name, unrated.get(name) ?? []]);
    }

    const rows = await listed(question);
    expect(rows.map(({ entity }) => entity)).toEqual([...found.keys()].sort((a, b) => a - b));
    for (const { entity, mrr, plans, status, renewsDay } of rows) {
      const payer = found.get(entity);
      const day = payer?.renewsAtMs == null ? null : zone.dayOf(payer.renewsAtMs);
      expect({ entity, mrr, status, renewsDay }).toEqual({
        ...{ entity, mrr: payer?.mrr ?? null, status: payer?.status ?? "", renewsDay: day },
      });
      expect(payer?.plan == null ? plans.length === 0 : plans.includes(payer.plan)).toBe(true);
    }
  });
});
