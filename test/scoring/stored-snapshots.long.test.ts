/** Stored snapshots: what their rows follow from, what leaves them as they are, and what computes them
 * again. */
import { describe, expect, test } from "bun:test";
import type { EventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { EntityKind, Population } from "../../server/scoring/queries/engagement-events.ts";
import { readSnapshots } from "../../server/scoring/queries/snapshots.ts";
import { noticeChanges } from "../../server/scoring/run/changed-days.ts";
import { markStale } from "../../server/scoring/run/records.ts";
import type { FeatureSettings, Features } from "../../server/scoring/scores/features.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import {
  countedEvents,
  logDay,
  logsOf,
  manySettings,
  population,
  randomOrganization,
  zone,
} from "./engine-support.ts";
import { featuresOf } from "./features.ts";
import { on } from "./run-support.ts";
import { type Row, rowsOf as rowsOfSnapshot, snapshotRecord } from "./snapshot-support.ts";

const subject = new WarehouseUnderTest();
const kinds = ["user", "account"] as const;

const rowsOf = (who: Population, day: number) => rowsOfSnapshot(subject.warehouse, who, day);
const recordAt = (organization: number, kind: EntityKind, day: number) =>
  snapshotRecord(subject.warehouse, organization, kind, day);

/** Of users and of accounts, one after the other: a run writes them so. */
async function rowsOfBoth(organization: number, day: number): Promise<readonly [Row[], Row[]]> {
  const users = await rowsOf(population(organization, "user"), day);
  return [users, await rowsOf(population(organization, "account"), day)];
}

async function exclude(organization: number, users: readonly number[], revision: number): Promise<void> {
  await subject.warehouse.command(
    `INSERT INTO excluded_users SETTINGS insert_deduplicate = 0
     SELECT {organization:UInt32}, {revision:UInt64}, groupBitmapState(arrayJoin({users:Array(UInt32)}))`,
    { organization, users: [...users], revision },
  );
}

const settingsOfPatterns: readonly FeatureSettings[] = [
  {},
  manySettings,
  {
    ...manySettings,
    outages: [
      { from: logDay(150), to: logDay(156) },
      { from: logDay(290), to: logDay(300) },
    ],
  },
];

describe.each(kinds)("the patterns of every %s", (kind) => {
  test("are those of the reference", async () => {
    const { organization, events } = await randomOrganization(subject, `patterns of ${kind}s`, 150);
    const seen = { variable: 0, keys: 0, counts: 0 };
    for (const [index, settings] of settingsOfPatterns.entries()) {
      // Each rule meets two of four days.
      for (const day of [64, 200, 302, 420].map(logDay).filter((_, at) => (at + index) % 2 === 0)) {
        const counted = countedEvents(events, day, settings);
        const logs = logsOf(events, kind);
        const rows = await rowsOf(population(organization, kind, settings), day);
        for (const { entity, ...row } of rows) {
          const rules = { ...settings, countedEvents: counted };
          const expected = featuresOf(logs.get(entity) ?? [], day, rules);
          const { gapVariability, activeDaysByWeek, eventCounts28, keyEventIdleDays } =
            row as unknown as Features;
          expect(expected).toMatchObject({ activeDaysByWeek, eventCounts28, keyEventIdleDays });
          expect(eventCounts28).toEqual(expected?.eventCounts28 ?? {});
          expect(gapVariability ?? -1).toBeCloseTo(expected?.gapVariability ?? -1, 9);
          seen.variable += Number(gapVariability !== null);
          seen.keys += Number(keyEventIdleDays !== null);
          seen.counts += Object.keys(eventCounts28).length;
        }
      }
    }
    // Six accounts have at most 24 key events here.
    for (const times of Object.values(seen)) expect(times).toBeGreaterThan(10);
  });
});

