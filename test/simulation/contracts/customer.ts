/** An account with a contract: its members, its habits, and the hidden situation that may end the
 * contract. */
import { channels, type Properties, segments } from "../../../simulation/catalogue.ts";
import { companyName, personName } from "../../../simulation/names.ts";
import { Stream } from "../../../simulation/random.ts";
import type { Change } from "../../../simulation/truth.ts";
import type { CalendarDay } from "../../../simulation/work.ts";
import { type CompanySize, companySizes, pricedPlans } from "./catalogue.ts";
import { type BillingEvent, Contract } from "./contract.ts";
import { isMonthEnd, Member, Mix, type Use } from "./members.ts";
import { earlierSituation, effectOn, nextSituation, type Situation, settled } from "./reasons.ts";
import { type ContractTruth, endProbability, type TrueMonth } from "./truth.ts";

export const daysPerMonth = 28;
const yearlyShare = 0.3;
/** In the last 30 days before a renewal, and else, a yearly contract is ended so much oftener than a monthly
 * one. */
const [beforeRenewal, farFromRenewal] = [3, 0.5];
const turnoverHazard = 0.001;
const joiningChance = 0.03;

export interface CustomerFacts {
  readonly accountId: string;
  readonly name: string;
  readonly domain: string;
  readonly segment: string;
  readonly size: CompanySize;
  readonly channel: string;
}

/** A change of a user's traits; all of them when the member has joined. */
export interface MemberChange {
  readonly member: Member;
  readonly properties?: Properties;
  readonly isAccountOwner?: boolean;
}

/** Everything that happens on a day. */
export interface CustomerDay {
  readonly changes: readonly MemberChange[];
  /** Of the subscription, in order. The owner's user id reports them. */
  readonly billing: readonly BillingEvent[];
  readonly use: readonly Use[];
}

export interface CustomerOptions {
  readonly seed: number;
  /** From 0; a number has the same life in a simulation of any size. */
  readonly number: number;
  readonly startedDay: number;
  /** The first day of the log. */
  readonly firstDay: number;
}

export class Customer {
  readonly facts: CustomerFacts;
  readonly contract: Contract;
  /** All members that there ever were. */
  readonly members: Member[] = [];
  readonly #options: CustomerOptions;
  readonly #random: Stream;
  readonly #mix: Mix;
  /** How much likelier than the average it is to decide for the end, whatever the situation. */
  readonly #frailty: number;
  /** The day of the year with the most work, and how much more than the mean it has. */
  readonly #season: { readonly peakDay: number; readonly height: number };
  readonly #situations: Change<string>[];
  readonly #months: TrueMonth[] = [];
  /** Members who are there. The first is the owner. */
  #present: Member[] = [];
  #situation: Situation;
  #sinceDay: number;
  #mood = 0;
  #changes: MemberChange[] = [];

  constructor(options: CustomerOptions) {
    const { seed, number, startedDay, firstDay } = options;
    const random = new Stream(seed, number, 1);
    this.#options = options;
    this.#random = random;
    const segment = random.weighted(segments);
    const size = random.weighted(companySizes);
    this.facts = {
      accountId: `c-${String(number + 1).padStart(5, "0")}`,
      ...companyName(number, seed, segment.trades, random),
      segment: segment.name,
      size,
      channel: random.weighted(channels).name,
    };
    const terms = {
      subscriptionId: `sub-${number + 1}`,
      startedDay,
      periodDays: random.chance(yearlyShare) ? 365 : 30,
      failureChance: Math.min(0.4, 0.02 * Math.exp(random.normal(0, 0.9))),
      retryChance: random.within(0.2, 0.75),
    };
    const plan = pricedPlans.indexOf(random.weighted(pricedPlans));
    this.contract = new Contract(terms, plan, random.between(size.fewestSeats, size.mostSeats));
    this.#mix = new Mix(random);
    this.#frailty = Math.exp(random.normal(-0.125, 0.5));
    this.#season = { peakDay: random.between(0, 364), height: random.within(0, 0.3) };
    this.#situation = startedDay < firstDay ? earlierSituation(random) : settled;
    this.#sinceDay = Math.max(startedDay, firstDay - 30);
    this.#situations = [{ fromDay: this.#sinceDay, state: this.#situation.name }];
  }

