/**
 * Subscriptions, payments and attributes of the simulated accounts, as a billing tool reports them. They
 * follow from the accounts' lives. They have random numbers of their own: the log of use is the same with and
 * without them.
 */
import { msPerDay, type Zone } from "../server/calendar/zone.ts";
import type { Account, Person } from "./customers.ts";
import { describe, event, type Item } from "./items.ts";
import { Customer } from "./paying-customer.ts";
import { breaks, euroShare, trialShare, yearlyShare } from "./prices.ts";
import { type Random, Stream } from "./random.ts";
import {
  type Agreement,
  type Charge,
  Subscription,
  type SubscriptionStart,
  type Terms,
} from "./subscription.ts";

export interface BillingOptions {
  readonly seed: number;
  readonly zone: Zone;
  /** The end of the log. */
  readonly endMs: number;
  /** E-mail addresses of the people who look after the accounts. */
  readonly owners: readonly string[];
}

/** Keeps the random numbers of billing apart from others of the seed. */
const purpose = 0xb111;

/** What an account paid, as the simulation's own books have it. */
export interface AccountBook {
  readonly accountId: string;
  readonly currency: Terms["currency"];
  readonly interval: Terms["interval"];
  /** Of its subscriptions, one after another, by time, until the log ends. */
  readonly charges: readonly Charge[];
}

/** The items of all accounts but the vendor's, in time order, from the first account on.
 * @param accounts with people of theirs among `people`, after the last day */
export function billingItems(
  accounts: readonly Account[],
  people: readonly Person[],
  options: BillingOptions,
): Item[] {
  const items = customersOf(accounts, people, options).flatMap((customer) => itemsOf(customer, options));
  return items.filter(({ timeMs }) => timeMs < options.endMs).sort((one, other) => one.timeMs - other.timeMs);
}

/** Who paid what, when they left and why: what the items of the same options report. */
export function billingBooks(
  accounts: readonly Account[],
  people: readonly Person[],
  options: BillingOptions,
): AccountBook[] {
  return customersOf(accounts, people, options).flatMap((customer) => {
    const { terms, subscriptions } = livesOf(customer, options);
    const charges = subscriptions
      .flatMap((subscription) => subscription.charges)
      .filter(({ timeMs }) => timeMs < options.endMs);
    const { currency, interval } = terms;
    return charges.length === 0 ? [] : [{ accountId: customer.facts.accountId, currency, interval, charges }];
  });
}

function customersOf(
  accounts: readonly Account[],
  people: readonly Person[],
  { zone }: BillingOptions,
): Customer[] {
  const peopleOf = Map.groupBy(people, ({ account }) => account);
  return accounts.flatMap((account) => {
    const [founder, ...others] = peopleOf.get(account) ?? [];
    if (founder === undefined || account.facts.seats === 0) return [];
    return [new Customer(account, [founder, ...others], zone)];
  });
}

function livesOf(customer: Customer, { seed, endMs, owners }: BillingOptions) {
  const random = new Stream(seed, customer.facts.number, purpose);
  const owner = owners[random.between(0, owners.length)];
  return { owner, ...subscriptionsOf(customer, random, endMs) };
}

function itemsOf(customer: Customer, options: BillingOptions): Item[] {
  const { facts, contact } = customer;
  const { owner, subscriptions } = livesOf(customer, options);
  const attributes = {
    industry: facts.segment,
    size: facts.size.name,
    ...(owner !== undefined && { owner }),
  };
  const items: Item[] = [describe(contact, facts.createdMs + 1_000, attributes)];
  for (const subscription of subscriptions) {
    for (const { event: name, timeMs, properties } of subscription.reports) {
      items.push(event(contact, timeMs, name, properties));
    }
    for (const agreement of subscription.agreements) items.push(agreed(contact, agreement));
  }
  return items;
}

function agreed(contact: Person, { timeMs, renewsMs, perYear }: Agreement): Item {
  const renewsAt = renewsMs === null ? null : new Date(renewsMs).toISOString().slice(0, 10);
  return describe(contact, timeMs, { renewsAt, contractValue: perYear });
}

type Start = Pick<SubscriptionStart, "startMs" | "isTrial">;

/** The subscriptions of an account, one after another. */
function subscriptionsOf(
  customer: Customer,
  random: Random,
  endMs: number,
): { readonly terms: Terms; readonly subscriptions: readonly Subscription[] } {
  const { createdMs } = customer.facts;
  const plan = customer.planAt(createdMs);
  const isTrial = random.chance(plan === 0 ? trialShare.free : trialShare.paid);
  const terms: Terms = {
    currency: random.chance(euroShare) ? "EUR" : "USD",
    interval: random.chance(yearlyShare[Math.max(1, plan)] ?? 0) ? "year" : "month",
    seatsShare: random.within(0.4, 0.8),
  };
  const subscriptions: Subscription[] = [];
  let next: Start | undefined =
    plan > 0 || isTrial ? { startMs: createdMs + 60_000, isTrial } : startAfter(createdMs, customer);
  for (let number = 1; next !== undefined && next.startMs < endMs; number += 1) {
    const subscription = new Subscription(customer, terms, { ...next, number, endMs }, random);
    subscription.live();
    subscriptions.push(subscription);
    if (subscription.end === undefined) break;
    const { timeMs, reason } = subscription.end;
    if (reason === "unused") next = startAfterBreak(timeMs, customer, random, endMs);
    else if (reason === "payment_failed") {
      next = returnAfter(timeMs + random.between(2, 45) * msPerDay, customer);
    } else next = startAfter(timeMs, customer);
  }
  return { terms, subscriptions };
}

/** An account that worked too little to pay subscribes again by chance, in a later month in which its users
 * work. */
function startAfterBreak(
  endedMs: number,
  customer: Customer,
  random: Random,
  endMs: number,
): Start | undefined {
  for (let startMs = endedMs + 30 * msPerDay; startMs < endMs; startMs += 30 * msPerDay) {
    if (customer.hasLeftBefore(startMs)) return undefined;
    const isBack = customer.workAt(startMs) > 0 && random.chance(breaks.returnChance);
    if (isBack && customer.planAt(startMs) > 0) return { startMs, isTrial: false };
  }
  return undefined;
}

/** A customer whose payment failed pays again, if it still uses a paid plan. */
function returnAfter(startMs: number, customer: Customer): Start | undefined {
  if (customer.hasLeftBefore(startMs)) return undefined;
  return customer.planAt(startMs) > 0 ? { startMs, isTrial: false } : startAfter(startMs, customer);
}

/** A minute after the next change from the free plan to a paid one: plans change at one minute of the day,
 * and a renewal at the instant of a change would leave open which of the two plans is the later one. */
function startAfter(timeMs: number, { planChanges }: Customer): Start | undefined {
  const change = planChanges.find((each) => each.timeMs > timeMs && each.plan > 0);
  return change === undefined ? undefined : { startMs: change.timeMs + 60_000, isTrial: false };
}
