/** The effect of many questions on others: turns at the engine's readers, and queries whose caller has
 * gone. */
import { expect, test } from "bun:test";
import { askedBy, type Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { becomes, until } from "../until.ts";
import { endless, endlessRunning, forEver, readersButOne } from "./held-readers.ts";
import { WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();
let asked = 0;
/** A question of a group, each of another person: one may hold half of the readers at most. */
const by = (group: string, signal?: AbortSignal): Warehouse => {
  asked += 1;
  return askedBy({ group, member: `person ${asked}`, ...(signal && { signal }) }, subject.warehouse);
};
const running = () => endlessRunning(by("looking"));

test("quick questions of one organization overtake another's flood of slow ones", async () => {
  const leaving = new AbortController();
  const flood = Array.from({ length: 24 }, () => by("flood", leaving.signal).rows(endless, {}, forEver));
  const settled = Promise.allSettled(flood);
  // The flood never ends: they are answered before it or not at all.
  for (const n of [1, 2]) {
    const quick = [n, n + 10].map((asked) => by("quick").rows("SELECT {asked:UInt8} AS asked", { asked }));
    expect(await Promise.all(quick)).toEqual([[{ asked: n }], [{ asked: n + 10 }]]);
  }
  await until("all readers but one are held", running, (queries) => queries >= readersButOne);
  expect(await running()).toBe(readersButOne);
  leaving.abort();
  expect((await settled).map(({ status }) => status)).toEqual(Array(24).fill("rejected"));
});

test("a running query is stopped when its client goes away, and a waiting one never begins", async () => {
  const leaving = new AbortController();
  const questions = Array.from({ length: 20 }, () =>
    by("leaving", leaving.signal).rows(endless, {}, forEver),
  );
  const settled = Promise.allSettled(questions);
  await until("all readers but one are held", running, (queries) => queries >= readersButOne);
  leaving.abort();
  expect((await settled).map(({ status }) => status)).toEqual(Array(20).fill("rejected"));
  await becomes(running, 0);
  // The readers work as before, and the name of a stopped query does not stop another one.
  const more = Array.from({ length: 8 }, () => by("leaving").rows<{ one: number }>("SELECT 1 AS one"));
  expect(await Promise.all(more)).toEqual(Array(8).fill([{ one: 1 }]));
});

test("a query is stopped however soon its asker goes away", async () => {
  for (let round = 0; round < 60; round += 1) {
    const leaving = new AbortController();
    const asked = by("leaving soon", leaving.signal).rows(endless, {}, forEver);
    for (let turn = 0; turn < round % 20; turn += 1) await Promise.resolve();
    leaving.abort();
    await expect(asked).rejects.toThrow();
  }
  await becomes(running, 0);
});

test("a question whose asker has gone begins nothing", async () => {
  const table = `gone_${subject.newOrganization()}`;
  const warehouse = by("gone", AbortSignal.abort());
  await expect(warehouse.command(`CREATE TABLE ${table} (a UInt8) ENGINE = Memory`)).rejects.toThrow();
  expect(await by("gone").rows(`EXISTS TABLE ${table}`)).toEqual([{ result: 0 }]);
});
