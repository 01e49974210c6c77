/** Figures of engagement, read through HTTP and recounted from the sent events. */
import { expect, test } from "bun:test";
import {
  activeUsersRecount,
  adoptionRecount,
  byBytes,
  dateOf,
  gapsRecount,
  lifecycleRecount,
  type OverTimeOptions,
  overTimeRecount,
  usersWithin,
} from "./recount.ts";
import type { Happening, World } from "./world.ts";

/** Days with which figures end: today by default, and others. */
function lastDays(world: World): { toDay: number; parameters: { to?: string } }[] {
  const today = world.today();
  const at = (toDay: number) => ({ toDay, parameters: { to: dateOf(toDay) } });
  return [{ toDay: today, parameters: {} }, at(today), at(today - 1), at(today - 97), at(today - 600)];
}

const periodOptions = [
  { period: "day", periods: 40, weekStart: 1 },
  { period: "week", periods: 12, weekStart: 1 },
  { period: "week", periods: 60, weekStart: 7 },
  { period: "month", periods: 14, weekStart: 1 },
  { period: "month", periods: 1, weekStart: 7 },
] as const;

/** A text that sorts as the value does. */
function sortText(value: string | number): string {
  return typeof value === "number" ? String(value).padStart(10, "0") : value;
}

let asked = 0;

/** Each choice with a last day, with another one from call to call: all pairs together took most of the
 * file's time, and the organizations of a file have nearly all of them. */
function withLastDays<Choice>(world: World, choices: readonly Choice[]) {
  const ends = lastDays(world);
  asked += 1;
  return choices.map((choice, index) => ({
    choice,
    ...(ends[(index + asked) % ends.length] ?? expect.unreachable()),
  }));
}

/** Every choice of periods. */
async function expectOverTime(
  world: World,
  parameters: Record<string, string | number>,
  options: Partial<OverTimeOptions>,
) {
  for (const { choice: periods, toDay, parameters: last } of withLastDays(world, periodOptions)) {
    const sent = { ...periods, ...parameters, ...last };
    const all = { ...periods, toDay, event: "", top: 20, groupOf: () => null, ...options };
    const rows = overTimeRecount(world, all);
    const answer = await world.ask<{ periods: object[] }>("/api/events-over-time", sent);
    expect([sent, answer.periods]).toEqual([sent, rows]);
  }
}

type WorldNamed = (name: string) => World;

/** Registers a test of each figure for each organization. @param names of the worlds that `made` gives, in a
 * `beforeAll` of the file */
export function checksFigures(names: readonly string[], made: () => readonly World[]): void {
  const worldNamed = (name: string) => made().find((world) => world.name === name) ?? expect.unreachable();
  checksActiveUsers(names, worldNamed);
  checksLifecycleAndAdoption(names, worldNamed);
  checksListOfEvents(names, worldNamed);
  checksEventsOverTime(names, worldNamed);
  checksPropertiesAndIntervals(names, worldNamed);
}

function checksActiveUsers(names: readonly string[], worldNamed: WorldNamed): void {
  test.each(names)("active users and stickiness equal a recount, in %s", async (name) => {
    const world = worldNamed(name);
    for (const { toDay, parameters } of lastDays(world)) {
      const { days } = await world.ask<{ days: object[] }>("/api/active-users", {
        days: 50,
        ...parameters,
      });
      const expected = Array.from({ length: 50 }, (_, n) => activeUsersRecount(world, toDay - 49 + n));
      expect(days).toEqual(expected);
    }
  });

  test.each(names)(
    "the histogram of active days equals a recount, and ends yesterday unless it is said, in %s",
    async (name) => {
      const world = worldNamed(name);
      for (const { toDay, parameters } of lastDays(world)) {
        const last = parameters.to === undefined ? toDay - 1 : toDay;
        const days = new Map<string, Set<number>>();
        for (const { userId, day } of world.engagement) {
          if (day <= last && day > last - 28) days.set(userId, (days.get(userId) ?? new Set()).add(day));
        }
        const users = days.size;
        const expected = Array.from({ length: 28 }, (_, n) => {
          const counted = [...days.values()].filter(({ size }) => size === n + 1).length;
          return { activeDays: n + 1, users: counted, share: users === 0 ? null : counted / users };
        });
        expect(await world.ask<object>("/api/active-days", parameters)).toEqual({
          users,
          activeDays: expected,
        });
      }
    },
  );
}

