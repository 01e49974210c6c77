/** Random logs, as events of a warehouse and as the reference takes them. */
import { Zone } from "../../server/calendar/zone.ts";
import type { EventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { EntityKind, Population } from "../../server/scoring/queries/engagement-events.ts";
import type { DaySpan } from "../../server/scoring/scores/churn-changes.ts";
import type { FeatureSettings } from "../../server/scoring/scores/features.ts";
import { windowStart } from "../../server/scoring/scores/observed-days.ts";
import type { Random } from "../../simulation/random.ts";
import { event, insertEvents, randomOfThisRun, type WarehouseUnderTest } from "../warehouse/support.ts";
import type { DayEvent } from "./features.ts";

/** Its clocks change on 2025-03-09 and on 2025-11-02. */
export const zone = new Zone("America/New_York");

const beginMs = Date.UTC(2025, 0, 5);
const hours = 400 * 24;
const names = ["open", "save", "report", "mail_sent", "subscription_canceled"];

/** Days since the log's first, as days since 1970-01-01. */
export function logDay(days: number): number {
  return zone.dayOf(beginMs) + days;
}

/** Some events of each user, seldom or often, in one of six accounts, in others too, or in none. The first
 * user is active all the time, and never in an account. */
function randomEventsOfUsers(random: Random, organization: number, users: number): EventRow[] {
  return Array.from({ length: users }, (_, index) => {
    const isFirst = index === 0;
    const [first, length] = isFirst ? [0, hours] : [random.between(0, hours - 1), random.between(1, hours)];
    const home = random.between(0, 6);
    return Array.from({ length: isFirst ? 100 : random.pick([1, 2, 10, 40]) }, () => {
      const hour = Math.min(hours, first + random.between(0, length));
      const timeMs = beginMs + hour * 3_600_000 + random.pick([0, 1, 3_599_999]);
      const account = isFirst ? 0 : random.pick([home, home, home, random.between(0, 6)]);
      const some = { user: index + 1, account, event: random.pick(names), timeMs, day: zone.dayOf(timeMs) };
      return Array.from({ length: random.pick([1, 1, 1, 2, 60]) }, () => event(organization, some));
    }).flat();
  }).flat();
}

/** A new organization with random events, in several batches: rows of the rollups wait to be merged. */
export async function randomOrganization(subject: WarehouseUnderTest, what: string, users = 80) {
  const organization = subject.newOrganization();
  const random = randomOfThisRun(what);
  const events = randomEventsOfUsers(random, organization, users);
  await insertEvents(subject, events, 4);
  return { organization, events, random };
}

/** Outages within and around the log, a few of which overlap. Events are on their days, as when they were
 * declared by hand. */
export function randomOutages(random: Random, count = 8): DaySpan[] {
  return Array.from({ length: count }, () => {
    const from = logDay(random.between(-30, 420));
    return { from, to: from + random.between(1, 20) };
  });
}

/** The logs that the reference takes, by the entity's number. */
export function logsOf(events: readonly EventRow[], kind: EntityKind): Map<number, readonly DayEvent[]> {
  const ofEntity = Map.groupBy(events, (one) => one[kind]);
  if (kind === "account") ofEntity.delete(0);
  return new Map([...ofEntity].map(([entity, own]) => [entity, logOf(own)]));
}

function logOf(events: readonly EventRow[]): DayEvent[] {
  return [...Map.groupBy(events, ({ day, event }) => `${day} ${event}`).values()]
    .map((same) => ({ day: same[0]?.day ?? 0, event: same[0]?.event ?? "", count: same.length }))
    .sort((a, b) => a.day - b.day);
}

/** Key events, and those that 30 users did in 28 observed days. */
export function countedEvents(events: readonly EventRow[], day: number, settings: FeatureSettings): string[] {
  const { passiveEvents, keyEvents = [], outages } = settings;
  const recent = events.filter(
    (one) => one.day >= windowStart(day, 28, outages) && one.day < day && !passiveEvents?.has(one.event),
  );
  const frequent = [...Map.groupBy(recent, (one) => one.event)].filter(
    ([, own]) => new Set(own.map(({ user }) => user)).size >= 30,
  );
  return [...new Set([...keyEvents, ...frequent.map(([name]) => name)])];
}

export function population(
  organization: number,
  kind: EntityKind,
  settings: FeatureSettings = {},
): Population {
  return { organization, kind, settings, zone };
}

/** Settings that touch every feature. */
export const manySettings: FeatureSettings = {
  passiveEvents: new Set(["mail_sent"]),
  weights: new Map([
    ["save", 3],
    ["report", 0.25],
  ]),
  keyEvents: ["open", "save", "never_seen"],
};
