/**
 * Books of MRR by double entry, kept without the product's code and with other arithmetic. Each posting
 * debits one account and credits another. A month is closed per payer, by the calendar of the runtime.
 */

export interface Money {
  /** In minor units. */
  readonly amount: number;
  readonly currency: string;
}

interface Posting extends Money {
  readonly atMs: number;
  readonly payer: string;
  readonly debit: string;
  readonly credit: string;
  readonly isInvoluntary: boolean;
  /** It passed from one payer to another. */
  readonly isPassed: boolean;
}

/** Minor units of a dollar cent for one minor unit of each currency, as [numerator, denominator]. */
export type CentRates = Readonly<Record<string, readonly [number, number]>>;

/** A month in the books, in cents or minor units of one currency. */
export interface Statement {
  readonly opening: number;
  readonly closing: number;
  readonly new: number;
  readonly reactivated: number;
  readonly expansion: number;
  readonly contraction: number;
  readonly churned: number;
  readonly churnedInvoluntarily: number;
  readonly transferredIn: number;
  readonly transferredOut: number;
}

/** A quotient rounded half to even, from the remainder of numbers. */
export function quotient(dividend: number, divisor: number): number {
  if (!Number.isSafeInteger(dividend)) throw new RangeError(`${dividend} is beyond exact numbers`);
  const rest = dividend % divisor;
  const below = (dividend - rest) / divisor;
  if (rest * 2 === divisor) return below + (below % 2);
  return rest * 2 > divisor ? below + 1 : below;
}

/** The first instants of 13 months, from January of a year. */
export function monthEdges(year: number, timeZone: string): number[] {
  return Array.from({ length: 13 }, (_, month) => {
    const day = Temporal.PlainDate.from({ year, month: 1, day: 1 }).add({ months: month });
    return day.toZonedDateTime({ timeZone, plainTime: "00:00" }).epochMilliseconds;
  });
}

export class Books {
  readonly #postings: Posting[] = [];
  readonly #rates: CentRates;

  constructor(rates: CentRates) {
    this.#rates = rates;
  }

  /** A subscription's MRR goes from one amount to another. */
  post(atMs: number, payer: string, before: Money, after: Money, isInvoluntary: boolean): void {
    const fall = { debit: "subscriptions", credit: payer };
    const rise = { debit: payer, credit: "subscriptions" };
    const own = { atMs, payer, isPassed: false };
    if (before.amount > 0) this.#postings.push({ ...own, ...before, ...fall, isInvoluntary });
    if (after.amount > 0) this.#postings.push({ ...own, ...after, ...rise, isInvoluntary: false });
  }

  /** A subscription's MRR passes from one payer to another. */
  pass(atMs: number, from: string, to: string, money: Money): void {
    if (money.amount === 0) return;
    const passed = { atMs, ...money, isInvoluntary: false, isPassed: true };
    this.#postings.push({ ...passed, payer: from, debit: "transfers", credit: from });
    this.#postings.push({ ...passed, payer: to, debit: to, credit: "transfers" });
  }

