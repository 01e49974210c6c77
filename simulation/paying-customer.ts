/** A simulated account as its billing sees it: the plan that it is on, its users, and when it leaves. */
import { msPerDay, type Zone } from "../server/calendar/zone.ts";
import type { Account, AccountFacts, Person } from "./customers.ts";
import { placeOf } from "./prices.ts";
import { stateOn, type UserState } from "./truth.ts";

/** Billing reports what the account did on the same day: plans change about 14:00. */
const reportedHour = 20;

/** The share of their usual work that users of a state do. */
const shareOfWork: Readonly<Record<UserState, number>> = { healthy: 1, fading: 0.5, asleep: 0, gone: 0 };

/** At `timeMs` the account changes to the plan at this place in `plans`. */
export interface PlanChange {
  readonly timeMs: number;
  readonly plan: number;
}

export class Customer {
  readonly facts: AccountFacts;
  /** Its founder, whom its billing events name. */
  readonly contact: Person;
  readonly planChanges: readonly PlanChange[];
  /** When it cancels: its users stop a day later. Undefined: it has not canceled. */
  readonly cancelsMs: number | undefined;
  /** When its last user had left without a cancellation. */
  readonly lapsedMs: number | undefined;
  /** From when to when it wanted to leave before it was won back. */
  readonly doubts: readonly { readonly fromMs: number; readonly untilMs: number }[];
  readonly #account: Account;
  readonly #users: readonly Person[];
  readonly #zone: Zone;

  constructor(account: Account, users: readonly [Person, ...Person[]], zone: Zone) {
    this.#account = account;
    this.#users = users;
    this.#zone = zone;
    this.facts = account.facts;
    this.contact = users[0];
    const { departure, departedDay, history, plans } = account;
    if (departure === "canceled" && departedDay !== null) this.cancelsMs = this.#eveningOf(departedDay - 1);
    if (departure === "lapsed" && departedDay !== null) this.lapsedMs = this.#eveningOf(departedDay);
    this.doubts = history.flatMap(({ state, fromDay }, index) => {
      const next = history[index + 1];
      if (state !== "leaving" || next?.state !== "subscribed") return [];
      return [{ fromMs: this.#eveningOf(fromDay), untilMs: this.#eveningOf(next.fromDay) }];
    });
    this.planChanges = plans
      .slice(1)
      .map(({ fromDay, state }) => ({ timeMs: this.#eveningOf(fromDay), plan: placeOf(state) }));
  }

  /** The place of its plan in `plans` at a time. */
  planAt(timeMs: number): number {
    return placeOf(stateOn(this.#account.plans, this.#zone.dayOf(timeMs)) ?? "");
  }

  /** The number of its users at a time. */
  usersAt(timeMs: number): number {
    const day = this.#zone.dayOf(timeMs);
    const isUser = ({ signedUpMs, departedDay }: Person) =>
      signedUpMs <= timeMs && (departedDay === null || departedDay > day);
    return this.#users.filter(isUser).length;
  }

  /** How much its users work at a time: the sum of their rhythms. Those who fade count half, those who are
   * asleep not at all. */
  workAt(timeMs: number): number {
    const day = this.#zone.dayOf(timeMs);
    const work = ({ rhythm, history }: Person) => rhythm * shareOfWork[stateOn(history, day) ?? "gone"];
    return this.#users.reduce((sum, user) => sum + work(user), 0);
  }

  /** Whether it has canceled or lapsed before a time. */
  hasLeftBefore(timeMs: number): boolean {
    return (this.cancelsMs ?? this.lapsedMs ?? Number.POSITIVE_INFINITY) < timeMs;
  }

  /** The moment of a day at which billing reports what happened on it. */
  #eveningOf(day: number): number {
    const minutes = this.facts.number % 60;
    return this.#zone.startOfDay(day) + (reportedHour / 24) * msPerDay + minutes * 60_000;
  }
}
