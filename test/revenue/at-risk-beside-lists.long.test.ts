/** MRR at risk, lists by expected loss, and the page of one payer: the same amounts on random histories, and
 * those of a plain sum. */
import { describe, expect, test } from "bun:test";
import { lists } from "../../server/analytics/entities/lists.ts";
import { revenueQuestion } from "../../server/analytics/revenue/currencies.ts";
import { type PayersQuestion, payersNow, payersSql } from "../../server/analytics/revenue/payers-now.ts";
import { mrrAtRisk, type WithoutRisk } from "../../server/analytics/revenue/revenue-at-risk.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { expectedLossOfPayer } from "../../server/revenue/payer-now.ts";
import { conversionAt } from "../../server/revenue/rates.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { type History, randomChanges, randomDetails, store } from "../analytics/revenue-support.ts";
import { randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const random = randomOfThisRun("MRR at risk beside lists");
const dayMs = 86_400_000;
const day = Date.UTC(2026, 2, 17) / dayMs;
const nowMs = day * dayMs + 5 * 3_600_000;
const scoredMs = nowMs - 40 * dayMs;
const untilMs = nowMs + 90 * dayMs;
const everybody = Array.from({ length: 15 }, (_, index) => index + 1);
const rates = { EUR: 1.0842, JPY: 0.0067, KWD: 3.255 };
const convert = conversionAt({ reporting: "USD", rates });

type Changes = ReturnType<typeof randomChanges>;

/** Histories around now. So many changes are still to come: ends that are scheduled, rises and first
 * starts. */
const histories: Readonly<Record<string, Pick<History, "currencies" | "hasTransfers">>> = {
  "one currency": { currencies: ["USD"], hasTransfers: false },
  "subscriptions that pass to other payers": { currencies: ["USD"], hasTransfers: true },
  "several currencies": { currencies: ["USD", "EUR", "JPY", "KWD"], hasTransfers: false },
  "a currency without a rate": { currencies: ["USD", "USD", "EUR", "JPY", "CHF"], hasTransfers: true },
};

/** A payer, by a plain sum over the subscriptions that have begun. */
interface Expected {
  readonly mrr: number;
  readonly scheduled: number;
  readonly hadMrr: boolean;
}

function expectedPayers(changes: Changes, kind: EntityKind): ReadonlyMap<number, Expected> {
  const entityOf = ({ account, user }: Changes[number]) =>
    kind === "account" ? account : account === 0 ? user : 0;
  const unrated = new Set(changes.filter(({ currency, mrr }) => currency === "CHF" && mrr > 0).map(entityOf));
  const payers = new Map<number, { mrr: number; later: number; hadMrr: boolean }>();
  for (const own of Map.groupBy(changes, ({ subscription }) => subscription).values()) {
    const now = own.findLast(({ fromMs }) => fromMs <= nowMs);
    if (now === undefined) continue;
    const later = own.findLast(({ fromMs }) => fromMs < untilMs) ?? now;
    const then = own.findLast(({ fromMs }) => fromMs < scoredMs);
    const payer = payers.get(entityOf(now)) ?? { mrr: 0, later: 0, hadMrr: false };
    payer.mrr += convert(now.mrr, now.currency ?? "") ?? 0;
    payer.later += convert(later.mrr, later.currency ?? "") ?? 0;
    payer.hadMrr ||= then !== undefined && then.mrr > 0 && then.payer === now.payer;
    payers.set(entityOf(now), payer);
  }
  return new Map(
    [...payers]
      .filter(([entity, { mrr }]) => entity !== 0 && mrr > 0 && !unrated.has(entity))
      .map(([entity, { mrr, later, hadMrr }]) => [
        entity,
        { mrr, scheduled: Math.max(0, mrr - later), hadMrr },
      ]),
  );
}

/** Accounts and users with these numbers as ids, and a churn risk for a half of them. Others have a score
 * without one, or none. */
async function scoredEntities(organization: number): Promise<ReadonlyMap<number, number | null>> {
  const { warehouse } = subject;
  const now = "toDateTime64('2026-01-01 00:00:00', 3, 'UTC')";
  await warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version, traits)
     SELECT {organization:UInt32}, number, toString(number), '', ${now}, ${now}, 1, '{}' FROM numbers(1, 15)`,
    { organization },
  );
  await warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, account, first_identified_at, updated_at, version)
     SELECT {organization:UInt32}, number, toString(number), '', '{}', 0, ${now}, ${now}, 1 FROM numbers(1, 15)`,
    { organization },
  );
  const risks = new Map(
    everybody
      .filter(() => random.chance(0.85))
      .map((entity) => [entity, random.chance(0.4) ? null : random.pick([0, 1, random.next()])]),
  );
  for (const kind of ["account", "user"] as const) {
    const body = [...risks].map(([entity, risk]) => ({
      organization,
      day,
      [kind]: entity,
      version: 1,
      state: risk === null ? "churned" : "active",
      colour: "healthy",
      risk,
    }));
    const columns = ["organization", "day", kind, "version", "state", "colour", "risk"];
    const lines = body.map((row) => `${JSON.stringify(Object.values(row))}\n`).join("");
    await warehouse.insertInto(`${kind}_scores`, columns, {
      rows: body.length,
      body: Buffer.from(lines),
      token: crypto.randomUUID(),
    });
  }
  return risks;
}

/** The ids of a list by expected loss. */
async function listed(payers: PayersQuestion, organization: number): Promise<number[]> {
  const { kind } = payers;
  const question = {
    organization,
    toDay: day,
    passiveEvents: [],
    search: "",
    earlier: undefined,
    payers,
    run: { organization, kind, day, rowsVersion: 1 },
    sort: "expectedLoss",
    descending: true,
    limit: 100,
    offset: 0,
  } as const;
  return lists[kind].numbers(subject.warehouse, question);
}

