import { expect, test } from "bun:test";
import { eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { LoadedDays } from "../../server/warehouse/load/loaded-days.ts";
import { event } from "./support.ts";

function body(...rows: readonly Parameters<typeof event>[]): Buffer {
  return Buffer.from(rows.map((row) => `${eventRow(event(...row))}\n`).join(""));
}

test("the earliest day of each organization's loaded events is told once", () => {
  const days = new LoadedDays();
  days.batchLoaded({ table: "events" }, body([1, { day: 7 }], [2, { day: 4 }], [1, { day: 5 }]));
  days.batchLoaded({ table: "events" }, body([1, { day: 6 }]));
  expect([days.take(1), days.take(1), days.take(2), days.take(3)]).toEqual([5, undefined, 4, undefined]);
});

test("days are read behind any name of an event, and before 1970", () => {
  const days = new LoadedDays();
  for (const name of ['"', "\\", '\\"', '",1,2,3,"', "[1,2,3", "größer", "\u2028"]) {
    days.batchLoaded({ table: "events" }, body([1, { event: name, day: -3, timeMs: -1 }]));
    expect(days.take(1)).toBe(-3);
  }
});

test("rows of other tables have no days", () => {
  const days = new LoadedDays();
  days.batchLoaded({ table: "users" }, body([1, { day: 5 }]));
  expect(days.take(1)).toBeUndefined();
});

test("batches are counted for each organization with rows in them, of any table", () => {
  const days = new LoadedDays();
  days.batchLoaded({ table: "events" }, body([1, {}], [2, {}], [1, {}]));
  days.batchLoaded({ table: "users" }, Buffer.from('[1,5,"a,b"]\n[12,6,"c"]\n'));
  expect([1, 2, 12, 3].map((organization) => days.batches(organization))).toEqual([2, 1, 1, 0]);
  expect([1, 2, 12, 3].map((organization) => days.userBatches(organization))).toEqual([1, 0, 1, 0]);
});