describe("a snapshot", () => {
  test("of many users is written by several statements, and is the same as by one", async () => {
    const { organization, events } = await randomOrganization(subject, "few", 60);
    const many = subject.newOrganization();
    const spread = (user: number) => (user % 4) * 65_536 + Math.floor(user / 4);
    await insertEvents(
      subject,
      events.map((one) => ({ ...one, organization: many, user: spread(one.user) })),
    );
    const day = logDay(302);
    for (const settings of settingsOfPatterns.slice(1)) {
      const [users, accounts] = [
        await rowsOf(population(organization, "user", settings), day),
        await rowsOf(population(organization, "account", settings), day),
      ];
      const moved = users.map((row) => ({ ...row, entity: spread(row.entity) }));
      const sorted = moved.toSorted((a, b) => a.entity - b.entity);
      expect(await rowsOf(population(many, "user", settings), day)).toEqual(sorted);
      expect(await rowsOf(population(many, "account", settings), day)).toEqual(accounts);
    }
  });

  test("is the same in whatever order the events of its days arrive", async () => {
    const { events, random } = await randomOrganization(subject, "orders", 60);
    const orders = [events, shuffled(events, random), events.toReversed()];
    const organizations: number[] = [];
    for (const order of orders) {
      const organization = subject.newOrganization();
      organizations.push(organization);
      await insertEvents(
        subject,
        order.map((one) => ({ ...one, organization })),
        random.between(1, 6),
      );
    }
    for (const kind of kinds) {
      const found: Row[][] = [];
      for (const id of organizations)
        found.push(await rowsOf(population(id, kind, manySettings), logDay(250)));
      const [first, ...others] = found;
      expect(first?.length).toBeGreaterThan(5);
      for (const other of others) expect(other).toEqual(first ?? []);
    }
  });

  test("has the same labels when events of all days arrive shuffled, and the same rows after a bulk recomputation", async () => {
    const { events, random } = await randomOrganization(subject, "shuffled days", 60);
    const days = [120, 250].map(logDay);
    const ends = [...days, Number.POSITIVE_INFINITY];
    const inOrder = ends.map((end, index) =>
      events.filter(({ day }) => day < end && day >= (ends[index - 1] ?? Number.NEGATIVE_INFINITY)),
    );
    const mixed = shuffled(events, random);
    const quarter = Math.ceil(mixed.length / ends.length);
    const outOfOrder = ends.map((_, index) => mixed.slice(index * quarter, (index + 1) * quarter));
    const organizations = [subject.newOrganization(), subject.newOrganization()] as const;
    for (const [index, arrivals] of [inOrder, outOfOrder].entries()) {
      const organization = organizations[index] ?? 0;
      for (const [turn, arrived] of arrivals.entries()) {
        await insertEvents(
          subject,
          arrived.map((one) => ({ ...one, organization })),
        );
        const day = days[turn];
        if (day !== undefined) await rowsOfBoth(organization, day);
      }
    }
    const labels = async (organization: number, day: number) => {
      const who = population(organization, "user");
      const read = await readSnapshots(subject.warehouse, who, [day], { horizonDays: 28, everyone: true });
      return new Map((read.get(day)?.rows ?? []).map(({ entity, label }) => [entity, label]));
    };
    const [ordered, other] = organizations;
    let [compared, different] = [0, 0];
    const wrong: number[] = [];
    for (const day of days) {
      const [expected, found] = [await labels(ordered, day), await labels(other, day)];
      // Users whose events had not arrived when the snapshot was written are not in it.
      for (const [entity, label] of found) {
        if (!expected.has(entity)) continue;
        compared += 1;
        if (label !== expected.get(entity)) wrong.push(entity);
      }
      different += Number(!Bun.deepEquals(await rowsOfBoth(other, day), await rowsOfBoth(ordered, day)));
    }
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(20);
    expect(different).toBeGreaterThan(0);
    for (const organization of organizations) await markStale(subject.warehouse, organization, logDay(119));
    for (const day of days) {
      expect(await rowsOfBoth(other, day)).toEqual(await rowsOfBoth(ordered, day));
    }
  });

  test("stays as it is when a single event comes late, while labels follow it", async () => {
    const { organization, events } = await randomOrganization(subject, "late", 60);
    const [day, horizonDays] = [logDay(200), 28];
    const before = await rowsOfBoth(organization, day);
    const silent =
      events.find(({ user }) => !events.some((one) => one.user === user && one.day >= day))?.user ?? 0;
    const label = async () => {
      const who = population(organization, "user");
      const read = await readSnapshots(subject.warehouse, who, [day], { horizonDays, everyone: true });
      return read.get(day)?.rows.find(({ entity }) => entity === silent)?.label;
    };
    const labelBefore = await label();
    const late = [lateEvent(organization, silent, day - 1), lateEvent(organization, silent, day + 1)];
    await insertEvents(subject, late);
    expect(await rowsOfBoth(organization, day)).toEqual(before);
    if (labelBefore !== undefined) expect([labelBefore, await label()]).toEqual([true, false]);
    // An import, or a bulk change, makes all results of later days stale.
    await markStale(subject.warehouse, organization, day - 1);
    const anew = subject.newOrganization();
    await insertEvents(
      subject,
      [...events, ...late].map((one) => ({ ...one, organization: anew })),
    );
    for (const kind of kinds) {
      const again = await rowsOf(population(organization, kind), day);
      expect(again).toEqual(await rowsOf(population(anew, kind), day));
      expect(again).not.toEqual(before[kinds.indexOf(kind)] ?? []);
    }
  });

  test("of today is computed again for a single late event, and those of earlier days are not", async () => {
    const organization = subject.newOrganization();
    await insertEvents(subject, [on(organization, 1, 80), on(organization, 2, 90)]);
    const look = {
      organization,
      today: 100,
      nowMs: 100 * msPerDay,
      dayOf: (ms: number) => Math.floor(ms / msPerDay),
    };
    await noticeChanges(subject.warehouse, { ...look, lastBulkLoadAtMs: null });
    const who = population(organization, "user");
    for (const day of [93, 100]) await rowsOf(who, day);
    await insertEvents(subject, [on(organization, 3, 85)]);
    await noticeChanges(subject.warehouse, { ...look, nowMs: look.nowMs + 1, lastBulkLoadAtMs: null });
    expect((await rowsOf(who, 93)).map(({ entity }) => entity)).toEqual([1, 2]);
    expect((await rowsOf(who, 100)).map(({ entity }) => entity)).toEqual([1, 2, 3]);
  });

  test("follows the settings of its features, and no others", async () => {
    const { organization } = await randomOrganization(subject, "keys", 30);
    const day = logDay(200);
    const version = async (settings: FeatureSettings) => {
      await rowsOf(population(organization, "user", settings), day);
      return (await recordAt(organization, "user", day))?.body.rowsVersion;
    };
    const first = await version(manySettings);
    const same: FeatureSettings = {
      ...manySettings,
      keyEvents: [...(manySettings.keyEvents ?? [])].reverse(),
      weights: new Map([...(manySettings.weights ?? [])].reverse()),
      target: { by: "event", event: "report", undoneBy: null },
      outages: [{ from: day, to: day + 7 }],
    };
    expect(await version(same)).toBe(first ?? 0);
    expect(await version({ ...manySettings, keyEvents: ["report"] })).toBeGreaterThan(first ?? 0);
  });
});

