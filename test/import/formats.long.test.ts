/** The import of each format of file: the export returns the values of the file unchanged. */
import { expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { Session } from "chdb";
import { exportedBytes } from "../parquet.ts";
import { importBench } from "./bench.ts";
import { countsOf } from "./support.ts";

const bench = importBench();

/** Imports a file into an organization of its own with the users u1 and u2. Returns its events afterwards. */
async function eventsOf(
  organization: string,
  name: string,
  content: string | Uint8Array,
  ...options: string[]
) {
  await bench.organization(organization);
  const result = await bench.import(bench.file(name, content), organization, ...options);
  expect([result.exitCode, result.stderr]).toEqual([0, ""]);
  const exported = await bench.server.exported("events", organization);
  const events = exported.map(({ userId, event, timestamp, properties, messageId }) => ({
    userId,
    event,
    timestamp,
    properties,
    messageId,
  }));
  return { counts: countsOf(result), events };
}

test("CSV: quoted cells, quoted line ends, empty cells and a byte order mark", async () => {
  const { events } = await eventsOf(
    "csv",
    "a.csv",
    '\ufeffuser_id,Event Name,time,note,empty\r\nu1,a,2026-05-17T09:30:00+02:00,"one ""two"",\r\nthree",\r\nu1,b,2026-05-18,é€😀,5" disc\r\n',
  );
  expect(events).toEqual([
    {
      userId: "u1",
      event: "a",
      timestamp: "2026-05-17T07:30:00.000Z",
      messageId: null,
      properties: { note: 'one "two",\r\nthree' },
    },
    {
      userId: "u1",
      event: "b",
      timestamp: "2026-05-17T22:00:00.000Z",
      messageId: null,
      properties: { note: "é€😀", empty: '5" disc' },
    },
  ]);
});

test("CSV with semicolons and without a header has columns 1, 2, 3", async () => {
  const columns = ["--user-id", "1", "--event", "2", "--timestamp", "3", "--number", "4"];
  const { events } = await eventsOf(
    "bare",
    "b.csv",
    "u1;a;2026-05-17T00:00:00Z;1.5\n",
    "--delimiter",
    "semicolon",
    "--no-header",
    ...columns,
  );
  expect(events).toMatchObject([{ userId: "u1", event: "a", properties: { 4: 1.5 } }]);
});

test("columns between any white space, as CDNOW has them", async () => {
  const { events } = await eventsOf(
    "space",
    "c.txt",
    " customer_id  date discs\n u1 19970101  1   \n\n u2\t19970112  12\n",
    "--format",
    "csv",
    "--delimiter",
    "space",
    "--event-name",
    "purchase",
    "--number",
    "discs",
  );
  expect(events).toMatchObject([
    { userId: "u1", event: "purchase", timestamp: "1996-12-31T23:00:00.000Z", properties: { discs: 1 } },
    { userId: "u2", event: "purchase", timestamp: "1997-01-11T23:00:00.000Z", properties: { discs: 12 } },
  ]);
});

test("JSON lines keep their types, and ids their digits", async () => {
  await bench.organization("jsonl");
  const people = bench.file("people.jsonl", '{"userId":42,"email":"a@example.com"}\n');
  await bench.import(people, "jsonl");
  const lines = [
    '{"userId":42,"event":"a","timestamp":1778923800,"properties":{"list":[1,{"b":null}]},"plan":"pro"}',
    '{"userId":42.0,"event":"b","timestamp":"2026-05-17"}',
    '{"userId":"42","event":"c","timestamp":1778923800123,"big":12345678901234567890}',
    '{"userId":"42","event":"d","timestamp":"2026-05-17 09:30:00 UTC","invalid":"x","messageId":"m"}',
  ];
  const result = await bench.import(bench.file("events.jsonl", lines.join("\n")), "jsonl");
  expect(countsOf(result)).toEqual({ rows: 4, new: 3, duplicate: 0, rejected: 1 });
  expect(result.stdout).toMatch(/line 2: userId is a number whose digits/);
  const events = await bench.server.exported("events", "jsonl");
  expect(events).toMatchObject([
    {
      userId: "42",
      event: "a",
      timestamp: "2026-05-16T09:30:00.000Z",
      properties: { list: [1, { b: null }], plan: "pro" },
    },
    { event: "c", timestamp: "2026-05-16T09:30:00.123Z", properties: { big: "12345678901234567890" } },
    { event: "d", timestamp: "2026-05-17T09:30:00.000Z", properties: { invalid: "x" }, messageId: "m" },
  ]);
});

test.each(["csv", "jsonl"])("%s compressed with gzip is inflated", async (format) => {
  const content =
    format === "csv"
      ? "userId,event,timestamp\nu1,a,2026-05-17\n"
      : '{"userId":"u1","event":"a","timestamp":"2026-05-17"}\n';
  const { counts } = await eventsOf(`gz-${format}`, `z.${format}.gz`, gzipSync(content));
  expect(counts).toEqual({ rows: 1, new: 1, duplicate: 0, rejected: 0 });
});

/** Writes a Parquet file of one SELECT. */
async function parquet(name: string, select: string): Promise<string> {
  const session = new Session();
  try {
    // The engine would take the name for a pattern.
    const plain = bench.path("plain.parquet");
    await session.queryAsync(`INSERT INTO FUNCTION file('${plain}', 'Parquet') ${select}`);
    renameSync(plain, bench.path(name));
  } finally {
    session.close();
  }
  return bench.path(name);
}

test("Parquet: integers, decimals, times, structs, lists and bytes come out as what they are", async () => {
  await bench.organization("parquet");
  const file = await parquet(
    "{odd}*name.parquet",
    `SELECT 'u1' AS user_id, 'a' AS event, toDateTime64('2026-05-17 09:30:00.123', 3, 'UTC') AS timestamp,
       toInt64(42) AS small, toInt64(9007199254740993) AS big, toDecimal64('12.30', 2) AS price,
       toDecimal128('1234567890123456.789', 3) AS exact, 0.1 AS double, toDate32('2026-05-17') AS day,
       CAST(tuple(1, 'x'), 'Tuple(n Int32, s String)') AS nested, [1, 2] AS list, CAST(NULL, 'Nullable(String)') AS nothing,
       unhex('ff00') AS bytes, true AS flag`,
  );
  const result = await bench.import(file, "parquet");
  expect([result.stderr, countsOf(result)]).toEqual(["", { rows: 1, new: 1, duplicate: 0, rejected: 0 }]);
  const [event] = await bench.server.exported("events", "parquet");
  expect(event?.timestamp).toBe("2026-05-17T09:30:00.123Z");
  expect(event?.properties).toEqual({
    small: 42,
    big: "9007199254740993",
    price: 12.3,
    exact: "1234567890123456.789",
    double: 0.1,
    day: "2026-05-17",
    nested: { n: 1, s: "x" },
    list: [1, 2],
    bytes: "/wA=",
    flag: true,
  });
});

test("a Parquet file of many blocks comes in whole and in its order, also after a kill", async () => {
  await bench.organization("blocks");
  const rows = 20_000;
  const file = await parquet(
    "blocks.parquet",
    `SELECT 'u1' AS user_id, 'a' AS event, toDate32('2026-05-17') AS timestamp, number AS n FROM numbers(${rows})
     SETTINGS output_format_parquet_row_group_size = 2300`,
  );
  const done = await bench.importKilledAt(1, file, "blocks");
  expect(done).toBeWithin(1, rows);
  expect(countsOf(await bench.import(file, "blocks"))).toEqual({
    rows,
    new: rows,
    duplicate: 0,
    rejected: 0,
  });
  const events = await bench.server.exported("events", "blocks");
  const numbers = new Set(events.map(({ properties }) => (properties as { n: number }).n));
  expect([events.length, numbers.size]).toEqual([rows, rows]);
});

test.each(["jsonl", "csv", "parquet"])("an export as %s comes back by import as it was", async (format) => {
  const [from, to] = [`from-${format}`, `to-${format}`];
  const token = await bench.server.organization(from);
  await bench.server.command("organization", "create", to);
  const user = {
    userId: "u,1",
    email: "ada@example.com",
    properties: { name: "Ada", n: 1.5, list: [{ a: null }] },
    isAccountOwner: true,
    account: {
      id: "7",
      name: 'Engines "&" Sons',
      avatar: null,
      properties: { tier: "gold", seats: 3, list: [{ a: null }], contractValue: 0.1 },
    },
  };
  await bench.server.post("/identify", token, user);
  const event = {
    userId: "u,1",
    event: "a",
    timestamp: "2026-05-17T09:30:00.5Z",
    properties: { b: { c: 1 } },
  };
  await bench.server.post("/track", token, { ...event, messageId: "m-1" });
  const quiet = JSON.stringify({ ...event, messageId: "m-2", isActivity: false });
  await bench.import(bench.file(`quiet-${format}.jsonl`, quiet), from);
  for (const what of ["users", "events", "accounts"] as const) {
    const output = Bun.file(bench.path(`${from}-${what}.${format}`));
    await Bun.write(output, await exportedBytes(bench, what, from, format));
    const options = what === "accounts" ? ["--type", "accounts"] : [];
    const result = await bench.import(bench.path(`${from}-${what}.${format}`), to, ...options);
    expect([result.stderr, countsOf(result).new]).toEqual(["", what === "events" ? 2 : 1]);
    const sent = await bench.server.exported(what, from);
    const received = await bench.server.exported(what, to);
    const plain = (rows: Record<string, unknown>[]) => rows.map((row) => ({ ...row, receivedAt: null }));
    expect(plain(received)).toEqual(plain(sent));
    if (what === "events")
      expect(received.map(({ messageId, isActivity }) => [messageId, isActivity]).sort()).toEqual([
        ["m-1", true],
        ["m-2", false],
      ]);
  }
});
