/**
 * The invented customers. An account is a company that uses the product: its size and channel, whether it
 * stays, and its plans over time. A person is one of its users: a constant temperament, a mood that drifts,
 * and several ways to leave.
 */
import { type Group, plans, type Size, workKinds } from "./catalogue.ts";
import type { Random } from "./random.ts";
import type { AccountState, AccountTruth, Change, UserKind, UserState, UserTruth } from "./truth.ts";

/** Of an average account, a day: about one in ninety leaves within 28 days. More end because their users
 * leave or hardly use it. */
const accountLeavingHazard = 0.0004;
/** The share of leaving accounts that are won back. */
const wonBackShare = 0.2;
const billingPeriodDays = 30;

/** Facts that never change. */
export interface AccountFacts {
  /** From 0. */
  readonly number: number;
  readonly accountId: string;
  readonly name: string;
  readonly domain: string;
  readonly segment: string;
  readonly channel: Group;
  readonly size: Size;
  readonly seats: number;
  /** How fast its users adopt features; 1 on average. */
  readonly maturity: number;
  readonly createdDay: number;
  readonly createdMs: number;
}

/** The result of an account's day. */
export type AccountStep = "nothing" | "plan_changed" | "cancels" | "gone";

export class Account {
  readonly facts: AccountFacts;
  /** The place in `plans`. */
  plan: number;
  owner: Person | undefined;
  /** Members who have not left. */
  readonly members = new Set<Person>();
  readonly history: Change<AccountState>[];
  readonly plans: Change<string>[];
  departedDay: number | null = null;
  departure: AccountTruth["departure"] = null;
  state: AccountState = "subscribed";
  #sinceDay = 0;
  #untilDay = 0;
  #isWonBack = false;

  constructor(facts: AccountFacts, plan: number) {
    this.facts = facts;
    this.plan = plan;
    this.history = [{ fromDay: facts.createdDay, state: "subscribed" }];
    this.plans = [{ fromDay: facts.createdDay, state: this.planName }];
  }

  get truth(): AccountTruth {
    const { departedDay, departure } = this;
    const { accountId, name, createdMs } = this.facts;
    const [history, plans] = [[...this.history], [...this.plans]];
    return { accountId, name, createdMs, history, plans, departedDay, departure };
  }

  get planName(): string {
    return plans[this.plan]?.name ?? "";
  }

  /** How much likelier than the average its users are to leave. */
  get risk(): number {
    return (plans[this.plan]?.risk ?? 1) * this.facts.channel.risk * this.facts.size.risk;
  }

