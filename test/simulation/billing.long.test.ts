/** Subscriptions of the simulated accounts: rules that hold for every seed, and figures that the service
 * computes of them. */
import { describe, expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import {
  billingEventNames,
  isBillingEvent,
  isCardEvent,
  whyNotBilling,
} from "../../contract/billing/events.ts";
import { BatchBody } from "../../contract/write-api.ts";
import { msPerDay, Zone } from "../../server/calendar/zone.ts";
import { type BillingEvent, billingProperties } from "../../server/revenue/billing-event.ts";
import { changesOf } from "../../server/revenue/changes.ts";
import { conversionAt } from "../../server/revenue/rates.ts";
import { type Item, type Tracked, wireItem } from "../../simulation/items.ts";
import { dollarsPerEuro } from "../../simulation/prices.ts";
import { demonstrationSize, Simulation, type SimulationOptions } from "../../simulation/simulation.ts";
import { stateOn } from "../../simulation/truth.ts";
import { balancesOf } from "../revenue/balances.ts";
import { retentionBetween } from "../revenue/movements.ts";

const utc = new Zone("UTC");
const endMs = Date.UTC(2026, 5, 17, 9, 30);
const size: Omit<SimulationOptions, "seed"> = {
  users: demonstrationSize.users,
  weeks: demonstrationSize.weeks,
  zone: utc,
  endMs,
};

function simulate(seed: number, options: Partial<typeof size> = {}) {
  const simulation = new Simulation({ ...size, ...options, seed });
  const items = [...simulation.days()].flatMap((day) => day.items);
  const billing = simulation.billing(["owner@vendor.example"]);
  const events = billing.filter((item) => item.type === "track");
  return { items, billing, events, truth: simulation.truth, lastDay: simulation.lastDay };
}
const logs = [1, 2, 3].map((seed) => simulate(seed));
const textsOf = (items: readonly Item[]) =>
  items.map((item, index) => JSON.stringify(wireItem(item, `${index}`)));

/** The subscriptions of a log, as the service computes them. */
function subscriptionsOf(events: readonly Tracked[]) {
  const accounts = [...new Set(events.map(({ person }) => person.account))];
  const bySubscription = Map.groupBy(events, ({ properties }) => String(properties?.subscriptionId));
  return [...bySubscription].map(([subscription, ofIt]) => {
    const sent = ofIt.map(({ event, timeMs, person, properties = {} }, index): BillingEvent[] =>
      isBillingEvent(event, properties) && !isCardEvent(event)
        ? [
            {
              event,
              atMs: timeMs,
              tieBreak: `${index}`,
              user: 1,
              isAccountNamed: true,
              account: accounts.indexOf(person.account) + 1,
              properties: billingProperties(properties, utc),
            },
          ]
        : [],
    );
    const accountId = ofIt[0]?.person.account.facts.accountId ?? "";
    return { subscription, accountId, changes: changesOf(sent.flat()) };
  });
}

/** Its payers at the first instants of the 13 months up to June 2026. */
function balances(events: readonly Tracked[]) {
  const edges = Array.from({ length: 13 }, (_, month) => Date.UTC(2025, 5 + month, 1));
  const changes = subscriptionsOf(events).flatMap(({ subscription, accountId, changes: ofIt }) =>
    ofIt.map((change) => ({ ...change, subscription, payer: accountId })),
  );
  const { reported, unreported } = balancesOf(
    changes,
    edges,
    conversionAt({ reporting: "USD", rates: { EUR: dollarsPerEuro } }),
  );
  expect(unreported.size).toBe(0);
  return reported;
}

const eventsOf = (log: ReturnType<typeof simulate>, name: string) =>
  log.events.filter(({ event }) => event === name);

/** On how many of the 28 days before an event its account was used. */
function usedDaysBefore(items: readonly Item[]): (event: Tracked) => number {
  const dayOf = (timeMs: number) => Math.floor(timeMs / msPerDay);
  const used = items.filter(({ type, person }) => type === "track" && person.kind === "person");
  const days = new Set(
    used.map(({ person, timeMs }) => `${person.account.facts.accountId} ${dayOf(timeMs)}`),
  );
  return ({ person, timeMs }) =>
    Array.from({ length: 28 }, (_, back) => dayOf(timeMs) - 1 - back).filter((day) =>
      days.has(`${person.account.facts.accountId} ${day}`),
    ).length;
}

test("the seed decides, and a run that ends later on the same day only adds items at the end", () => {
  const billed = (seed: number, hour: number) =>
    textsOf(simulate(seed, { users: 600, weeks: 8, endMs: Date.UTC(2026, 5, 16, hour) }).billing);
  const early = billed(12, 1);
  expect(billed(12, 1)).toEqual(early);
  const late = billed(12, 23);
  expect(late.length).toBeGreaterThan(early.length);
  expect(late.slice(0, early.length)).toEqual(early);
  expect(billed(11, 1)).not.toEqual(early);
});

test("the write API takes every item, and every event as a billing event", () => {
  const batch = Compile(BatchBody);
  for (const { billing, events } of logs) {
    const refused = textsOf(billing).filter((text) => !batch.Check({ batch: [JSON.parse(text)] }));
    expect(refused).toEqual([]);
    for (const { event, properties = {} } of events) {
      const problem = whyNotBilling(event, properties, (text) => !Number.isNaN(Date.parse(text)));
      expect([event, isBillingEvent(event, properties), problem]).toEqual([event, true, undefined]);
    }
  }
});

test("each kind of billing event occurs", () => {
  const names = new Set(logs.flatMap(({ events }) => events.map(({ event }) => String(event))));
  expect([...names].sort()).toEqual([...billingEventNames].sort());
});

test("a subscription has the plan of its account, and nearly every account on a paid plan pays", () => {
  for (const { events, truth, lastDay } of logs) {
    const paying = subscriptionsOf(events).flatMap(({ accountId, changes }) => {
      const last = changes.findLast(({ fromMs }) => fromMs <= endMs);
      return last !== undefined && last.mrr > 0 ? [{ accountId, plan: last.plan }] : [];
    });
    const planOf = new Map(paying.map(({ accountId, plan = "" }) => [accountId, plan]));
    expect(planOf.size).toBe(paying.length);
    const using = truth.accounts.filter(
      ({ accountId, departedDay }) => departedDay === null && accountId !== "vendor",
    );
    for (const { accountId, plans } of using) {
      const plan = stateOn(plans, lastDay - 1);
      const paid = planOf.get(accountId);
      if (paid !== undefined && plan === stateOn(plans, lastDay))
        expect([accountId, paid]).toEqual([accountId, plan ?? ""]);
    }
    const onPaidPlans = using.filter(({ plans }) => plans.at(-1)?.state !== "free");
    expect(paying.length / onPaidPlans.length).toBeWithin(0.9, 1.15);
  }
});

describe("subscriptions end for the reasons of the simulation:", () => {
  test("an account that cancels pays until the end of its period", () => {
    let ends = 0;
    for (const { events, truth } of logs) {
      const canceled = new Map(
        truth.accounts.flatMap(({ accountId, departure, departedDay }) =>
          departure === "canceled" && departedDay !== null ? [[accountId, departedDay] as const] : [],
        ),
      );
      for (const { accountId, changes } of subscriptionsOf(events)) {
        const departedDay = canceled.get(accountId);
        const atDeparture = changes.findLast(({ fromMs }) => fromMs < (departedDay ?? 0) * msPerDay);
        if (departedDay === undefined || atDeparture?.status !== "active") continue;
        const end = changes.at(-1);
        const scheduledMs = atDeparture.endsAtMs ?? Number.NaN;
        expect([accountId, end?.status, end?.fromMs, end?.isInvoluntary]).toEqual([
          accountId,
          "canceled",
          scheduledMs,
          false,
        ]);
        expect(scheduledMs / msPerDay - departedDay).toBeWithin(-1, 366);
        ends += 1;
      }
    }
    expect(ends).toBeGreaterThan(12);
  });

  test("of accounts that leave far more end within 60 days than of others", () => {
    const ends = { leaving: [0, 0], subscribed: [0, 0] };
    for (const { events, truth, lastDay } of logs) {
      const changesOfAccount = Map.groupBy(subscriptionsOf(events), ({ accountId }) => accountId);
      for (const { accountId, history } of truth.accounts) {
        for (let day = lastDay - 350; day + 60 <= lastDay; day += 10) {
          const state = stateOn(history, day);
          if (state !== "leaving" && state !== "subscribed") continue;
          const changes = changesOfAccount.get(accountId)?.flatMap((each) => each.changes) ?? [];
          const before = changes.findLast(({ fromMs }) => fromMs < day * msPerDay);
          if (before === undefined || before.mrr === 0) continue;
          const hasEnded = changes.some(
            ({ fromMs, status }) =>
              status === "canceled" && fromMs >= day * msPerDay && fromMs < (day + 60) * msPerDay,
          );
          ends[state][0] = (ends[state][0] ?? 0) + Number(hasEnded);
          ends[state][1] = (ends[state][1] ?? 0) + 1;
        }
      }
    }
    const [leaving, subscribed] = [ends.leaving, ends.subscribed].map(
      ([part = 0, whole = 1]) => part / whole,
    );
    expect(leaving).toBeGreaterThan(5 * (subscribed ?? 1));
  });

  test("accounts that use it little pay in some months only, and most of them pay again", () => {
    const renewals = { little: { ended: 0, all: 0 }, much: { ended: 0, all: 0 } };
    let [ended, returned] = [0, 0];
    for (const log of logs) {
      const usedDays = usedDaysBefore(log.items);
      const isUnused = ({ event, properties }: Tracked) =>
        event === "subscription_canceled" && properties?.reason === "unused";
      const begun = new Set<unknown>();
      for (const one of log.events) {
        const isPaid = one.event === "payment_succeeded";
        const isFirst = !begun.has(one.properties?.subscriptionId);
        if (isPaid) begun.add(one.properties?.subscriptionId);
        // Billing is older than the log of use.
        const isInLog = one.timeMs > endMs - 380 * msPerDay;
        if ((!isUnused(one) && !isPaid) || isFirst || !isInLog) continue;
        const used = usedDays(one);
        const of = used < 8 ? renewals.little : used >= 16 ? renewals.much : { ended: 0, all: 0 };
        of.all += 1;
        if (isUnused(one)) of.ended += 1;
      }
      for (const end of log.events.filter((one) => isUnused(one) && one.timeMs < endMs - 120 * msPerDay)) {
        ended += 1;
        const isReturn = ({ event, person, timeMs }: Tracked) =>
          event === "subscription_started" && person === end.person && timeMs > end.timeMs;
        if (log.events.some(isReturn)) returned += 1;
      }
    }
    const [little = 0, much = 0] = Object.values(renewals).map((each) => each.ended / each.all);
    expect(little).toBeWithin(0.15, 0.6);
    expect(much).toBeLessThan(little / 5);
    expect(returned / ended).toBeWithin(0.6, 0.95);
  });

  test("an account without users stops paying, and some pay again after a failed payment", () => {
    let [unpaid, lapsed, returned] = [0, 0, 0];
    for (const log of logs) {
      const lapsedAccounts = new Set(
        log.truth.accounts
          .filter(({ departure }) => departure === "lapsed")
          .map(({ accountId }) => accountId),
      );
      const ends = eventsOf(log, "subscription_canceled").filter(
        ({ properties }) => properties?.reason === "payment_failed",
      );
      for (const end of ends) {
        const { accountId } = end.person.account.facts;
        unpaid += 1;
        if (lapsedAccounts.has(accountId)) lapsed += 1;
        else if (
          log.events.some(
            ({ event, person, timeMs }) =>
              event === "subscription_started" && person === end.person && timeMs > end.timeMs,
          )
        )
          returned += 1;
      }
    }
    expect(lapsed).toBeGreaterThan(5);
    expect(returned).toBeGreaterThan(5);
    expect(lapsed + returned).toBeWithin(0.8 * unpaid, unpaid + 1);
  });
});

test("MRR grows over the year, and what payers keep is plausible", () => {
  for (const { events } of logs) {
    const all = balances(events);
    const total = (month: number) => all.reduce((sum, { mrrs }) => sum + (mrrs[month] ?? 0), 0);
    expect(total(12) / total(0)).toBeWithin(1.2, 2.2);
    const { nrr, grr, churn, involuntaryChurn, payers } = retentionBetween(all, 0, 12);
    expect(payers).toBeGreaterThan(50);
    expect(nrr).toBeWithin(0.85, 1.25);
    expect(grr).toBeWithin(0.75, 0.95);
    expect(churn).toBeWithin(0.15, 0.35);
    expect(involuntaryChurn).toBeWithin(0, 0.1);
  }
});