function checksLifecycleAndAdoption(names: readonly string[], worldNamed: WorldNamed): void {
  test.each(names)("lifecycle by day, week and month equals a recount, in %s", async (name) => {
    const world = worldNamed(name);
    for (const { choice: options, toDay, parameters } of withLastDays(world, periodOptions)) {
      const sent = { ...options, ...parameters };
      const asked = await world.ask<object>("/api/lifecycle", sent);
      const periods = lifecycleRecount(world, { ...options, toDay });
      expect([sent, asked]).toEqual([sent, { periods }]);
    }
  });

  test.each(names)("lists of users by activity and by lifecycle equal a recount, in %s", async (name) => {
    const world = worldNamed(name);
    const filters = [
      {},
      { activeInAccount: "acme" },
      ...(["new", "returning", "resurrected", "dormant"] as const).map((lifecycle) => ({ lifecycle })),
    ];
    for (const { choice: filter, toDay } of withLastDays(world, filters)) {
      const fromDay = toDay - 6;
      const inAcme = world.engagement.filter(({ account }) => account === "acme");
      const active = usersWithin(world.engagement, fromDay, toDay);
      const before = usersWithin(world.engagement, fromDay - 7, fromDay - 1);
      const seen = usersWithin(world.engagement, -1, fromDay - 1);
      const ofLifecycle = {
        new: active.difference(seen),
        returning: active.intersection(before),
        resurrected: active.intersection(seen).difference(before),
        dormant: before.difference(active),
      };
      const users =
        "lifecycle" in filter
          ? ofLifecycle[filter.lifecycle]
          : "activeInAccount" in filter
            ? usersWithin(inAcme, fromDay, toDay)
            : active;
      const sent = { activeFrom: dateOf(fromDay), activeTo: dateOf(toDay), ...filter };
      const answer = await world.ask<{ users: { userId: string }[] }>("/api/users", sent);
      expect([sent, answer.users.map(({ userId }) => userId).sort()]).toEqual([sent, [...users].sort()]);
    }
  });

  test.each(names)("adoption equals a recount, in %s", async (name) => {
    const world = worldNamed(name);
    for (const { choice: days, toDay, parameters } of withLastDays(world, [1, 7, 28, 300, 800])) {
      const asked = await world.ask<object>("/api/adoption", { days, ...parameters });
      const activeUsers = usersWithin(world.engagement, toDay - days + 1, toDay).size;
      expect(asked).toEqual({ activeUsers, events: adoptionRecount(world, toDay, days) });
    }
    const { events } = await world.ask<{ events: object[] }>("/api/adoption", { days: 300, limit: 2 });
    expect(events).toEqual(adoptionRecount(world, world.today(), 300).slice(0, 2));
  });
}

function checksListOfEvents(names: readonly string[], worldNamed: WorldNamed): void {
  test.each(names)(
    "the list of events equals a recount; a text finds names whatever their case, in %s",
    async (name) => {
      const world = worldNamed(name);
      const today = world.today();
      const until = world.events.filter(({ day }) => day <= today);
      const expected = [...Map.groupBy(until, ({ event }) => event)]
        .map(([event, of]) => ({
          event,
          label: null,
          count: of.length,
          users: new Set(of.map(({ userId }) => userId)).size,
          firstDay: dateOf(Math.min(...of.map(({ day }) => day))),
          lastDay: dateOf(Math.max(...of.map(({ day }) => day))),
        }))
        .sort((a, b) => b.count - a.count || byBytes(a.event, b.event));
      const ask = (parameters = {}) =>
        world.ask<{ total: number; events: object[] }>("/api/events", parameters);
      const total = expected.length;
      expect(await ask()).toEqual({ total, events: expected });
      expect(await ask({ limit: 3 })).toEqual({ total, events: expected.slice(0, 3) });
      for (const sort of ["users", "event", "firstDay", "lastDay"] as const) {
        const ascending = expected.toSorted(
          (a, b) => byBytes(sortText(a[sort]), sortText(b[sort])) || byBytes(a.event, b.event),
        );
        expect(await ask({ sort, order: "ascending" })).toEqual({ total, events: ascending });
      }
      for (const search of ["SAVED", "é", "'", '"', "\\", "{limit", "%", "_", "nothing of it"]) {
        const found = expected.filter(({ event }) => event.toLowerCase().includes(search.toLowerCase()));
        expect([search, await ask({ search })]).toEqual([search, { total: found.length, events: found }]);
      }
    },
  );
}

