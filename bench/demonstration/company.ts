/** The company of `rekindle demo` as the service sees it on the Monday before a start day: what models learn
 * from, without a server. */
import { isBillingEvent, isCardEvent } from "../../contract/billing/events.ts";
import { msPerDay, Zone } from "../../server/calendar/zone.ts";
import { type BillingEvent, billingProperties } from "../../server/revenue/billing-event.ts";
import { changesOf } from "../../server/revenue/changes.ts";
import { planFolds, trainingDaysFor } from "../../server/scoring/churn/folds.ts";
import { billingInstants } from "../../server/scoring/scores/billing.ts";
import { maxCountPerDay } from "../../server/scoring/scores/features.ts";
import { isScored } from "../../server/scoring/scores/state.ts";
import { eventKinds } from "../../simulation/catalogue.ts";
import type { Account } from "../../simulation/customers.ts";
import type { Item, Tracked } from "../../simulation/items.ts";
import { demonstrationSize, Simulation } from "../../simulation/simulation.ts";
import { type AccountTruth, stateOn } from "../../simulation/truth.ts";
import { cellOf, type DayEvent, featuresOf } from "../../test/scoring/features.ts";
import { type SubscriptionLog, standingAt } from "../../test/scoring/standing.ts";
import {
  type AccountAt,
  activeCells,
  firstsOfDays,
  horizonDays,
  type MemberLog,
  membersOf,
  note,
  userAt,
} from "../contracts/lives.ts";
import { type Company, snapshotsOf } from "../contracts/mondays.ts";

const utc = new Zone("UTC");
const target = { by: "subscription" } as const;
const namesOf = (...roles: readonly string[]) =>
  eventKinds.filter(({ role }) => roles.includes(role)).map(({ name }) => name);
/** No activity of users. */
const passive = new Set(namesOf("passive", "billing")).difference(new Set(["plan_changed"]));
const keyEvents = namesOf("key");
/** Features count single events of so many days. Of earlier days they need that the account was active. */
const countedDays = 91;

/** The company of a start day and a seed. */
export interface Demonstration {
  readonly company: Company;
  readonly accounts: number;
  readonly events: number;
  /** Of the accounts' subscriptions. */
  readonly billing: readonly Tracked[];
}

/** Simulates the company of a demonstration that begins at nine in the morning. @param day in Unix days */
export function demonstrationOf(day: number, seed: number): Demonstration {
  const simulation = new Simulation({
    ...demonstrationSize,
    seed,
    zone: utc,
    endMs: (day + 9 / 24) * msPerDay,
  });
  const logs = new Map<Account, AccountLog>();
  let events = 0;
  for (const simulated of simulation.days()) {
    events += simulated.items.filter(({ type }) => type === "track").length;
    noteDay(logs, simulated.day, simulated.items);
  }
  const billing = simulation.billing().filter((item) => item.type === "track");
  const { firstDay } = simulation;
  const { accounts } = simulation.truth;
  return {
    company: companyOf({ firstDay, monday: day - ((day - 4) % 7), accounts, logs, billing }),
    accounts: accounts.length,
    events,
    billing,
  };
}

interface AccountLog {
  readonly events: DayEvent[];
  readonly members: Map<string, MemberLog>;
}

function newLog(): AccountLog {
  return { events: [], members: new Map() };
}

/** Adds a day's activity of customers. */
function noteDay(logs: Map<Account, AccountLog>, day: number, items: readonly Item[]): void {
  const counts = new Map<Account, Map<string, number>>();
  const ofUsers = new Map<string, { readonly account: Account; readonly userId: string; count: number }>();
  for (const item of items) {
    if (item.type !== "track" || item.person.kind !== "person" || passive.has(item.event)) continue;
    const { account, userId } = item.person;
    const ofAccount = counts.get(account) ?? new Map<string, number>();
    counts.set(account, ofAccount.set(item.event, (ofAccount.get(item.event) ?? 0) + 1));
    const key = `${userId} ${item.event}`;
    const ofUser = ofUsers.get(key) ?? { account, userId, count: 0 };
    ofUser.count += 1;
    ofUsers.set(key, ofUser);
  }
  for (const [account, ofAccount] of counts) {
    const log = logs.get(account) ?? newLog();
    logs.set(account, log);
    for (const [event, count] of ofAccount) log.events.push({ day, event, count });
  }
  for (const { account, userId, count } of ofUsers.values()) {
    const log = logs.get(account);
    if (log !== undefined) note(log.members, userId, day, Math.min(count, maxCountPerDay));
  }
}

