/**
 * The Big List of Naughty Strings, each as userId, event, trait, property, key and account: stored, and
 * exported in every format, as it was sent.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { isPlaceholderId } from "../../server/intake/admission/placeholder-ids.ts";
import { parquetRows } from "../parquet.ts";
import { Server } from "../server.ts";
import { type Answer, refusalOf, sender, taken, withSuite } from "./support.ts";

export const runsOn = { postgres: true };

/** Characters that make a name of an event invalid: Unicode's white space, and the byte order mark.
 * JavaScript counts that mark as a space. */
const whiteSpace = /[\p{White_Space}\ufeff]/u;
const organization = "Naughty";

type Row = Readonly<Record<string, unknown>>;

/** A JSON object with the string as a key and as values. One of the keys is a reserved trait. */
function holding(text: string): Row {
  return { plan: text, value: text, [text]: [text, { [text]: text }] };
}

const identifyOf = (text: string): Row => ({
  userId: text,
  email: "ada@example.com",
  properties: holding(text),
  account: { id: text, name: text, properties: holding(text) },
});

const trackOf = (text: string): Row => ({
  userId: text,
  event: whiteSpace.test(text) ? "spaced" : text,
  properties: holding(text),
  messageId: text,
});

withSuite("strings/blns.json", (path) => {
  const strings = [...new Set<string>(JSON.parse(readFileSync(path, "utf8")))];
  const possible = strings.filter((text) => text !== "" && [...text].length <= 256);
  const placeholders = possible.filter(isPlaceholderId);
  const ids = possible.filter((text) => !placeholders.includes(text));
  const spaced = strings.filter((text) => whiteSpace.test(text));
  const answers: Answer[] = [];
  let server: Server;
  let post: (path: string, body: unknown) => Promise<Answer>;

  beforeAll(async () => {
    server = await Server.shared();
    post = await sender(server, organization);
    await Promise.all(
      ids.map(async (text) => {
        answers.push(await post("/identify", identifyOf(text)));
        answers.push(await post("/track", trackOf(text)));
      }),
    );
  });
  afterAll(() => server.stop());

  test("are all taken, but for those that no id can be", async () => {
    expect(strings.length).toBeGreaterThan(500);
    const others = strings.filter((text) => !possible.includes(text));
    expect(others.map((text) => [...text].length)).toEqual([0, 269]);
    expect(answers.filter((answer) => !Bun.deepEquals(answer, taken))).toEqual([]);
  });

  test("are refused as an id when programs send them for none", async () => {
    expect(placeholders).toContain("undefined");
    expect(placeholders.length).toBeGreaterThan(3);
    const refused = await Promise.all(placeholders.map((text) => post("/identify", identifyOf(text))));
    for (const answer of refused) expect(refusalOf(answer)).toStartWith("userId ");
  });

  test("are refused as an event's name when they have white space", async () => {
    expect(spaced.length).toBeGreaterThan(200);
    const bodies = [...spaced, ""].map((event) => ({ userId: "u", event }));
    const refused = await Promise.all(bodies.map((body) => post("/track", body)));
    for (const answer of refused) expect(refusalOf(answer)).toStartWith("event ");
  });

  const sent = {
    users: ids.map((text) => ({ ...identifyOf(text), isAccountOwner: null, account: accountOf(text) })),
    events: ids.map(trackOf),
    accounts: ids.map((text) => ({ ...accountOf(text), properties: holding(text) })),
  };

  /** Compares rows of a format with the sent ones. The user "u" and the times of receipt are not from
   * here. */
  function expectSent(table: keyof typeof sent, rows: readonly Row[]): void {
    const found = rows
      .filter(({ userId }) => userId !== "u")
      .map(({ timestamp: _time, receivedAt: _received, isActivity: _isActivity, ...row }) => row);
    expect(inOrder(found)).toEqual(inOrder(sent[table]));
  }

  describe.each(["users", "events", "accounts"] as const)(
    "of %s the export has all of them unchanged",
    (table) => {
      test("as JSON lines", async () => {
        expectSent(table, await server.exported(table, organization));
      });

      test("as CSV", async () => {
        const text = await server.command("export", table, "--organization", organization, "--format", "csv");
        const rows: Row[] = parse(text, { columns: true, record_delimiter: "\r\n" });
        const parsed = rows.map((row) => ({ ...row, ...emptyAsNull(row), ...parsedIn(row) }));
        expectSent(table, parsed);
      });

      test("as Parquet", async () => {
        const rows = await parquetRows(server, table, organization);
        expectSent(
          table,
          rows.map((row) => ({ ...row, ...parsedIn(row) })),
        );
      });
    },
  );
});

function accountOf(text: string): Row {
  return { id: text, name: text, avatar: null };
}

/** JSON inside a column of text. */
function parsedIn({ properties, account }: Row): Row {
  return {
    ...(properties !== undefined && { properties: JSON.parse(String(properties)) }),
    ...(typeof account === "string" && account !== "" && { account: JSON.parse(account) }),
  };
}

/** CSV has no null. Only these columns may be null here. */
function emptyAsNull(row: Row): Row {
  const names = ["isAccountOwner", "avatar"].filter((name) => row[name] === "");
  return Object.fromEntries(names.map((name) => [name, null]));
}

function inOrder(rows: readonly Row[]): Row[] {
  const key = (row: Row) => String(row.userId ?? row.id);
  return [...rows].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
