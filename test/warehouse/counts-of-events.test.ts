/** The counts by event and day that the engine keeps inside every part of `user_event_days`. */
import { expect, test } from "bun:test";
import { countsOfDays } from "../../server/analytics/counts-of-days.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { countsOfEvents } from "../../server/warehouse/schema/tables.ts";
import { checkOrganization, describeDifference } from "../../server/warehouse/upkeep/check.ts";
import { eraseUsers } from "../../server/warehouse/upkeep/erase.ts";
import { eventCounts } from "../../server/warehouse/upkeep/event-counts.ts";
import { rebuild } from "../../server/warehouse/upkeep/rebuild.ts";
import {
  insertEvents,
  partsWithoutCounts,
  randomEvents,
  randomOfThisRun,
  WarehouseUnderTest,
} from "./support.ts";

const subject = new WarehouseUnderTest();

test("counts by event and day stand beside the rows, whatever changed them, and are what figures read", async () => {
  const organization = subject.newOrganization();
  const events = randomEvents(randomOfThisRun("counts"), organization, 600);
  const changes = [
    () => insertEvents(subject, events, 4),
    () => rebuild(subject.warehouse, organization, new Zone("Asia/Tokyo").transitions),
    () => eraseUsers(subject.warehouse, [{ organization, user: 7 }]),
    mergeUserEventDays,
  ];
  const sql = `EXPLAIN SELECT event, times FROM ${countsOfDays("organization = {organization:UInt32}")}`;
  for (const change of changes) {
    await change();
    expect(await partsWithoutCounts(subject)).toEqual([]);
    const plan = await subject.warehouse.rows<{ explain: string }>(sql, { organization });
    expect(plan.map(({ explain }) => explain).join("\n")).toContain(countsOfEvents.name);
  }
});

test("a check finds counts by event and day that are not those of the rows", async () => {
  const organization = subject.newOrganization();
  const events = randomEvents(randomOfThisRun("check of counts"), organization, 150);
  await insertEvents(subject, events, 2);
  const dayCounts = await eventCounts(subject.warehouse, organization);
  const populations = {
    users: 0,
    userVersions: 0,
    accounts: 0,
    accountVersions: 0,
    versionRows: null,
    accountVersionRows: { rows: 0, versions: 0 },
  };
  const check = () => checkOrganization(subject.warehouse, organization, { dayCounts, populations });
  expect(await check()).toEqual([]);
  const alter = (change: string) => subject.warehouse.command(`ALTER TABLE user_event_days ${change}`);
  // Rows of one event go, in a way that leaves what was counted of them, and come back.
  const signedIn = `organization = ${organization} AND event = 'signed_in'`;
  await alter("MODIFY SETTING deduplicate_merge_projection_mode = 'ignore'");
  await alter(`MODIFY TTL toDate(organization) DELETE WHERE ${signedIn}
    SETTINGS materialize_ttl_after_modify = 0`);
  await mergeUserEventDays();
  await alter("REMOVE TTL");
  await alter("MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild'");
  await subject.warehouse.command(
    `INSERT INTO user_event_days SETTINGS insert_deduplicate = 0
     SELECT organization, user, day, event, account, count() FROM events WHERE ${signedIn} GROUP BY ALL`,
  );
  const differences = await check();
  expect(differences.length).toBe(
    new Set(events.filter((one) => one.event === "signed_in").map(({ day }) => day)).size,
  );
  for (const difference of differences) {
    expect(describeDifference(difference)).toEndWith("of other users or other events");
  }
});

/** Merges all parts into one. That it ends says that none is without counts: such a one is merged with none
 * that has them. */
async function mergeUserEventDays(): Promise<void> {
  const active = async () =>
    await subject.warehouse.rows<{ name: string; rows: number }>(
      "SELECT name, rows FROM system.parts WHERE database = currentDatabase() AND table = 'user_event_days' AND active",
    );
  // The engine drops these by itself within a minute, perhaps just now.
  for (const { name } of (await active()).filter(({ rows }) => rows === 0)) {
    await subject.warehouse.command(`ALTER TABLE user_event_days DROP PART '${name}'`).catch(() => undefined);
  }
  // Again where a merge was under way that the engine had begun.
  while ((await active()).length > 1) await subject.warehouse.command("OPTIMIZE TABLE user_event_days FINAL");
}
