/**
 * An invented history of one organization. The loader itself brings it into a warehouse, batch after batch in
 * the order of time, and never optimized by hand. Benchmarks of figures use it.
 *
 * Users arrive over the whole time, more of them later. Each leaves with a daily probability of their own, so
 * that users who leave less remain. Some are active every day and most on few. Event names follow Zipf's law;
 * traits change.
 */

import type { JsonObject } from "../../contract/json.ts";
import type { RetentionQuestion } from "../../server/analytics/retention/retention-question.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { Account, User } from "../../server/ledger/entities.ts";
import { accountRow, eventRow, userRow, userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { systemTime } from "../../server/process/time.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { Loader } from "../../server/warehouse/load/loader.ts";
import { Random } from "../../simulation/random.ts";
import { GeneratedInbox, type GeneratedRow } from "./generated-inbox.ts";

export interface HistoryOptions {
  readonly organization: number;
  /** About this many; how many there are is in `History`. */
  readonly events: number;
  readonly users: number;
  readonly days: number;
  /** The last day, in days since 1970-01-01, UTC. */
  readonly toDay: number;
}

export interface History {
  readonly events: number;
  readonly users: number;
  readonly seconds: number;
}

/** The traits that every user has, and their values. */
const traitValues: Readonly<Record<string, readonly string[]>> = {
  plan: ["free", "starter", "pro", "enterprise"],
  acquisitionChannel: ["search", "referral", "ads", "partner", "direct", "event", "social", "outbound"],
  companySize: ["1-10", "11-50", "51-200", "201-1000", "1000+"],
  segment: ["retail", "software", "health", "education"],
};

const msPerDay = 86_400_000;
const usersPerAccount = 8;
/** Users whose plan changes once after their arrival. */
const shareOfChanges = 0.25;

interface Person {
  readonly number: number;
  readonly fromDay: number;
  /** The first day after the user has left. */
  readonly untilDay: number;
  readonly activeShare: number;
  readonly eventsPerActiveDay: number;
}

/** Loads a history through the loader. */
export async function loadHistory(warehouse: Warehouse, options: HistoryOptions): Promise<History> {
  const startedMs = performance.now();
  const random = new Random(20_260_301);
  const people = peopleOf(random, options);
  let events = 0;
  const inbox = new GeneratedInbox(
    (function* () {
      yield* peopleRows(random, people, options);
      for (const row of eventRows(random, people, options)) {
        events += 1;
        yield row;
      }
    })(),
  );
  const loader = new Loader({ time: systemTime, inbox, warehouse });
  while (!inbox.isEmpty) await loader.replay();
  return { events, users: people.length, seconds: (performance.now() - startedMs) / 1_000 };
}

/** People with about `events` events in all. */
function peopleOf(random: Random, { events, users, days, toDay }: HistoryOptions): Person[] {
  const drawn = Array.from({ length: users }, (_, index) => {
    const fromDay = toDay - days + 1 + Math.floor(Math.sqrt(random.next()) * days * 0.999);
    const leaving = 0.002 + 0.12 * random.next() ** 4;
    const lifetimeDays = 1 + Math.floor(Math.log(1 - random.next()) / Math.log(1 - leaving));
    return {
      number: index + 1,
      fromDay,
      untilDay: Math.min(fromDay + lifetimeDays, toDay + 1),
      activeShare: 0.04 + 0.9 * random.next() ** 3,
      liveliness: 0.2 + random.next() ** 3 * 4,
    };
  });
  const expected = drawn.reduce(
    (sum, { fromDay, untilDay, activeShare, liveliness }) =>
      sum + (1 + (untilDay - fromDay - 1) * activeShare) * liveliness,
    0,
  );
  return drawn
    .map(({ liveliness, ...person }) => ({ ...person, eventsPerActiveDay: (liveliness * events) / expected }))
    .sort((a, b) => a.fromDay - b.fromDay)
    .map((person, index) => ({ ...person, number: index + 1 }));
}

function* peopleRows(
  random: Random,
  people: readonly Person[],
  { organization }: HistoryOptions,
): Generator<GeneratedRow> {
  const users: User[] = [];
  for (const { number, fromDay, untilDay } of people) {
    const traits: Record<string, string> = { name: `User ${number}` };
    for (const [key, values] of Object.entries(traitValues)) traits[key] = random.pick(values);
    const atMs = fromDay * msPerDay + 1_000;
    const first = userOf(organization, number, traits, atMs, 1);
    yield row("user_versions", userVersionRow(first, { atMs, traits, account: first.account }));
    if (!random.chance(shareOfChanges)) {
      users.push(first);
      continue;
    }
    const change = { plan: random.pick(traitValues.plan ?? []) };
    const changeMs = atMs + Math.floor(random.next() * (untilDay - fromDay)) * msPerDay + 1;
    const second = userOf(organization, number, { ...traits, ...change }, changeMs, 2);
    yield row("user_versions", userVersionRow(second, { atMs: changeMs, traits: change, account: null }));
    users.push(second);
  }
  for (const user of users) yield row("users", userRow(user));
  for (let number = 1; number <= accountOf(people.length); number += 1) {
    yield row("accounts", accountRow(account(organization, number)));
  }
}

const row = (table: GeneratedRow["table"], line: string): GeneratedRow => ({ table, year: 0, line });

function userOf(
  organization: number,
  number: number,
  traits: JsonObject,
  atMs: number,
  version: number,
): User {
  return {
    organization,
    userId: `user-${number}`,
    number,
    email: `user-${number}@example.com`,
    traits,
    isAccountOwner: number % usersPerAccount === 0,
    account: accountOf(number),
    firstIdentifiedAtMs: atMs,
    timestampMs: atMs,
    fieldTimestampsMs: {},
    updatedAtMs: atMs,
    version,
  };
}

/** The number of a user's account. */
export const accountOf = (number: number) => Math.ceil(number / usersPerAccount);

function account(organization: number, number: number): Account {
  return {
    organization,
    number,
    accountId: `account-${number}`,
    name: `Account ${number}`,
    avatar: null,
    traits: {},
    timestampMs: 0,
    fieldTimestampsMs: {},
    createdAtMs: 0,
    updatedAtMs: 0,
    version: 1,
  };
}

export interface HistoryEvent {
  readonly number: number;
  readonly name: string;
  readonly timeMs: number;
  readonly day: number;
}

function* eventRows(
  random: Random,
  people: readonly Person[],
  options: HistoryOptions,
): Generator<GeneratedRow> {
  let counter = 0;
  for (const { number, name, timeMs, day } of eventsOf(random, people, options)) {
    counter += 1;
    const line = eventRow({
      organization: options.organization,
      user: number,
      account: accountOf(number),
      event: name,
      timeMs,
      day,
      receivedAtMs: timeMs + 20,
      id: idOf(counter),
      messageId: null,
      properties: `{"page":"home","n":${counter % 1_000}}`,
    });
    yield { table: "events", year: new Date(day * msPerDay).getUTCFullYear(), line };
  }
}

/** The users and the events of a history, as a file of an import may have them. */
export function historyItems(options: HistoryOptions): {
  readonly users: readonly { readonly number: number; readonly fromDay: number }[];
  readonly events: Generator<HistoryEvent>;
} {
  const random = new Random(20_260_301);
  const people = peopleOf(random, options);
  return { users: people, events: eventsOf(random, people, options) };
}

/** In the order of days. */
function* eventsOf(
  random: Random,
  people: readonly Person[],
  { days, toDay }: HistoryOptions,
): Generator<HistoryEvent> {
  const names = zipf(60);
  let present: Person[] = [];
  let next = 0;
  for (let day = toDay - days + 1; day <= toDay; day += 1) {
    present = present.filter(({ untilDay }) => untilDay > day);
    for (let person = people[next]; person !== undefined && person.fromDay <= day; person = people[++next]) {
      present.push(person);
    }
    for (const { number, fromDay, activeShare, eventsPerActiveDay } of present) {
      if (day !== fromDay && !random.chance(activeShare)) continue;
      const count = Math.max(day === fromDay ? 1 : 0, poisson(random, eventsPerActiveDay));
      for (let n = 0; n < count; n += 1) {
        const timeMs = day * msPerDay + Math.floor(random.next() * msPerDay);
        yield { number, name: names(random), timeMs, day };
      }
    }
  }
}

/** 32 hexadecimal digits, as little alike as those of real ids, and every counter's its own. */
function idOf(counter: number): string {
  const digits = (factor: number) => (Math.imul(counter, factor) >>> 0).toString(16).padStart(8, "0");
  return digits(0x9e3779b1) + digits(0x85ebca77) + digits(0xc2b2ae3d) + digits(0x27d4eb2f);
}

/** Draws names whose frequency follows Zipf's law. */
function zipf(count: number): (random: Random) => string {
  const weights = Array.from({ length: count }, (_, index) => 1 / (index + 1));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const bounds = weights.map((_, index) => weights.slice(0, index + 1).reduce((a, b) => a + b, 0) / sum);
  return (random) => {
    const draw = random.next();
    const index = bounds.findIndex((bound) => draw < bound);
    return `event_${index < 0 ? count - 1 : index}`;
  };
}

function poisson(random: Random, mean: number): number {
  // In pieces, because e^-mean would be 0 for a large mean.
  const piece = Math.min(mean, 50);
  const limit = Math.exp(-piece);
  let count = 0;
  for (let product = random.next(); product > limit; product *= random.next()) count += 1;
  return mean > piece ? count + poisson(random, mean - piece) : count;
}

/** Retention by weeks of the first event, for cohorts and periods from `fromDay` to `toDay`, which is
 * today. */
export function weeklyRetention(
  organization: number,
  { fromDay, toDay, periods }: Pick<RetentionQuestion, "fromDay" | "toDay" | "periods">,
): RetentionQuestion {
  return {
    organization,
    fromDay,
    toDay,
    periods,
    today: toDay,
    entry: { kind: "firstEvent" },
    returnEvent: null,
    passiveEvents: [],
    horizonDays: 28,
    period: { name: "week", weekStart: 1 },
    measure: "in",
    split: null,
    transitions: new Zone("UTC").transitions,
  };
}