/** Its name is new in the organization, so it changes the features of the user and of account 1. */
function lateEvent(organization: number, user: number, day: number): EventRow {
  return event(organization, { user, account: 1, event: "late", day, timeMs: zone.startOfDay(day) + 1_000 });
}

function shuffled<Value>(values: readonly Value[], random: { next(): number }): Value[] {
  return values
    .map((value) => [random.next(), value] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, value]) => value);
}

describe("users who are excluded", () => {
  test("are in no snapshot that is read, and back in it when they are included again", async () => {
    const { organization } = await randomOrganization(subject, "excluded", 60);
    const day = logDay(200);
    const both = () => rowsOfBoth(organization, day);
    const [users = [], accounts = []] = await both();
    const excluded = users.slice(0, 20).map(({ entity }) => entity);
    const rowsVersion = (await recordAt(organization, "user", day))?.body.rowsVersion;
    await exclude(organization, excluded, 1);
    const [others = [], othersAccounts = []] = await both();
    expect(others).toEqual(users.slice(20));
    expect(othersAccounts).not.toEqual(accounts);
    await exclude(organization, [], 2);
    expect(await both()).toEqual([users, accounts]);
    expect((await recordAt(organization, "user", day))?.body.rowsVersion).toBe(rowsVersion ?? 0);
  });

  test("after a snapshot's day do not change it", async () => {
    const organization = subject.newOrganization();
    await insertEvents(subject, [on(organization, 1, 80), on(organization, 2, 95)]);
    const accounts = population(organization, "account");
    await rowsOf(accounts, 90);
    const before = await recordAt(organization, "account", 90);
    await exclude(organization, [2], 1);
    await rowsOf(accounts, 90);
    expect(await recordAt(organization, "account", 90)).toEqual(before ?? failed());
  });
});

function failed(): never {
  throw new Error("there is no record");
}
