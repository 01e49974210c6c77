/** The growth of the population: accounts are created, their seats fill, and the vendor's own users are among
 * them. */

import { channels, plans, type Size, segments, sizes } from "./catalogue.ts";
import { Account, Person } from "./customers.ts";
import { companyName, personName } from "./names.ts";
import type { Random } from "./random.ts";
import type { UserKind } from "./truth.ts";
import { type Day, momentOf } from "./work.ts";

/** With 3,000 users, 1,420 accounts. */
const usersPerAccount = 2.1;
/** The e-mail domain of the vendor's own staff, test users and monitor. `rekindle demo` excludes it from all
 * figures. */
export const vendorDomain = "vendor.example";

/** The vendor is drawn from no group, and does not leave. */
const noGroup = { weight: 0, risk: 0 };

export class Population {
  readonly accounts: Account[] = [];
  readonly people: Person[] = [];
  /** Users who have not left; the order is the same for the same seed. */
  present: Person[] = [];
  readonly #random: Random;
  readonly #seed: number;
  readonly #customers: number;
  readonly #vendor: number;
  /** Accounts that may have free seats. */
  readonly #open: Account[] = [];
  #arrived = 0;
  #numbers = 0;

  constructor(users: number, seed: number, random: Random) {
    this.#random = random;
    this.#seed = seed;
    this.#vendor = users < 20 ? 0 : Math.min(3 + Math.floor(users / 200), 25);
    this.#customers = users - this.#vendor;
  }

  /** How many of the customers' users have yet to sign up. */
  get customersToCome(): number {
    return this.#customers - this.#arrived;
  }

  /** A customer's user signs up on a day, in a new account or on a free seat. */
  arrive(day: Day): Person {
    const share = Math.max(1, Math.round(this.#customers / usersPerAccount)) / this.#customers;
    const isFounding = Math.ceil((this.#arrived + 1) * share) > Math.ceil(this.#arrived * share);
    this.#arrived += 1;
    const signedUpMs = momentOf(day, 13, 3, this.#random);
    const account = (isFounding ? undefined : this.#freeSeat()) ?? this.#found(day, signedUpMs);
    return this.#add(account, "person", day, signedUpMs);
  }

  /** The vendor's own people, its test users and its monitor. */
  arriveVendor(day: Day): Person[] {
    if (this.#vendor === 0) return [];
    const createdMs = momentOf(day, 13, 3, this.#random);
    const account = new Account(
      {
        number: 0,
        accountId: "vendor",
        name: "Vendor (internal)",
        domain: vendorDomain,
        segment: "software",
        channel: { ...noGroup, name: "internal" },
        size: { ...noGroup, name: "11-50", fewestSeats: 0, mostSeats: 0, plans: [] },
        seats: 0,
        maturity: 1,
        createdDay: day.day,
        createdMs,
      },
      plans.length - 1,
    );
    this.accounts.push(account);
    const kinds: UserKind[] = ["bot", "test"];
    return Array.from({ length: this.#vendor }, (_, index) => {
      const kind = kinds[index] ?? (index % 3 === 0 ? "test" : "staff");
      return this.#add(account, kind, day, createdMs + index * 1_000);
    });
  }

  /** Frees the seat of a user who has left, and gives the account another owner if needed. Returns the new
   * owner. */
  remove(person: Person): Person | undefined {
    const { account } = person;
    account.members.delete(person);
    if (account.takesMembers && !this.#open.includes(account)) this.#open.push(account);
    if (account.owner !== person) return undefined;
    account.owner = account.members.values().next().value;
    return account.owner;
  }

  /** A seat in one of three accounts, in the one with the most that are free: large ones fill for longer. */
  #freeSeat(): Account | undefined {
    let best: Account | undefined;
    for (let tries = 0; tries < 3 && this.#open.length > 0; ) {
      const place = this.#random.between(0, this.#open.length - 1);
      const account = this.#open[place];
      if (account?.takesMembers) {
        if (best === undefined || freeSeats(account) > freeSeats(best)) best = account;
        tries += 1;
      } else {
        const last = this.#open.pop();
        if (last !== undefined && place < this.#open.length) this.#open[place] = last;
      }
    }
    return best;
  }

  #found(day: Day, createdMs: number): Account {
    const random = this.#random;
    const n = this.accounts.length;
    const segment = random.weighted(segments);
    const size = random.weighted(sizes);
    const account = new Account(
      {
        number: n,
        accountId: `a-${String(n + 1).padStart(4, "0")}`,
        ...companyName(n, this.#seed, segment.trades, random),
        segment: segment.name,
        channel: random.weighted(channels),
        size,
        seats: random.between(size.fewestSeats, size.mostSeats),
        maturity: random.within(0.3, 1.7),
        createdDay: day.day,
        createdMs,
      },
      drawPlan(size, random),
    );
    this.accounts.push(account);
    this.#open.push(account);
    return account;
  }

  #add(account: Account, kind: UserKind, day: Day, signedUpMs: number): Person {
    this.#numbers += 1;
    const number = this.#numbers;
    const { name, mailbox } =
      kind === "bot"
        ? { name: "Monitor", mailbox: `monitor.${number}` }
        : kind === "test"
          ? { name: `Test user ${number}`, mailbox: `test+${number}` }
          : personName(number, this.#random);
    const email = `${mailbox}@${account.facts.domain}`;
    const person = new Person(
      { number, name, email, kind, account, signedUpDay: day.day, signedUpMs },
      this.#random,
    );
    account.members.add(person);
    account.owner ??= person;
    this.people.push(person);
    this.present.push(person);
    return person;
  }
}

function freeSeats({ facts, members }: Account): number {
  return facts.seats - members.size;
}

function drawPlan(size: Size, random: Random): number {
  const choices = size.plans.map((weight, plan) => ({ weight, plan }));
  return random.weighted(choices).plan;
}