function checksEventsOverTime(names: readonly string[], worldNamed: WorldNamed): void {
  test.each(names)("events over time equal a recount, all and each, in %s", async (name) => {
    const world = worldNamed(name);
    await expectOverTime(world, {}, { isOneGroup: true });
    await expectOverTime(world, { event: "it's" }, { event: "it's", isOneGroup: true });
    await expectOverTime(world, { event: "never-done" }, { event: "never-done", isOneGroup: true });
    await expectOverTime(world, { breakdown: "event", event: "never-done" }, { event: "never-done" });
    await expectOverTime(world, { breakdown: "event" }, { groupOf: ({ event }) => event });
    await expectOverTime(world, { breakdown: "event", top: 3 }, { top: 3, groupOf: ({ event }) => event });
  });

  test.each(names)("events over time by a property equal a recount, in %s", async (name) => {
    const world = worldNamed(name);
    const groupOf = ({ properties }: Happening) => textOf(properties.page);
    await expectOverTime(world, { breakdown: "property", key: "page" }, { groupOf });
    await expectOverTime(
      world,
      { breakdown: "property", key: "n", top: 5, event: "=1+1" },
      { event: "=1+1", top: 5, groupOf: ({ properties }) => textOf(properties.n) },
    );
    await expectOverTime(world, { breakdown: "property", key: "de'ep" }, {});
  });

  test.each(names)("events over time by a trait, as it is now, equal a recount, in %s", async (name) => {
    const world = worldNamed(name);
    const groupOf =
      (key: string) =>
      ({ userId }: Happening) =>
        textOf(world.people.get(userId)?.traits[key]);
    await expectOverTime(world, { breakdown: "trait", key: "tier" }, { groupOf: groupOf("tier") });
    await expectOverTime(
      world,
      { breakdown: "trait", key: "name", top: 4 },
      { top: 4, groupOf: groupOf("name") },
    );
  });
}

function checksPropertiesAndIntervals(names: readonly string[], worldNamed: WorldNamed): void {
  test.each(names)("names of properties equal a recount, in %s", async (name) => {
    const world = worldNamed(name);
    for (const [event, days] of [
      ["", 91],
      ["=1+1", 300],
    ] as const) {
      const from = world.today() - days + 1;
      const { length: events } = world.events.filter(
        (one) => (event === "" || one.event === event) && one.day >= from && one.day <= world.today(),
      );
      const properties = events === 0 ? [] : ["n", "page"].map((property) => ({ property, events }));
      const answer = await world.ask("/api/properties", { event, days });
      expect(answer).toEqual({ properties });
      expect(await world.ask("/api/properties", { event, days, limit: 1 })).toEqual({
        properties: properties.slice(0, 1),
      });
    }
  });

  test.each(names)(
    "usage intervals equal a recount, with their percentiles and the horizon, in %s",
    async (name) => {
      const world = worldNamed(name);
      for (const { toDay, parameters } of lastDays(world)) {
        const gaps = gapsRecount(world, toDay);
        const all = [...gaps].flatMap(([days, count]) => Array<number>(count).fill(days));
        const nth = (percent: number) => all[Math.ceil((percent * all.length) / 100) - 1] ?? null;
        const asked = await world.ask<{ gaps: number; intervals: { days: number; gaps: number }[] }>(
          "/api/usage-intervals",
          parameters,
        );
        const p90 = nth(90) ?? 0;
        expect(asked).toMatchObject({
          gaps: all.length,
          percentiles: {
            p10: nth(10),
            p25: nth(25),
            p50: nth(50),
            p75: nth(75),
            p90: nth(90),
            p95: nth(95),
            p99: nth(99),
          },
          advisedChurnHorizonDays: all.length < 100 ? null : ([7, 14, 28, 56].find((h) => h >= p90) ?? 84),
        });
        expect(asked.intervals.map(({ days, gaps: count }) => [days, count])).toEqual([...gaps]);
      }
    },
  );
}

/** A value as a figure shows it. */
function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (value === 1e30) return "1e30";
  return typeof value === "string" ? value : JSON.stringify(value);
}
