/** The events by name and day that the engine keeps inside every part of `events`, and questions about
 * properties. */
import { expect, test } from "bun:test";
import { type EventsByValueQuestion, eventsByValue } from "../../server/analytics/events-by-value.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { EventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { eventsByName } from "../../server/warehouse/schema/tables.ts";
import { eraseUsers } from "../../server/warehouse/upkeep/erase.ts";
import { eraseAccount } from "../../server/warehouse/upkeep/erase-account.ts";
import { dropEvents } from "../../server/warehouse/upkeep/keep-events.ts";
import { rebuild } from "../../server/warehouse/upkeep/rebuild.ts";
import { becomes } from "../until.ts";
import {
  forgetMigrationsFrom,
  insertEvents,
  msPerDay,
  randomEvents,
  randomOfThisRun,
  WarehouseUnderTest,
} from "./support.ts";

const subject = new WarehouseUnderTest();
const toDay = Math.floor(Date.UTC(2025, 11, 30) / msPerDay);

function question(organization: number, some: Partial<EventsByValueQuestion> = {}): EventsByValueQuestion {
  const days = { period: "day", periods: 7, toDay, weekStart: 1 } as const;
  return { organization, event: "", top: 3, by: "property", key: "page", ...days, ...some };
}

/** The warehouse, but `rows` is another one. */
function asking(rows: Warehouse["rows"]): Warehouse {
  return { ...subject.warehouse, topology: subject.warehouse.topology, rows };
}

/** Events with a property of five values, each event's day being that of its time in UTC. */
function eventsWithPages(what: string, organization: number): EventRow[] {
  const random = randomOfThisRun(what);
  return randomEvents(random, organization, 900).map((one) => ({
    ...one,
    properties: JSON.stringify({ page: `/${random.between(1, 5)}` }),
    isActivity: random.chance(0.9),
  }));
}

/** Counts and users of a day's values, counted here; all values are groups. */
function recount(events: readonly EventRow[], fromDay: number, dayOf: (event: EventRow) => number): string[] {
  const counted = events.filter((one) => one.isActivity !== false && dayOf(one) >= fromDay);
  const groups = Map.groupBy(
    counted,
    (one) => `${dayOf(one) - fromDay + 1} ${JSON.parse(one.properties).page}`,
  );
  return [...groups]
    .map(([group, of]) => `${group} ${of.length} ${new Set(of.map(({ user }) => user)).size}`)
    .sort();
}

const days = 150;
const lastDay = Math.floor(Date.UTC(2026, 2, 1) / msPerDay);

async function answered(organization: number): Promise<string[]> {
  const asked = question(organization, { top: 10, periods: days, toDay: lastDay });
  const groups = await eventsByValue(subject.warehouse, asked);
  return groups.map(({ period, value, count, users }) => `${period} ${value} ${count} ${users}`).sort();
}

/** The rows of an organization that the engine keeps by name. */
async function keptByName(organization: number): Promise<number> {
  const [row] = await subject.warehouse.rows<{ rows: number }>(
    `SELECT count() AS rows FROM mergeTreeProjection(currentDatabase(), events, ${eventsByName.name})
     WHERE organization = {organization:UInt32}`,
    { organization },
  );
  return row?.rows ?? 0;
}

function partsWithoutThem(): Promise<{ name: string }[]> {
  return subject.warehouse.rows(
    `SELECT name FROM system.parts WHERE database = currentDatabase() AND table = '${eventsByName.of}'
       AND active AND rows > 0 AND NOT has(projections, '${eventsByName.name}')`,
  );
}

test("7 days by property read a small part of a year's events, and one event's days still less", async () => {
  const organization = subject.newOrganization();
  const all = 300_000;
  await subject.warehouse.command(
    `INSERT INTO events (organization, user, event, time, day, properties, is_activity)
     SELECT {organization:UInt32}, number % 5000, concat('event_', toString(intDiv(number, 5000) % 10)),
       toDateTime64(day, 3, 'UTC'), toDate32('1970-01-01') + {toDay:Int32} - rand(1) % 360 AS day, '{"page":"/a"}', true
     FROM numbers(${all})`,
    { organization, toDay },
  );
  let reads = 0;
  const explaining = asking(async (sql, parameters) => {
    const plan = await subject.warehouse.rows<{ explain: string }>(`EXPLAIN ${sql}`, parameters);
    expect(plan.map(({ explain }) => explain).join("\n")).toContain(`(${eventsByName.name})`);
    const tables = await subject.warehouse.rows<{ table: string; rows: number }>(
      `EXPLAIN ESTIMATE ${sql}`,
      parameters,
    );
    reads = tables.filter(({ table }) => table === "events").reduce((sum, { rows }) => sum + rows, 0);
    return [];
  });
  await eventsByValue(explaining, question(organization, { event: "event_3" }));
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThanOrEqual(all / 10);
  const groups = await eventsByValue(subject.warehouse, question(organization, { event: "event_3" }));
  expect(groups).toHaveLength(7);
});

