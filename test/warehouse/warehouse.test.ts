import { describe, expect, test } from "bun:test";
import { currentSchema, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { WarehouseError } from "../../server/warehouse/engine/warehouse.ts";
import { migrate } from "../../server/warehouse/schema/migrations.ts";
import { holdReadersButOne } from "./held-readers.ts";
import { event, recount, rollupsOf, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

const utcDay = ({ day }: { day: number }) => day;

describe("migrations", () => {
  test("running them again changes nothing, also after closing and opening again", async () => {
    const organization = subject.newOrganization();
    await subject.insert("events", [eventRow(event(organization))]);
    const numbers = async () =>
      (await subject.warehouse.rows<{ number: number }>("SELECT number FROM migrations ORDER BY number")).map(
        ({ number }) => number,
      );
    const before = await numbers();
    expect(before).toEqual(before.map((_, index) => index + 1));
    await migrate(subject.warehouse);
    await subject.warehouse.close();
    await subject.open();
    expect(await numbers()).toEqual(before);
    expect(await subject.count("events", organization)).toBe(1);
  });

  test("a crash between a migration's statements does no harm", async () => {
    await subject.warehouse.command("DROP VIEW user_spans_view");
    await subject.warehouse.command("DELETE FROM migrations WHERE number >= 1");
    await migrate(subject.warehouse);
    const organization = subject.newOrganization();
    const events = [event(organization)];
    await subject.insert("events", events.map(eventRow));
    expect(await rollupsOf(subject, organization)).toEqual(recount(events, utcDay));
  });

  test("tables of a newer version are refused in words", async () => {
    await subject.warehouse.command("INSERT INTO migrations SELECT 99, 'from the future', now64(3)");
    await expect(migrate(subject.warehouse)).rejects.toThrow("use the newer program");
    await subject.warehouse.command("DELETE FROM migrations WHERE number = 99");
  });
});

describe("insertFrozen", () => {
  test("the same rows under the same token are stored once, in the events and in every rollup", async () => {
    const organization = subject.newOrganization();
    const events = [event(organization), event(organization, { user: 2 }), event(organization)];
    for (let time = 0; time < 3; time += 1) await subject.insert("events", events.map(eventRow), "once");
    expect(await subject.count("events", organization)).toBe(3);
    expect(await rollupsOf(subject, organization)).toEqual(recount(events, utcDay));
  });

  test("the same rows under another token are stored twice, in the events and in every rollup", async () => {
    const organization = subject.newOrganization();
    const events = [event(organization), event(organization, { user: 2 })];
    await subject.insert("events", events.map(eventRow), "first");
    await subject.insert("events", events.map(eventRow), "second");
    expect(await subject.count("events", organization)).toBe(4);
    expect(await rollupsOf(subject, organization)).toEqual(recount([...events, ...events], utcDay));
  });

  test("a token is still known after closing and opening again", async () => {
    const organization = subject.newOrganization();
    const events = [event(organization)];
    await subject.insert("events", events.map(eventRow), "before the restart");
    await subject.warehouse.close();
    await subject.open();
    await subject.insert("events", events.map(eventRow), "before the restart");
    expect(await subject.count("events", organization)).toBe(1);
    expect(await rollupsOf(subject, organization)).toEqual(recount(events, utcDay));
  });

  test("one row that cannot be read means that nothing was written, at any place of a large batch", async () => {
    const organization = subject.newOrganization();
    const good = eventRow(event(organization, { properties: JSON.stringify({ text: "x".repeat(3_000) }) }));
    const lines = [...Array.from({ length: 100_000 }, () => good), '["not an event"]'];
    expect(await rejection(subject.insert("events", lines))).toMatchObject({ code: 27 });
    expect(await subject.count("events", organization)).toBe(0);
    expect(await rollupsOf(subject, organization)).toEqual([]);
  });

  test("null is not taken for a default", async () => {
    const organization = subject.newOrganization();
    const line = JSON.stringify(JSON.parse(eventRow(event(organization))).with(3, null));
    expect(await rejection(subject.insert("events", [line]))).toBeInstanceOf(WarehouseError);
    expect(await subject.count("events", organization)).toBe(0);
  });

  test("fewer or more rows than promised, an empty token and an unknown schema are refused", async () => {
    const body = Buffer.from(`${eventRow(event(subject.newOrganization()))}\n`);
    const rows = { table: "events", schema: currentSchema.events, rows: 1, body, token: "t" } as const;
    const { warehouse } = subject;
    await expect(warehouse.insertFrozen({ ...rows, rows: 2 })).rejects.toThrow(
      "2 rows of events were promised, 1 came",
    );
    await expect(warehouse.insertFrozen({ ...rows, token: "" })).rejects.toThrow("need a token");
    await expect(warehouse.insertFrozen({ ...rows, schema: 99 })).rejects.toThrow("unknown schema 99");
  });

  test("a later version of a user replaces the earlier one, and a replayed earlier one does not", async () => {
    const organization = subject.newOrganization();
    const line = (version: number) =>
      JSON.stringify([organization, 1, "ada", `v${version}@example.com`, "{}", null, 0, 1, version, version]);
    await subject.insert("users", [line(2)], "two");
    await subject.insert("users", [line(1)], "one");
    const sql = "SELECT email FROM users FINAL WHERE organization = {organization:UInt32}";
    expect(await subject.warehouse.rows(sql, { organization })).toEqual([{ email: "v2@example.com" }]);
  });
});

describe("queries", () => {
  test("an answer never begins with the rows of a query that failed before", async () => {
    for (let round = 0; round < 2; round += 1) {
      const slow = Array.from({ length: 4 }, () =>
        rejection(
          subject.warehouse.rows(
            "SELECT sleepEachRow(0.1) AS left_over FROM numbers(50) SETTINGS max_block_size = 1",
            {},
            { maxSeconds: 1 },
          ),
        ),
      );
      for (const error of await Promise.all(slow)) expect(error).toMatchObject({ code: 159 });
      const answers = Array.from({ length: 8 }, (_, n) =>
        subject.warehouse.rows("SELECT {n:UInt8} AS n", { n }),
      );
      expect(await Promise.all(answers)).toEqual(Array.from({ length: 8 }, (_, n) => [{ n }]));
    }
  });

  test("an error carries the engine's number", async () => {
    expect(await rejection(subject.warehouse.rows("SELECT nothing"))).toMatchObject({ code: 47 });
    expect(await rejection(subject.warehouse.command("SELEKT 1"))).toMatchObject({ code: 62 });
  });

  test("memory is limited, and the next query runs", async () => {
    const greedy = subject.warehouse.rows(
      "SELECT length(groupArray(number)) FROM numbers(50000000)",
      {},
      { maxBytes: 50_000_000 },
    );
    expect(await rejection(greedy)).toMatchObject({ code: 241 });
    expect(await subject.warehouse.rows("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("more queries than readers are all answered, in their order", async () => {
    // Answers of readers side by side come in no order.
    const letGo = await holdReadersButOne(subject.warehouse);
    const order: number[] = [];
    const ask = async (n: number) => {
      const rows = await subject.warehouse.rows("SELECT {n:UInt32} AS n", { n });
      expect(rows).toEqual([{ n }]);
      order.push(n);
    };
    await Promise.all(Array.from({ length: 40 }, (_, n) => ask(n)));
    expect(order).toEqual(Array.from({ length: 40 }, (_, n) => n));
    await letGo();
  });

  test("the engine's clock and days are UTC", async () => {
    const sql =
      "SELECT toString(toDateTime('2026-07-01 00:00:00')) AS text, toUnixTimestamp('2026-07-01 00:00:00') AS time";
    expect(await subject.warehouse.rows(sql)).toEqual([
      { text: "2026-07-01 00:00:00", time: Date.UTC(2026, 6, 1) / 1_000 },
    ]);
  });
});

describe("streams", () => {
  test("a long answer comes in chunks, whole and with one header", async () => {
    let text = "";
    let chunks = 0;
    const sql = "SELECT number, '\"quoted\"\n' AS text FROM numbers({n:UInt64})";
    for await (const chunk of subject.warehouse.stream(sql, "CSVWithNames", { n: 200_000 })) {
      text += Buffer.from(chunk).toString();
      chunks += 1;
    }
    expect(chunks).toBeGreaterThan(2);
    const row = (n: number) => `${n},"""quoted""\n"\n`;
    expect(text).toBe(`"number","text"\n${Array.from({ length: 200_000 }, (_, n) => row(n)).join("")}`);
  });

  test("an empty answer still has its header", async () => {
    const chunks = await Array.fromAsync(
      subject.warehouse.stream("SELECT number FROM numbers(0)", "CSVWithNames"),
    );
    expect(Buffer.concat(chunks).toString()).toBe('"number"\n');
  });

  test("streams that are left early and streams that fail leave the way free for others", async () => {
    for (let round = 0; round < 6; round += 1) {
      for await (const chunk of subject.warehouse.stream("SELECT * FROM numbers(1000000)", "JSONEachRow")) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
      const failing = subject.warehouse.stream(
        "SELECT throwIf(number = 500000) FROM numbers(1000000)",
        "JSONEachRow",
      );
      expect(await rejection(Array.fromAsync(failing))).toMatchObject({ code: 395 });
    }
    const [chunk] = await Array.fromAsync(subject.warehouse.stream("SELECT 7 AS seven", "JSONEachRow"));
    expect(Buffer.from(chunk ?? []).toString()).toBe('{"seven":7}\n');
  });
});

describe("closing", () => {
  test("waits for queries that run and wait, ends streams with an error, and refuses new ones", async () => {
    const { warehouse } = subject;
    const running = Array.from({ length: 6 }, () => warehouse.rows("SELECT sleep(0.2) AS slept"));
    const stream = warehouse
      .stream("SELECT * FROM numbers(100000000)", "JSONEachRow")
      [Symbol.asyncIterator]();
    await stream.next();
    await warehouse.close();
    await warehouse.close();
    expect(await Promise.all(running)).toEqual(Array.from({ length: 6 }, () => [{ slept: 0 }]));
    const rest = async () => {
      while (!(await stream.next()).done);
    };
    expect(await rejection(rest())).toBeInstanceOf(WarehouseError);
    await expect(warehouse.rows("SELECT 1")).rejects.toThrow("closed");
    await expect(
      warehouse.insertFrozen({ table: "users", schema: 1, rows: 0, body: Buffer.alloc(0), token: "t" }),
    ).rejects.toThrow("closed");
    await subject.open();
  });
});

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable("it should have been refused"),
    (error: unknown) => error,
  );
}
