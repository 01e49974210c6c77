/** A folder whose first migration made tables of an older form, as the first commits did. */
import { expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import { userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { rebuild } from "../../server/warehouse/upkeep/rebuild.ts";
import {
  event,
  insertEvents,
  partsWithoutCounts,
  recount,
  rollupsOf,
  WarehouseUnderTest,
} from "./support.ts";

const subject = new WarehouseUnderTest();

/** The tables that differ, in their older form. */
const olderForm = [
  "DROP TABLE user_event_days_view SYNC",
  "DROP TABLE user_event_days SYNC",
  `CREATE TABLE user_event_days (organization UInt32 CODEC(ZSTD(1)), user UInt32 CODEC(Delta, ZSTD(1)),
     day Date32 CODEC(Delta, ZSTD(1)), event LowCardinality(String) CODEC(ZSTD(1)), count UInt64 CODEC(T64, ZSTD(1)))
   ENGINE = SummingMergeTree(count) ORDER BY (organization, user, day, event)
   SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1`,
  `CREATE MATERIALIZED VIEW user_event_days_view TO user_event_days
   AS SELECT organization, user, day, event, count() AS count FROM events GROUP BY organization, user, day, event`,
  "ALTER TABLE user_versions DROP COLUMN account",
  "ALTER TABLE user_versions ADD COLUMN account UInt32",
  "DELETE FROM migrations WHERE number > 1",
];

test("a warehouse of the first form is brought to today's: new rows are taken, a rebuild mends the old", async () => {
  const organization = subject.newOrganization();
  for (const statement of olderForm) await subject.warehouse.command(statement);
  const before = [0, 1, 2].map((account) => event(organization, { user: 7, account }));
  await insertEvents(subject, before);
  await subject.warehouse.close();

  await subject.open();
  expect(await partsWithoutCounts(subject)).toEqual([]);
  const after = [1, 2, 3].map((account) => event(organization, { user: 7, account }));
  await insertEvents(subject, after);
  const user = { organization, number: 7, version: 2 } as Parameters<typeof userVersionRow>[0];
  await subject.insert("user_versions", [userVersionRow(user, { atMs: 0, traits: {}, account: null })]);
  expect(await subject.count("user_versions", organization)).toBe(1);

  await rebuild(subject.warehouse, organization, new Zone("UTC").transitions);
  expect(await rollupsOf(subject, organization)).toEqual(recount([...before, ...after], ({ day }) => day));
});
