/** POST /track: every field and every rule of the specification but the event's time (event-time.test.ts). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { type Body, expectError, expectRefused, expectSuccess, send, user } from "./support.ts";

export const runsOn = { nodes: 3 };

let server: Server;
let token: string;

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization("Track");
  await send(server, "/identify", token, user("u"));
});
afterAll(() => server.stop());

const track = (body: Body) => server.post("/track", token, body);
const event = (more: object) => ({ userId: "u", event: "e", ...more });

test("an event is answered 201 and kept whole", async () => {
  const writer = await server.organization("Whole");
  await send(server, "/identify", writer, user("u"));
  const properties = { price: 12.5, items: [{ sku: "a" }], note: null, "key with space": "ü🙂\n\u0000" };
  const beforeMs = Date.now();
  await expectSuccess(
    await server.post("/track", writer, {
      userId: "u",
      event: "order_completed",
      properties,
      messageId: "m1",
    }),
  );
  const afterMs = Date.now();
  const rows = await server.exported("events", "Whole");
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ userId: "u", event: "order_completed", properties, messageId: "m1" });
  for (const field of ["timestamp", "receivedAt"]) {
    const ms = Date.parse(String(rows[0]?.[field]));
    expect(ms).toBeGreaterThanOrEqual(beforeMs);
    expect(ms).toBeLessThanOrEqual(afterMs);
  }
});

describe("a user who was never identified is not_found, with the way to mend it,", () => {
  test.each([
    ["an unknown id", "nobody"],
    ["an id in another case", "U"],
    ["an id with a space", "u "],
    ["a number", 42],
  ])("%s", async (_title, userId) => {
    const message = await expectError(await track({ userId, event: "e" }), "not_found", "/identify");
    expect(message.toLowerCase()).toContain("user");
    expect(message.toLowerCase()).toContain("not found");
    expect(message).toContain("identified");
  });

  test("and can be tracked as soon as identify has answered", async () => {
    await expectError(await track({ userId: "late", event: "e" }), "not_found");
    await send(server, "/identify", token, user("late"));
    await expectSuccess(await track({ userId: "late", event: "e" }));
  });

  test("also when another organization knows the id", async () => {
    const other = await server.organization("Other than Track");
    await send(server, "/identify", other, user("theirs"));
    await expectError(await track({ userId: "theirs", event: "e" }), "not_found");
    await expectSuccess(await server.post("/track", other, { userId: "theirs", event: "e" }));
  });

  test("and the body is checked before the user", async () => {
    await expectRefused(await track({ userId: "nobody", event: "a b" }), "event");
  });
});

const accepted: readonly (readonly [string, Body])[] = [
  ["userId and event alone", event({})],
  ["names in any script", event({ event: "注文完了🙂" })],
  ["names with signs", event({ event: "Order:Completed/v2.1-β_$" })],
  ["a zero-width space, which is not white space", event({ event: "a\u200bb" })],
  [
    "properties of every JSON type",
    event({ properties: { a: 1, b: "x", c: null, d: [1, [2]], e: { f: 1 } } }),
  ],
  ["reserved names of traits with any type", event({ properties: { name: 5, avatar: "no url", plan: {} } })],
  ["properties null", event({ properties: null })],
  ["timestamp null", event({ timestamp: null })],
  ["messageId null", event({ messageId: null })],
  ["top-level keys that we do not know", event({ context: { page: "/" }, email: "not checked" })],
];

describe("track takes", () => {
  test.each(accepted)("%s", async (_title, body) => {
    await expectSuccess(await track(body));
  });
});

/** Unicode's White_Space property, whole, and the byte order mark, which was a space once. */
const whiteSpace = [
  ..."\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a",
  ..."\u2028\u2029\u202f\u205f\u3000\ufeff",
];

const refused: readonly (readonly [string, Body, string])[] = [
  ["an empty object", {}, "userId"],
  ["no userId", { event: "e" }, "userId"],
  ["userId null", event({ userId: null }), "userId"],
  ["an empty userId", event({ userId: "" }), "userId"],
  ["userId false", event({ userId: false }), "userId"],
  ["no event", { userId: "u" }, "event"],
  ["event null", event({ event: null }), "event"],
  ["an empty event", event({ event: "" }), "event"],
  ["a number as event", event({ event: 5 }), "event"],
  ["an object as event", event({ event: {} }), "event"],
  ["an event with a space", event({ event: "order completed" }), "event"],
  ["an event with a space before", event({ event: " order" }), "event"],
  ["an event with a space behind", event({ event: "order " }), "event"],
  ["properties as a list", event({ properties: [] }), "properties"],
  ["properties as a string", event({ properties: "a=b" }), "properties"],
  ["properties true", event({ properties: true }), "properties"],
  ["a number as messageId", event({ messageId: 5 }), "messageId"],
  ["an empty messageId", event({ messageId: "" }), "messageId"],
  ["a number as timestamp", event({ timestamp: 1_779_000_000 }), "timestamp"],
  ["a number out of range", '{"userId":"u","event":"e","properties":{"n":-1e400}}', "properties.n"],
  [
    "a number that would be rounded",
    '{"userId":"u","event":"e","properties":{"n":9007199254740993}}',
    "properties.n",
  ],
  ["half a character", '{"userId":"u","event":"e","properties":{"a":{"s":"\\udc00"}}}', "properties.a.s"],
  ["half a character in the name", '{"userId":"u","event":"\\ud83d"}', "event"],
  ["no JSON", "event", "body"],
  ["a list", '[{"userId":"u","event":"e"}]', "body"],
];

describe("track refuses, naming the field and saying what to send,", () => {
  test.each(refused)("%s", async (_title, body, field) => {
    await expectRefused(await track(body), field);
  });

  test.each(whiteSpace.map((space) => [space.codePointAt(0)?.toString(16).padStart(4, "0"), space]))(
    "an event with the white space U+%s",
    async (_code, space) => {
      await expectRefused(await track(event({ event: `order${space}completed` })), "event");
    },
  );
});

test("a refused event is not stored, and its message says that white space is the fault", async () => {
  const writer = await server.organization("Refused");
  await send(server, "/identify", writer, user("u"));
  const response = await server.post("/track", writer, event({ event: "a b" }));
  await expectError(response, "validation_error", "event", "white space");
  expect(await server.exported("events", "Refused")).toEqual([]);
});

test("two equal events without a message id are two events", async () => {
  const writer = await server.organization("Twice");
  await send(server, "/identify", writer, user("u"));
  const purchase = { userId: "u", event: "purchase", properties: { cents: 999 }, timestamp: "2026-05-17" };
  await send(server, "/track", writer, purchase);
  await send(server, "/track", writer, purchase);
  expect(await server.exported("events", "Twice")).toHaveLength(2);
});
