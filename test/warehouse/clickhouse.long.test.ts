/** Faults between a warehouse and its server, and consequences that they must not have. */
import { afterEach, describe, expect, test } from "bun:test";
import { Refusal } from "../../contract/refusal.ts";
import { currentSchema, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { dropFrozenTables, freezeTables } from "../../server/warehouse/copies/frozen-tables.ts";
import { openClickHouseWarehouse } from "../../server/warehouse/engine/clickhouse.ts";
import { parseClickHouseUrl } from "../../server/warehouse/engine/clickhouse-http.ts";
import { isNewEnough } from "../../server/warehouse/engine/clickhouse-prepare.ts";
import { waitFor } from "../../server/warehouse/engine/query-watch.ts";
import { insertBatch } from "../../server/warehouse/load/insert-batch.ts";
import { until } from "../until.ts";
import { openedOn, rejection, serverOfThisFile } from "./clickhouse-support.ts";
import { event, openWarehousesBy, recount, rollupsOf, WarehouseUnderTest } from "./support.ts";

const server = await serverOfThisFile();
openWarehousesBy(openedOn(server));
const subject = new WarehouseUnderTest();

afterEach(() => server.forget());

const unreachable = { name: "WarehouseError", code: 210 };
const utcDay = ({ day }: { day: number }) => day;
const sent = (of: RegExp) => server.queries.filter(({ sql }) => of.test(sql)).length;

test("a parameter that is too long for a field of a form is divided among several", async () => {
  const long = "é'\\".repeat(100_000);
  const many = Array.from({ length: 2_000 }, (_, index) => `${index} ${"\\".repeat(100)}`);
  const sql = "SELECT {long:String} AS long, {many:Array(String)} AS many, {short:String} AS short";
  const [row] = await subject.warehouse.rows(sql, { long, many, short: "x" });
  expect(row).toEqual({ long, many, short: "x" });
});

describe("opening", () => {
  test("a wrong password is refused in words that do not tell it", async () => {
    const url = server.url().replace(/:[^:@]*@/, ":wr0ng@");
    const error = await rejection(openClickHouseWarehouse({ url }));
    expect(error).toBeInstanceOf(Refusal);
    expect(String(error)).toContain("user or password is wrong");
    expect(String(error)).not.toContain("wr0ng");
  });

  test.each([164, 452])("a profile that forbids what is needed is refused (%d)", async (code) => {
    server.plan(/SELECT version/, { kind: "fail", code, text: "Cannot" });
    const error = await rejection(openClickHouseWarehouse({ url: server.url("forbidden") }));
    expect(error).toBeInstanceOf(Refusal);
    expect(String(error)).toContain("the user's profile");
  });

  test("versions before 26.3 are too old", () => {
    const versions = ["25.8.1.5101", "26.2.9.1", "26.3.1.1", "26.10.1.1", "27.1.1.1", "unknown"];
    expect(versions.filter(isNewEnough)).toEqual(["26.3.1.1", "26.10.1.1", "27.1.1.1"]);
  });

  test("where nothing listens there is nothing to refuse: it may be tried again", async () => {
    const opening = openClickHouseWarehouse({ url: "http://rekindle:secret@127.0.0.1:1/rekindle" });
    const error = await rejection(opening);
    expect(error).toMatchObject(unreachable);
    expect(String(error)).toContain("nothing listens there");
    expect(String(error)).not.toContain("secret");
  });

  test("a process that does not make the tables waits for another to have made them", async () => {
    const url = server.url("made_by_another");
    const open = (migrates: boolean) => openClickHouseWarehouse({ url, migrates });
    expect(String(await rejection(open(false)))).toContain("not made yet");
    await (await open(true)).close();
    const warehouse = await open(false);
    expect(await warehouse.rows("SELECT count() AS events FROM events")).toEqual([{ events: 0 }]);
    await warehouse.close();
  });

  test("a warehouse belongs to the ledger that came first, also for a node that does not make the tables", async () => {
    const url = server.url("belongs");
    const open = (ledger: string, migrates: boolean) => openClickHouseWarehouse({ url, ledger, migrates });
    await (await open("first", true)).close();
    for (const migrates of [true, false]) {
      const error = await rejection(open("second", migrates));
      expect(error).toBeInstanceOf(Refusal);
      expect(String(error)).toContain("another ledger");
      await (await open("first", migrates)).close();
    }
  });

  test("an address is read, or refused without its password", () => {
    expect(parseClickHouseUrl("https://a%40b:p%3Aw@db.example.com:8443/stats")).toEqual({
      origin: "https://db.example.com:8443",
      user: "a@b",
      password: "p:w",
      database: "stats",
    });
    expect(parseClickHouseUrl("http://localhost:8123")).toEqual({
      origin: "http://localhost:8123",
      user: "default",
      password: "",
      database: "rekindle",
    });
    for (const wrong of [
      "localhost:8123",
      "tcp://u:pw1@h:9000/d",
      "http://u:pw1@h/a`b",
      "http://u:pw1@h/d?x=1",
      "http://u:pw1%@h/d",
      "h",
    ]) {
      expect(() => parseClickHouseUrl(wrong)).toThrow(Refusal);
      expect(() => parseClickHouseUrl(wrong)).not.toThrow("pw1");
    }
  });
});

describe("an insert", () => {
  test("whose answer is lost is stored once, whether it is sent again at once or by the loader", async () => {
    const organization = subject.newOrganization();
    const events = [event(organization), event(organization, { user: 2 })];
    const insert = () => subject.insert("events", events.map(eventRow), `lost ${organization}`);
    server.plan(/^INSERT INTO events/, { kind: "lose" });
    await insert();
    server.plan(/^INSERT INTO events/, { kind: "lose" }, 2);
    expect(await rejection(insert())).toMatchObject(unreachable);
    await insert();
    expect(await subject.count("events", organization)).toBe(2);
    expect(await rollupsOf(subject, organization)).toEqual(recount(events, utcDay));
  });

  test("that the network or a proxy answers makes no rejected events; one that the rows are to blame for does", async () => {
    const organization = subject.newOrganization();
    const lines = [eventRow(event(organization)), '["not an event"]', eventRow(event(organization))];
    const body = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    const batch = {
      number: organization,
      table: "events",
      schema: currentSchema.events,
      rows: 3,
      uptoInboxId: 3,
    } as unknown as Parameters<typeof insertBatch>[1];
    const load = () => insertBatch((rows) => subject.warehouse.insertFrozen(rows), batch, body);
    server.plan(/^INSERT INTO events/, { kind: "proxy", status: 502 });
    expect(await rejection(load())).toMatchObject(unreachable);
    server.plan(/^INSERT INTO events/, { kind: "proxy", status: 400 });
    expect(await rejection(load())).toMatchObject(unreachable);
    server.plan(/^INSERT INTO events/, { kind: "proxy", status: 413 });
    expect(String(await rejection(load()))).toContain("a body is too large: allow 48 MB");
    server.plan(/^INSERT INTO events/, { kind: "refuse" }, 2);
    expect(await rejection(load())).toMatchObject(unreachable);
    server.plan(/^INSERT INTO events/, { kind: "fail", code: 252, text: "Too many parts" });
    expect(await rejection(load())).toMatchObject({ code: 252 });
    expect(await load()).toMatchObject([{ table: "events", row: '["not an event"]' }]);
    expect(await subject.count("events", organization)).toBe(2);
  });

  test("goes out compressed, with its token and what it relies on said in the request", async () => {
    const organization = subject.newOrganization();
    await subject.insert("events", [eventRow(event(organization))], "said");
    const settings = server.queries.findLast(({ data }) => data !== undefined)?.settings;
    expect(Object.fromEntries(settings ?? [])).toMatchObject({
      insert_deduplication_token: "said",
      async_insert: "0",
      deduplicate_insert: "enable",
      deduplicate_blocks_in_dependent_materialized_views: "1",
    });
  });
});

describe("a question", () => {
  test("is asked again when its connection was closed before it was answered, and only once", async () => {
    server.plan(/AS asked_again/, { kind: "refuse" });
    expect(await subject.warehouse.rows("SELECT 1 AS asked_again")).toEqual([{ asked_again: 1 }]);
    expect(sent(/AS asked_again/)).toBe(2);
    server.plan(/AS asked_twice/, { kind: "refuse" }, 2);
    expect(await rejection(subject.warehouse.rows("SELECT 1 AS asked_twice"))).toMatchObject(unreachable);
    expect(sent(/AS asked_twice/)).toBe(2);
  });

  test("whose answer is cut off fails: a part never passes for the whole", async () => {
    for (const afterBytes of [1, 3, 500_000]) {
      server.plan(/number AS cut/, { kind: "cut", afterBytes });
      const sql = "SELECT number AS cut FROM numbers(300000)";
      expect(await rejection(subject.warehouse.rows(sql))).toMatchObject(unreachable);
      server.plan(/number AS cut/, { kind: "cut", afterBytes });
      const stream = Array.fromAsync(subject.warehouse.stream(sql, "Native"));
      expect(await rejection(stream)).toMatchObject(unreachable);
    }
  });

  test("that fails in the middle of its answer fails with the engine's code, in every format", async () => {
    const sql = "SELECT throwIf(number = 900000) AS n, toString(number) AS text FROM numbers(1000000)";
    expect(await rejection(subject.warehouse.rows(sql))).toMatchObject({ code: 395 });
    for (const format of ["JSONEachRow", "CSVWithNames", "TabSeparatedRaw", "Native"] as const) {
      let bytes = 0;
      const read = async () => {
        for await (const chunk of subject.warehouse.stream(sql, format)) bytes += chunk.length;
      };
      expect(await rejection(read())).toMatchObject({ code: 395 });
      expect(bytes).toBeGreaterThan(0);
    }
  });

  test("must not write", async () => {
    const writing = subject.warehouse.rows("CREATE TABLE written (a UInt8) ENGINE = Memory");
    expect(await rejection(writing)).toMatchObject({ code: 164 });
  });

  test("may have long parameters, which no proxy sees in the address", async () => {
    const text = "x'\n".repeat(20_000);
    const sql = "SELECT {text:String} AS text";
    expect(await subject.warehouse.rows(sql, { text })).toEqual([{ text }]);
  });

  test("that hangs ends when its client leaves, and does not delay the warehouse's end", async () => {
    const warehouse = await openedOn(server)("hanging");
    server.plan(/AS hanging/, { kind: "hang" });
    const leaving = new AbortController();
    const asker = { group: "a", member: "b", signal: leaving.signal };
    const asking = warehouse.rows("SELECT 1 AS hanging", {}, { asker });
    await until("the query is sent", () => sent(/AS hanging/));
    leaving.abort();
    expect(await rejection(asking)).toMatchObject({ code: 394 });
    await warehouse.close();
    expect(sent(/^KILL QUERY WHERE query_id = 'rekindle-/)).toBeGreaterThan(0);
  });
});

describe("a command", () => {
  test("whose answer is lost fails, and is never sent twice", async () => {
    const table = `lost_${subject.newOrganization()}`;
    const insert = `INSERT INTO ${table} SELECT 1`;
    await subject.warehouse.command(`CREATE TABLE ${table} (a UInt8) ENGINE = MergeTree ORDER BY a`);
    server.plan(new RegExp(insert), { kind: "lose" });
    expect(await rejection(subject.warehouse.command(insert))).toMatchObject(unreachable);
    expect(sent(new RegExp(insert))).toBe(1);
    expect(await subject.warehouse.rows(`SELECT count() AS rows FROM ${table}`)).toEqual([{ rows: 1 }]);
  });

  test("with rows equal to those of another is not taken for a repetition", async () => {
    const table = `equal_${subject.newOrganization()}`;
    await subject.warehouse.command(
      `CREATE TABLE ${table} (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100`,
    );
    const insert = `INSERT INTO ${table} SELECT number FROM numbers(3) ORDER BY ALL`;
    for (let time = 0; time < 2; time += 1) await subject.warehouse.command(insert);
    expect(await subject.warehouse.rows(`SELECT count() AS rows FROM ${table}`)).toEqual([{ rows: 6 }]);
  });

  test("without a limit of time is given up when the server does not run it any more", async () => {
    const looks = [true, new Error("away"), false, true, false, false];
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const isRunning = async () => {
      const look = looks.shift();
      if (look instanceof Error) throw look;
      return look ?? expect.unreachable("it was given up before");
    };
    const waiting = waitFor(undefined, isRunning, 5);
    waiting.signal.addEventListener("abort", () => resolve(waiting.signal.reason));
    expect(await promise).toMatchObject(unreachable);
    waiting.end();
    expect(looks).toEqual([]);
  });
});

test("waiting for a command ends when its state cannot be found out", async () => {
  const waiting = waitFor(undefined, () => Promise.reject(new Error("it wants the right REMOTE")), 1);
  await until("the waiting ends", () => waiting.signal.aborted);
  expect(waiting.signal.reason).toMatchObject(unreachable);
  waiting.end();
});

test("a server's tables are not frozen for a backup: it is said how they are backed up", async () => {
  const before = server.queries.length;
  expect(await rejection(freezeTables(subject.warehouse))).toBeInstanceOf(Refusal);
  await dropFrozenTables(subject.warehouse);
  expect(server.queries.length).toBe(before);
});

test("a server that goes away and comes back is used again", async () => {
  await server.leave();
  expect(await rejection(subject.warehouse.rows("SELECT 1"))).toMatchObject(unreachable);
  const organization = subject.newOrganization();
  const insert = () => subject.insert("events", [eventRow(event(organization))], `away ${organization}`);
  expect(await rejection(insert())).toMatchObject(unreachable);
  await server.listen();
  await insert();
  expect(await subject.count("events", organization)).toBe(1);
});
