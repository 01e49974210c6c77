/** `rekindle export`: every field in every format, complete up to what was acknowledged before it began. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetRows } from "../parquet.ts";
import { rekindle, Server } from "../server.ts";
import { send, user } from "./support.ts";

/** Texts that break careless writers of CSV and JSON. */
const hostile = 'a,b;"c"\t\'d\'\r\n\\N \u0000 🙂 {"e":1}';
const events = [
  { event: "plain", timestamp: "2026-05-17T09:30:00.250Z", properties: {}, messageId: null },
  {
    event: "hostile",
    timestamp: "1970-06-01T00:00:00.000Z",
    properties: { [hostile]: hostile },
    messageId: hostile,
  },
  {
    event: "late",
    timestamp: "2299-12-30T23:59:59.999Z",
    properties: { n: 0.1, big: 1e300, list: [1, null] },
    messageId: "0a1b2c3d-0000-4000-8000-00000000000f",
  },
];
const account = { id: hostile, name: hostile, avatar: "https://example.com/a.png" };
const attributes = { tier: hostile, list: [1, null] };
const users = [
  { userId: "plain", email: "plain@example.com", properties: {}, isAccountOwner: null, account: null },
  {
    userId: hostile,
    email: '"a,b"@example.com',
    properties: { plan: hostile },
    isAccountOwner: true,
    account,
  },
];

const startedMs = Date.now();
let dataDir: string;
let server: Server;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "rekindle-export-"));
  server = await Server.start({ dataDir });
  const token = await server.organization("Export");
  for (const one of users) {
    const sent = one.account && { ...one.account, properties: attributes };
    await send(server, "/identify", token, { ...one, account: sent });
  }
  for (const one of events) await send(server, "/track", token, { userId: "plain", ...one });
  const stranger = await server.organization("Stranger");
  await send(server, "/identify", stranger, user("stranger", { account: { id: "s", name: "S" } }));
  await send(server, "/track", stranger, { userId: "stranger", event: "strange" });
});
afterAll(async () => {
  await server.kill("SIGTERM");
  rmSync(dataDir, { recursive: true, force: true });
});

type Row = Record<string, unknown>;
const byEvent = (a: Row, b: Row) => String(a.event).localeCompare(String(b.event));

function expectEvents(rows: readonly Row[]): void {
  const expected = events.map((one) => ({
    userId: "plain",
    ...one,
    receivedAt: expect.any(String),
    isActivity: true,
  }));
  expect([...rows].sort(byEvent)).toEqual(expected.sort(byEvent));
  for (const { receivedAt } of rows)
    expect(Date.parse(String(receivedAt))).toBeWithin(startedMs, Date.now() + 1);
}

const columns = {
  events: ["userId", "event", "timestamp", "receivedAt", "properties", "messageId", "isActivity"],
  users: ["userId", "email", "properties", "isAccountOwner", "account"],
  accounts: ["id", "name", "avatar", "properties"],
} as const;
type Table = keyof typeof columns;

describe("JSON lines", () => {
  test("of events have every field", async () => expectEvents(await server.exported("events", "Export")));

  test("of users have every field", async () => {
    expect(await server.exported("users", "Export")).toEqual(users);
  });

  test("of accounts have every field", async () => {
    expect(await server.exported("accounts", "Export")).toEqual([{ ...account, properties: attributes }]);
  });

  test("are what export writes when no format is named", async () => {
    const text = await server.command("export", "accounts", "--organization", "Export");
    expect(JSON.parse(text)).toEqual({ ...account, properties: attributes });
  });
});

/** The records of a CSV text, as RFC 4180 has it. */
function readCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    record.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end === ",") continue;
    records.push(record);
    record = [];
  }
  // The match of nothing at the very end is no record.
  return records.slice(0, -1);
}

async function csv(table: Table): Promise<Row[]> {
  const text = await server.command("export", table, "--organization", "Export", "--format", "csv");
  const [header, ...records] = readCsv(text);
  expect(header).toEqual([...columns[table]]);
  return records.map((record) =>
    Object.fromEntries(columns[table].map((name, index) => [name, record[index]])),
  );
}

describe("CSV", () => {
  test("of events has every field", async () => {
    const rows = await csv("events");
    const parsed = rows.map((row) => ({
      ...row,
      properties: JSON.parse(String(row.properties)),
      messageId: row.messageId === "" ? null : row.messageId,
      isActivity: row.isActivity === "true",
    }));
    expectEvents(parsed);
  });

  test("of users and accounts has every field", async () => {
    expect(await csv("accounts")).toEqual([{ ...account, properties: JSON.stringify(attributes) }]);
    const parsed = (await csv("users")).map((row) => ({
      ...row,
      properties: JSON.parse(String(row.properties)),
      isAccountOwner: row.isAccountOwner === "" ? null : row.isAccountOwner === "true",
      account: row.account === "" ? null : JSON.parse(String(row.account)),
    }));
    expect(parsed).toEqual(users);
  });
});

describe("Parquet", () => {
  test("of events has every field, and times that are times", async () => {
    const rows = await parquetRows(server, "events", "Export");
    const iso = (time: unknown) => `${String(time).replace(" ", "T")}Z`;
    const parsed = rows.map((row) => ({
      ...row,
      properties: JSON.parse(String(row.properties)),
      timestamp: iso(row.timestamp),
      receivedAt: iso(row.receivedAt),
    }));
    expectEvents(parsed);
  });

  test("of users and accounts has every field", async () => {
    expect(await parquetRows(server, "accounts", "Export")).toEqual([
      { ...account, properties: JSON.stringify(attributes) },
    ]);
    const parsed = (await parquetRows(server, "users", "Export")).map((row) => ({
      ...row,
      properties: JSON.parse(String(row.properties)),
      account: row.account === null ? null : JSON.parse(String(row.account)),
    }));
    expect(parsed).toEqual(users);
  });
});

test("an export has all that was acknowledged before it began, each time", async () => {
  const token = await server.organization("Fresh");
  await send(server, "/identify", token, user("u"));
  for (const round of [1, 2, 3]) {
    await Promise.all(
      Array.from({ length: 100 }, () => send(server, "/track", token, { userId: "u", event: "e" })),
    );
    expect(await server.exported("events", "Fresh")).toHaveLength(round * 100);
  }
});

test("without a server the export is the same", async () => {
  const before = await server.exported("events", "Export");
  await server.kill("SIGTERM");
  const { stdout } = await rekindle(
    dataDir,
    "export",
    "events",
    "--organization",
    "Export",
    "--format",
    "jsonl",
  );
  const after: unknown[] = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  expect(after).toEqual(before);
  server = await Server.start({ dataDir });
});
