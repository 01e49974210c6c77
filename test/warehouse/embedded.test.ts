/** Tests that only the embedded warehouse needs. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

test("a second process is refused the folder while the first has it open", async () => {
  const program = `
      import { openChdbWarehouse } from ${JSON.stringify(join(import.meta.dir, "../../server/warehouse/engine/chdb.ts"))};
      await openChdbWarehouse({ folder: ${JSON.stringify(join(subject.folder, "warehouse"))} })
        .then(() => console.log("opened"), (error) => console.log(error.name + ": " + error.message));`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "ignore" });
  expect(await new Response(child.stdout).text()).toStartWith("WarehouseError:");
  await child.exited;
});

test("a query has as many threads as it asks for while memory is free", async () => {
  const sql = "SELECT sum(cityHash64(number)) AS sum FROM numbers_mt(100000000) SETTINGS max_threads = 2";
  const lines = await subject.warehouse.rows<{ explain: string }>(`EXPLAIN PIPELINE ${sql}`);
  expect(lines.map(({ explain }) => explain).join("\n")).toMatch(/AggregatingTransform × 2/);
});

test("a query of few rows has one thread, and one of a large warehouse has more", async () => {
  const sql = "SELECT value FROM system.settings WHERE name = 'max_threads'";
  expect(await subject.warehouse.rows(sql)).toEqual([{ value: "1" }]);
  await subject.warehouse.command(
    "INSERT INTO user_event_days (organization, user, count) SELECT 9, number, 1 FROM numbers(1000000)",
  );
  await subject.warehouse.close();
  await subject.open();
  const [many] = await subject.warehouse.rows<{ value: string }>(sql);
  expect(many?.value).not.toBe("1");
});

test("what a query writes has limits, and what a killed process has left is deleted at the start", async () => {
  const names = ["max_temporary_data_on_disk_size_for_query", "min_free_disk_space_for_temporary_data"];
  const sql =
    "SELECT toUInt64(value) AS bytes FROM system.settings WHERE name IN {names:Array(String)} ORDER BY name";
  expect(await subject.warehouse.rows(sql, { names })).toEqual([
    { bytes: 4 * 1024 ** 3 },
    { bytes: 1024 ** 3 },
  ]);
  const folder = join(subject.folder, "warehouse", "tmp");
  mkdirSync(join(folder, "left"));
  for (const name of ["tmp1", "left/tmp2"]) writeFileSync(join(folder, name), "rows");
  await subject.warehouse.close();
  await subject.open();
  expect(readdirSync(folder)).toEqual([]);
});

describe("a batch of which a kill took one table's part", () => {
  const counts = async (organization: number) => {
    const [row] = await subject.warehouse.rows<{ events: number; counted: number }>(
      `SELECT (SELECT count() FROM events WHERE organization = {organization:UInt32}) AS events,
        (SELECT sum(count) FROM user_event_days WHERE organization = {organization:UInt32}) AS counted`,
      { organization },
    );
    return row;
  };
  const insert = (organization: number, number: number) => {
    const id = (organization * 1_000 + number).toString(16).padStart(32, "0");
    const at = { timeMs: 1_767_225_600_000, day: 20_454, receivedAtMs: 1_767_225_600_000 };
    const of = {
      organization,
      user: 1,
      account: 0,
      event: "e",
      ...at,
      id,
      messageId: null,
      properties: "{}",
    };
    return subject.insert("events", [eventRow(of)], `batch ${organization} ${number}`);
  };
  const parts = (table: string) => {
    const folder = realpathSync(join(subject.folder, "warehouse", "data", "default", table));
    return readdirSync(folder)
      .filter((name) => /^[a-z0-9]+_[0-9]+_[0-9]+_[0-9]+$/.test(name))
      .map((name) => join(folder, name));
  };

  test.each(["events", "user_event_days"])("of %s, is whole when it is sent again", async (table) => {
    const organization = subject.newOrganization();
    await insert(organization, 1);
    await subject.warehouse.command("SYSTEM STOP MERGES");
    const before = parts(table);
    await insert(organization, 2);
    const [lost = "", ...others] = parts(table).filter((part) => !before.includes(part));
    expect(others).toEqual([]);
    await subject.warehouse.close();
    // The token is in the log of the table, as after a kill before the part had its name.
    rmSync(lost, { recursive: true });
    await subject.open();
    for (const number of [1, 2]) await insert(organization, number);
    expect(await counts(organization)).toEqual({ events: 2, counted: 2 });
  });

  test("is there once when its part was merged meanwhile", async () => {
    const organization = subject.newOrganization();
    for (const number of [1, 2, 3]) await insert(organization, number);
    for (const table of ["events", "user_event_days"]) {
      await subject.warehouse.command(`OPTIMIZE TABLE ${table} FINAL`);
    }
    await subject.warehouse.close();
    await subject.open();
    for (const number of [1, 2, 3]) await insert(organization, number);
    expect(await counts(organization)).toEqual({ events: 3, counted: 3 });
  });
});
