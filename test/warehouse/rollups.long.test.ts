import { describe, expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import type { Populations } from "../../server/ledger/health.ts";
import type { DayCount } from "../../server/ledger/inbox.ts";
import { accountRow, type EventRow, userRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { Topology } from "../../server/warehouse/engine/topology.ts";
import { rollups } from "../../server/warehouse/schema/billing-tables.ts";
import { checkOrganization, describeDifference } from "../../server/warehouse/upkeep/check.ts";
import { rebuild } from "../../server/warehouse/upkeep/rebuild.ts";
import { account, user } from "../ledger/writes.ts";
import { withStatements } from "./failures.ts";
import {
  event,
  insertEvents,
  mixedEvents,
  msPerDay,
  randomOfThisRun,
  recount,
  rollupsOf,
  WarehouseUnderTest,
} from "./support.ts";

const subject = new WarehouseUnderTest();

const storedDay = ({ day }: EventRow) => day;
const optimized = ["events", "event_days", "active_days", "user_event_days", "user_spans"];

test("rollups equal a recount of the events, before and after merges", async () => {
  const organization = subject.newOrganization();
  const events = mixedEvents(randomOfThisRun("rollups"), organization, 3_000);
  await insertEvents(subject, events, 9);
  expect(await rollupsOf(subject, organization)).toEqual(recount(events, storedDay));
  for (const table of optimized) await subject.warehouse.command(`OPTIMIZE TABLE ${table} FINAL`);
  expect(await rollupsOf(subject, organization)).toEqual(recount(events, storedDay));
});

describe("rebuild", () => {
  test("moves every event to its day in another timezone, and every rollup equals a recount", async () => {
    const random = randomOfThisRun("rebuild");
    const others = subject.newOrganization();
    const otherEvents = mixedEvents(random, others, 300);
    await insertEvents(subject, otherEvents, 2);
    const organization = subject.newOrganization();
    const events = [
      ...mixedEvents(random, organization, 2_000),
      // The first and the last instant that is accepted.
      event(organization, { timeMs: 0, day: 0 }),
      event(organization, { timeMs: Date.UTC(2300, 0, 1) - 1 }),
    ];
    await insertEvents(subject, events, 5);
    for (const name of ["America/St_Johns", "Pacific/Apia", "UTC"]) {
      const zone = new Zone(name);
      const dayOf = ({ timeMs }: EventRow) => zone.dayOf(timeMs);
      await rebuild(subject.warehouse, organization, zone.transitions);
      expect(await rollupsOf(subject, organization)).toEqual(recount(events, dayOf));
      expect(await daysById(organization)).toEqual(new Map(events.map((one) => [one.id, dayOf(one)])));
    }
    expect(await rollupsOf(subject, others)).toEqual(recount(otherEvents, storedDay));
    expect(await daysById(others)).toEqual(new Map(otherEvents.map((one) => [one.id, one.day])));
  });

  test("is simply run again after it stopped before any statement", async () => {
    const random = randomOfThisRun("rebuild stopped");
    const rebuildStatements = statementsOfRebuild(subject.warehouse.topology);
    const organization = subject.newOrganization();
    const events = mixedEvents(random, organization, 400);
    await insertEvents(subject, events, 2);
    const zones = [new Zone("Asia/Tokyo"), new Zone("America/New_York")];
    for (let round = 0; round < 3; round += 1) {
      const zone = random.pick(zones);
      const stopBefore = random.between(1, rebuildStatements - 1);
      await expect(
        rebuild(withStatements(subject.warehouse, stopBefore), organization, zone.transitions),
      ).rejects.toThrow("stopped");
      await rebuild(withStatements(subject.warehouse, rebuildStatements), organization, zone.transitions);
      const expected = recount(events, ({ timeMs }) => zone.dayOf(timeMs));
      expect(await rollupsOf(subject, organization)).toEqual(expected);
    }
    // So many statements are there, or the test would not have stopped before each.
    const complete = rebuild(
      withStatements(subject.warehouse, rebuildStatements - 1),
      organization,
      new Zone("UTC").transitions,
    );
    await expect(complete).rejects.toThrow("stopped");
  });

  test("of an organization without events is harmless, and tells its progress", async () => {
    const steps: string[] = [];
    const organization = subject.newOrganization();
    await rebuild(
      subject.warehouse,
      organization,
      new Zone("Asia/Tokyo").transitions,
      ({ step, stepsDone, steps: all }) => steps.push(`${stepsDone}/${all} ${step}`),
    );
    expect(steps).toEqual([
      "1/6 days",
      "2/6 event_days",
      "3/6 active_days",
      "4/6 user_event_days",
      "5/6 user_spans",
      "6/6 billing_events",
    ]);
    expect(await rollupsOf(subject, organization)).toEqual([]);
  });

  test("events that come after it are counted as ever", async () => {
    const organization = subject.newOrganization();
    const random = randomOfThisRun("after rebuild");
    const [before, after] = [mixedEvents(random, organization, 200), mixedEvents(random, organization, 200)];
    await insertEvents(subject, before);
    await rebuild(subject.warehouse, organization, new Zone("UTC").transitions);
    await insertEvents(subject, after);
    expect(await rollupsOf(subject, organization)).toEqual(recount([...before, ...after], storedDay));
  });
});

/** The days, six statements for each rollup, seven where replicas have to agree first, one for that with
 * counts, and one for the counts that scoring has seen. */
function statementsOfRebuild({ cluster }: Topology): number {
  return 1 + rollups.length * (cluster === null ? 6 : 7) + 2;
}

async function daysById(organization: number): Promise<Map<string, number>> {
  const rows = await subject.warehouse.rows<{ id: string; day: number }>(
    "SELECT replaceAll(toString(id), '-', '') AS id, toInt32(day) AS day FROM events WHERE organization = {organization:UInt32}",
    { organization },
  );
  return new Map(rows.map(({ id, day }) => [id, day]));
}

describe("check", () => {
  test("finds nothing where ledger, events and rollups agree", async () => {
    const { organization, acknowledged } = await checkable();
    expect(await checkOrganization(subject.warehouse, organization, acknowledged)).toEqual([]);
  });

  test("finds an event that is missing, one that is there twice, and one that is another", async () => {
    const { organization, events, acknowledged } = await checkable();
    const [missing, twice, other] = [
      event(organization, day(10)),
      event(organization, day(11)),
      event(organization, day(12)),
    ];
    await insertEvents(subject, [twice, twice, { ...other, id: eventIdPlusOne(other.id) }]);
    const dayCounts = dayCountsOf([...events, missing, twice, other]);
    const differences = await checkOrganization(subject.warehouse, organization, {
      ...acknowledged,
      dayCounts,
    });
    expect(differences.map(describeDifference)).toEqual([
      `events of 1970-01-11 (UTC): the ledger acknowledged 1, the warehouse has 0`,
      `events of 1970-01-12 (UTC): the ledger acknowledged 1, the warehouse has 2`,
      expect.stringContaining("events of 1970-01-13 (UTC): 1 in ledger and warehouse, but not the same"),
    ]);
  });

  test("finds users and accounts that are missing or of another version", async () => {
    const { organization, acknowledged } = await checkable();
    const populations = { ...acknowledged.populations, users: 3, userVersions: 4, accountVersions: 2 };
    const differences = await checkOrganization(subject.warehouse, organization, {
      ...acknowledged,
      populations,
    });
    expect(differences.map(describeDifference)).toEqual([
      "users: the ledger acknowledged 3, the warehouse has 2",
      "accounts: 1 in ledger and warehouse, but not the same: checksums 2 and 1",
    ]);
  });

  test("finds each rollup that lacks a row or has one too many", async () => {
    const manipulations = [
      [
        "event_days",
        "SELECT {organization:UInt32}, 'signed_in', toDate32('2026-01-01'), groupBitmapState(toUInt32(999))",
      ],
      [
        "active_days",
        "SELECT {organization:UInt32}, toDate32('2026-01-01'), groupBitmapState(toUInt32(999))",
      ],
      ["user_event_days", "SELECT {organization:UInt32}, 1, toDate32('2026-01-01'), 'signed_in', 0, 1"],
      ["user_spans", "SELECT {organization:UInt32}, 1, toDate32('1999-01-01'), toDate32('1999-01-01')"],
    ];
    for (const [table, select] of manipulations) {
      const { organization, acknowledged } = await checkable();
      const kinds = async () => {
        const found = await checkOrganization(subject.warehouse, organization, acknowledged);
        return [...new Set(found.map(({ kind }) => kind as string))];
      };
      await subject.warehouse.command(`INSERT INTO ${table} SETTINGS insert_deduplicate = 0 ${select}`, {
        organization,
      });
      expect(await kinds()).toEqual([`${table}`]);
      await subject.warehouse.command(`DELETE FROM ${table} WHERE organization = {organization:UInt32}`, {
        organization,
      });
      expect(await kinds()).toEqual([`${table}`]);
    }
  });

  test("finds counts that agree and belong to other users", async () => {
    const { organization, acknowledged } = await checkable();
    const where = "WHERE organization = {organization:UInt32}";
    await subject.warehouse.command(
      `INSERT INTO user_event_days SETTINGS insert_deduplicate = 0
       SELECT organization, user + 1000, day, event, account, sum(count) FROM user_event_days ${where} GROUP BY ALL`,
      { organization },
    );
    await subject.warehouse.command(`DELETE FROM user_event_days ${where} AND user < 1000`, { organization });
    const differences = await checkOrganization(subject.warehouse, organization, acknowledged);
    expect(differences.length).toBeGreaterThan(0);
    for (const difference of differences) {
      expect(describeDifference(difference)).toEndWith("of other users or other events");
    }
  });
});

/** An organization whose ledger and warehouse agree. */
async function checkable() {
  const organization = subject.newOrganization();
  const events = mixedEvents(randomOfThisRun("check"), organization, 150);
  await insertEvents(subject, events, 2);
  const users = [user(organization, "ada"), user(organization, "bob", { number: 2 })];
  await subject.insert(
    "users",
    [...users, user(organization, "bob", { number: 2, version: 2 })].map(userRow),
  );
  await subject.insert("accounts", [accountRow(account(organization, "acme"))]);
  const populations: Populations = {
    users: 2,
    userVersions: 3,
    accounts: 1,
    accountVersions: 1,
    versionRows: { rows: 0, versions: 0 },
    accountVersionRows: { rows: 0, versions: 0 },
  };
  return { organization, events, acknowledged: { dayCounts: dayCountsOf(events), populations } };
}

function dayCountsOf(events: readonly EventRow[]): DayCount[] {
  const days = Map.groupBy(events, ({ timeMs }) => Math.floor(timeMs / msPerDay));
  return [...days].map(([utcDay, ofDay]) => ({
    organization: ofDay[0]?.organization ?? 0,
    utcDay,
    events: ofDay.length,
    checksum: ofDay.reduce((sum, { id }) => (sum + Number.parseInt(id.slice(-8), 16)) >>> 0, 0),
  }));
}

function day(number: number): { timeMs: number } {
  return { timeMs: number * msPerDay + 5 };
}

function eventIdPlusOne(id: string): string {
  const last = (Number.parseInt(id.slice(-8), 16) + 1) >>> 0;
  return `${id.slice(0, -8)}${last.toString(16).padStart(8, "0")}`;
}
