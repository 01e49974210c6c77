import { expect, test } from "bun:test";
import { activeUsers } from "../../server/analytics/active-users.ts";
import { timeline } from "../../server/analytics/entities/timeline.ts";
import { retention } from "../../server/analytics/retention/retention.ts";
import { weekly } from "./retention-support.ts";
import {
  event,
  insertEvents,
  msPerDay,
  randomEvents,
  randomOfThisRun,
  WarehouseUnderTest,
} from "./support.ts";

const subject = new WarehouseUnderTest();

const monday = Date.UTC(2026, 2, 2) / msPerDay;

function on(organization: number, user: number, day: number) {
  return event(organization, { user, timeMs: day * msPerDay + 1_000 });
}

test("weekly retention of a handful of users is what one counts by hand", async () => {
  const organization = subject.newOrganization();
  await insertEvents(subject, [
    on(organization, 1, monday),
    on(organization, 1, monday + 7),
    on(organization, 1, monday + 8),
    // A Sunday belongs to the week of the Monday before it.
    on(organization, 2, monday + 6),
    on(organization, 2, monday + 21),
    on(organization, 3, monday + 7),
  ]);
  const { cells } = await retention(subject.warehouse, weekly(organization, 4, monday + 27));
  expect(cells.map(({ cohortDay, cohortUsers, users }) => [cohortDay, cohortUsers, users])).toEqual([
    [monday, 2, 2],
    [monday, 2, 1],
    [monday, 2, 0],
    [monday, 2, 1],
    [monday + 7, 1, 1],
    [monday + 7, 1, 0],
    [monday + 7, 1, 0],
  ]);
  expect(cells.map(({ isComplete }) => isComplete)).toEqual([true, true, true, false, true, true, false]);
});

test("active users of a day, 7 days and 30 days equal a recount, and empty days are shown", async () => {
  const organization = subject.newOrganization();
  const events = randomEvents(randomOfThisRun("active users"), organization, 150);
  await insertEvents(subject, events, 2);
  const toDay = Math.floor((events[0]?.timeMs ?? 0) / msPerDay) + 40;
  const distinct = (day: number, days: number) =>
    new Set(events.filter((one) => one.day <= day && one.day > day - days).map(({ user }) => user)).size;
  const expected = Array.from({ length: 90 }, (_, n) => {
    const day = toDay - 89 + n;
    const daily = distinct(day, 1);
    const monthly = distinct(day, 30);
    const daysWithUsers = Array.from({ length: 30 }, (_, age) => ({ age, users: distinct(day - age, 1) }));
    const first = Math.min(27, Math.max(...daysWithUsers.map(({ age, users }) => (users > 0 ? age : 0))));
    const sum = daysWithUsers.reduce((all, { age, users }) => all + (age < 28 ? users : 0), 0);
    const stickiness = monthly === 0 ? null : sum / (first + 1) / monthly;
    return { day, daily, weekly: distinct(day, 7), monthly, stickiness };
  });
  expect(await activeUsers(subject.warehouse, { organization, toDay, days: 90, passiveEvents: [] })).toEqual(
    expected,
  );
});

test("active users of an organization without events are zero on every day", async () => {
  const organization = subject.newOrganization();
  const rows = await activeUsers(subject.warehouse, {
    organization,
    toDay: 20_000,
    days: 3,
    passiveEvents: [],
  });
  expect(rows.map(({ day, monthly }) => [day, monthly])).toEqual([
    [19_998, 0],
    [19_999, 0],
    [20_000, 0],
  ]);
});

test("a timeline shows one user's events, the newest first, and can be read on", async () => {
  const organization = subject.newOrganization();
  const events = Array.from({ length: 10 }, (_, n) =>
    event(organization, {
      user: n % 2,
      timeMs: Date.UTC(2024 + (n >> 2), 1, n + 1),
      properties: `{"n":${n}}`,
    }),
  );
  await insertEvents(subject, [...events, event(subject.newOrganization(), { user: 1 })]);
  const first = await timeline(subject.warehouse, { organization, user: 1, limit: 3 });
  expect(first.map(({ properties }) => properties)).toEqual(['{"n":9}', '{"n":7}', '{"n":5}']);
  expect(first[0]).toMatchObject({ event: "page_viewed", timeMs: events[9]?.timeMs });
  const before = first.at(-1);
  const rest = await timeline(subject.warehouse, { organization, user: 1, limit: 3, before });
  expect(rest.map(({ properties }) => properties)).toEqual(['{"n":3}', '{"n":1}']);
});

test("questions without a sensible bound are refused", () => {
  const { warehouse } = subject;
  expect(() => timeline(warehouse, { organization: 1, user: 1, limit: 5_001 })).toThrow("from 1 to 5000");
  expect(() => activeUsers(warehouse, { organization: 1, toDay: 1, days: 0, passiveEvents: [] })).toThrow(
    "from 1 to 800",
  );
});
