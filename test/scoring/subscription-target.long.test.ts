/** Subscriptions in the engine, beside the reference: standings, labels, population and facts of random
 * logs. */
import { beforeAll, expect, test } from "bun:test";
import type { EventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { judgedRows, type Snapshot } from "../../server/scoring/churn/snapshot.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { readSnapshots } from "../../server/scoring/queries/snapshots.ts";
import { standingQuery } from "../../server/scoring/queries/subscription-query.ts";
import { billingOf } from "../../server/scoring/scores/billing.ts";
import type { Random } from "../../simulation/random.ts";
import { event, insertEvents, msPerDay, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { loadBilling, randomBilling, standingsOf } from "./billing-support.ts";
import { logDay, logsOf, population, zone } from "./engine-support.ts";
import { snapshotOf } from "./snapshot.ts";

const subject = new WarehouseUnderTest();
const horizonDays = 28;
const days = 340;
const cutoffs = [120, 200, 301].map(logDay);
/** Enough that each label, and an end that is scheduled, is in every random log: a third as many had none in
 * one of ten. */
const [users, accounts] = [600, 240];
/** At three days no account in one of 30 random logs had left by a failed payment. */
const cutoffsOf: Readonly<Record<EntityKind, readonly number[]>> = {
  user: cutoffs,
  account: [100, 125, 150, 175, 200, 225, 250, 275, 301].map(logDay),
};
const target = { by: "subscription" } as const;

/** Uses of all users, each in one account or in none. */
function randomUse(random: Random, organization: number): EventRow[] {
  return Array.from({ length: users }, (_, index) => {
    const account = random.pick([0, random.between(1, accounts), random.between(1, accounts)]);
    return Array.from({ length: random.pick([3, 20, 60]) }, () => {
      const timeMs = zone.startOfDay(logDay(random.between(0, days))) + random.pick([0, 1, msPerDay / 2]);
      const some = { user: index + 1, account, event: "opened", timeMs, day: zone.dayOf(timeMs) };
      return event(organization, some);
    });
  }).flat();
}

function billingOfRun(random: Random, organization: number, subscriptions = 1000): EventRow[] {
  const bounds = { firstDay: logDay(0), days, users, accounts };
  return randomBilling(random, subscriptions, { organization, zone, ...bounds });
}

async function filled(what: string) {
  const organization = subject.newOrganization();
  const random = randomOfThisRun(what);
  const use = randomUse(random, organization);
  await insertEvents(subject, use, 2);
  return { organization, random, use, billing: billingOfRun(random, organization) };
}

/** One log for all tests that only ask. */
let whole: Awaited<ReturnType<typeof filled>>;
beforeAll(async () => {
  whole = await filled("subscriptions");
  await loadBilling(subject, whole.billing);
});

interface StandingRow {
  readonly entity: number;
  readonly hasLeft: boolean;
  readonly isPaying: boolean;
  readonly endedMs: number;
  readonly isInvoluntary: boolean;
  readonly billing: readonly (number | null)[];
}

async function standingsInEngine(organization: number, kind: EntityKind, day: number) {
  const { sql, parameters } = standingQuery(population(organization, kind), day, "tested");
  const rows = await subject.warehouse.rows<StandingRow>(sql, parameters);
  return new Map(rows.map((row) => [row.entity, row]));
}

/** In an order that both have: everything that follows from subscriptions. */
function comparable(snapshot: Pick<Snapshot, "rows">): string[] {
  return snapshot.rows
    .map(({ features: { idleDays, tenureDays, cell, hasLeft, billing }, ...outcome }) => {
      const { label, isCanceling, isInvoluntary } = outcome;
      return JSON.stringify([
        idleDays,
        tenureDays,
        cell,
        hasLeft,
        billing,
        isCanceling,
        label,
        isInvoluntary,
      ]);
    })
    .sort();
}

async function snapshotsInEngine(organization: number, kind: EntityKind): Promise<Snapshot[]> {
  const who = population(organization, kind, { target });
  const found = await readSnapshots(subject.warehouse, who, cutoffsOf[kind], { horizonDays });
  return cutoffsOf[kind].map((cutoffDay) => found.get(cutoffDay) ?? { cutoffDay, cells: [], rows: [] });
}

test.each(["user", "account"] as const)(
  "the standing of every %s is the reference's, on any day",
  async (kind) => {
    const { organization, billing, random } = whole;
    const standingOn = standingsOf(billing, kind, zone);
    const seen = {
      left: 0,
      involuntary: 0,
      canceling: 0,
      trialEnding: 0,
      yearly: 0,
      down: 0,
      failed: 0,
      idle: 0,
    };
    for (const day of [0, 40, 80, 120, 160, 200, 240, 280, 301, random.between(0, days), 400]) {
      const found = await standingsInEngine(organization, kind, logDay(day));
      for (const entity of Array.from(
        { length: kind === "user" ? users : accounts },
        (_, index) => index + 1,
      )) {
        const { left, billing: facts } = standingOn(entity, logDay(day));
        const row = found.get(entity);
        const told = row && {
          left: row.hasLeft ? { atMs: row.endedMs, isInvoluntary: row.isInvoluntary } : null,
          isPaying: row.isPaying,
          billing: billingOf(row.billing),
        };
        const expected = { left, isPaying: facts?.isPaying ?? false, billing: facts };
        expect({ day, entity, ...(told ?? { left: null, isPaying: false, billing: null }) }).toEqual({
          day,
          entity,
          ...expected,
        });
        seen.left += Number(left !== null);
        seen.involuntary += Number(left?.isInvoluntary === true);
        seen.canceling += Number(facts?.isPaying === true && facts.endsAtMs !== null);
        seen.trialEnding += Number(facts?.isTrialEnding === true);
        seen.yearly += Number(facts?.isYearly === true);
        seen.down += Number(facts?.isDown === true);
        seen.failed += Number(facts?.hasFailedPayment === true);
        seen.idle += Number(facts !== null && !facts.isPaying);
      }
    }
    expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
  },
);

test.each(["user", "account"] as const)(
  "labels and population of every %s are the reference's",
  async (kind) => {
    const { organization, use, billing } = whole;
    const standingOn = standingsOf(billing, kind, zone);
    const entities = [...logsOf(use, kind)].map(([entity, log]) => ({
      log,
      standingOn: (day: number) => standingOn(entity, day),
    }));
    const expected = cutoffsOf[kind].map((day) => snapshotOf(entities, day, horizonDays, { target }));
    const found = await snapshotsInEngine(organization, kind);
    expect(found.map(comparable)).toEqual(expected.map(comparable));
    const rows = expected.flatMap((each) => each.rows);
    expect(new Set(rows.map(({ label }) => label)).size).toBe(2);
    expect(rows.some(({ isInvoluntary }) => isInvoluntary)).toBe(true);
    // An end that is scheduled is in the population, and models are not judged by it.
    expect(rows.some(({ isCanceling }) => isCanceling)).toBe(true);
    expect(expected.flatMap(judgedRows).some(({ isCanceling }) => isCanceling)).toBe(false);
  },
);

test.each(["user", "account"] as const)(
  "by the event that ends a subscription, models are not judged by a %s whose end is scheduled",
  async (kind) => {
    const byEvent = { by: "event", event: "subscription_canceled", undoneBy: null } as const;
    const { organization, use, billing } = whole;
    const standingOn = standingsOf(billing, kind, zone);
    const entities = [...logsOf(use, kind)].map(([entity, log]) => ({
      log,
      standingOn: (day: number) => standingOn(entity, day),
      changes: billing
        .filter((one) => one[kind] === entity && one.event === byEvent.event)
        .map(({ day, timeMs }) => ({ day, timeMs, isChurned: true })),
    }));
    const expected = cutoffsOf[kind].map((day) =>
      snapshotOf(entities, day, horizonDays, { target: byEvent }),
    );
    const who = population(organization, kind, { target: byEvent });
    const found = await readSnapshots(subject.warehouse, who, cutoffsOf[kind], { horizonDays });
    expect(cutoffsOf[kind].map((day) => comparable(found.get(day) ?? { rows: [] }))).toEqual(
      expected.map(comparable),
    );
    expect(expected.flatMap(({ rows }) => rows).some(({ isCanceling }) => isCanceling)).toBe(true);
    expect(expected.flatMap(judgedRows).some(({ isCanceling }) => isCanceling)).toBe(false);
  },
);

test("what happens later changes no population and no fact, and only the labels of horizons that have it", async () => {
  const { organization, billing } = await filled("later billing");
  const [, until = 0] = cutoffs;
  const known = billing.filter(({ day }) => day < until);
  await loadBilling(subject, known);
  const before = await snapshotsInEngine(organization, "account");
  const later = billing.filter(({ day }) => day >= until);
  expect(later.length).toBeGreaterThan(20);
  await loadBilling(subject, later);
  const after = await snapshotsInEngine(organization, "account");
  const factsAndLabels = ([at120, at200]: readonly Snapshot[]) => [
    ...comparable(at120 ?? { rows: [] }),
    ...(at200?.rows ?? [])
      .map(({ features, entity }) => JSON.stringify([entity, features.hasLeft, features.billing]))
      .sort(),
  ];
  expect(factsAndLabels(after)).toEqual(factsAndLabels(before));
});

test("the order of arrival changes nothing", async () => {
  const random = randomOfThisRun("arrival of billing");
  const [one, other] = [subject.newOrganization(), subject.newOrganization()];
  const events = billingOfRun(random, one, 80);
  await loadBilling(subject, events);
  const copies = events.map((each) => ({ ...each, organization: other })).toReversed();
  for (let start = 0; start < copies.length; start += 100) {
    await loadBilling(subject, copies.slice(start, start + 100));
  }
  for (const day of cutoffs) {
    expect(await standingsInEngine(other, "account", day)).toEqual(
      await standingsInEngine(one, "account", day),
    );
  }
});

test("an entity that was asked for alone has the same standing", async () => {
  const { organization } = whole;
  const [day = 0] = cutoffs;
  const all = await standingsInEngine(organization, "account", day);
  const [entity = 0] = all.keys();
  const { sql, parameters } = standingQuery({ ...population(organization, "account"), entity }, day, "alone");
  expect(await subject.warehouse.rows(sql, parameters)).toEqual([all.get(entity)]);
});
