/** Sets by events, of more conditions than a statement has: each has the users that a count of the rows
 * finds. */
import { expect, test } from "bun:test";
import { numbersOfSet } from "../../server/analytics/entities/entity-sets.ts";
import { eventSets } from "../../server/analytics/entities/event-sets.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const toDay = 20_000;
const users = 12;
const names = Array.from({ length: 7 }, (_, n) => `event ${n}`);

/** How often a user did an event on a day, so many days ago. */
const countOn = (user: number, name: number, ago: number) => ((user * 7 + name * 3 + ago * 5) % 11) % 3;

/** Among them are periods of other lengths in each statement. */
const conditions = Array.from({ length: 450 }, (_, n) => ({
  event: names[n % names.length] ?? "",
  times: 1 + (n % 5),
  days: 1 + (n % 20) + Math.floor(n / 200),
}));

test("hundreds of conditions have the sets of one each", async () => {
  const organization = subject.newOrganization();
  const rows = Array.from({ length: users }, (_, at) => at + 1).flatMap((user) =>
    names.flatMap((event, name) =>
      Array.from({ length: 25 }, (_, ago) => {
        const count = countOn(user, name, ago);
        return count === 0 ? [] : [`(${organization}, ${user}, ${toDay - ago}, '${event}', 0, ${count})`];
      }).flat(),
    ),
  );
  await subject.warehouse.command(
    `INSERT INTO user_event_days (organization, user, day, event, account, count) VALUES ${rows.join(", ")}`,
    {},
  );
  const sets = await eventSets(subject.warehouse, "user", { organization, toDay, conditions });
  const found = await Promise.all(sets.map((set) => numbersOfSet(subject.warehouse, set)));
  const expected = conditions.map(({ event, times, days }) =>
    Array.from({ length: users }, (_, at) => at + 1).filter((user) => {
      const counts = Array.from({ length: Math.min(days, 25) }, (_, ago) =>
        countOn(user, names.indexOf(event), ago),
      );
      return counts.reduce((sum, count) => sum + count, 0) >= times;
    }),
  );
  expect(found.map((numbers) => numbers.toSorted((a, b) => a - b))).toEqual(expected);
  expect(new Set(expected.map(({ length }) => length)).size).toBeGreaterThan(3);
});
