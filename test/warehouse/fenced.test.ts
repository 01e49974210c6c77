/** The statements that a former leader must not send to the warehouse. */
import { describe, expect, test } from "bun:test";
import { openClickHouseWarehouse } from "../../server/warehouse/engine/clickhouse.ts";
import { until } from "../until.ts";
import { rejection, serverOfThisFile } from "./clickhouse-support.ts";

const server = await serverOfThisFile();
const unreachable = { name: "WarehouseError", code: 210 };
const sent = (of: RegExp) => server.queries.filter(({ sql }) => of.test(sql)).length;

describe("a node that leads no more", () => {
  const deletion = "DELETE FROM user_event_days WHERE organization = 1";

  test("sends nothing of what waited for a reader, or while it stood still", async () => {
    let untilMs = Number.POSITIVE_INFINITY;
    const mayChange = () => performance.now() < untilMs;
    const warehouse = await openClickHouseWarehouse({ url: server.url("fenced"), readers: 1, mayChange });
    const leaving = new AbortController();
    server.plan(/hanging/, { kind: "hang" });
    const asker = { group: "a", member: "b", signal: leaving.signal };
    const hanging = rejection(warehouse.rows("SELECT 1 AS hanging", {}, { asker }));
    const waited = rejection(warehouse.command(deletion));
    await until("the reader is taken", () => sent(/AS hanging/));
    untilMs = performance.now();
    leaving.abort();
    await hanging;
    expect(await waited).toMatchObject(unreachable);
    untilMs = performance.now() + 50;
    const stoodStill = rejection(warehouse.command(deletion));
    // A process that stands still for longer than it may change.
    Bun.sleepSync(100);
    expect(await stoodStill).toMatchObject(unreachable);
    expect(sent(/^DELETE FROM user_event_days/)).toBe(0);
    expect(await warehouse.rows("SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await warehouse.close();
  });

  test("makes no more tables", async () => {
    const before = sent(/^\s*(CREATE|ALTER|DROP)/);
    let left = 5;
    const mayChange = () => {
      left -= 1;
      return left >= 0;
    };
    const opening = openClickHouseWarehouse({ url: server.url("fenced_early"), mayChange });
    expect(await rejection(opening)).toMatchObject(unreachable);
    expect(sent(/^\s*(CREATE|ALTER|DROP)/) - before).toBe(5);
  });
});
