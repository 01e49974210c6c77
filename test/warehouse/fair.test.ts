/** What a crowd of questions does to others: turns at the engine's readers, and queries whose asker has gone. */
import { expect, test } from "bun:test";
import { askedBy, type Warehouse } from "../../server/warehouse/warehouse.ts";
import { WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();
/** It would take days. */
const endless = "SELECT sum(cityHash64(number)) AS sum FROM numbers(1, 100000000000000)";
const forEver = { maxSeconds: 0 };

const by = (group: string, signal?: AbortSignal): Warehouse =>
  askedBy({ group, member: "somebody", ...(signal && { signal }) }, subject.warehouse);

test("a quick question of one organization overtakes another's flood of slow ones", async () => {
  const order: string[] = [];
  const ask = async (group: string, sql: string) => {
    await by(group).rows(sql);
    order.push(group);
  };
  const flood = Array.from({ length: 24 }, () => ask("flood", "SELECT sleep(0.1)"));
  await Promise.all([ask("quick", "SELECT 1"), ask("quick", "SELECT 2")]);
  // Three were running, and two more may have begun while the second quick one waited for its turn.
  expect(order.filter((group) => group === "flood").length).toBeLessThanOrEqual(5);
  await Promise.all(flood);
});

test("what runs is stopped when its asker goes away, and what waits never begins", async () => {
  const leaving = new AbortController();
  const questions = Array.from({ length: 20 }, () =>
    by("leaving", leaving.signal).rows(endless, {}, forEver),
  );
  const settled = Promise.allSettled(questions);
  const running = async () => {
    const sql = "SELECT count() AS count FROM system.processes WHERE query LIKE '%cityHash64(number)%'";
    const [row] = await by("looking").rows<{ count: number }>(sql);
    return (row?.count ?? 0) - 1;
  };
  while ((await running()) < 3) await Bun.sleep(5);
  leaving.abort();
  expect((await settled).map(({ status }) => status)).toEqual(Array(20).fill("rejected"));
  while ((await running()) > 0) await Bun.sleep(5);
  // The readers are as good as before, and a name that was stopped stops nobody else.
  const more = Array.from({ length: 8 }, () => by("leaving").rows<{ one: number }>("SELECT 1 AS one"));
  expect(await Promise.all(more)).toEqual(Array(8).fill([{ one: 1 }]));
});

test("a question whose asker has gone begins nothing", async () => {
  const table = `gone_${subject.newOrganization()}`;
  const warehouse = by("gone", AbortSignal.abort());
  await expect(warehouse.command(`CREATE TABLE ${table} (a UInt8) ENGINE = Memory`)).rejects.toThrow();
  expect(await by("gone").rows(`EXISTS TABLE ${table}`)).toEqual([{ result: 0 }]);
});
