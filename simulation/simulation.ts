/**
 * Invented customers of an invented product, day by day, with the truth that is unknown of real ones: which
 * users were leaving, and when they left. For demonstrations, benchmarks and tests of scores.
 *
 * Users have a rhythm, a mood that drifts, holidays, bursts of work and features that they adopt. They fade
 * over weeks, leave from one day to the next, fall asleep and come back, or leave with their whole account.
 * The probability depends on plan, channel, company size, tenure and adopted features. So a model with one
 * constant probability of leaving and of being active is near the truth, but wrong in detail.
 *
 * Pure: the same options give the same items. Memory holds the people and one day of events.
 */
import type { Zone } from "../server/calendar/zone.ts";
import { type AccountBook, type BillingOptions, billingBooks, billingItems } from "./billing.ts";
import type { Account, Person } from "./customers.ts";
import { change, event, type Item, signUp } from "./items.ts";
import { Population } from "./population.ts";
import { Random } from "./random.ts";
import type { Truth } from "./truth.ts";
import { addWork, type Day, dayIn, momentOf, weekOf } from "./work.ts";

export interface SimulationOptions {
  readonly seed: number;
  /** The number of identified users, those who leave included. */
  readonly users: number;
  /** The log begins on the same weekday this many weeks before its end. */
  readonly weeks: number;
  /** Nothing happens at or after this instant. */
  readonly endMs: number;
  readonly zone: Zone;
}

/** What `rekindle demo` simulates without options. Of 1,420 accounts 780 pay in the end, and 430 to 520
 * departures are in the 54 weeks from which the model of accounts learns. */
export const demonstrationSize = { users: 3_000, weeks: 60 } as const;

export interface SimulatedDay {
  readonly day: number;
  /** In time order. */
  readonly items: readonly Item[];
}

/** The share of all users from before the log; they signed up in the year before. */
const shareBefore = 0.45;
const averageAgeBeforeDays = 120;
const maxAgeBeforeDays = 364;
const weekendArrivals = 0.3;

