/**
 * Invented customers with contracts, and the truth about who will end them. For benchmarks and tests of
 * models whose target is the end of a contract.
 *
 * Contracts do not end in silence. Accounts get into hidden situations, which show in which features are used
 * and which are avoided, in seats and in payments; most ends are scheduled before they take effect. Around
 * this there is noise: tastes of accounts and of members, drifting fashions, seasons, ends of months, people
 * who come and go, and harmless situations that look like dangerous ones.
 *
 * Pure: the same options give the same log. Each account has random numbers of its own, so it lives the same
 * life alone and among others, whichever way the log is read.
 */
import type { Zone } from "../../../server/calendar/zone.ts";
import { change, event, type Item } from "../../../simulation/items.ts";
import { type Random, Stream } from "../../../simulation/random.ts";
import { type Day, dayIn, momentOf, weekOf } from "../../../simulation/work.ts";
import { Customer, type CustomerDay } from "./customer.ts";
import type { Member } from "./members.ts";
import type { ContractTruth } from "./truth.ts";

export interface ContractsOptions {
  readonly seed: number;
  /** The number of accounts, those whose contracts end included. */
  readonly accounts: number;
  /** The log begins on the same weekday this many weeks before its end. */
  readonly weeks: number;
  /** The day after the last one of the log. */
  readonly endDay: number;
}

/** A day of an account. */
export interface AccountDay extends CustomerDay {
  readonly day: number;
}

/** The share of accounts whose contracts began before the log, up to three years before. */
const shareBefore = 0.45;
const averageAgeBeforeDays = 300;
const maxAgeBeforeDays = 3 * 365;
const hourMs = 3_600_000;

export class Contracts {
  readonly firstDay: number;
  readonly endDay: number;
  readonly #options: ContractsOptions;

  constructor(options: ContractsOptions) {
    this.#options = options;
    this.endDay = options.endDay;
    this.firstDay = options.endDay - options.weeks * 7;
  }

  /** A new account by its number, from 0. It has not lived yet. */
  customer(number: number): Customer {
    const { seed } = this.#options;
    const random = new Stream(seed, number, 0);
    const age = Math.ceil(random.exponential(averageAgeBeforeDays));
    const startedDay = random.chance(shareBefore)
      ? this.firstDay - Math.min(maxAgeBeforeDays, Math.max(1, age))
      : random.between(this.firstDay, this.endDay - 1);
    return new Customer({ seed, number, startedDay, firstDay: this.firstDay });
  }

  /** Lives an account's life: its days in order, from the start of its contract to its end or that of the
   * log. */
  *life(customer: Customer): Generator<AccountDay> {
    const { startedDay } = customer.contract.terms;
    yield { day: startedDay, ...customer.start() };
    for (let day = Math.max(startedDay + 1, this.firstDay); day < this.endDay; day += 1) {
      if (customer.contract.endedDay !== null) return;
      yield { day, ...customer.step({ day, ...weekOf(day) }) };
    }
  }

  /** The whole log in time order, as an application would send it, with the truth behind it. */
  log(zone: Zone): { readonly items: readonly Item<Member>[]; readonly truth: readonly ContractTruth[] } {
    const items: Item<Member>[] = [];
    const truth: ContractTruth[] = [];
    for (let number = 0; number < this.#options.accounts; number += 1) {
      const customer = this.customer(number);
      const moments = new Stream(this.#options.seed, number, 2);
      for (const day of this.life(customer)) addItems(customer, day, dayIn(zone, day.day), moments, items);
      truth.push(customer.truth);
    }
    // The sort is stable, so an account's changes keep their order within an instant.
    return { items: items.sort((one, other) => one.timeMs - other.timeMs), truth };
  }
}

/** Members change in the morning, before they work; the subscription at noon. */
function addItems(
  customer: Customer,
  { changes, billing, use }: AccountDay,
  day: Day,
  random: Random,
  items: Item<Member>[],
): void {
  const changedMs = day.startMs + hourMs;
  for (const { member, ...what } of changes) {
    const createdAt = new Date(changedMs).toISOString();
    const properties =
      what.properties?.name === undefined ? what.properties : { ...what.properties, createdAt };
    items.push(change(member, changedMs, { ...what, ...(properties !== undefined && { properties }) }));
  }
  const { owner } = customer;
  if (owner !== undefined) {
    for (const { name, properties } of billing) {
      items.push(event(owner, momentOf(day, 12, 0, random), name, properties));
    }
  }
  for (const { member, event: name, count } of use) {
    for (let left = count; left > 0; left -= 1) {
      const timeMs = Math.max(changedMs + 60_000, momentOf(day, member.peakHour, 2.2, random));
      items.push(event(member, timeMs, name));
    }
  }
}
