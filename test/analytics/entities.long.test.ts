/** The reads behind the pages of one user or account, through HTTP, compared with a recount of the sent
 * events. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { zoneFarFromMidnight } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { randomOfThisRun } from "../warehouse/support.ts";
import { dateOf } from "./recount.ts";
import { type Happening, World } from "./world.ts";

let server: Server;
let world: World;
const account = "o'neil & sons";
const ofAccount = `/api/accounts/${encodeURIComponent(account)}`;

beforeAll(async () => {
  server = await Server.shared();
  const zone = zoneFarFromMidnight("Asia/Kathmandu", "America/St_Johns");
  world = new World(server, randomOfThisRun("entities"), "Entities", zone);
  // A score of more than a year takes 10 s of processor time.
  await world.fill(30, 1_600, 200);
  await server.ready();
  await world.exclude("u1");
});
afterAll(() => server.stop());

interface Activity {
  readonly days: readonly { day: string; events: number; users?: number }[];
}
interface Names {
  readonly events: readonly {
    event: string;
    count: number;
    users?: number;
    firstDay: string;
    lastDay: string;
  }[];
}
interface Members {
  readonly day: string;
  readonly total: number;
  readonly active28: number;
  readonly active90: number;
  readonly activeShare: number | null;
  readonly topShare: number | null;
  readonly members: readonly {
    userId: string;
    isMember: boolean;
    lastActiveDay: string | null;
    activeDays28: number;
    share: number | null;
    state: string;
    health: number | null;
  }[];
}

function activityOf(events: readonly Happening[], fromDay: number, toDay: number) {
  return Array.from({ length: toDay - fromDay + 1 }, (_, index) => {
    const today = events.filter(({ day }) => day === fromDay + index);
    return {
      day: dateOf(fromDay + index),
      events: today.length,
      users: new Set(today.map(({ userId }) => userId)).size,
    };
  });
}

function namesOf(events: readonly Happening[]) {
  const past = events.filter(({ day }) => day <= world.today());
  return [...Map.groupBy(past, ({ event }) => event)]
    .map(([event, all]) => ({
      event,
      label: null,
      count: all.length,
      users: new Set(all.map(({ userId }) => userId)).size,
      firstDay: dateOf(Math.min(...all.map(({ day }) => day))),
      lastDay: dateOf(Math.max(...all.map(({ day }) => day))),
    }))
    .sort((a, b) => (a.event < b.event ? -1 : 1));
}

const byName = (a: { event: string }, b: { event: string }) => (a.event < b.event ? -1 : 1);
const withoutUsers = ({ users: _, ...rest }: { users: number }) => rest;

describe("the calendar", () => {
  test("of a user has the events of every day, in the organization's timezone", async () => {
    const mine = world.events.filter(({ userId }) => userId === "u0");
    const { days } = await world.ask<Activity>("/api/users/u0/activity", { days: 400 });
    expect(days.length).toBe(400);
    expect(days).toEqual(activityOf(mine, world.today() - 399, world.today()).map(withoutUsers) as never);
    expect(days.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(50);
  });

  test("of a user ends with a day that was asked for, and not after today", async () => {
    const mine = world.events.filter(({ userId }) => userId === "u0");
    const to = world.today() - 100;
    const { days } = await world.ask<Activity>("/api/users/u0/activity", { days: 50, to: dateOf(to) });
    expect(days).toEqual(activityOf(mine, to - 49, to).map(withoutUsers) as never);
    const tomorrow = await world.get("/api/users/u0/activity", { to: dateOf(world.today() + 2) });
    await expectError(tomorrow, "validation_error");
  });

  test("of an account has what was done in it, by whom counts in figures", async () => {
    const its = world.events.filter((event) => event.account === account);
    const { days } = await world.ask<Activity>(`${ofAccount}/activity`, { days: 400 });
    expect(days).toEqual(activityOf(its, world.today() - 399, world.today()));
  });
});

describe("names of events", () => {
  test("of a user", async () => {
    const mine = world.events.filter(({ userId }) => userId === "u2");
    const { events } = await world.ask<Names>("/api/users/u2/events");
    expect(events.toSorted(byName)).toEqual(namesOf(mine).map(withoutUsers) as never);
    expect(events.map(({ count }) => count)).toEqual(
      events.map(({ count }) => count).toSorted((a, b) => b - a),
    );
  });

  test("of an account, with how many did each", async () => {
    const its = world.events.filter((event) => event.account === account);
    const { events } = await world.ask<Names>(`${ofAccount}/events`);
    expect(events.toSorted(byName)).toEqual(namesOf(its));
  });

  test("choose a timeline's events, page by page", async () => {
    for (const event of ['quote"d', "naïve-é-🎈", "never"]) {
      const seen: string[] = [];
      let next: string | null = "";
      while (next !== null) {
        const page: { events: { event: string; timestamp: string }[]; next: string | null } = await world.ask(
          "/api/users/u0/timeline",
          { event, limit: 7, ...(next !== "" && { before: next }) },
        );
        seen.push(...page.events.map((one) => `${one.event} ${one.timestamp}`));
        next = page.next;
      }
      const sent = world.events
        .filter((one) => one.userId === "u0" && one.event === event)
        .map(({ timeMs }) => `${event} ${new Date(timeMs).toISOString()}`);
      expect(seen.toSorted()).toEqual(sent.toSorted());
    }
  });
});

/** Members counted again: days before a cut-off, 50 of an event a day at most. */
function membersOf(cutoff: number) {
  const its = world.events.filter((one) => one.account === account && one.day < cutoff);
  const recent = its.filter(({ day }) => day >= cutoff - 90);
  const belong = [...world.people.values()].filter((one) => one.account === account).map((one) => one.userId);
  const users = new Set([...belong, ...recent.map(({ userId }) => userId)]);
  const volume = (of: readonly Happening[]) =>
    [...Map.groupBy(of, ({ day, event }) => `${day} ${event}`).values()].reduce(
      (sum, { length }) => sum + Math.min(50, length),
      0,
    );
  const last28 = its.filter(({ day }) => day >= cutoff - 28);
  const all = volume(last28);
  return [...users].sort().map((userId) => {
    const days = recent.filter((one) => one.userId === userId).map(({ day }) => day);
    return {
      userId,
      isMember: belong.includes(userId),
      lastActiveDay: days.length === 0 ? null : dateOf(Math.max(...days)),
      activeDays28: new Set(days.filter((day) => day >= cutoff - 28)).size,
      share: all === 0 ? null : volume(last28.filter((one) => one.userId === userId)) / all,
    };
  });
}