  get truth(): ContractTruth {
    const { endedDay, ending, terms } = this.contract;
    const [situations, months] = [[...this.#situations], [...this.#months]];
    const { accountId } = this.facts;
    return { accountId, startedDay: terms.startedDay, situations, endedDay, ending, months };
  }

  /** The member who reports the events of the subscription. */
  get owner(): Member | undefined {
    return this.#present[0];
  }

  /** The members and the subscription on the day when the contract begins. */
  start(): CustomerDay {
    const { startedDay } = this.#options;
    const first = Math.max(1, Math.round(this.contract.seats * this.#random.within(0.7, 1)));
    while (this.#present.length < first) this.#join(startedDay);
    return { changes: this.#takeChanges(), billing: this.contract.start(), use: [] };
  }

  /** Lives a day after that of the start, while the contract runs. */
  step(day: CalendarDay): CustomerDay {
    const { contract } = this;
    const random = this.#random;
    if ((day.day - this.#options.firstDay) % daysPerMonth === 0) this.#note(day.day);
    const billing = contract.settleScheduledEnd(day.day, random);
    if (billing.some(({ name }) => name === "cancellation_withdrawn")) this.#become(settled, day.day);
    if (contract.endedDay === null) {
      this.#become(nextSituation(this.#situation, random), day.day);
      const decides = random.chance(this.#decisionHazard(this.#situation, day.day));
      if (decides && contract.endsDay === null) billing.push(...contract.decide(day.day, random));
    }
    if (contract.endedDay === null) billing.push(...contract.bill(day.day, random));
    if (contract.endedDay === null) billing.push(...this.#changeContract(day.day));
    const use: Use[] = [];
    if (contract.endedDay === null) {
      this.#changeMembers(day.day);
      this.#work(day, use);
    }
    return { changes: this.#takeChanges(), billing, use };
  }

  /** The probability that the contract, which runs on the morning of `day`, ends in [day, day +
   * horizonDays). */
  endProbability(day: number, horizonDays: number): number {
    const state = {
      contract: this.contract,
      situation: this.#situation,
      decisionHazard: (situation: Situation, then: number) => this.#decisionHazard(situation, then),
    };
    return endProbability(state, day, horizonDays);
  }

  #note(day: number): void {
    this.#months.push({
      fromDay: day,
      endProbability: this.endProbability(day, daysPerMonth),
      isCanceling: this.contract.endsDay !== null,
    });
  }

  #decisionHazard(situation: Situation, day: number): number {
    const { startedDay, periodDays } = this.contract.terms;
    const isNear = this.contract.periodEndAfter(day) - day <= 30;
    const byPeriod = periodDays === 30 ? 1 : isNear ? beforeRenewal : farFromRenewal;
    const byTenure = 0.9 + 0.7 * Math.exp((startedDay - day) / 90);
    return situation.hazard * this.#frailty * this.facts.size.risk * byPeriod * byTenure;
  }

  #become(situation: Situation, day: number): void {
    if (situation === this.#situation) return;
    [this.#situation, this.#sinceDay] = [situation, day];
    this.#situations.push({ fromDay: day, state: situation.name });
    if (situation.name === "orphaned" && this.#present.length > 1) this.#leave(0);
  }

  /** Seats and the plan change once a month, on the day of the month on which the contract began. */
  #changeContract(day: number): BillingEvent[] {
    if ((day - this.contract.terms.startedDay) % 30 !== 0) return [];
    const random = this.#random;
    const { fewerSeats, moreSeats, name } = this.#situation;
    const { seats, plan } = this.contract;
    const drawn = random.next();
    const step = Math.max(1, Math.round(seats * random.within(0.1, 0.4)));
    const to = drawn < fewerSeats ? seats - step : drawn > 1 - moreSeats ? seats + step : seats;
    const goesUp = random.chance(0.01);
    const goesDown = random.chance(name === "costs" ? 0.06 : 0.005);
    const newPlan = plan + Number(goesUp) - Number(goesDown);
    const events = this.contract.change(day, {
      seats: Math.max(1, to),
      plan: Math.min(pricedPlans.length - 1, Math.max(0, newPlan)),
    });
    if (this.contract.plan !== plan) {
      const properties = { plan: this.contract.planName };
      this.#changes.push(...this.#present.map((member) => ({ member, properties })));
    }
    while (this.#present.length > this.contract.seats) this.#leave(this.#present.length - 1);
    return events;
  }

  #changeMembers(day: number): void {
    const random = this.#random;
    if (random.chance(turnoverHazard * this.#present.length)) {
      this.#join(day);
      this.#leave(random.between(0, this.#present.length - 2));
    }
    if (this.#present.length < this.contract.seats && random.chance(joiningChance)) this.#join(day);
  }

  #join(day: number): void {
    const { number } = this.#options;
    const n = this.members.length + 1;
    const { name, mailbox } = personName(n, this.#random);
    const parts = {
      userId: `m-${number + 1}-${n}`,
      name,
      email: `${mailbox}@${this.facts.domain}`,
      account: this,
      joinedDay: day,
    };
    const member = new Member(parts, this.#random);
    const isAccountOwner = this.#present.length === 0;
    this.members.push(member);
    this.#present.push(member);
    const properties = {
      name,
      plan: this.contract.planName,
      acquisitionChannel: this.facts.channel,
      companySize: this.facts.size.name,
      segment: this.facts.segment,
      role: isAccountOwner ? "admin" : "member",
    };
    this.#changes.push({ member, properties, isAccountOwner });
    this.#review(day);
  }

  /** A member leaves the company. The next one becomes the owner when it was the owner. */
  #leave(place: number): void {
    const [former] = this.#present;
    const [gone] = this.#present.splice(place, 1);
    const [owner] = this.#present;
    if (gone !== former || gone === undefined || owner === undefined) return;
    this.#changes.push({ member: gone, properties: { role: "former" }, isAccountOwner: false });
    this.#changes.push({ member: owner, properties: { role: "admin" }, isAccountOwner: true });
  }

  #work(day: CalendarDay, use: Use[]): void {
    const random = this.#random;
    const isNewWeek = day.weekday === 1;
    if (isNewWeek) {
      this.#mix.drift(random);
      this.#mood = 0.8 * this.#mood + random.normal(0, 0.15);
    }
    if (isNewWeek || isMonthEnd(day.day) !== isMonthEnd(day.day - 1)) this.#review(day.day);
    const { peakDay, height } = this.#season;
    const season = 1 + height * Math.cos((2 * Math.PI * (day.day - peakDay)) / 365);
    const effect = effectOn(day.day, this.#sinceDay);
    const vigour = season * Math.exp(this.#mood) * this.#situation.presence ** effect;
    for (const member of this.#present) member.work(day, vigour, random, use);
  }

  #review(day: number): void {
    const weights = this.#mix.weights(day, this.#situation, this.#sinceDay);
    for (const [place, member] of this.#present.entries()) member.review(weights, place === 0);
  }

  #takeChanges(): MemberChange[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }
}
