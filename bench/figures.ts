/**
 * The time of every figure: random users of an organization are loaded into a warehouse, and every query runs
 * nine times. `cli/with-bun bench/figures.ts [events] [users] [word of a query's name]`, 2 million and
 * 100,000 by default.
 */
import { withTemporaryWarehouse } from "../cli/backtest/warehouse.ts";
import { activeDays } from "../server/analytics/active-days.ts";
import { activeUsers } from "../server/analytics/active-users.ts";
import { adoption } from "../server/analytics/adoption.ts";
import { lists } from "../server/analytics/entities/lists.ts";
import { accountTimeline, timeline } from "../server/analytics/entities/timeline.ts";
import { traitNames } from "../server/analytics/entities/trait-names.ts";
import { eventNames } from "../server/analytics/event-names.ts";
import { eventsByValue } from "../server/analytics/events-by-value.ts";
import { eventsOverTime } from "../server/analytics/events-over-time.ts";
import { lifecycle } from "../server/analytics/lifecycle.ts";
import { usageIntervals } from "../server/analytics/usage-intervals.ts";
import type { Warehouse } from "../server/warehouse/engine/warehouse.ts";
import { printTook, timed } from "./history/timed.ts";

const organization = 1;
const toDay = 20_600;
const passiveEvents: readonly string[] = [];
const days = 364;
const usersPerAccount = 10;
const rounds = 9;

/** A few users come daily, most of them rarely. More days are near today than near the start. */
async function generate(warehouse: Warehouse, events: number, users: number): Promise<void> {
  const perInsert = 1_000_000;
  for (let from = 0; from < events; from += perInsert) {
    await warehouse.command(
      `INSERT INTO events SELECT 1, user, 1 + intDiv(user, {perAccount:UInt32}),
        concat('event_', toString(toUInt32(60 * pow(rand(1) / 4294967296, 2)))),
        toDateTime64(toDate32('1970-01-01') + day, 3, 'UTC') + rand(2) % 86400, toDate32('1970-01-01') + day,
        time, generateUUIDv4(), false, '', concat('{"page":"/page/', toString(rand(3) % 40), '","n":', toString(number), '}'), true
      FROM (
        SELECT number, 1 + toUInt32({users:UInt32} * pow(rand(4) / 4294967296, 2)) AS user,
          {toDay:Int32} - toInt32({days:Int32} * pow(rand(5) / 4294967296, 1.5)) AS day,
          toDateTime64('2026-05-01', 3, 'UTC') AS time
        FROM numbers({from:UInt64}, {perInsert:UInt64}))`,
      {
        perAccount: usersPerAccount,
        users,
        toDay,
        days,
        from,
        perInsert: Math.min(perInsert, events - from),
      },
      { maxSeconds: 600 },
    );
  }
  await warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, is_account_owner, account, first_identified_at, updated_at, version)
    SELECT 1, number + 1, concat('user-', toString(number)),
      concat('user-', toString(number), '@example.com'),
      concat('{"name":"Name ', toString(number), '","plan":"', ['free', 'pro', 'team'][number % 3 + 1], '"}'),
      NULL, 1 + intDiv(number + 1, {perAccount:UInt32}), toDateTime64('2025-01-01', 3, 'UTC'),
      toDateTime64('2025-01-01', 3, 'UTC'), 1
    FROM numbers({users:UInt64})`,
    { users, perAccount: usersPerAccount },
  );
  await warehouse.command(
    `INSERT INTO user_versions SELECT organization, user, version, updated_at, traits, account FROM users`,
  );
  await warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, avatar, created_at, updated_at, version)
    SELECT DISTINCT 1, account, concat('account-', toString(account)), 'An account', NULL,
      toDateTime64('2025-01-01', 3, 'UTC'), toDateTime64('2025-01-01', 3, 'UTC'), 1 FROM users`,
  );
  for (const day of [run.day, earlier.day]) {
    await warehouse.command(
      `INSERT INTO user_scores (organization, day, user, version, state, colour, engagement, momentum, risk, health)
       SELECT organization, toDate32('1970-01-01') + {day:Int32}, user, 1, 'active',
         ['healthy', 'watch', 'at_risk'][user % 3 + 1], rand(1) % 100, rand(2) % 100, rand(3) / 4294967296, rand(4) % 100
       FROM users`,
      { day },
    );
  }
}

