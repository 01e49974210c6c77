import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { accountRow, eventRow, userRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { type ExportFormat, type ExportTable, exportTable } from "../../server/warehouse/copies/export.ts";
import { account, user } from "../ledger/writes.ts";
import { event, insertEvents, randomEvents, randomOfThisRun, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

const hostile = [
  "quote \" backslash \\ slash / apostrophe '",
  "comma, semicolon; line\nbreak\r\nand\ttab",
  "東京 🗼 é e\u0301 \u2028 \u2029 \ufeff",
  "\u0000\u0001\b\f\u001f\u007f",
  "\\N",
  "NULL",
  "=1+1",
  " leading and trailing ",
  "<script>&amp;</script>",
];

function bytes(organization: number, table: ExportTable, format: ExportFormat): AsyncIterable<Uint8Array> {
  return exportTable(subject.warehouse, { organization, table, format });
}

async function text(organization: number, table: ExportTable, format: ExportFormat): Promise<string> {
  return Buffer.concat(await Array.fromAsync(bytes(organization, table, format))).toString();
}

async function jsonLines(organization: number, table: ExportTable): Promise<unknown[]> {
  const lines = (await text(organization, table, "jsonl")).split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => JSON.parse(line));
}

/** RFC 4180, as a strict reader reads it. */
function readCsv(csv: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  while (field.lastIndex < csv.length) {
    const match = field.exec(csv);
    if (match === null) throw new Error(`not CSV: ${JSON.stringify(csv.slice(0, 200))}`);
    record.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}

/** The temporary files of the engine that are left. A server writes none here. */
function filesLeft(): Promise<string[]> {
  return readdir(join(subject.folder, "tmp")).catch(() => []);
}

/** A Parquet file read back by the engine. */
async function readParquet(organization: number, table: ExportTable): Promise<unknown[]> {
  const path = join(subject.folder, `${table}-${organization}.parquet`);
  await Bun.write(path, Buffer.concat(await Array.fromAsync(bytes(organization, table, "parquet"))));
  return subject.warehouse.rows("SELECT * FROM file({path:String}, 'Parquet')", { path });
}

async function hostileOrganization() {
  const organization = subject.newOrganization();
  await subject.insert(
    "accounts",
    hostile.map((name, n) =>
      accountRow(
        account(organization, `account ${name}`, {
          number: n + 1,
          name,
          avatar: n % 2 ? name : null,
          traits: attributesOf(name),
        }),
      ),
    ),
  );
  await subject.insert(
    "users",
    hostile.map((userId, n) =>
      userRow(
        user(organization, userId, {
          number: n + 1,
          email: `user${n}@example.com`,
          traits: { [userId]: userId, nested: { list: [1, null, userId] } },
          isAccountOwner: [true, false, null][n % 3] ?? null,
          account: n % 4 === 0 ? 0 : n + 1,
        }),
      ),
    ),
  );
  const messageIds = [null, "an id", "0190f5fe-7c31-7000-8000-00000000abcd", 'ID "with" \\ \''];
  const events = hostile.map((name, n) => {
    const messageId = messageIds[n % 4] ?? null;
    return event(organization, {
      user: n + 1,
      event: name.replace(/\s/gu, "_"),
      timeMs: Date.UTC(1970 + n * 41, 5, 5, 1, 2, 3, n),
      properties: JSON.stringify({ [name]: name }),
      messageId,
      isActivity: n % 5 !== 3,
      ...(n % 4 === 2 && messageId !== null ? { id: messageId } : {}),
    });
  });
  await insertEvents(subject, events);
  return { organization, events };
}

/** The attributes of an account with this name. */
function attributesOf(name: string) {
  return { [name]: name, list: [1, null, name] };
}

describe("hostile strings come out unchanged", () => {
  test("as JSON lines", async () => {
    const { organization, events } = await hostileOrganization();
    expect(await jsonLines(organization, "events")).toEqual(
      events.map((one, n) => ({
        userId: hostile[n],
        event: one.event,
        timestamp: new Date(one.timeMs).toISOString(),
        receivedAt: new Date(one.receivedAtMs).toISOString(),
        properties: JSON.parse(one.properties),
        messageId: one.messageId,
        isActivity: one.isActivity,
      })),
    );
    expect(await jsonLines(organization, "users")).toEqual(
      hostile.map((userId, n) => ({
        userId,
        email: `user${n}@example.com`,
        properties: { [userId]: userId, nested: { list: [1, null, userId] } },
        isAccountOwner: [true, false, null][n % 3],
        account:
          n % 4 === 0 ? null : { id: `account ${userId}`, name: userId, avatar: n % 2 ? userId : null },
      })),
    );
    expect(await jsonLines(organization, "accounts")).toEqual(
      hostile.map((name, n) => ({
        id: `account ${name}`,
        name,
        avatar: n % 2 ? name : null,
        properties: attributesOf(name),
      })),
    );
  });

  test("as CSV", async () => {
    const { organization, events } = await hostileOrganization();
    expect(readCsv(await text(organization, "events", "csv"))).toEqual([
      ["userId", "event", "timestamp", "receivedAt", "properties", "messageId", "isActivity"],
      ...events.map((one, n) => [
        hostile[n] ?? "",
        one.event,
        new Date(one.timeMs).toISOString(),
        new Date(one.receivedAtMs).toISOString(),
        one.properties,
        one.messageId ?? "",
        String(one.isActivity),
      ]),
    ]);
    const users = readCsv(await text(organization, "users", "csv"));
    expect(users[0]).toEqual(["userId", "email", "properties", "isAccountOwner", "account"]);
    expect(users.slice(1, 4).map(([userId, , , owner]) => [userId, owner])).toEqual([
      [hostile[0] ?? "", "true"],
      [hostile[1] ?? "", "false"],
      [hostile[2] ?? "", ""],
    ]);
    expect(users[1]?.[4]).toBe("");
    expect(JSON.parse(users[2]?.[4] ?? "")).toEqual({
      id: `account ${hostile[1]}`,
      name: hostile[1],
      avatar: hostile[1],
    });
    expect(readCsv(await text(organization, "accounts", "csv"))).toEqual([
      ["id", "name", "avatar", "properties"],
      ...hostile.map((name, n) => [
        `account ${name}`,
        name,
        n % 2 ? name : "",
        JSON.stringify(attributesOf(name)),
      ]),
    ]);
  });

  test("as Parquet, and the temporary file is gone", async () => {
    const { organization, events } = await hostileOrganization();
    const time = (ms: number) => new Date(ms).toISOString().replace("T", " ").replace("Z", "");
    expect(await readParquet(organization, "events")).toEqual(
      events.map((one, n) => ({
        userId: hostile[n],
        event: one.event,
        timestamp: time(one.timeMs),
        receivedAt: time(one.receivedAtMs),
        properties: one.properties,
        messageId: one.messageId,
        isActivity: one.isActivity,
      })),
    );
    const users = await readParquet(organization, "users");
    expect(users[2]).toMatchObject({ userId: hostile[2], isAccountOwner: null });
    expect(await readParquet(organization, "accounts")).toHaveLength(hostile.length);
    expect(await filesLeft()).toEqual([]);
  });

  test("and the text of properties is not touched: numbers, key order, escapes", async () => {
    const organization = subject.newOrganization();
    const properties = '{"z":1,"a":9007199254740993,"1":1.50,"e":1e2,"u":"\\u00e9\\/","d":{"b":[],"a":{}}}';
    await insertEvents(subject, [event(organization, { properties })]);
    expect(await text(organization, "events", "jsonl")).toContain(`"properties":${properties},`);
  });
});

describe("exports", () => {
  test("of an organization without anything are empty and well formed", async () => {
    const organization = subject.newOrganization();
    for (const table of ["events", "users", "accounts"] as const) {
      expect(await text(organization, table, "jsonl")).toBe("");
      expect(readCsv(await text(organization, table, "csv"))).toHaveLength(1);
      expect(await readParquet(organization, table)).toEqual([]);
    }
  });

  test("hold each user once, as last identified, and nothing of another organization", async () => {
    const [organization, other] = [subject.newOrganization(), subject.newOrganization()];
    const versions = [1, 2, 3].map((version) =>
      user(organization, "ada", { version, email: `v${version}@example.com` }),
    );
    await subject.insert("users", [...versions, user(other, "eve")].map(userRow));
    await insertEvents(subject, [event(organization), event(other)]);
    expect(await jsonLines(organization, "users")).toMatchObject([
      { userId: "ada", email: "v3@example.com" },
    ]);
    expect(await jsonLines(organization, "events")).toMatchObject([{ userId: "ada" }]);
  });

  test("of many events come in order, by user and time, each once", async () => {
    const organization = subject.newOrganization();
    const events = randomEvents(randomOfThisRun("export"), organization, 30_000);
    const users = Array.from({ length: 60 }, (_, n) =>
      user(organization, `user ${n + 1}`, { number: n + 1 }),
    );
    await subject.insert("users", users.map(userRow));
    await insertEvents(subject, events, 6);
    const compare = (a: (typeof events)[number], b: (typeof events)[number]) =>
      a.user - b.user || a.timeMs - b.timeMs;
    const expected = events
      .toSorted(compare)
      .map((one) => `user ${one.user} ${new Date(one.timeMs).toISOString()}`);
    const exported = (await text(organization, "events", "jsonl")).trimEnd().split("\n");
    const order = exported.map((line) => {
      const { userId, timestamp } = JSON.parse(line) as { userId: string; timestamp: string };
      return `${userId} ${timestamp}`;
    });
    expect(order).toEqual(expected);
    expect(readCsv(await text(organization, "events", "csv"))).toHaveLength(events.length + 1);
  });

  test("that are left early remove their temporary file", async () => {
    const organization = subject.newOrganization();
    await subject.insert(
      "events",
      Array.from({ length: 20_000 }, () => eventRow(event(organization))),
    );
    for await (const chunk of bytes(organization, "events", "parquet")) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect(await filesLeft()).toEqual([]);
  });
});
