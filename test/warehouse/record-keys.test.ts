/** The migration that fills the key columns of score records which earlier versions stored. */
import { expect, test } from "bun:test";
import { migrate, migrationsDone } from "../../server/warehouse/schema/migrations.ts";
import { recordKeyColumns } from "../../server/warehouse/schema/score-tables.ts";
import { fillScoreRecords } from "./score-records-migration.ts";
import { forgetMigrationsFrom, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

/** A version that JavaScript's numbers just hold. */
const rowsVersion = 2 ** 53 - 1;

/** Bodies as they were stored, and the columns that follow from them: version, key, outages, publication,
 * rung. */
const stored: readonly (readonly [
  what: string,
  body: Record<string, unknown>,
  columns: readonly unknown[],
])[] = [
  [
    "run",
    { rowsVersion, settingsKey: "of 0.1.0", toldAtMs: 5, finishedAtMs: 9, choice: { rung: 2, why: "" } },
    [rowsVersion, "of 0.1.0", "[]", 5, 2],
  ],
  [
    "run",
    { rowsVersion: 7, settingsKey: "of 0.1.0", finishedAtMs: 9, choice: { rung: null, why: "" } },
    [7, "of 0.1.0", "[]", 9, null],
  ],
  [
    "run",
    {
      rowsVersion: 7,
      settingsKey: "later",
      declaredOutages: '[{"from":1,"to":3}]',
      firstPublishedAtMs: 6,
      finishedAtMs: 9,
      choice: { rung: 0, why: "" },
    },
    [7, "later", '[{"from":1,"to":3}]', 6, 0],
  ],
  ["model", { settingsKey: "of models", rungs: [] }, [0, "of models", "[]", 0, null]],
  ["scale", { settingsKey: "of scales", declaredOutages: "[]" }, [0, "of scales", "[]", 0, null]],
  ["snapshot", { rowsVersion: 8, key: "of snapshots" }, [8, "of snapshots", "", 0, null]],
];

test("records of earlier versions have their keys as columns after a start", async () => {
  const { warehouse } = subject;
  const names = recordKeyColumns.map((column) => column.split(" ")[0]);
  await warehouse.command(
    `ALTER TABLE score_records ${names.map((name) => `DROP COLUMN ${name}`).join(", ")}`,
  );
  for (const [index, [what, body]] of stored.entries()) {
    await warehouse.command(
      `INSERT INTO score_records SETTINGS insert_deduplicate = 0
       SELECT 1, 'user', {what:String}, addDays(toDate32('1970-01-01'), {index:Int32}), 1, false, {body:String}`,
      { what, index, body: JSON.stringify(body) },
    );
  }
  const done = await migrationsDone(warehouse);
  await forgetMigrationsFrom(subject, "keys of score records as columns");
  // A crash before the migration was recorded: its statements run again.
  await fillScoreRecords(warehouse);
  await migrate(warehouse);
  expect(await migrationsDone(warehouse)).toBe(done);
  const rows = await warehouse.rows<{ columns: unknown[] }>(
    `SELECT [rows_version, first_published_at_ms, ifNull(rung, -1)] AS numbers, settings_key, declared_outages
     FROM score_records ORDER BY day`,
  );
  expect(rows as unknown[]).toEqual(
    stored.map(([, , [version, key, outages, publishedAtMs, rung]]) => ({
      numbers: [version, publishedAtMs, rung ?? -1],
      settings_key: key,
      declared_outages: outages,
    })),
  );
});
