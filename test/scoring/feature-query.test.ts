/** The features that the engine computes, beside the reference: on random logs, in a zone that changes its clocks. */
import { describe, expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import {
  type DayEvent,
  type FeatureSettings,
  type Features,
  featuresOf,
} from "../../server/scoring/features.ts";
import type { EntityKind, Population } from "../../server/scoring/queries/engagement-events.ts";
import { type FeatureRow, featuresOfRow, featuresQuery } from "../../server/scoring/queries/feature-query.ts";
import { read } from "../../server/scoring/queries/query.ts";
import type { EventRow } from "../../server/warehouse/rows.ts";
import type { Random } from "../ledger/random.ts";
import { event, insertEvents, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("America/New_York");

/** Two nights on which the clocks change lie within the year. */
const beginMs = Date.UTC(2025, 0, 5);
const hours = 400 * 24;
const names = ["open", "save", "report", "mail_sent", "subscription_canceled"];

/** Of each user a bunch of events, seldom or often, in one of a few accounts or in none, with nights preferred. */
function randomEventsOf(random: Random, organization: number): EventRow[] {
  return Array.from({ length: 80 }, (_, user) => {
    const [first, length] = [random.between(0, hours - 1), random.between(1, hours)];
    const home = random.between(0, 6);
    return Array.from({ length: random.pick([1, 2, 10, 40]) }, () => {
      const hour = Math.min(hours, first + random.between(0, length));
      const timeMs = beginMs + hour * 3_600_000 + random.pick([0, 1, 3_599_999]);
      const repeats = random.pick([1, 1, 1, 2, 60]);
      const name = random.pick(names);
      const account = random.pick([home, home, home, random.between(0, 6)]);
      return Array.from({ length: repeats }, () =>
        event(organization, { user: user + 1, account, event: name, timeMs, day: zone.dayOf(timeMs) }),
      );
    }).flat();
  }).flat();
}

/** The logs that the reference takes, by the entity's number. */
function logsOf(events: readonly EventRow[], kind: EntityKind): Map<number, readonly DayEvent[]> {
  const ofEntity = Map.groupBy(events, (one) => one[kind]);
  if (kind === "account") ofEntity.delete(0);
  return new Map([...ofEntity].map(([entity, own]) => [entity, logOf(own)]));
}

function logOf(events: readonly EventRow[]): DayEvent[] {
  return [...Map.groupBy(events, ({ day, event }) => `${day} ${event}`).values()]
    .map((same) => ({ day: same[0]?.day ?? 0, event: same[0]?.event ?? "", count: same.length }))
    .sort((a, b) => a.day - b.day);
}

/** Before everything, within, on the days of both clock changes, and after everything. */
const cutoffs = [0, 57, 63, 64, 200, 301, 302, 399, 420].map((days) => zone.dayOf(beginMs) + days);

const allSettings: readonly FeatureSettings[] = [
  {},
  {
    passiveEvents: new Set(["mail_sent"]),
    weights: new Map([
      ["save", 3],
      ["report", 0.25],
    ]),
    keyEvents: ["open", "save", "never_seen"],
    churnEvent: "subscription_canceled",
  },
  { passiveEvents: new Set(["subscription_canceled"]), churnEvent: "subscription_canceled" },
  { outageWeeks: cutoffs.flatMap((day) => [day - 7, day - 28, day - 35, day - 7 * 26, day - 3]) },
  { weights: new Map([["it's a \\ trap", 2]]), keyEvents: ["it's a \\ trap"] },
];

async function filled(what: string) {
  const organization = subject.newOrganization();
  const events = randomEventsOf(randomOfThisRun(what), organization);
  await insertEvents(subject, events, 4);
  return { organization, events };
}

function population(organization: number, kind: EntityKind, settings: FeatureSettings = {}): Population {
  return { organization, kind, settings, zone };
}

async function featuresInEngine(who: Population, cutoffDay: number): Promise<Map<number, Features>> {
  const rows = await read<FeatureRow>(subject.warehouse, featuresQuery(who, cutoffDay));
  return new Map(rows.map((row) => [row.entity, featuresOfRow(row, { traits: {}, members: null })]));
}

function byNumber<Value>(map: ReadonlyMap<number, Value>): [number, Value][] {
  return [...map].sort(([a], [b]) => a - b);
}

describe.each(["user", "account"] as const)("of every %s", (kind) => {
  test("the engine computes the features of the reference, at every cut-off and under all settings", async () => {
    const { organization, events } = await filled(kind);
    const logs = logsOf(events, kind);
    let compared = 0;
    for (const settings of allSettings) {
      for (const cutoffDay of cutoffs) {
        const expected = new Map(
          [...logs].flatMap(([entity, log]) => {
            const features = featuresOf(log, cutoffDay, settings);
            return features === null ? [] : [[entity, features] as const];
          }),
        );
        compared += expected.size;
        const found = await featuresInEngine(population(organization, kind, settings), cutoffDay);
        expect(byNumber(found)).toEqual(byNumber(expected));
      }
    }
    expect(compared).toBeGreaterThan(100);
  });
});
