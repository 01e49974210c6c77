/** A company that uses the invented product: what it is, whether it stays, and the plans that it goes through. */
import { type Group, plans, type Size } from "./catalogue.ts";
import type { Person } from "./person.ts";
import type { Random } from "./random.ts";
import type { AccountState, AccountTruth, Change } from "./truth.ts";

/** Of an average account, a day: about one in forty leaves within 28 days. */
const leavingHazard = 0.0009;
/** Of those that mean to leave, so many are won back. */
const wonBackShare = 0.2;
const billingPeriodDays = 30;

export interface AccountParts {
  /** From 0. */
  readonly number: number;
  readonly accountId: string;
  readonly name: string;
  readonly domain: string;
  readonly segment: string;
  readonly channel: Group;
  readonly size: Size;
  readonly seats: number;
  /** How fast its users take up what the product offers; 1 on average. */
  readonly maturity: number;
  readonly createdDay: number;
  readonly createdMs: number;
  /** The place in `plans`. */
  readonly plan: number;
}

/** What an account does on a day. */
export type AccountStep = "nothing" | "plan_changed" | "cancels" | "gone";

export class Account {
  readonly number: number;
  readonly accountId: string;
  readonly name: string;
  readonly domain: string;
  readonly segment: string;
  readonly channel: Group;
  readonly size: Size;
  readonly seats: number;
  readonly maturity: number;
  readonly createdDay: number;
  readonly createdMs: number;
  plan: number;
  owner: Person | undefined;
  /** Those who have not gone. */
  readonly members = new Set<Person>();
  readonly history: Change<AccountState>[];
  readonly plans: Change<string>[];
  departedDay: number | null = null;
  departure: AccountTruth["departure"] = null;
  state: AccountState = "subscribed";
  #sinceDay = 0;
  #untilDay = 0;
  #isWonBack = false;

  constructor(parts: AccountParts) {
    this.number = parts.number;
    this.accountId = parts.accountId;
    this.name = parts.name;
    this.domain = parts.domain;
    this.segment = parts.segment;
    this.channel = parts.channel;
    this.size = parts.size;
    this.seats = parts.seats;
    this.maturity = parts.maturity;
    this.createdDay = parts.createdDay;
    this.createdMs = parts.createdMs;
    this.plan = parts.plan;
    this.history = [{ fromDay: parts.createdDay, state: "subscribed" }];
    this.plans = [{ fromDay: parts.createdDay, state: this.planName }];
  }

  get truth(): AccountTruth {
    const { accountId, name, createdMs, departedDay, departure } = this;
    const [history, plans] = [[...this.history], [...this.plans]];
    return { accountId, name, createdMs, history, plans, departedDay, departure };
  }

  get planName(): string {
    return plans[this.plan]?.name ?? "";
  }

  /** How much likelier than the average its users are to leave. */
  get risk(): number {
    return (plans[this.plan]?.risk ?? 1) * this.channel.risk * this.size.risk;
  }

  get takesMembers(): boolean {
    return this.state === "subscribed" && this.members.size < this.seats;
  }

  /** The share of their usual activity that its users still show on a day. */
  vigour(day: number): number {
    if (this.state !== "leaving") return 1;
    return 1 - (0.85 * (day - this.#sinceDay)) / (this.#untilDay - this.#sinceDay);
  }

  /** Lives a day. */
  step(day: number, random: Random): AccountStep {
    if (this.state === "gone") return "nothing";
    if (this.members.size === 0) return this.leave(day, "lapsed");
    if (this.state === "leaving" && day >= this.#untilDay) {
      if (!this.#isWonBack) return this.leave(day, "canceled");
      this.#become("subscribed", day);
    }
    if (this.state === "leaving" && day === this.#untilDay - 1 && !this.#isWonBack) return "cancels";
    if (this.state === "subscribed" && random.chance(leavingHazard * this.risk))
      this.#beginToLeave(day, random);
    return this.#billingDay(day, random);
  }

  /** Ends the account. */
  leave(day: number, departure: "canceled" | "lapsed"): "gone" {
    this.#become("gone", day);
    this.departedDay = day;
    this.departure = departure;
    return "gone";
  }

  #beginToLeave(day: number, random: Random): void {
    this.#become("leaving", day);
    this.#isWonBack = random.chance(wonBackShare);
    this.#sinceDay = day;
    // Some decide from one day to the next.
    this.#untilDay = day + (random.chance(0.2) ? 2 : random.between(18, 49));
  }

  #billingDay(day: number, random: Random): AccountStep {
    const age = day - this.createdDay;
    if (age === 0 || age % billingPeriodDays !== 0) return "nothing";
    const goesUp = this.state === "subscribed" && random.chance(0.07 * this.maturity);
    const goesDown = random.chance(this.state === "leaving" ? 0.3 : 0.012);
    const plan = Math.min(plans.length - 1, Math.max(0, this.plan + Number(goesUp) - Number(goesDown)));
    if (plan === this.plan) return "nothing";
    this.plan = plan;
    this.plans.push({ fromDay: day, state: this.planName });
    return "plan_changed";
  }

  #become(state: AccountState, day: number): void {
    this.state = state;
    this.history.push({ fromDay: day, state });
  }
}
