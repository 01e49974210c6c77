/** Users out of every table of the warehouse, and raw events that are too old while the figures stay. */
import { describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Zone } from "../../server/calendar/zone.ts";
import { type EventRow, userRow, userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { checkOrganization } from "../../server/warehouse/upkeep/check.ts";
import { eraseUsers, findUsers } from "../../server/warehouse/upkeep/erase.ts";
import { eventCounts } from "../../server/warehouse/upkeep/event-counts.ts";
import { dropEvents, type OldEvents } from "../../server/warehouse/upkeep/keep-events.ts";
import { rebuild } from "../../server/warehouse/upkeep/rebuild.ts";
import { user } from "../ledger/writes.ts";
import { withStatements } from "./failures.ts";
import {
  event,
  insertEvents,
  randomEvents,
  randomOfThisRun,
  recount,
  rollupsOf,
  WarehouseUnderTest,
} from "./support.ts";

const subject = new WarehouseUnderTest();
const storedDay = ({ day }: EventRow) => day;
const without = (events: readonly EventRow[], erased: number) => events.filter((one) => one.user !== erased);

async function people(organization: number, numbers: readonly number[]): Promise<void> {
  const users = numbers.map((number) => user(organization, `u${number}`, { number }));
  await subject.insert("users", users.map(userRow));
  const version = { atMs: 1_000, traits: {}, account: 0 };
  await subject.insert(
    "user_versions",
    users.map((one) => userVersionRow(one, version)),
  );
}

describe("erasing a user", () => {
  test("leaves everybody else as they were, also the same number in another organization", async () => {
    const random = randomOfThisRun("erase");
    const [organization, other] = [subject.newOrganization(), subject.newOrganization()];
    const events = [
      ...randomEvents(random, organization, 1_500),
      event(organization, { user: 3, event: "only_mine" }),
    ];
    const otherEvents = randomEvents(random, other, 300);
    await insertEvents(subject, events, 4);
    await insertEvents(subject, otherEvents, 2);
    for (const id of [organization, other]) await people(id, [1, 2, 3]);
    const before = await eventCounts(subject.warehouse, organization);

    const found = (await findUsers(subject.warehouse, organization, [3])).get(3);
    if (found === undefined) throw new Error("user 3 was not counted");
    const mine = events.filter((one) => one.user === 3);
    expect(found.dayCounts.reduce((sum, day) => sum + day.events, 0)).toBe(mine.length);
    expect([found.versions, found.versionSum]).toEqual([1, 1]);
    expect(found.days).toBe(new Set(mine.map(storedDay)).size);
    await eraseUsers(subject.warehouse, [{ organization, user: 3 }]);

    expect(await rollupsOf(subject, organization)).toEqual(recount(without(events, 3), storedDay));
    expect(await rollupsOf(subject, other)).toEqual(recount(otherEvents, storedDay));
    expect(await subject.count("event_days", organization)).toBeGreaterThan(0);
    for (const table of ["users", "user_versions"]) {
      expect([await subject.count(table, organization), await subject.count(table, other)]).toEqual([2, 3]);
    }
    const after = new Map(
      (await eventCounts(subject.warehouse, organization)).map((day) => [day.utcDay, day]),
    );
    const gone = new Map(found.dayCounts.map((day) => [day.utcDay, day]));
    for (const { utcDay, events: count, checksum } of before) {
      const [left, taken] = [after.get(utcDay), gone.get(utcDay)];
      expect((left?.events ?? 0) + (taken?.events ?? 0)).toBe(count);
      expect(((left?.checksum ?? 0) + (taken?.checksum ?? 0)) % 2 ** 32).toBe(checksum);
    }
    await subject.warehouse.command("OPTIMIZE TABLE event_days FINAL");
    expect(await rollupsOf(subject, organization)).toEqual(recount(without(events, 3), storedDay));
  });

  test("counts each of several users, also one without rows", async () => {
    const organization = subject.newOrganization();
    const events = randomEvents(randomOfThisRun("found"), organization, 500);
    await insertEvents(subject, events, 3);
    await people(organization, [1, 2]);
    const users = Array.from({ length: 201 }, (_, index) => index);
    const found = await findUsers(subject.warehouse, organization, users);
    expect([...found.keys()]).toEqual(users);
    for (const [number, { dayCounts, days, versions, accounts }] of found) {
      const mine = events.filter((one) => one.user === number);
      expect(dayCounts.reduce((sum, day) => sum + day.events, 0)).toBe(mine.length);
      expect(days).toBe(new Set(mine.map(storedDay)).size);
      expect(versions).toBe(number === 1 || number === 2 ? 1 : 0);
      const named = new Set(mine.map(({ account }) => account ?? 0));
      named.delete(0);
      expect(accounts).toEqual([...named].sort((a, b) => a - b));
    }
  });

  test("is simply done again after it stopped before any statement, with users of two organizations", async () => {
    const [organization, other] = [subject.newOrganization(), subject.newOrganization()];
    const random = randomOfThisRun("erase stopped");
    const events = [
      ...randomEvents(random, organization, 400),
      ...[5, 6].map((number) => event(organization, { user: number, event: "only_theirs" })),
    ];
    const otherEvents = randomEvents(random, other, 400);
    await insertEvents(subject, [...events, ...otherEvents], 3);
    const erased = [
      { organization, user: 5 },
      { organization, user: 6 },
      { organization: other, user: 6 },
    ];
    let statements = 0;
    for (; ; statements += 1) {
      const stopped = eraseUsers(withStatements(subject.warehouse, statements), erased);
      if (
        await stopped.then(
          () => true,
          (error) => !String(error).includes("stopped"),
        )
      )
        break;
    }
    // Every table with a column of users is there, or the test would not have stopped before each. One
    // statement of a table erases all users, and the last marks snapshots of accounts as stale.
    expect(statements).toBe(15);
    expect(await rollupsOf(subject, organization)).toEqual(
      recount(without(without(events, 5), 6), storedDay),
    );
    expect(await rollupsOf(subject, other)).toEqual(recount(without(otherEvents, 6), storedDay));
    const [left] = await subject.warehouse.rows<{ rows: number }>(
      "SELECT count() AS rows FROM event_days WHERE organization = {organization:UInt32} AND event = 'only_theirs'",
      { organization },
    );
    expect(left?.rows).toBe(0);
  });
});

describe("events that are too old", () => {
  const drop = (old: readonly OldEvents[], before: () => Promise<void> = async () => undefined) =>
    dropEvents(subject.warehouse, old, async (work) => {
      await before();
      return work();
    });

  /** The files with the events of a year, by their inodes. A mutation links the files of parts that it does
   * not change. */
  async function filesOf(year: number): Promise<readonly number[]> {
    const parts = await subject.warehouse.rows<{ path: string }>(
      `SELECT path FROM system.parts
       WHERE database = currentDatabase() AND table = 'events' AND active AND partition_id = toString({year:UInt32})
       ORDER BY name`,
      { year },
    );
    return parts.flatMap(({ path }) => {
      const files = readdirSync(path).filter((name) => name.endsWith(".bin"));
      return files.map((name) => statSync(join(path, name)).ino);
    });
  }

  test("of several organizations go together: a year that has no others is dropped, and no other is written anew", async () => {
    const [one, two, three] = [
      subject.newOrganization(),
      subject.newOrganization(),
      subject.newOrganization(),
    ];
    const daysOf = {
      [one]: ["2019-12-31", "2020-07-01", "2021-03-01"],
      [two]: ["2019-05-01", "2020-08-01", "2022-03-01"],
    };
    const late = { [three]: ["2019-06-01"] };
    const insert = async (days: Readonly<Record<number, readonly string[]>>) => {
      const events = Object.entries(days).flatMap(([organization, dates]) =>
        dates.map((date) => event(Number(organization), { timeMs: Date.parse(date) })),
      );
      await insertEvents(subject, events);
    };
    const left = () =>
      subject.warehouse.rows<{ organization: number; dates: string[] }>(
        `SELECT organization, groupArray(toString(day)) AS dates FROM (
           SELECT organization, day FROM events WHERE organization IN {of:Array(UInt32)} ORDER BY day)
         GROUP BY organization ORDER BY organization`,
        { of: [one, two, three] },
      );
    await insert(daysOf);
    const before = Math.floor(Date.UTC(2020, 7, 1) / 86_400_000);
    const old = [one, two].map((organization) => ({ organization, beforeDay: before }));
    const untouched = [await filesOf(2021), await filesOf(2022)];
    expect(untouched.map(({ length }) => length > 0)).toEqual([true, true]);
    // A late event of an organization that keeps all: its year may not go as a whole.
    let inserted = false;
    const counts = await drop(old, async () => {
      if (!inserted) await insert(late);
      inserted = true;
    });
    expect([...counts].sort()).toEqual([
      [one, 2],
      [two, 1],
    ]);
    expect(await left()).toEqual([
      { organization: one, dates: ["2021-03-01"] },
      { organization: two, dates: ["2020-08-01", "2022-03-01"] },
      { organization: three, dates: ["2019-06-01"] },
    ]);
    expect([await filesOf(2021), await filesOf(2022)]).toEqual(untouched);
    expect([...(await drop([{ organization: three, beforeDay: before }, ...old]))]).toEqual([[three, 1]]);
    expect(await filesOf(2019)).toEqual([]);
    expect((await left()).map(({ organization }) => organization)).toEqual([one, two]);
  });

  /** The rollups that the deletion must not change, and what is left of the events. */
  async function droppedBefore(fromDay: number, events: readonly EventRow[], organization: number) {
    await insertEvents(subject, events, 3);
    const old = events.filter(({ day }) => day < fromDay).length;
    expect(old).toBeGreaterThan(0);
    expect([...(await drop([{ organization, beforeDay: fromDay }]))]).toEqual([[organization, old]]);
    expect([...(await drop([{ organization, beforeDay: fromDay }]))]).toEqual([]);
  }

  async function differences(organization: number, eventsFromDay: number) {
    const dayCounts = await eventCounts(subject.warehouse, organization);
    const populations = {
      users: 0,
      userVersions: 0,
      accounts: 0,
      accountVersions: 0,
      versionRows: null,
      accountVersionRows: { rows: 0, versions: 0 },
    };
    return checkOrganization(subject.warehouse, organization, { dayCounts, populations, eventsFromDay });
  }

  test("go, and figures stay, also after a rebuild and an erasure", async () => {
    const organization = subject.newOrganization();
    const events = randomEvents(randomOfThisRun("keep"), organization, 600);
    const fromDay = Math.floor(Date.UTC(2026, 0, 10) / 86_400_000);
    await droppedBefore(fromDay, events, organization);
    expect(await rollupsOf(subject, organization)).toEqual(recount(events, storedDay));
    await rebuild(subject.warehouse, organization, new Zone("UTC").transitions, undefined, fromDay);
    expect(await rollupsOf(subject, organization)).toEqual(recount(events, storedDay));
    expect(await differences(organization, fromDay)).toEqual([]);
    await eraseUsers(subject.warehouse, [{ organization, user: 7 }]);
    expect(await rollupsOf(subject, organization)).toEqual(recount(without(events, 7), storedDay));
    expect(await differences(organization, fromDay)).toEqual([]);
    expect((await differences(organization, fromDay - 30)).length).toBeGreaterThan(0);
  });

  test("a rebuild in another timezone changes the days that are kept, and no earlier one", async () => {
    const organization = subject.newOrganization();
    const zone = new Zone("Asia/Tokyo");
    const events = randomEvents(randomOfThisRun("keep, moved"), organization, 600);
    const fromDay = Math.floor(Date.UTC(2026, 0, 10) / 86_400_000);
    await droppedBefore(fromDay, events, organization);
    for (let time = 0; time < 2; time += 1) {
      await rebuild(subject.warehouse, organization, zone.transitions, undefined, fromDay);
      const dayOf = (one: EventRow) => (one.day < fromDay ? one.day : zone.dayOf(one.timeMs));
      expect(await rollupsOf(subject, organization)).toEqual(recount(events, dayOf));
      expect(await differences(organization, fromDay)).toEqual([]);
    }
  });
});
