/** Declared churn targets in the engine, beside the reference: labels, population and states of random
 * logs. */
import { describe, expect, test } from "bun:test";
import type { ChurnTarget } from "../../contract/api/churn-targets.ts";
import {
  accountVersionRow,
  type EventRow,
  userRow,
  userVersionRow,
} from "../../server/ledger/rules/warehouse-rows.ts";
import type { Snapshot } from "../../server/scoring/churn/snapshot.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { readSnapshots } from "../../server/scoring/queries/snapshots.ts";
import type { ChurnChange } from "../../server/scoring/scores/churn-changes.ts";
import type { Random } from "../../simulation/random.ts";
import { user } from "../ledger/writes.ts";
import { event, insertEvents, msPerDay, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { logDay, logsOf, population, zone } from "./engine-support.ts";
import { snapshotOf } from "./snapshot.ts";

const subject = new WarehouseUnderTest();
const horizonDays = 28;
const cutoffs = [120, 200, 301].map(logDay);
const days = 340;
/** Enough that each label is in every random log: a third as many accounts had none that churned in one of a
 * hundred. */
const [users, accounts] = [500, 100];
const byEvent = { by: "event", event: "subscription_canceled", undoneBy: "subscription_resumed" } as const;
const byTrait: ChurnTarget = { by: "trait", trait: "status", values: ["canceled", "true", "2"] };

/** Uses of all users, and changes of subscriptions, some of which are activity and some not. */
function randomEvents(random: Random, organization: number): EventRow[] {
  return Array.from({ length: users }, (_, index) => {
    const account = random.between(0, accounts);
    const first = random.between(0, days - 60);
    const at = (name: string, isActivity: boolean) => {
      const timeMs = zone.startOfDay(logDay(random.between(first, days))) + random.pick([0, 1, msPerDay / 2]);
      const some = { user: index + 1, account: random.chance(0.9) ? account : 0, isActivity };
      return event(organization, { ...some, event: name, timeMs, day: zone.dayOf(timeMs) });
    };
    const changes = Array.from({ length: random.pick([0, 0, 1, 2, 3]) }, () =>
      at(random.pick([byEvent.event, byEvent.event, byEvent.undoneBy]), random.chance(0.3)),
    );
    return [...Array.from({ length: random.pick([3, 20, 60]) }, () => at("opened", true)), ...changes];
  }).flat();
}

function changesByEvent(events: readonly EventRow[], kind: EntityKind, entity: number): ChurnChange[] {
  const names: readonly string[] = [byEvent.event, byEvent.undoneBy];
  return events
    .filter((one) => one[kind] === entity && names.includes(one.event))
    .map(({ day, timeMs, event: name }) => ({ day, timeMs, isChurned: name === byEvent.event }));
}

function shuffled<Value>(random: Random, values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

/** In an order that both have: how idle an entity is, and its label. */
function comparable({ rows }: Snapshot): string[] {
  return rows
    .map(({ features: { idleDays, tenureDays, cell, hasLeft }, label }) =>
      JSON.stringify([idleDays, tenureDays, cell, hasLeft, label]),
    )
    .sort();
}

async function inEngine(organization: number, kind: EntityKind, target: ChurnTarget) {
  const who = population(organization, kind, { target });
  const snapshots = await readSnapshots(subject.warehouse, who, cutoffs, { horizonDays });
  return cutoffs.map((day) => comparable(snapshots.get(day) ?? { cutoffDay: day, cells: [], rows: [] }));
}

function inReference(
  events: readonly EventRow[],
  kind: EntityKind,
  target: ChurnTarget,
  changesOf: (entity: number) => ChurnChange[],
) {
  const activity = logsOf(
    events.filter(({ isActivity }) => isActivity !== false),
    kind,
  );
  const entities = [...activity].map(([entity, log]) => ({ log, changes: changesOf(entity) }));
  return cutoffs.map((day) => comparable(snapshotOf(entities, day, horizonDays, { target })));
}

describe("by event", () => {
  test.each(["user", "account"] as const)("labels of every %s are the reference's", async (kind) => {
    const organization = subject.newOrganization();
    const events = randomEvents(randomOfThisRun(`labels of ${kind}s by event`), organization);
    await insertEvents(subject, events, 3);
    const expected = inReference(events, kind, byEvent, (entity) => changesByEvent(events, kind, entity));
    expect(await inEngine(organization, kind, byEvent)).toEqual(expected);
    for (const label of ["true", "false"]) {
      expect(expected.flat().some((row) => row.endsWith(`${label}]`))).toBe(true);
    }
  });

  test("the order of arrival changes no label", async () => {
    const random = randomOfThisRun("arrival");
    const [one, other] = [subject.newOrganization(), subject.newOrganization()];
    const events = randomEvents(random, one);
    await insertEvents(subject, events, 2);
    const copies = events.map((each) => ({ ...each, organization: other }));
    await insertEvents(subject, shuffled(random, copies), 5);
    expect(await inEngine(other, "user", byEvent)).toEqual(await inEngine(one, "user", byEvent));
  });

  test("a churn event that is activity still counts when raw events are deleted", async () => {
    const organization = subject.newOrganization();
    const at = (name: string, day: number) =>
      event(organization, { event: name, day: logDay(day), timeMs: zone.startOfDay(logDay(day)) });
    await insertEvents(subject, [at("opened", 90), at(byEvent.event, 110), at("opened", 115)]);
    const before = await inEngine(organization, "user", byEvent);
    await subject.warehouse.command(
      "ALTER TABLE events DELETE WHERE organization = {organization:UInt32} SETTINGS mutations_sync = 2",
      { organization },
    );
    expect(before[0]).toEqual([]);
    expect(await inEngine(organization, "user", byEvent)).toEqual(before);
  });
});

describe("by trait", () => {
  interface Said {
    readonly user: number;
    readonly atMs: number;
    readonly value: string | number | boolean | null;
  }

  async function filled(what: string) {
    const organization = subject.newOrganization();
    const random = randomOfThisRun(what);
    const events = randomEvents(random, organization);
    await insertEvents(subject, events);
    const said = Array.from({ length: users }, (_, index) =>
      Array.from({ length: random.between(0, 3) }, (): Said => {
        const atMs = zone.startOfDay(logDay(random.between(60, days))) + random.pick([-1, 0, msPerDay / 2]);
        return {
          user: index + 1,
          atMs,
          value: random.pick(["active", "active", "canceled", true, 2, 3, null, 'it\'s \\ "x"']),
        };
      }),
    ).flat();
    return { organization, random, events, said };
  }

  const versionRows = (organization: number, said: readonly Said[]) =>
    said.map(({ user: number, atMs, value }, index) =>
      userVersionRow(user(organization, `u${number}`, { number, version: index + 1 }), {
        atMs,
        account: null,
        traits: { status: value, note: "status" },
      }),
    );

  const changesOf = (said: readonly Said[], entity: number): ChurnChange[] =>
    said
      .filter(({ user: number }) => number === entity)
      .map(({ atMs, value }) => {
        const isChurned = ["canceled", true, 2].some((churned) => churned === value);
        return { day: zone.dayOf(atMs), timeMs: atMs, isChurned };
      });

  test("labels of every user are the reference's, without those whom nobody saw leave", async () => {
    const { organization, events, said } = await filled("labels by trait");
    await subject.insert("user_versions", versionRows(organization, said));
    const expected = inReference(events, "user", byTrait, (entity) => changesOf(said, entity));
    expect(await inEngine(organization, "user", byTrait)).toEqual(expected);
    expect(expected.flat().some((row) => row.endsWith("true]"))).toBe(true);
  });

  test("labels of every account are the reference's, by its own attribute and not by its owner's trait", async () => {
    const { organization, events, said } = await filled("labels by attribute");
    const ofAccounts = said.filter(({ user: number }) => number <= accounts);
    await subject.insert(
      "account_versions",
      ofAccounts.map(({ user: number, atMs, value }, index) =>
        accountVersionRow({ organization, number, version: index + 1 }, { atMs, traits: { status: value } }),
      ),
    );
    // Their owners' trait would mean churn from day 101 on.
    const early = ofAccounts.filter(({ atMs }) => atMs < zone.startOfDay(logDay(100)));
    const told = new Set(early.map(({ user: number }) => number));
    expect(told.size).toBeGreaterThan(0);
    const owners = [...told].map((number) =>
      user(organization, `owner ${number}`, {
        number: 1_000 + number,
        account: number,
        isAccountOwner: true,
      }),
    );
    await subject.insert("users", owners.map(userRow));
    await subject.insert(
      "user_versions",
      owners.map((one) =>
        userVersionRow(one, {
          atMs: zone.startOfDay(logDay(101)),
          account: one.account,
          traits: { status: "canceled" },
        }),
      ),
    );
    const expected = inReference(events, "account", byTrait, (entity) => changesOf(ofAccounts, entity));
    expect(await inEngine(organization, "account", byTrait)).toEqual(expected);
    expect(expected.flat().some((row) => row.endsWith("true]"))).toBe(true);
  });

  test("values that are said later change nothing before, in whatever order they arrive", async () => {
    const { organization, random, said } = await filled("later values");
    const until = zone.startOfDay((cutoffs[1] ?? 0) + horizonDays);
    const known = said.filter(({ atMs }) => atMs < until);
    await subject.insert("user_versions", versionRows(organization, shuffled(random, known)));
    const before = (await inEngine(organization, "user", byTrait)).slice(0, 2);
    const later = said.filter(({ atMs }) => atMs >= until);
    expect(later.length).toBeGreaterThan(20);
    await subject.insert("user_versions", versionRows(organization, shuffled(random, later)));
    expect((await inEngine(organization, "user", byTrait)).slice(0, 2)).toEqual(before);
  });
});