/** Changes of random histories. Some are at this instant, which counts. */
function changesAround(history: Pick<History, "currencies" | "hasTransfers">): Changes {
  const around = { beginMs: nowMs - 200 * dayMs, endMs: nowMs + 150 * dayMs, subscriptions: 40 };
  const changes = randomChanges(random, { ...history, ...around });
  const moved = changes.map((change) => (random.chance(0.1) ? { ...change, fromMs: nowMs } : change));
  // A subscription has one change at an instant.
  const byInstant = Map.groupBy(moved, ({ subscription, fromMs }) => `${subscription} ${fromMs}`);
  return [...byInstant.values()].flatMap((same) => same.slice(0, 1)).sort((a, b) => a.fromMs - b.fromMs);
}

async function storedHistory(history: Pick<History, "currencies" | "hasTransfers">, kind: EntityKind) {
  const organization = subject.newOrganization();
  const changes = changesAround(history);
  await store(subject.warehouse, organization, changes, randomDetails(random));
  const risks = await scoredEntities(organization);
  const asked = await revenueQuestion(subject.warehouse, {
    organization,
    reportingCurrency: "USD",
    currencyRates: rates,
  });
  const payers = { ...asked, kind, nowMs, untilMs, transitions: new Zone("UTC").transitions };
  const atRisk = await mrrAtRisk(subject.warehouse, {
    ...asked,
    kind,
    nowMs,
    highRisk: 0.5,
    limit: 100,
    loss: { untilMs, laterMs: untilMs, calibration: null },
    scored: { run: { organization, kind, day, rowsVersion: 1 }, atMs: scoredMs, hasModel: true },
  });
  const rowOf = new Map(atRisk.rows.map((row) => [Number(row.id), row]));
  return { organization, payers, risks, atRisk, rowOf, expected: expectedPayers(changes, kind) };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const byNumber = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);

describe.each(Object.entries(histories))("with %s, payers that are", (_, history) => {
  test.each(["account", "user"] as const)(
    "%ss have one MRR, scheduled part and expected loss",
    async (kind) => {
      const { payers, risks, rowOf, expected } = await storedHistory(history, kind);
      const pages = await payersNow(subject.warehouse, payers, everybody);
      const { text, parameters } = payersSql(payers, ["mrr", "scheduled"]);
      const inLists = await subject.warehouse.rows<{ entity: number; mrr: number; scheduled: number }>(
        `SELECT * FROM ${text} WHERE ifNull(mrr, 0) > 0`,
        parameters,
      );
      expect(byNumber(inLists.map(({ entity }) => entity))).toEqual(byNumber(expected.keys()));
      for (const { entity, mrr, scheduled } of inLists) {
        const known = expected.get(entity);
        expect([entity, mrr, scheduled]).toEqual([entity, known?.mrr ?? 0, known?.scheduled ?? 0]);
        const page = pages.get(entity) ?? { mrr: null, scheduledMrr: 0 };
        expect([entity, page.mrr, page.scheduledMrr]).toEqual([entity, mrr, scheduled]);
        const risk = risks.get(entity) ?? null;
        const loss = expectedLossOfPayer(page, risk);
        // A payer without a churn risk, of which nothing is scheduled, is no row.
        const row = rowOf.get(entity);
        expect(row === undefined).toBe(loss === null);
        if (row === undefined) continue;
        expect([entity, row.mrr, row.scheduled, row.expectedLoss]).toEqual([entity, mrr, scheduled, loss]);
        expect([entity, row.risk]).toEqual([entity, scheduled === mrr ? 1 : risk]);
      }
    },
  );

  test.each(["account", "user"] as const)("%ss have one order, and sums of their rows", async (kind) => {
    const { organization, payers, risks, atRisk, rowOf, expected } = await storedHistory(history, kind);
    const losses = atRisk.rows.map(({ expectedLoss }) => expectedLoss ?? 0);
    const order = (await listed(payers, organization)).filter((entity) => rowOf.has(entity));
    expect(order.map((entity) => rowOf.get(entity)?.expectedLoss ?? 0)).toEqual(losses);
    expect(byNumber(order)).toEqual(byNumber(rowOf.keys()));

    const scheduledMrr = sum([...expected.values()].map(({ scheduled }) => scheduled));
    expect(atRisk.expectedLoss).toMatchObject({ payers: atRisk.rows.length, scheduledMrr });
    expect(sum(atRisk.rows.map(({ scheduled }) => scheduled))).toBe(scheduledMrr);
    expect(atRisk.expectedLoss?.mrr).toBeCloseTo(sum(losses), 4);

    const withoutRisk = [...expected].filter(
      ([entity, { mrr, scheduled }]) => scheduled < mrr && (risks.get(entity) ?? null) === null,
    );
    const reasons = Map.groupBy(withoutRisk, ([entity, { hadMrr }]): WithoutRisk["reason"] => {
      if (!hadMrr) return "new";
      return risks.has(entity) ? "churned" : "unused";
    });
    const counted = [...reasons].map(([reason, all]) => ({
      reason,
      payers: all.length,
      mrr: sum(all.map(([, { mrr }]) => mrr)),
    }));
    expect(atRisk.withoutRisk.toSorted((a, b) => (a.reason < b.reason ? -1 : 1))).toEqual(
      counted.toSorted((a, b) => (a.reason < b.reason ? -1 : 1)),
    );
  });
});