test("answers follow whatever changes the events, and so do the rows by name", async () => {
  const organization = subject.newOrganization();
  let events = eventsWithPages("events by name", organization);
  await insertEvents(subject, events, 4);
  const stored = ({ day }: EventRow) => day;
  const expectAnswer = async (dayOf = stored) => {
    expect(await partsWithoutThem()).toEqual([]);
    expect(await keptByName(organization)).toBe(events.length);
    expect(await answered(organization)).toEqual(recount(events, lastDay - days + 1, dayOf));
  };
  await expectAnswer();

  await eraseUsers(subject.warehouse, [{ organization, user: 7 }]);
  events = events.filter(({ user }) => user !== 7);
  await expectAnswer();

  await eraseAccount(subject.warehouse, { organization, account: 1 }, 1);
  await expectAnswer();

  const beforeDay = Math.floor(Date.UTC(2025, 11, 1) / msPerDay);
  await dropEvents(subject.warehouse, [{ organization, beforeDay }], (work) => work());
  events = events.filter(({ day }) => day >= beforeDay);
  await expectAnswer();

  const tokyo = new Zone("Asia/Tokyo");
  await rebuild(subject.warehouse, organization, tokyo.transitions);
  await expectAnswer(({ timeMs }) => Math.floor((timeMs + 9 * 3_600_000) / msPerDay));

  await subject.warehouse.command("OPTIMIZE TABLE events FINAL");
  await expectAnswer(({ timeMs }) => Math.floor((timeMs + 9 * 3_600_000) / msPerDay));
});

test("a warehouse of an earlier version gets them while it answers, and answers the same", async () => {
  const organization = subject.newOrganization();
  const earlier = [
    `ALTER TABLE events DROP PROJECTION ${eventsByName.name}`,
    "ALTER TABLE events RESET SETTING default_compression_codec",
  ];
  for (const statement of earlier) await subject.warehouse.command(statement);
  await forgetMigrationsFrom(subject, "events by name and day within events");
  const events = eventsWithPages("an earlier version", organization);
  await insertEvents(subject, events, 3);
  expect(await partsWithoutThem()).not.toEqual([]);
  const before = await answered(organization);
  await subject.warehouse.close();

  await subject.open();
  expect(await answered(organization)).toEqual(before);
  await becomes(partsWithoutThem, []);
  expect(await keptByName(organization)).toBe(events.length);
  expect(await answered(organization)).toEqual(before);
  expect(before).toEqual(recount(events, lastDay - days + 1, ({ day }) => day));
});

test("a property of more values than fit is read twice, and its largest values are right", async () => {
  const organization = subject.newOrganization();
  const [often, others] = [5_000, 230_000];
  await subject.warehouse.command(
    `INSERT INTO events (organization, user, event, time, day, properties, is_activity)
     SELECT {organization:UInt32}, number % 1000, 'opened', toDateTime64(day, 3, 'UTC'),
       toDate32('1970-01-01') + {toDay:Int32} AS day,
       if(number % 47 = 0, '{"n":"often"}', concat('{"n":', toString(number), '}')), true
     FROM numbers(${others + often})`,
    { organization, toDay },
  );
  let queries = 0;
  const counting: Warehouse = asking((sql, parameters, limits) => {
    queries += 1;
    return subject.warehouse.rows(sql, parameters, limits);
  });
  const asked = question(organization, { key: "n", top: 1, periods: 1 });
  const groups = await eventsByValue(counting, asked);
  expect(queries).toBe(2);
  const byRest = Map.groupBy(groups, ({ isRest }) => isRest);
  expect(byRest.get(false)).toEqual([
    { period: 1, value: "often", isRest: false, count: often, users: 1_000 },
  ]);
  expect(byRest.get(true)).toEqual([{ period: 1, value: null, isRest: true, count: others, users: 1_000 }]);
});
