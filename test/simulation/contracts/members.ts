/** The members of an account with a contract, and what they do on a day. */
import { msPerDay } from "../../../server/calendar/zone.ts";
import type { Identity } from "../../../simulation/items.ts";
import type { Random } from "../../../simulation/random.ts";
import { type CalendarDay, holidayShare } from "../../../simulation/work.ts";
import { features, monthEndFeatures } from "./catalogue.ts";
import { effectOn, type Situation } from "./reasons.ts";

/** Sunday to Saturday, against an ordinary working day. */
const week = [0.06, 1, 1.05, 1, 0.98, 0.85, 0.08];
const ownersFactor = 5;

export interface MemberParts {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly account: Identity["account"];
  readonly joinedDay: number;
}

/** How often a member used a feature on a day. */
export interface Use {
  readonly member: Member;
  /** The name of a feature. */
  readonly event: string;
  readonly count: number;
}

export class Member implements Identity {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly account: Identity["account"];
  readonly joinedDay: number;
  /** Hour of the day around which they work. */
  readonly peakHour: number;
  /** Chance of being active on an ordinary working day. */
  readonly #presence: number;
  readonly #eventsPerDay: number;
  readonly #tastes: readonly number[];
  /** Running sums of the weights of `features`. */
  #odds: readonly number[] = [];

  constructor(parts: MemberParts, random: Random) {
    this.userId = parts.userId;
    this.name = parts.name;
    this.email = parts.email;
    this.account = parts.account;
    this.joinedDay = parts.joinedDay;
    this.peakHour = random.normal(12.5, 2.5);
    this.#presence = random.within(0.2, 0.85);
    this.#eventsPerDay = Math.exp(random.normal(1, 0.4));
    this.#tastes = features.map(() => Math.exp(random.normal(0, 0.5)));
  }

  /** Takes over the account's present mix. */
  review(weights: readonly number[], isOwner: boolean): void {
    let sum = 0;
    this.#odds = weights.map((weight, index) => {
      const factor = isOwner && features[index]?.isForOwners === true ? ownersFactor : 1;
      sum += weight * factor * (this.#tastes[index] ?? 1);
      return sum;
    });
  }

  /** Adds what they do on a day to `used`. `vigour`: how often members come, against an ordinary day. */
  work({ weekday, isHoliday }: CalendarDay, vigour: number, random: Random, used: Use[]): void {
    const usual = this.#presence * (week[weekday] ?? 1) * (isHoliday ? holidayShare : 1);
    if (!random.chance(Math.min(0.97, usual * vigour))) return;
    const counts = new Uint16Array(features.length);
    for (let left = 1 + poisson(random, this.#eventsPerDay); left > 0; left -= 1) {
      const place = this.#choose(random);
      counts[place] = (counts[place] ?? 0) + 1;
    }
    for (const [place, { name }] of features.entries()) {
      const count = counts[place] ?? 0;
      if (count > 0) used.push({ member: this, event: name, count });
    }
  }

  /** The place of a feature by the running sums of weights. */
  #choose(random: Random): number {
    const drawn = random.next() * (this.#odds.at(-1) ?? 0);
    let place = 0;
    while (place < features.length - 1 && drawn >= (this.#odds[place] ?? 0)) place += 1;
    return place;
  }
}

/** The preferences of an account: constant tastes, a drift, the end of the month, and the hidden
 * situation. */
export class Mix {
  readonly #tastes: readonly number[];
  readonly #drift: number[];
  readonly #monthEndFactor: number;

  constructor(random: Random) {
    this.#tastes = features.map(() => random.normal(0, 0.3));
    this.#drift = features.map(() => random.normal(0, 0.18));
    this.#monthEndFactor = random.chance(0.4) ? random.within(1.5, 3) : 1;
  }

  /** A week passes: fashions come and go. The standard deviation stays at 0.18. */
  drift(random: Random): void {
    for (const [index, value] of this.#drift.entries()) {
      this.#drift[index] = 0.9 * value + random.normal(0, 0.0785);
    }
  }

  /** The weights of `features` on a day. */
  weights(day: number, situation: Situation, sinceDay: number): number[] {
    const effect = effectOn(day, sinceDay);
    const monthEnd = isMonthEnd(day) ? this.#monthEndFactor : 1;
    return features.map(({ name, weight }, index) => {
      const liking = Math.exp((this.#tastes[index] ?? 0) + (this.#drift[index] ?? 0));
      const factor = (situation.use[name] ?? 1) ** effect;
      return weight * liking * factor * (monthEndFeatures.has(name) ? monthEnd : 1);
    });
  }
}

/** Whether a day is one of the last four of its month. */
export function isMonthEnd(day: number): boolean {
  return new Date((day + 4) * msPerDay).getUTCDate() <= 4;
}

/** A Poisson variate (Knuth 1969, §3.4.1). For means below 100: it takes a number for each unit. */
function poisson(random: Random, mean: number): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random.next(); product > limit; product *= random.next()) count += 1;
  return count;
}