export class Simulation {
  readonly firstDay: number;
  readonly lastDay: number;
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #population: Population;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#population = new Population(options.users, options.seed, this.#random);
    this.lastDay = options.zone.dayOf(options.endMs - 1);
    this.firstDay = this.lastDay - options.weeks * 7 + 1;
  }

  /** The truth up to the last generated day. */
  get truth(): Truth {
    const { people, accounts } = this.#population;
    return { users: people.map(({ truth }) => truth), accounts: accounts.map(({ truth }) => truth) };
  }

  /**
   * Billing events and attributes of the accounts up to the last generated day, from the first account on.
   * They have random numbers of their own: the items of days are the same without them.
   * @param owners e-mail addresses of people who look after accounts: each after four times as many as each
   * of three of the vendor's staff
   */
  billing(owners: readonly string[] = []): Item[] {
    const { accounts, people } = this.#population;
    return billingItems(accounts, people, this.#billingOptions(owners));
  }

  /** The simulation's own books of what `billing` reports: who paid what, who left, when and why. */
  books(): AccountBook[] {
    const { accounts, people } = this.#population;
    return billingBooks(accounts, people, this.#billingOptions([]));
  }

  #billingOptions(owners: readonly string[]): BillingOptions {
    const { seed, zone, endMs } = this.#options;
    const staff = this.#population.people.filter(({ kind }) => kind === "staff").slice(0, 3);
    return {
      seed,
      zone,
      endMs,
      owners: [
        ...owners.flatMap((owner) => Array.from({ length: 4 }, () => owner)),
        ...staff.map(({ email }) => email),
      ],
    };
  }

  /** The items of every day, once. The first day, the one before the log, has the earlier sign-ups. */
  *days(): Generator<SimulatedDay> {
    const before = this.#arrivalsBefore();
    yield { day: this.firstDay - 1, items: inOrder(before) };
    for (const [index, count] of this.#arrivalsByDay(this.#population.customersToCome).entries()) {
      const items = inOrder(this.#live(this.#dayOf(this.firstDay + index), count));
      yield { day: this.firstDay + index, items: items.filter(({ timeMs }) => timeMs < this.#options.endMs) };
    }
  }

  #arrivalsBefore(): Item[] {
    const random = this.#random;
    const ages = Array.from({ length: Math.round(this.#population.customersToCome * shareBefore) }, () =>
      Math.ceil(Math.min(maxAgeBeforeDays, random.exponential(averageAgeBeforeDays))),
    ).sort((one, other) => other - one);
    const items: Item[] = this.#population
      .arriveVendor(this.#dayOf(this.firstDay - maxAgeBeforeDays))
      .map(signUp);
    for (const age of ages) {
      const person = this.#population.arrive(this.#dayOf(this.firstDay - Math.max(1, age)));
      for (let week = 1; week < age / 7; week += 1) person.adopt(random);
      person.settle(this.firstDay, random);
      items.push(signUp(person));
    }
    return items;
  }

  /** How many sign up on each day. None on the last one, which is cut off before it is over. */
  #arrivalsByDay(people: number): number[] {
    const days = this.lastDay - this.firstDay + 1;
    const weights = Array.from({ length: days }, (_, index): number => {
      if (index === days - 1) return 0;
      const { weekday } = weekOf(this.firstDay + index);
      return weekday === 0 || weekday === 6 ? weekendArrivals : 1;
    });
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let passed = 0;
    let arrived = 0;
    return weights.map((weight) => {
      passed += weight;
      const count = Math.round((people * passed) / total) - arrived;
      arrived += count;
      return count;
    });
  }

  #live(day: Day, arrivals: number): Item[] {
    const items: Item[] = [];
    const population = this.#population;
    // The last day is cut off before it is over: what changes on it would not be sent.
    if (day.day < this.lastDay) this.#step(day, items);
    for (let arrival = 0; arrival < arrivals; arrival += 1) this.#arrive(day, items);
    for (const person of population.present) addWork(person, day, this.#random, items);
    return items;
  }

  /** The people and the accounts live the night before a day. */
  #step(day: Day, items: Item[]): void {
    const population = this.#population;
    for (const person of population.present) {
      if (person.kind === "person" && person.step(day.day, this.#random)) this.#remove(person, day, items);
    }
    for (const account of population.accounts) {
      if (account.facts.seats > 0) this.#liveAccount(account, day, items);
    }
    population.present = population.present.filter(({ state }) => state !== "gone");
  }

  #arrive(day: Day, items: Item[]): void {
    const person = this.#population.arrive(day);
    person.arrive(this.#random);
    items.push(signUp(person));
    const { owner } = person.account;
    if (owner === undefined || owner.signedUpDay >= day.day || owner.state === "asleep") return;
    const invitedMs = Math.max(day.startMs, person.signedUpMs - 600_000);
    items.push(event(owner, invitedMs, "teammate_invited", { role: "member" }));
  }

  #remove(person: Person, day: Day, items: Item[]): void {
    const owner = this.#population.remove(person);
    if (owner === undefined) return;
    const timeMs = momentOf(day, 10, 1, this.#random);
    items.push(change(person, timeMs, { isAccountOwner: false }));
    items.push(change(owner, timeMs, { isAccountOwner: true, properties: { role: "admin" } }));
  }

  #liveAccount(account: Account, day: Day, items: Item[]): void {
    const step = account.step(day.day, this.#random);
    if (step === "nothing") return;
    if (step === "gone") {
      for (const member of account.members) member.leave(day.day, "with_account");
      account.members.clear();
      return;
    }
    const timeMs = momentOf(day, 14, 1.5, this.#random);
    const agent = [...account.members].find(({ state }) => state !== "asleep") ?? account.owner;
    if (agent === undefined) return;
    agent.wake(day.day);
    if (step === "cancels") {
      items.push(event(agent, timeMs, "subscription_canceled", { plan: account.planName }));
      return;
    }
    const [from, to] = account.plans.slice(-2).map(({ state }) => state);
    items.push(event(agent, timeMs, "plan_changed", { from: from ?? "", to: to ?? "" }));
    for (const member of account.members) {
      items.push(change(member, timeMs, { properties: { plan: account.planName } }));
    }
  }

  #dayOf(day: number): Day {
    return dayIn(this.#options.zone, day);
  }
}

function inOrder(items: Item[]): Item[] {
  return items.sort((one, other) => one.timeMs - other.timeMs);
}