  get takesMembers(): boolean {
    return this.state === "subscribed" && this.members.size < this.facts.seats;
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
    if (this.state === "subscribed" && random.chance(accountLeavingHazard * this.risk))
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
    const age = day - this.facts.createdDay;
    if (age === 0 || age % billingPeriodDays !== 0) return "nothing";
    const goesUp = this.state === "subscribed" && random.chance(0.07 * this.facts.maturity);
    const goesDown = random.chance(this.state === "leaving" ? 0.2 : 0.008);
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

/** Of an average user, a day: one in eighteen begins to leave within 28 days. */
const userLeavingHazard = 0.002;
/** The share of leaving users who fade over weeks; the others leave from one day to the next. */
const fadingShare = 0.65;
/** How much likelier than others the only user of an account is to leave. With this user the account ends: at
 * 1 more than half of the small accounts ended within a year. */
const aloneRisk = 0.3;
const alreadyFadingShare = 0.05;
/** The share of fading users who recover. */
const recoveringShare = 0.25;
const sleepingHazard = 0.0007;
const holidayHazard = 0.006;
const burstHazard = 0.008;
/** A new user leaves again within days so often, on a plan and from a channel of average risk. */
const bounceShare = 0.1;

/** How often users are active on an ordinary working day. */
const rhythms = [
  { weight: 28, least: 0.55, most: 0.9 },
  { weight: 36, least: 0.25, most: 0.55 },
  { weight: 25, least: 0.11, most: 0.25 },
  { weight: 11, least: 0.05, most: 0.11 },
];
/** Sunday to Saturday, against an ordinary working day. */
const officeWeek = [0.05, 1, 1.05, 1, 0.98, 0.8, 0.08];
const everyDay = [0.85, 0.9, 1, 0.9, 0.9, 0.9, 1];

export interface PersonParts {
  readonly number: number;
  readonly name: string;
  readonly email: string;
  readonly kind: UserKind;
  readonly account: Account;
  readonly signedUpDay: number;
  readonly signedUpMs: number;
}

export class Person {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly kind: UserKind;
  readonly account: Account;
  readonly signedUpDay: number;
  readonly signedUpMs: number;
  readonly history: Change<UserState>[];
  departedDay: number | null = null;
  departure: UserTruth["departure"] = null;
  state: UserState = "healthy";
  /** Hour of the day around which they work. */
  readonly peakHour: number;
  readonly eventsPerDay: number;
  /** Chance of being active on an ordinary working day. */
  readonly rhythm: number;
  /** How much they like each of `workKinds`. */
  readonly tastes: readonly number[];
  /** Which of `workKinds` they have taken up. */
  readonly adopted: boolean[];
  /** Running sums of the weights of `workKinds`. */
  readonly odds: number[] = [];
  readonly #week: readonly number[];
  readonly #driftDay: number;
  #mood: number;
  #hazard = 0;
  #sinceDay = 0;
  #fadingDays = 1;
  #untilDay = 0;
  #awayUntilDay = 0;
  #burstUntilDay = 0;
  #recovers = false;

  constructor(parts: PersonParts, random: Random) {
    this.userId = `u-${String(parts.number).padStart(5, "0")}`;
    this.name = parts.name;
    this.email = parts.email;
    this.kind = parts.kind;
    this.account = parts.account;
    this.signedUpDay = parts.signedUpDay;
    this.signedUpMs = parts.signedUpMs;
    this.history = [{ fromDay: parts.signedUpDay, state: "healthy" }];
    const { least, most } = random.weighted(rhythms);
    this.rhythm = random.within(least, most);
    this.#week = random.chance(0.1) ? everyDay : officeWeek;
    this.peakHour = random.normal(12.5, 2.5);
    this.eventsPerDay = Math.exp(random.normal(0.9, 0.45));
    this.tastes = workKinds.map(() => random.within(0.4, 1.6));
    this.adopted = workKinds.map(({ role }) => role !== "advanced");
    this.#driftDay = random.between(0, 6);
    this.#mood = random.normal(0, 0.25);
    this.#review();
  }

  get truth(): UserTruth {
    const { userId, kind, signedUpMs, history, departedDay, departure } = this;
    const { accountId } = this.account.facts;
    return { userId, accountId, kind, signedUpMs, history: [...history], departedDay, departure };
  }

  /** How much of their usual strength they have on a day, account included; 0 while they are asleep. */
  vigour(day: number): number {
    if (this.state === "asleep") return 0;
    const fading =
      this.state === "fading" ? Math.max(0, 1 - (day - this.#sinceDay) / this.#fadingDays) ** 1.2 : 1;
    return fading * this.account.vigour(day);
  }

  /** The chance of being active on a day that is no holiday for all. */
  presence(day: number, weekday: number): number {
    if (day < this.#awayUntilDay) return 0;
    const burst = day < this.#burstUntilDay ? 1.6 : 1;
    const usual = this.rhythm * (this.#week[weekday] ?? 1) * Math.exp(this.#mood);
    return Math.min(0.97, usual * burst * this.vigour(day));
  }

  /** How many events an active day has, on average. */
  intensity(day: number): number {
    const burst = day < this.#burstUntilDay ? 2 : 1;
    return this.eventsPerDay * burst * (0.4 + 0.6 * this.vigour(day));
  }

  /** Decides at the sign-up whether they will take root at all. */
  arrive(random: Random): void {
    if (!random.chance(Math.min(0.5, bounceShare * this.account.risk))) return;
    this.#beginToFade(this.signedUpDay, random.between(2, 7));
  }

  /** For users from before the log: some of them are fading already. */
  settle(firstDay: number, random: Random): void {
    if (!random.chance(alreadyFadingShare)) return;
    const sinceDay = Math.max(this.signedUpDay, firstDay - random.between(1, 20));
    this.#beginToFade(sinceDay, firstDay - sinceDay + random.between(7, 35));
  }

  /** Simulates the night before a day. Returns whether the user has left from this day on. */
  step(day: number, random: Random): boolean {
    if ((day + this.#driftDay) % 7 === 0) this.#drift(random);
    if (this.state !== "healthy") {
      if (day < this.#untilDay) return false;
      if (this.state === "fading" && !this.#recovers) return this.leave(day, "faded");
      this.#become("healthy", day);
    }
    const drawn = random.next();
    const alone = this.account.members.size === 1 ? aloneRisk : 1;
    if (drawn < this.#hazard * this.#newness(day) * alone) return this.#beginToLeave(day, random);
    if (drawn > 1 - sleepingHazard) this.#fallAsleep(day, random);
    else if (drawn > 1 - sleepingHazard - holidayHazard) this.#awayUntilDay = day + random.between(4, 15);
    else if (drawn > 1 - sleepingHazard - holidayHazard - burstHazard)
      this.#burstUntilDay = day + random.between(3, 7);
    return false;
  }

  /** Ends a sleep: whoever acts for the account is awake. */
  wake(day: number): void {
    if (this.state === "asleep") this.#become("healthy", day);
  }

  /** Ends them. */
  leave(day: number, departure: NonNullable<UserTruth["departure"]>): true {
    this.#become("gone", day);
    this.departedDay = day;
    this.departure = departure;
    return true;
  }

  /** Adopts, by chance, some features of the plan, and gives up features that the plan no longer has. */
  adopt(random: Random): void {
    const chance = 0.035 * this.account.facts.maturity * (0.4 + this.rhythm);
    for (const [index, { role, fromPlan }] of workKinds.entries()) {
      if (role !== "advanced") continue;
      if (fromPlan > this.account.plan) this.adopted[index] = false;
      else if (random.chance(chance)) this.adopted[index] = true;
    }
    this.#review();
  }

  #drift(random: Random): void {
    this.#mood = 0.85 * this.#mood + random.normal(0, 0.2);
    if (this.state === "healthy") this.adopt(random);
    else if (this.state === "fading" && random.chance(0.5)) this.#giveUpFeature();
  }

  #giveUpFeature(): void {
    const latest = this.adopted.findLastIndex((has, index) => has && workKinds[index]?.role === "advanced");
    if (latest >= 0) this.adopted[latest] = false;
    this.#review();
  }

  /** Computes the values that follow from features and account. */
  #review(): void {
    let sum = 0;
    let depth = 0;
    for (const [index, { weight, role }] of workKinds.entries()) {
      if (this.adopted[index]) {
        sum += weight * (this.tastes[index] ?? 1);
        if (role === "advanced") depth += 1;
      }
      this.odds[index] = sum;
    }
    const shallow = 1.5 * 0.78 ** depth;
    const rare = this.rhythm < 0.28 ? 1.3 : 1;
    this.#hazard = userLeavingHazard * this.account.risk * shallow * rare;
  }

  /** The first weeks decide most. */
  #newness(day: number): number {
    const ageDays = day - this.signedUpDay;
    if (ageDays < 28) return 2;
    return ageDays < 84 ? 1.2 : 0.85;
  }

  #beginToLeave(day: number, random: Random): boolean {
    if (!random.chance(fadingShare)) return this.leave(day, "sudden");
    this.#beginToFade(day, random.between(14, 56));
    this.#recovers = random.chance(recoveringShare);
    if (this.#recovers) this.#untilDay = day + Math.ceil(this.#fadingDays * 0.7);
    return false;
  }

  #beginToFade(day: number, days: number): void {
    this.#become("fading", day);
    this.#sinceDay = day;
    this.#fadingDays = days;
    this.#untilDay = day + days;
    this.#recovers = false;
  }

  #fallAsleep(day: number, random: Random): void {
    this.#become("asleep", day);
    this.#untilDay = day + random.between(24, 70);
  }

  #become(state: UserState, day: number): void {
    this.state = state;
    this.history.push({ fromDay: day, state });
  }
}
