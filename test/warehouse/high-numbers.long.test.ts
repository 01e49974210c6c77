/** Figures of an organization whose users' numbers are beyond 2^24: numbers of users are never used again. */
import { expect, test } from "bun:test";
import { weeklyRetention } from "../../bench/history/history.ts";
import { activeUsers } from "../../server/analytics/active-users.ts";
import { adoption } from "../../server/analytics/adoption.ts";
import { retention } from "../../server/analytics/retention/retention.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();
const fromDay = Math.floor(Date.UTC(2026, 2, 2) / msPerDay);
/** Around the ends of arrays by number, and far beyond. */
const numbers = [1, 2 ** 23 - 1, 2 ** 23, 2 ** 23 + 1, 2 ** 24 - 1, 2 ** 24, 2 ** 24 + 1, 40_000_000];

/** Each user comes on the first day, and does the second event so many days later. */
const waitOf = (index: number) => index % 5;

test.each([[[]], [["ignored"]]])(
  "are those of users with low numbers, with the passive events %p",
  async (passiveEvents) => {
    const [high, low] = [subject.newOrganization(), subject.newOrganization()];
    for (const [organization, users] of [
      [high, numbers],
      [low, numbers.map((_, index) => index + 1)],
    ] as const) {
      const events = users.flatMap((user, index) =>
        [
          [0, "came"],
          [0, "ignored"],
          [waitOf(index), "exported"],
        ].map(([days, name]) =>
          event(organization, { user, event: `${name}`, timeMs: (fromDay + Number(days)) * msPerDay }),
        ),
      );
      await insertEvents(subject, events);
    }
    const figures = (organization: number) => {
      const days = { organization, toDay: fromDay + 6, days: 7, passiveEvents };
      const weeks = { fromDay, toDay: fromDay + 7, periods: 2 };
      return Promise.all([
        adoption(subject.warehouse, { ...days, limit: 9 }),
        activeUsers(subject.warehouse, days),
        retention(subject.warehouse, { ...weeklyRetention(organization, weeks), passiveEvents }),
      ]);
    };
    const [adopted, ...others] = await figures(high);
    expect([adopted, ...others]).toEqual(await figures(low));
    const waits = numbers.map((_, index) => waitOf(index)).toSorted((a, b) => a - b);
    expect(adopted.find((row) => row.event === "exported")).toMatchObject({
      users: numbers.length,
      firstTimeUsers: numbers.length,
      activeUsers: numbers.length,
      medianDaysToFirstUse: ((waits[3] ?? 0) + (waits[4] ?? 0)) / 2,
    });
  },
);
