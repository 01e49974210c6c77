/** Churn reasons and renewals of simulated accounts, against the simulation's own books: who paid what, and
 * who left when and why. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { AccountBook } from "../../simulation/billing.ts";
import { wireItem } from "../../simulation/items.ts";
import { Simulation } from "../../simulation/simulation.ts";
import type { Charge } from "../../simulation/subscription.ts";
import { sendAll } from "../erasure/support.ts";
import { Server } from "../server.ts";

type Renewals = RouteAnswer<"GET /api/renewals">;
type Payers = RouteAnswer<"GET /api/renewals/payers">;
type Reasons = RouteAnswer<"GET /api/churn-reasons">;
type Revenue = RouteAnswer<"GET /api/revenue">;

const organization = "Simulated books";
const endMs = Date.UTC(2026, 5, 17, 9, 30);
const months = 9;
const lastMonth = "2026-05-31";
/** The months, by their first instants in UTC, and the end of the last. */
const edges = Array.from({ length: months + 1 }, (_, month) => Date.UTC(2026, 5 - months + month, 1));

function simulated(seed: number) {
  const simulation = new Simulation({
    seed,
    users: 500,
    weeks: 52,
    zone: new Zone("UTC"),
    endMs,
  });
  for (const { items } of simulation.days()) items.at(0);
  return { items: simulation.billing(), books: simulation.books() };
}
const { items, books } = simulated(1);

/** The exact quotient, halves to the even number. */
function halfEven(dividend: number, divisor: number): number {
  const quotient = Math.floor(dividend / divisor);
  const rest = (dividend - quotient * divisor) * 2;
  return rest > divisor || (rest === divisor && quotient % 2 === 1) ? quotient + 1 : quotient;
}

/** In cents of USD: a euro is 1.1 dollars. */
function mrrOf({ currency, interval }: AccountBook, charge: Charge | undefined): number {
  const own = halfEven(charge?.amount ?? 0, interval === "year" ? 12 : 1);
  return currency === "EUR" ? halfEven(own * 11, 10) : own;
}

interface Left {
  readonly id: string;
  readonly month: string;
  readonly mrr: number;
  readonly reason: string | null;
  readonly comment: string;
  readonly isUnpaid: boolean;
}

/** An account left in a month with MRR at its start and none at its end. Why is what was said until it paid
 * again. */
function departuresIn(book: AccountBook): Left[] {
  return edges.slice(0, -1).flatMap((fromMs, index) => {
    const untilMs = edges[index + 1] ?? 0;
    const before = book.charges.findLast(({ timeMs }) => timeMs < fromMs);
    const last = book.charges.findLast(({ timeMs }) => timeMs < untilMs);
    const mrr = mrrOf(book, before);
    if (mrr === 0 || last === undefined || last.amount > 0) return [];
    const from = book.charges.findLastIndex(({ timeMs, amount }) => timeMs < untilMs && amount > 0);
    const later = book.charges.slice(from + 1);
    const returns = later.findIndex(({ amount }) => amount > 0);
    const unpaid = returns < 0 ? later : later.slice(0, returns);
    const why = unpaid.findLast((charge) => charge.why !== null)?.why;
    return [
      {
        id: book.accountId,
        month: new Date(fromMs).toISOString().slice(0, 10),
        mrr,
        reason: why?.reason ?? null,
        comment: why?.feedback ?? "",
        isUnpaid: last.isUnpaid,
      },
    ];
  });
}

/** Sums by month and reason, as lines. */
function linesOf(
  departures: readonly {
    month: string;
    reason: string | null;
    mrr: number;
    payers: number;
    unpaid: number;
  }[],
): string[] {
  const sums = new Map<string, [mrr: number, payers: number, unpaid: number]>();
  for (const { month, reason, mrr, payers, unpaid } of departures) {
    const key = `${month} ${reason ?? "no reason given"}`;
    const [mrrBefore, payersBefore, unpaidBefore] = sums.get(key) ?? [0, 0, 0];
    sums.set(key, [mrrBefore + mrr, payersBefore + payers, unpaidBefore + unpaid]);
  }
  return [...sums].map(([key, sum]) => `${key}: ${sum.join(" ")}`).toSorted();
}

let server: Server;
let key: string;