interface Simulated {
  readonly firstDay: number;
  readonly monday: number;
  readonly accounts: readonly AccountTruth[];
  readonly logs: ReadonlyMap<Account, AccountLog>;
  readonly billing: readonly Tracked[];
}

function companyOf({ firstDay, monday, accounts, logs, billing }: Simulated): Company {
  const folds = planFolds(firstDay, monday, horizonDays);
  const days = [
    monday,
    ...trainingDaysFor(monday, firstDay, horizonDays),
    ...folds.flatMap(({ cutoffDay, trainingDays }) => [cutoffDay, ...trainingDays]),
  ];
  const distinct = [...new Set(days)].sort((a, b) => a - b);
  const truthOf = new Map(accounts.map((account) => [account.accountId, account]));
  const subscriptions = subscriptionsOf(billing);
  const lives = [...logs].map(([account, log]) =>
    accountAt(
      account,
      { log, truth: truthOf.get(account.facts.accountId), subscriptions: subscriptions.get(account) ?? [] },
      distinct,
    ),
  );
  const { snapshots, truth } = snapshotsOf(distinct, lives);
  return { firstDay, snapshots, truth, mondays: [monday], keyEvents };
}

/** The subscriptions of each account, as the service computes them from billing events. */
function subscriptionsOf(billing: readonly Tracked[]): Map<Account, SubscriptionLog[]> {
  const bySubscription = Map.groupBy(billing, ({ properties }) => String(properties?.subscriptionId));
  const all = [...bySubscription.values()].map((own) => ({
    account: own[0]?.person.account,
    log: {
      changes: changesOf(own.flatMap(billingEvent)),
      failedMs: own.filter(({ event }) => event === "payment_failed").map(({ timeMs }) => timeMs),
    },
  }));
  const logs = new Map<Account, SubscriptionLog[]>();
  for (const { account, log } of all) {
    if (account !== undefined) logs.set(account, [...(logs.get(account) ?? []), log]);
  }
  return logs;
}

function billingEvent({ event, timeMs, properties = {} }: Tracked, index: number): BillingEvent[] {
  if (!isBillingEvent(event, properties) || isCardEvent(event)) return [];
  const tieBreak = String(index).padStart(6, "0");
  const payer = { user: 1, account: 1, isAccountNamed: true };
  return [{ event, atMs: timeMs, tieBreak, ...payer, properties: billingProperties(properties, utc) }];
}

interface Life {
  readonly log: AccountLog;
  readonly truth: AccountTruth | undefined;
  readonly subscriptions: readonly SubscriptionLog[];
}

/** An account as of each of these days. */
function accountAt(
  { facts }: Account,
  { log, truth, subscriptions }: Life,
  days: readonly number[],
): AccountAt[] {
  const activeDays = firstsOfDays(log.events);
  const standingOn = (day: number) => standingAt(subscriptions, billingInstants(utc, day), () => true);
  return days.map((cutoffDay): AccountAt => {
    const users = [...log.members.values()].map((member) => userAt(member, cutoffDay));
    const before = {
      cutoffDay,
      cell: cellOf(
        activeDays.map(({ day }) => day),
        cutoffDay,
      ),
      userCells: users.flatMap(({ cell }) => cell ?? []),
    };
    const { billing } = standingOn(cutoffDay);
    if (billing?.isPaying !== true) return { ...before, row: undefined };
    const { plans = [] } = truth ?? {};
    const traits = {
      plan: stateOn(plans, cutoffDay - 1) ?? "",
      acquisitionChannel: facts.channel.name,
      companySize: facts.size.name,
      segment: facts.segment,
    };
    const events = [
      ...activeDays.filter(({ day }) => day < cutoffDay - countedDays),
      ...log.events.filter(({ day }) => day >= cutoffDay - countedDays && day < cutoffDay),
    ];
    const planDay = plans.slice(1).findLast(({ fromDay }) => fromDay < cutoffDay)?.fromDay;
    const planIdleDays = planDay === undefined ? null : cutoffDay - planDay;
    const about = { traits, planIdleDays, members: membersOf(users), billing };
    const features = featuresOf(events, cutoffDay, { keyEvents, target }, about);
    if (!isScored(features, horizonDays, target)) return { ...before, row: undefined };
    const label = standingOn(cutoffDay + horizonDays).left !== null;
    return { ...before, row: { features, memberCells: activeCells(users), label, endProbability: null } };
  });
}
