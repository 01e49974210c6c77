/** A year of 500 subscriptions: our figures equal books that are kept by double entry. */
import { describe, expect, test } from "bun:test";
import { periodStarts } from "../../server/calendar/period-starts.ts";
import { zoneOf } from "../../server/calendar/zone.ts";
import { type BillingEvent, billingProperties } from "../../server/revenue/billing-event.ts";
import { changesOf } from "../../server/revenue/changes.ts";
import { type Movements, sumOfMovements } from "../../server/revenue/movements.ts";
import { conversionAt } from "../../server/revenue/rates.ts";
import { Random } from "../../simulation/random.ts";
import { type Balances, balancesOf, type MrrChange } from "./balances.ts";
import { monthEdges, type Statement } from "./books.ts";
import { rates, type Sent, simulate } from "./lives.ts";
import { movementsOf, retentionBetween } from "./movements.ts";
import { utc } from "./support.ts";

const { sent, books } = simulate(500, 27);

/** The events in another order, a third of them twice. */
function shuffled(events: readonly Sent[]): Sent[] {
  const random = new Random(4);
  return [...events, ...events.filter(() => random.chance(0.3))]
    .map((event) => ({ event, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ event }) => event);
}

/** Users with even numbers have accounts. An event that names an account is of an account of any number. */
function toEvent({ event, atMs, from, isNamed, messageId, properties }: Sent): BillingEvent {
  const who = { user: from, account: isNamed || from % 2 === 0 ? from : 0, isAccountNamed: isNamed };
  return { event, atMs, tieBreak: messageId, ...who, properties: billingProperties(properties, utc) };
}

const changes: readonly MrrChange[] = [
  ...Map.groupBy(shuffled(sent).map(toEvent), ({ properties }) => properties.subscriptionId),
].flatMap(([subscription = "", events]) =>
  changesOf(events).map(({ payer, ...change }) => ({
    ...change,
    subscription,
    payer: `payer ${payer.user}`,
  })),
);

/** Edges by the product's calendar. */
function edgesOf(timezone: string): number[] {
  const zone = zoneOf(timezone);
  const december = zone.dayOf(Date.UTC(2025, 11, 15));
  const starts = periodStarts({ period: "month", periods: 12, toDay: december, weekStart: 1 });
  return starts.map((day) => zone.startOfDay(day));
}

function statementOf(movements: Movements): Statement {
  const { startMrr, endMrr, new: fresh, reactivated, expansion, contraction, churned } = movements;
  return {
    opening: startMrr,
    closing: endMrr,
    new: fresh.mrr,
    reactivated: reactivated.mrr,
    expansion: expansion.mrr,
    contraction: contraction.mrr,
    churned: churned.mrr,
    transferredIn: movements.transferredIn.mrr,
    transferredOut: movements.transferredOut.mrr,
    churnedInvoluntarily: movements.churnedInvoluntarily.mrr,
  };
}

test("the simulation does everything that a subscription can do, in every month", () => {
  const statements = books.statements(monthEdges(2025, "UTC"));
  for (const statement of statements)
    for (const amount of Object.values(statement)) expect(amount).toBeGreaterThan(0);
  expect(new Set(sent.map(({ event }) => event)).size).toBe(11);
  expect(books.unratedCurrencies).toContain("SEK");
});

describe.each(["UTC", "America/Los_Angeles", "Pacific/Auckland"])("in %s", (timezone) => {
  const edges = edgesOf(timezone);
  const balances: Balances = balancesOf(changes, edges, conversionAt(rates));

  test("movements of every month equal the books to the cent", () => {
    expect(edges).toEqual(monthEdges(2025, timezone));
    expect(movementsOf(balances.reported, edges).map(statementOf)).toEqual(books.statements(edges));
  });

  test("payers with a currency without a rate have the books' figures in each of their currencies", () => {
    expect([...balances.unreported.keys()].sort()).toEqual(books.unratedCurrencies);
    for (const [currency, list] of balances.unreported) {
      expect(movementsOf(list, edges).map(statementOf)).toEqual(books.statements(edges, currency));
    }
  });

  test("the movements of quarters and of the year are the sums of their months", () => {
    const months = movementsOf(balances.reported, edges);
    const inBooks = books.statements(edges);
    for (const [from, to] of [
      [0, 3],
      [9, 12],
      [0, 12],
    ] as const) {
      const sum = statementOf(sumOfMovements(months.slice(from, to)));
      const part = inBooks.slice(from, to);
      const added = (key: keyof Statement) => part.reduce((total, statement) => total + statement[key], 0);
      expect(sum).toMatchObject({
        opening: part[0]?.opening,
        closing: part.at(-1)?.closing,
        new: added("new"),
        expansion: added("expansion"),
        churned: added("churned"),
        contraction: added("contraction"),
      });
    }
  });

  test.each([
    [0, 1],
    [3, 6],
    [0, 12],
  ])("NRR, GRR and logo churn from month %p to month %p are those of the books", (from, to) => {
    const payers = books.balances(edges[from] ?? 0, edges[to] ?? 0);
    const total = (value: (payer: (typeof payers)[number]) => number) =>
      payers.reduce((sum, payer) => sum + value(payer), 0);
    const startMrr = total(({ opening }) => opening);
    const count = payers.filter(({ opening }) => opening > 0).length;
    const keptMrr =
      startMrr - total(({ opening, passed, closing }) => Math.max(0, opening + passed - closing));
    const endMrr = keptMrr + total(({ opening, passed, closing }) => Math.max(0, closing - opening - passed));
    const left = payers.filter(({ opening, passed, closing }) => closing === 0 && opening + passed > 0);
    const involuntary = left.filter(({ isInvoluntary }) => isInvoluntary);
    expect(retentionBetween(balances.reported, from, to)).toEqual({
      startMrr,
      endMrr,
      keptMrr,
      nrr: endMrr / startMrr,
      grr: keptMrr / startMrr,
      payers: count,
      left: left.length,
      leftInvoluntarily: involuntary.length,
      churn: left.length / count,
      voluntaryChurn: (left.length - involuntary.length) / count,
      involuntaryChurn: involuntary.length / count,
    });
  });
});
