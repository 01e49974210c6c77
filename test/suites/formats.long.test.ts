/**
 * JSON Schema's suites of formats and the URLs of web-platform-tests against the real endpoints: `email` and
 * `idn-email` as the user's address, `date-time` and `date` as an event's time, `uri` and URLs as an avatar.
 * Wherever our decisions differ from a suite, the case stands here under the reason.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Server } from "../server.ts";
import {
  addressDeviations,
  dateDeviations,
  dateTimeDeviations,
  uriDeviations,
  urlDeviations,
} from "./deviations.ts";
import {
  type Answer,
  type Deviations,
  expectVerdicts,
  formatStrings,
  refusalOf,
  sender,
  withSuite,
} from "./support.ts";

type Row = Readonly<Record<string, unknown>>;
let server: Server;
beforeAll(async () => {
  server = await Server.shared();
});
afterAll(() => server.stop());

interface Case {
  readonly text: string;
  /** The suite's verdict. */
  readonly expected: boolean;
}

/** One way in for a text: what is sent, which field refuses it, and where it stands in the export. */
interface Door {
  readonly path: string;
  readonly body: (text: string, id: string) => Row;
  readonly field: string;
  readonly table: "users" | "events" | "accounts";
  /** The id of a row, and its form of the text that was sent. Undefined when it isn't kept as text. */
  readonly stored?: (row: Row) => readonly [unknown, unknown];
}

const email: Door = {
  path: "/identify",
  body: (text, id) => ({ userId: id, email: text }),
  field: "email",
  table: "users",
  stored: ({ userId, email }) => [userId, email],
};
const timestamp: Door = {
  path: "/track",
  body: (text, id) => ({ userId: "u", event: "e", timestamp: text, messageId: id }),
  field: "timestamp",
  table: "events",
};
const userAvatar: Door = {
  path: "/identify",
  body: (text, id) => ({ userId: id, email: "a@b.co", properties: { avatar: text } }),
  field: "properties.avatar",
  table: "users",
  stored: ({ userId, properties }) => [userId, (properties as Row).avatar],
};
const accountAvatar: Door = {
  path: "/identify",
  body: (text, id) => ({ userId: "u", email: "a@b.co", account: { id, name: "A", avatar: text } }),
  field: "account.avatar",
  table: "accounts",
  stored: ({ id, avatar }) => [id, avatar],
};

/** Sends all cases, compares the verdicts, and looks for what was taken, unchanged, in the export. */
async function judge(door: Door, organization: string, cases: readonly Case[], deviations: Deviations) {
  const post = await sender(server, organization);
  const answers: Answer[] = await Promise.all(
    cases.map(({ text }, index) => post(door.path, door.body(text, `case ${index}`))),
  );
  for (const answer of answers) {
    if (answer.status !== 201) expect(refusalOf(answer)).toStartWith(`${door.field} `);
  }
  const verdicts = cases.map(({ text, expected }, index) => {
    return { name: text, expected, taken: answers[index]?.status === 201 };
  });
  expectVerdicts(verdicts, deviations);
  const rows: Row[] = await server.exported(door.table, organization);
  const taken = cases
    .map(({ text }, index) => [`case ${index}`, text] as const)
    .filter((_, index) => verdicts[index]?.taken);
  const { stored } = door;
  if (stored === undefined) expect(rows).toHaveLength(taken.length);
  else {
    const found = rows.map(stored).filter(([id]) => id !== "u");
    expect(new Map(found)).toEqual(new Map(taken));
    expect(found).toHaveLength(taken.length);
  }
}

test("addresses that the suites do not have", async () => {
  const [right, wrong] = [true, false];
  const cases = [
    { text: "ada@xn--c2br7g.xn--h2brj9c", expected: right },
    { text: "डाटा@डाटामेल.भारत", expected: right },
    { text: '"a\nb"@example.com', expected: wrong },
    { text: '"a\r\nBcc: eve@example.com"@example.com', expected: wrong },
    { text: '"a\\\nb"@example.com', expected: wrong },
    { text: '"a\u0000b"@example.com', expected: wrong },
    { text: '"실\n례"@실례.테스트', expected: wrong },
    { text: "ada@example.com\n", expected: wrong },
    { text: "ada@[IPv6:1]", expected: wrong },
    { text: `${"a".repeat(65)}@example.com`, expected: wrong },
  ];
  await judge(email, "Addresses", cases, addressDeviations);
});

withSuite("formats", (folder) => {
  const casesOf = (name: string): Case[] =>
    formatStrings(`${folder}/${name}.json`).map(({ data, valid }) => ({ text: data, expected: valid }));

  test.each([
    ["email", 21],
    ["idn-email", 12],
  ])("%s: what either format takes is an address", async (name, count) => {
    const cases = casesOf(name);
    expect(cases).toHaveLength(count);
    const others = casesOf(name === "email" ? "idn-email" : "email");
    const isTakenByOther = (text: string) => others.some((other) => other.text === text && other.expected);
    const either = cases.map(({ text, expected }) => ({ text, expected: expected || isTakenByOther(text) }));
    await judge(email, `Suite ${name}`, either, {});
  });

  test.each([
    ["date-time", 27, dateTimeDeviations],
    ["date", 75, dateDeviations],
  ])("%s is a form of an event's time", async (name, count, deviations) => {
    const cases = casesOf(name);
    expect(cases).toHaveLength(count);
    await judge(timestamp, `Suite ${name}`, cases, deviations);
  });

  test.each([
    ["a user's", userAvatar],
    ["an account's", accountAvatar],
  ])("uri is the form of %s avatar", async (title, door) => {
    const cases = casesOf("uri");
    expect(cases).toHaveLength(40);
    await judge(door, `Suite uri ${title}`, cases, uriDeviations);
  });
});

interface UrlCase {
  readonly input: string;
  readonly base?: string | null;
  readonly failure?: boolean;
  readonly href?: string;
}

withSuite("url/urltestdata.json", (path) => {
  // Strings between the cases are headings.
  const all: (UrlCase | string)[] = JSON.parse(readFileSync(path, "utf8"));
  const absolute = all.filter(
    (one): one is UrlCase => typeof one === "object" && (one.base ?? null) === null,
  );
  const cases = absolute.map(({ input, failure = false, href = "" }) => ({
    text: input,
    expected: !failure && /^(https?:|data:image\/)/.test(href),
  }));

  describe("the URL standard's absolute URLs of http, https and data:image", () => {
    test("are 133 of 555", () => {
      expect(cases).toHaveLength(555);
      expect(cases.filter(({ expected }) => expected)).toHaveLength(133);
    });

    test.each([
      ["a user's", userAvatar],
      ["an account's", accountAvatar],
    ])("are the form of %s avatar", async (title, door) => {
      await judge(door, `Suite URL ${title}`, cases, urlDeviations);
    });
  });
});