describe("the members of an account", () => {
  const facts = (members: Members["members"]) =>
    members
      .map(({ userId, isMember, lastActiveDay, activeDays28, share }) => ({
        userId,
        isMember,
        lastActiveDay,
        activeDays28,
        share,
      }))
      .sort((a, b) => (a.userId < b.userId ? -1 : 1));

  test("carry their shares of it, before the first scores and after", async () => {
    const before = await world.ask<Members>(`${ofAccount}/members`);
    expect(before.day).toBe(dateOf(world.today()));
    expect(facts(before.members)).toEqual(membersOf(world.today()));
    // Of today, so that what the server scores by itself meanwhile is not newer.
    const asOf = world.today();
    await server.command("score", "--organization", world.name);
    const after = await world.ask<Members>(`${ofAccount}/members`);
    const expected = membersOf(asOf);
    expect(after.day).toBe(dateOf(asOf));
    expect(facts(after.members)).toEqual(expected);
    const active28 = expected.filter(({ activeDays28 }) => activeDays28 > 0).length;
    const active90 = expected.filter(({ lastActiveDay }) => lastActiveDay !== null).length;
    expect(after).toMatchObject({
      total: expected.length,
      active28,
      active90,
      activeShare: active28 / active90,
    });
    expect(after.topShare).toBe(Math.max(...expected.map(({ share }) => share ?? 0)));
    for (const { userId, state, health } of after.members.slice(0, 4)) {
      const score = await world.ask<{ state: string; health: { score: number | null } }>(
        `/api/users/${userId}/score`,
      );
      expect([userId, state]).toEqual([userId, score.state]);
      // Stored, and computed again: the last digits differ.
      expect(health ?? -1).toBeCloseTo(score.health.score ?? -1, 9);
    }
  });

  test("come in the order that was asked for, a page at a time", async () => {
    const all = await world.ask<Members>(`${ofAccount}/members`);
    const shares = all.members.map(({ share }) => share ?? -1);
    expect(shares).toEqual(shares.toSorted((a, b) => b - a));
    const paged: string[] = [];
    for (let offset = 0; offset < all.total; offset += 3) {
      const page = await world.ask<Members>(`${ofAccount}/members`, { limit: 3, offset });
      expect(page.total).toBe(all.total);
      paged.push(...page.members.map(({ userId }) => userId));
    }
    expect(paged).toEqual(all.members.map(({ userId }) => userId));
    const byHealth = await world.ask<Members>(`${ofAccount}/members`, { sort: "health", order: "ascending" });
    const healths = byHealth.members.map(({ health }) => health ?? Infinity);
    expect(healths).toEqual(healths.toSorted((a, b) => a - b));
  });
});

test("a user tells whether it counts in figures", async () => {
  expect(await world.ask<object>("/api/users/u1")).toMatchObject({ isExcluded: true });
  expect(await world.ask<object>("/api/users/u0")).toMatchObject({ isExcluded: false });
});

test("an unknown user or account is not found", async () => {
  for (const path of [
    "/api/users/nobody/activity",
    "/api/users/nobody/events",
    "/api/accounts/none/members",
  ]) {
    await expectError(await world.get(path), "not_found");
  }
});
