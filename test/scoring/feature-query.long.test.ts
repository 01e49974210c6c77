/** The features that the engine computes, beside the reference: on random logs, in a zone that changes its
 * clocks. */
import { describe, expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import type { Population } from "../../server/scoring/queries/engagement-events.ts";
import { type FeatureRow, featuresOfRow } from "../../server/scoring/queries/feature-query.ts";
import { read } from "../../server/scoring/queries/query.ts";
import { readUsualBehaviour } from "../../server/scoring/queries/scale-query.ts";
import { computedEntity } from "../../server/scoring/queries/snapshot-rows.ts";
import { snapshotFor } from "../../server/scoring/queries/stored-snapshots.ts";
import { withLeft } from "../../server/scoring/queries/target-query.ts";
import type { DaySpan } from "../../server/scoring/scores/churn-changes.ts";
import type { EngagementScale } from "../../server/scoring/scores/engagement.ts";
import type { FeatureSettings, Features } from "../../server/scoring/scores/features.ts";
import { joinedSpans, windowStart } from "../../server/scoring/scores/observed-days.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { engagementScale } from "./engagement-scale.ts";
import {
  logDay,
  logsOf,
  manySettings,
  population,
  randomOrganization,
  randomOutages,
} from "./engine-support.ts";
import { type DayEvent, featuresOf, noFacts, observedDay } from "./features.ts";

const subject = new WarehouseUnderTest();

/** Before everything, within, around both clock changes, and after everything. */
const cutoffs = [0, 57, 63, 64, 200, 301, 302, 399, 420].map(logDay);

function span(from: number, to: number): DaySpan {
  return { from: logDay(from), to: logDay(to) };
}

const allSettings: readonly FeatureSettings[] = [
  {},
  manySettings,
  { passiveEvents: new Set(["subscription_canceled"]) },
  // One ends with a cut-off, one contains one, and one begins before all data. Days of events are among them.
  { ...manySettings, outages: [span(-20, 3), span(50, 57), span(150, 153), span(190, 196), span(300, 310)] },
  { weights: new Map([["it's a \\ trap", 2]]), keyEvents: ["it's a \\ trap", "save"] },
];

const { hasLeft: _, ...otherFacts } = noFacts;

async function inEngine(who: Population, cutoffDay: number): Promise<[number, Features][]> {
  const { entity } = who;
  const { entities } =
    entity === undefined
      ? await snapshotFor(subject.warehouse, who, cutoffDay)
      : computedEntity({ ...who, entity }, cutoffDay);
  const rows = await read<FeatureRow>(subject.warehouse, withLeft(who, cutoffDay, entities));
  // Which events are counted depends on all users: test/scoring/stored-snapshots.long.test.ts has them.
  return byNumber(
    rows.map((row) => [row.entity, roundedGaps(featuresOfRow({ ...row, eventCounts28: {} }, otherFacts))]),
  );
}

function inReference(
  logs: ReadonlyMap<number, readonly DayEvent[]>,
  cutoffDay: number,
  settings: FeatureSettings = {},
): [number, Features][] {
  return byNumber(
    [...logs].flatMap(([entity, log]): [number, Features][] => {
      const features = featuresOf(log, cutoffDay, { ...settings, countedEvents: [] });
      return features === null ? [] : [[entity, roundedGaps(features)]];
    }),
  );
}

/** Sums of squares round in another order. */
function roundedGaps(features: Features): Features {
  const { gapVariability } = features;
  return { ...features, gapVariability: gapVariability && Number(gapVariability.toFixed(9)) };
}

function byNumber<Value>(pairs: readonly [number, Value][]): [number, Value][] {
  return pairs.toSorted(([a], [b]) => a - b);
}

describe.each(["user", "account"] as const)("of every %s", (kind) => {
  test("the engine computes the features of the reference, at all cut-offs and under all settings", async () => {
    const { organization, events } = await randomOrganization(subject, `features of ${kind}s`);
    const logs = logsOf(events, kind);
    let compared = 0;
    for (const [index, settings] of allSettings.entries()) {
      // Outages meet every cut-off, other settings every second one: each takes 0.3 s of processor time.
      const every = settings.outages === undefined ? 2 : 1;
      for (const cutoffDay of cutoffs.filter((_, at) => (at + index) % every === 0)) {
        const expected = inReference(logs, cutoffDay, settings);
        compared += expected.length;
        expect(await inEngine(population(organization, kind, settings), cutoffDay)).toEqual(expected);
      }
    }
    expect(compared).toBeGreaterThan(100);
  });

  test("whatever outages there are, days and windows are those of the reference", async () => {
    const { organization, events, random } = await randomOrganization(subject, `outages of ${kind}s`);
    const logs = logsOf(events, kind);
    for (const cutoffDay of Array.from({ length: 8 }, () => logDay(random.between(0, 420)))) {
      const settings = { ...manySettings, outages: joinedSpans(randomOutages(random)) };
      const who = population(organization, kind, settings);
      expect(await inEngine(who, cutoffDay)).toEqual(inReference(logs, cutoffDay, settings));
    }
  });

  test("one alone has the same features as among all", async () => {
    const { organization, events } = await randomOrganization(subject, `one ${kind}`);
    const all = inReference(logsOf(events, kind), logDay(300));
    const [one] = all;
    if (one === undefined) throw new Error("nobody is there");
    const who = { ...population(organization, kind), entity: one[0] };
    expect(await inEngine(who, logDay(300))).toEqual([one]);
  });

  test("excluded users leave no trace", async () => {
    const { organization, events } = await randomOrganization(subject, `excluded ${kind}s`);
    await subject.warehouse.command(
      `INSERT INTO excluded_users SETTINGS insert_deduplicate = 0
       SELECT {organization:UInt32}, 1, groupBitmapState(toUInt32(number + 1)) FROM numbers(40)`,
      { organization },
    );
    const others = logsOf(
      events.filter(({ user }) => user > 40),
      kind,
    );
    const found = await inEngine(population(organization, kind), logDay(300));
    expect(found).toEqual(inReference(others, logDay(300)));
  });

  test("full marks are those of the reference", async () => {
    const { organization, events, random } = await randomOrganization(subject, `scale of ${kind}s`);
    const logs = logsOf(events, kind);
    for (const settings of [{}, manySettings, { outages: joinedSpans(randomOutages(random)) }]) {
      for (const cutoffDay of [logDay(0), logDay(200), logDay(399)]) {
        const features = inReference(logs, cutoffDay, settings).map(([, one]) => one);
        const gaps = [...logs.values()].flatMap((log) => gapsOf(log, cutoffDay, settings));
        const who = population(organization, kind, settings);
        const snapshot = await snapshotFor(subject.warehouse, who, cutoffDay);
        const found = await readUsualBehaviour(subject.warehouse, who, snapshot);
        // Both interpolate, and round differently.
        const { isZeroUnused, ...marks } = engagementScale(features, gaps);
        expect(found.scale.isZeroUnused).toBe(isZeroUnused);
        for (const [name, mark] of Object.entries(marks)) {
          expect(found.scale[name as keyof EngagementScale]).toBeCloseTo(mark, 9);
        }
      }
    }
  });
});

test("windows begin exactly 28, 56, 84 and 90 days before the cut-off", async () => {
  const organization = subject.newOrganization();
  const cutoffDay = 20_000;
  const ages = [28, 29, 56, 57, 84, 85, 90, 91];
  await insertEvents(
    subject,
    ages.map((age, index) => {
      const day = cutoffDay - age;
      return event(organization, { user: index + 1, event: "save", day, timeMs: day * msPerDay });
    }),
  );
  const who = { ...population(organization, "user", { keyEvents: ["save"] }), zone: new Zone("UTC") };
  const found = (await inEngine(who, cutoffDay)).map(([, features], index) => [
    ages[index],
    features.activeDays28,
    features.volume28,
    features.eventNames28,
    features.activeDaysPrevious28,
    features.activeDays84,
    features.adoption,
  ]);
  expect(found).toEqual([
    [28, 1, 1, 1, 0, 1, 1],
    [29, 0, 0, 0, 1, 1, 1],
    [56, 0, 0, 0, 1, 1, 1],
    [57, 0, 0, 0, 0, 1, 1],
    [84, 0, 0, 0, 0, 1, 1],
    [85, 0, 0, 0, 0, 0, 1],
    [90, 0, 0, 0, 0, 0, 1],
    [91, 0, 0, 0, 0, 0, 0],
  ]);
});

test("nothing of another organization is seen", async () => {
  const { events } = await randomOrganization(subject, "another organization");
  expect(events.length).toBeGreaterThan(0);
  expect(await inEngine(population(subject.newOrganization(), "user"), logDay(300))).toEqual([]);
});

/** Days from one active day to the next, within the 26 weeks before the cut-off. */
function gapsOf(log: readonly DayEvent[], cutoffDay: number, settings: FeatureSettings): number[] {
  const active = log
    .filter(
      ({ day, event }) =>
        day < cutoffDay &&
        day >= windowStart(cutoffDay, 182, settings.outages) &&
        !settings.passiveEvents?.has(event),
    )
    .map(({ day }) => observedDay(day, settings.outages));
  const days = [...new Set(active)];
  return days.slice(1).map((day, index) => day - (days[index] ?? 0));
}