const questions: Record<string, (warehouse: Warehouse) => Promise<unknown>> = {
  "active users, 90 days": (w) => activeUsers(w, { organization, toDay, passiveEvents, days: 90 }),
  "active users, 800 days": (w) => activeUsers(w, { organization, toDay, passiveEvents, days: 800 }),
  "active days (L28)": (w) => activeDays(w, { organization, toDay, passiveEvents }),
  "lifecycle, 26 weeks": (w) =>
    lifecycle(w, { organization, toDay, passiveEvents, period: "week", periods: 26, weekStart: 1 }),
  "lifecycle, 400 days": (w) =>
    lifecycle(w, { organization, toDay, passiveEvents, period: "day", periods: 400, weekStart: 1 }),
  "adoption, 28 days": (w) => adoption(w, { organization, toDay, passiveEvents, days: 28, limit: 1_000 }),
  "adoption, 365 days": (w) => adoption(w, { organization, toDay, passiveEvents, days: 365, limit: 1_000 }),
  "event names": (w) =>
    eventNames(w, { organization, toDay, search: "", sort: "count", descending: true, limit: 1_000 }),
  "events over 12 weeks": (w) => eventsOverTime(w, { ...overTime, event: "", top: 0 }),
  "one event over 12 weeks": (w) => eventsOverTime(w, { ...overTime, event: "event_3", top: 0 }),
  "events over 12 weeks by event": (w) => eventsOverTime(w, { ...overTime, event: "", top: 20 }),
  "events over 12 weeks by trait": (w) =>
    eventsByValue(w, { ...overTime, event: "", top: 20, by: "trait", key: "plan" }),
  "one event over 12 weeks by property": (w) =>
    eventsByValue(w, { ...overTime, event: "event_3", top: 20, by: "property", key: "page" }),
  "events of the last 7 days by property": (w) =>
    eventsByValue(w, { ...lastDays, event: "", top: 20, by: "property", key: "page" }),
  "one event of the last 7 days by property": (w) =>
    eventsByValue(w, { ...lastDays, event: "event_3", top: 20, by: "property", key: "page" }),
  "events over 12 weeks by property": (w) =>
    eventsByValue(w, { ...overTime, event: "", top: 20, by: "property", key: "page" }),
  "events over 12 weeks by a property that is unique": (w) =>
    eventsByValue(w, { ...overTime, event: "", top: 20, by: "property", key: "n" }),
  "usage intervals": (w) => usageIntervals(w, { organization, toDay, passiveEvents }),
  "user's timeline": (w) => timeline(w, { organization, user: 4, limit: 100 }),
  "account's timeline": (w) => accountTimeline(w, { organization, account: 4, limit: 100 }),
  "users by last day": (w) => lists.user.page(w, { ...list, sort: "lastSeen" }),
  "users by e-mail, far on": (w) => lists.user.page(w, { ...list, sort: "email", offset: 90_000 }),
  "users found by a text": (w) => lists.user.page(w, { ...list, sort: "userId", search: "name 77" }),
  "users with a trait": (w) => lists.user.page(w, { ...list, sort: "lastSeen", traits: [pro] }),
  "number of users with a trait": (w) => lists.user.count(w, { ...list, traits: [pro] }),
  "users by health": (w) => lists.user.page(w, { ...list, sort: "health" }),
  "users by change of health, far on": (w) => lists.user.page(w, { ...list, sort: "change", offset: 90_000 }),
  "users by a trait": (w) => lists.user.page(w, { ...list, sort: { trait: "plan" } }),
  "users by account": (w) => lists.user.page(w, { ...list, sort: "account" }),
  "users found by everything at once": (w) => lists.user.page(w, { ...list, ...everything, sort: "risk" }),
  "number of users found by everything at once": (w) => lists.user.count(w, { ...list, ...everything }),
  "traits and their values": (w) => traitNames(w, { kind: "user", organization, limit: 100, maxValues: 100 }),
  "accounts by last day": (w) =>
    lists.account.page(w, { ...list, run: undefined, earlier: undefined, sort: "lastSeen" }),
};

const overTime = { organization, toDay, period: "week", periods: 12, weekStart: 1 } as const;
const lastDays = { ...overTime, period: "day", periods: 7 } as const;
const run = { organization, kind: "user", day: toDay, rowsVersion: 1 } as const;
const earlier = { ...run, day: toDay - 28 };
const list = {
  organization,
  toDay,
  passiveEvents,
  run,
  earlier,
  search: "",
  descending: true,
  limit: 200,
  offset: 0,
};
const pro = { key: "plan", match: "is", value: "pro" } as const;
const everything = {
  search: "1",
  traits: [pro],
  healthBand: "watch",
  riskBand: "high",
  notSeenForDays: 14,
} as const;

const [events = 2_000_000, users = 100_000] = process.argv.slice(2, 4).map(Number);
const only = process.argv[4] ?? "";
await withTemporaryWarehouse(async (warehouse) => {
  const startMs = performance.now();
  await generate(warehouse, events, users);
  console.log(`${events} events of ${users} users in ${Math.round(performance.now() - startMs)} ms`);
  for (const [name, ask] of Object.entries(questions).filter(([name]) => name.includes(only))) {
    printTook(name, await timed(() => ask(warehouse), rounds));
  }
});