beforeAll(async () => {
  // Renewals are those of the twelve months before today.
  server = await Server.start({ time: { aheadMs: endMs - Date.now(), scheduleMs: null } });
  const token = await server.organization(organization, "--timezone", "UTC");
  await server.ready();
  await sendAll(
    server,
    token,
    items.map((item, index) => wireItem(item, `reasons-${index}`)),
  );
  await server.command(
    ...["settings", "change", "--organization", organization],
    ...["--reporting-currency", "USD", "--currency-rates", "EUR=1.1"],
  );
  key = (await server.command("key", "create", "--organization", organization)).trim();
  await server.exported("subscriptions", organization);
});
afterAll(() => server.stop());

async function ask<Answer>(path: string): Promise<Answer> {
  const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as Answer;
}

test("each month has the departures, MRR and reasons of the books, and the churn of the revenue page", async () => {
  const left = books.flatMap(departuresIn);
  const expected = left.map(({ isUnpaid, ...one }) => ({ ...one, payers: 1, unpaid: isUnpaid ? 1 : 0 }));
  const query = `periods=${months}&to=${lastMonth}`;
  const { reasons } = await ask<Reasons>(`/api/churn-reasons?${query}`);
  const found = reasons.map(({ fromDay, involuntaryPayers, ...row }) => ({
    ...row,
    month: fromDay,
    unpaid: involuntaryPayers,
  }));
  expect(linesOf(found)).toEqual(linesOf(expected));
  // Enough to tell something.
  expect(left.length).toBeGreaterThan(40);
  expect(new Set(left.map(({ reason }) => reason)).size).toBeGreaterThan(5);
  const { periods } = await ask<Revenue>(`/api/revenue?${query}`);
  for (const { fromDay, churnedMrr, churnedPayers, churnedInvoluntarilyPayers } of periods) {
    const own = expected.filter(({ month }) => month === fromDay);
    const sum = (name: "mrr" | "payers" | "unpaid") => own.reduce((all, one) => all + one[name], 0);
    expect([fromDay, churnedMrr, churnedPayers, churnedInvoluntarilyPayers]).toEqual([
      fromDay,
      sum("mrr"),
      sum("payers"),
      sum("unpaid"),
    ]);
  }
});

test("comments are what the accounts said", async () => {
  const said = books.flatMap(departuresIn).filter(({ comment }) => comment !== "");
  const { comments, commentTotal } = await ask<Reasons>(
    `/api/churn-reasons?periods=${months}&to=${lastMonth}&comments=100`,
  );
  expect(commentTotal).toBe(said.length);
  const lineOf = (one: { id: string; month: string; comment: string }) =>
    `${one.id} ${one.month} ${one.comment}`;
  const lines = comments.map(({ day, ...one }) => lineOf({ ...one, month: `${day.slice(0, 7)}-01` }));
  const expected = said.map(lineOf);
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) expect(expected).toContain(line);
});

test("what each monthly payer paid at the start of a month is due in it, or ends as scheduled", async () => {
  const monthly = books.filter(({ interval }) => interval === "month");
  for (const fromMs of edges.slice(0, -1)) {
    const month = new Date(fromMs).toISOString().slice(0, 10);
    const { payers, total } = await ask<Payers>(`/api/renewals/payers?month=${month}&limit=1000`);
    expect(payers).toHaveLength(total);
    const found = new Map(payers.map(({ id, mrr, scheduledMrr }) => [id, mrr + scheduledMrr]));
    const paid = monthly.flatMap((book) => {
      const mrr = mrrOf(
        book,
        book.charges.findLast(({ timeMs }) => timeMs < fromMs),
      );
      return mrr === 0 ? [] : [`${month} ${book.accountId} ${mrr}`];
    });
    expect(paid.length).toBeGreaterThan(20);
    expect(
      monthly.flatMap(({ accountId }) => {
        const mrr = found.get(accountId);
        return mrr === undefined ? [] : [`${month} ${accountId} ${mrr}`];
      }),
    ).toEqual(paid);
  }
  const { months: all } = await ask<Renewals>("/api/renewals");
  for (const { dueMrr, renewedMrr, lostMrr, openMrr, phase } of all)
    if (phase !== "coming") expect(dueMrr).toBe((renewedMrr ?? 0) + (lostMrr ?? 0) + (openMrr ?? 0));
  expect(all.reduce((sum, { lostMrr }) => sum + (lostMrr ?? 0), 0)).toBeGreaterThan(0);
});

test("the same seed has the same reasons", () => {
  expect(simulated(1).books).toEqual(books);
  expect(simulated(2).books).not.toEqual(books);
});