  /** Payers with a currency that has no rate, with their currencies. */
  #unrated(): Map<string, Set<string>> {
    const currencies = new Map<string, Set<string>>();
    for (const { payer, currency } of this.#postings) {
      currencies.set(payer, (currencies.get(payer) ?? new Set()).add(currency));
    }
    return new Map([...currencies].filter(([, all]) => [...all].some((one) => !(one in this.#rates))));
  }

  /** The postings in cents, without payers that have a currency without a rate; or those payers' in one
   * currency. */
  #ledger(currency?: string): Posting[] {
    const unrated = this.#unrated();
    if (currency !== undefined) {
      return this.#postings.filter((one) => one.currency === currency && unrated.has(one.payer));
    }
    return this.#postings
      .filter(({ payer }) => !unrated.has(payer))
      .map((posting) => {
        const [numerator = 0, denominator = 1] = this.#rates[posting.currency] ?? [];
        return { ...posting, amount: quotient(posting.amount * numerator, denominator) };
      });
  }

  /** The currencies of payers that are not in dollars. */
  get unratedCurrencies(): string[] {
    return [...new Set([...this.#unrated().values()].flatMap((all) => [...all]))].sort();
  }

  /** Closes each month. */
  statements(edgesMs: readonly number[], currency?: string): Statement[] {
    const ledger = this.#ledger(currency);
    const payers = Map.groupBy(ledger, ({ payer }) => payer);
    return edgesMs.slice(1).map((endMs, index) => {
      const startMs = edgesMs[index] ?? Number.NaN;
      /** Balances of the accounts of the closing; their sum is 0. */
      const accounts = new Map<string, number>();
      const transfer = (debit: string, credit: string, amount: number) => {
        accounts.set(debit, (accounts.get(debit) ?? 0) + amount);
        accounts.set(credit, (accounts.get(credit) ?? 0) - amount);
      };
      for (const postings of payers.values()) {
        const [opening, closing] = [balanceAt(postings, startMs), balanceAt(postings, endMs)];
        const passed = passedBetween(postings, startMs, endMs);
        transfer("opening", "capital", opening);
        transfer("closing", "capital", closing);
        transfer("change", passed > 0 ? "transferredIn" : "transferredOut", passed);
        const account = accountOf(postings, startMs, opening, closing, passed);
        if (account !== undefined) transfer("change", account, closing - opening - passed);
        if (account === "churned" && isInvoluntaryAt(postings, endMs)) {
          transfer("churnedInvoluntarily", "memorandum", opening + passed);
        }
      }
      const sum = [...accounts.values()].reduce((total, balance) => total + balance, 0);
      const change = [...ledger]
        .filter(({ atMs }) => atMs >= startMs && atMs < endMs)
        .reduce((total, { debit, payer, amount }) => total + (debit === payer ? amount : -amount), 0);
      if (sum !== 0 || change !== (accounts.get("change") ?? 0)) throw new Error("the books do not balance");
      const of = (name: string) => Math.abs(accounts.get(name) ?? 0);
      return {
        opening: of("opening"),
        closing: of("closing"),
        new: of("new"),
        reactivated: of("reactivated"),
        expansion: of("expansion"),
        contraction: of("contraction"),
        churned: of("churned"),
        transferredIn: of("transferredIn"),
        transferredOut: of("transferredOut"),
        churnedInvoluntarily: of("churnedInvoluntarily"),
      };
    });
  }

  /** Opening and closing balances of each payer in dollars between two instants, and what passed to it in
   * between. */
  balances(
    startMs: number,
    endMs: number,
  ): { opening: number; closing: number; passed: number; isInvoluntary: boolean }[] {
    return [...Map.groupBy(this.#ledger(), ({ payer }) => payer).values()]
      .map((postings) => ({
        opening: balanceAt(postings, startMs),
        closing: balanceAt(postings, endMs),
        passed: passedBetween(postings, startMs, endMs),
        isInvoluntary: isInvoluntaryAt(postings, endMs),
      }))
      .filter(({ opening, passed }) => opening > 0 || passed > 0);
  }
}

function balanceAt(postings: readonly Posting[], edgeMs: number): number {
  return postings
    .filter(({ atMs }) => atMs < edgeMs)
    .reduce((sum, { debit, payer, amount }) => sum + (debit === payer ? amount : -amount), 0);
}

/** What passed to a payer, less what passed from it. */
function passedBetween(postings: readonly Posting[], startMs: number, endMs: number): number {
  return postings
    .filter(({ isPassed, atMs }) => isPassed && atMs >= startMs && atMs < endMs)
    .reduce((sum, { debit, payer, amount }) => sum + (debit === payer ? amount : -amount), 0);
}

function accountOf(
  postings: readonly Posting[],
  startMs: number,
  opening: number,
  closing: number,
  passed: number,
): string | undefined {
  const kept = opening + passed;
  if (kept === closing) return undefined;
  if (closing < kept) return closing === 0 ? "churned" : "contraction";
  if (opening > 0 || passed > 0) return "expansion";
  return postings.some(({ atMs }) => atMs < startMs) ? "reactivated" : "new";
}

/** Whether the postings of the last instant before an edge are involuntary ends alone. */
function isInvoluntaryAt(postings: readonly Posting[], edgeMs: number): boolean {
  const before = postings.filter(({ atMs }) => atMs < edgeMs);
  const lastMs = Math.max(...before.map(({ atMs }) => atMs));
  return before.filter(({ atMs }) => atMs === lastMs).every(({ isInvoluntary }) => isInvoluntary);
}
