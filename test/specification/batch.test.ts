/** POST /batch: good items are stored in their order, bad ones rejected alone, each with its own error. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { nodesOfServers } from "../engines.ts";
import { Server } from "../server.ts";
import { expectError, exportedUser } from "./support.ts";

export const runsOn = { nodes: 3 };

let server: Server;
let token: string;
const organization = "Batches";

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization(organization);
});
afterAll(() => server.stop());

const identify = (userId: unknown, more: object = {}) => ({
  type: "identify",
  userId,
  email: "ada@example.com",
  ...more,
});
const track = (userId: unknown, event = "e", more: object = {}) => ({
  type: "track",
  userId,
  event,
  ...more,
});
const post = (batch: unknown, headers: Record<string, string> = {}) =>
  server.post("/batch", token, typeof batch === "string" ? batch : { batch }, headers);

/** Sends a batch that must be taken, and returns the answer but for `success`. */
async function taken(batch: unknown, headers: Record<string, string> = {}): Promise<object> {
  const response = await post(batch, headers);
  const { success, ...answer } = (await response.json()) as { success: boolean };
  expect({ status: response.status, success }).toEqual({ status: 201, success: true });
  return answer;
}

/** The names of a user's stored events, in no order. */
async function events(userId: string): Promise<string[]> {
  const rows = await server.exported("events", organization);
  return rows
    .filter((row) => row.userId === userId)
    .map((row) => String(row.event))
    .sort();
}

test("items are stored in their order: a user is identified and tracked in one batch", async () => {
  const batch = [track("order", "before"), identify("order"), track("order", "after")];
  expect(await taken(batch)).toEqual({
    accepted: 2,
    duplicates: 0,
    rejected: [
      {
        index: 0,
        name: "not_found",
        statusCode: 404,
        message: expect.stringContaining("/identify endpoint"),
      },
    ],
  });
  expect(await events("order")).toEqual(["after"]);
});

test("a bad item costs nothing but itself, and its error names the field", async () => {
  const bad: readonly (readonly [unknown, string])[] = [
    [null, "item is not a JSON object"],
    [[], "item is not a JSON object"],
    ["track", "item is not a JSON object"],
    [{}, "type is missing"],
    [{ ...track("mixed"), type: "page" }, "type is not valid"],
    [track("mixed", "a b"), "event contains white space"],
    [track(undefined), "userId is missing"],
    [track("mixed", "e", { properties: [] }), "properties is not valid"],
    [track("mixed", "e", { timestamp: "yesterday" }), "timestamp is not a time"],
    [identify("mixed", { email: "nobody" }), "email is not valid"],
    [identify("mixed", { timestamp: 5 }), "timestamp is not valid"],
    [identify("mixed", { timestamp: "2026-02-30" }), "timestamp is not a time"],
    [track("mixed", "e", { properties: { a: "\ud800" } }), "properties.a has half of a surrogate"],
    [track("mixed", "e", { properties: { long: "x".repeat(256 * 1024) } }), "item is larger than 262144"],
  ];
  const batch = [identify("mixed"), ...bad.flatMap(([item], n) => [item, track("mixed", `good${n}`)])];
  const answer = await taken(batch);
  expect(answer).toEqual({
    accepted: 1 + bad.length,
    duplicates: 0,
    rejected: bad.map(([, message], n) => ({
      index: 1 + 2 * n,
      name: "validation_error",
      statusCode: 400,
      message: expect.stringMatching(new RegExp(`^${message}.*: send .*\\.$`)),
    })),
  });
  expect(await events("mixed")).toEqual(bad.map((_, n) => `good${n}`).sort());
});

test("a batch without one good item is 400 and names the first one's error", async () => {
  const response = await post([track("nobody-at-all"), track("nobody", "a b")]);
  await expectError(response, "validation_error", "batch.0: User not found", "/identify");
});

const envelopes: readonly (readonly [string, unknown, string])[] = [
  ["no JSON", "{", "body is not valid JSON"],
  ["an array", "[]", "body is not a JSON object"],
  ["no batch", "{}", "batch is missing: send an array of 1 to 2000 items"],
  ["null", '{"batch":null}', "batch is missing"],
  ["an object", '{"batch":{}}', "batch is not valid"],
  ["an empty batch", [], "batch is empty"],
  ["2,001 items", Array.from({ length: 2_001 }, () => track("u")), "batch is too long"],
  [
    "9 MiB",
    [track("u", "e", { properties: { a: "x".repeat(9 * 1024 ** 2) } })],
    "body is larger than 8388608",
  ],
];

test.each(envelopes)("%s is refused whole", async (_name, body, message) => {
  await expectError(await post(body), "validation_error", message);
});

test("2,000 items and some 4 MiB are taken", async () => {
  const padding = "x".repeat(2_000);
  const items = Array.from({ length: 1_999 }, () => track("many", "e", { properties: { padding } }));
  expect(await taken([identify("many"), ...items])).toEqual({ accepted: 2_000, duplicates: 0, rejected: [] });
  expect(await events("many")).toHaveLength(1_999);
});

describe("message ids", () => {
  test("an item that was stored before, or stands twice in the batch, counts as a duplicate", async () => {
    const one = track("twice", "one", { messageId: "m1" });
    expect(await taken([identify("twice"), one, one])).toEqual({ accepted: 2, duplicates: 1, rejected: [] });
    expect(await taken([one])).toEqual({ accepted: 0, duplicates: 1, rejected: [] });
    expect(await events("twice")).toEqual(["one"]);
  });

  test("an Idempotency-Key makes key:index of each item's place, and an item's own id wins", async () => {
    const batch = [identify("key"), track("key"), track("key"), track("key", "own", { messageId: "own" })];
    const headers = { "Idempotency-Key": "batch-7" };
    expect(await taken(batch, headers)).toEqual({ accepted: 4, duplicates: 0, rejected: [] });
    expect(await taken(batch, headers)).toEqual({ accepted: 0, duplicates: 4, rejected: [] });
    expect(await events("key")).toEqual(["e", "e", "own"]);
    const stored = await server.exported("events", organization);
    const ids = stored.filter((row) => row.userId === "key").map((row) => row.messageId);
    expect(ids.sort()).toEqual(["batch-7:1", "batch-7:2", "own"]);
  });

  test("without an id two equal items are two", async () => {
    expect(await taken([identify("equal"), track("equal"), track("equal")])).toMatchObject({ accepted: 3 });
    expect(await events("equal")).toEqual(["e", "e"]);
  });
});

test("numbers are ids here too, and one whose digits would change is rejected alone", async () => {
  const items = [
    '{"type":"identify","userId":42,"email":"a@b.co"}',
    '{"type":"track","userId":42,"event":"number"}',
    '{"type":"track","userId":42.0,"event":"decimal"}',
    '{"type":"track","userId":"42","event":"text","properties":{"n":9007199254740993}}',
    '{"type":"track","userId":"42","event":"text","properties":{"n":9007199254740992}}',
  ];
  expect(await taken(`{"batch":[${items}]}`)).toMatchObject({
    accepted: 3,
    rejected: [
      { index: 2, message: expect.stringContaining("userId is a number whose digits") },
      { index: 3, message: expect.stringContaining("properties.n has too many digits") },
    ],
  });
  expect(await events("42")).toEqual(["number", "text"]);
});

describe("an identify with a timestamp", () => {
  const at = (userId: string, timestamp: string, more: object) => identify(userId, { timestamp, ...more });

  test("does not win over what was said later, key by key, in whatever order they come", async () => {
    const sayings = [
      at("late", "2026-03-01", { email: "march@example.com", properties: { plan: "pro", name: "Ada" } }),
      at("late", "2026-01-01", {
        email: "january@example.com",
        properties: { plan: "free", segment: "smb" },
      }),
      at("late", "2026-02-01T10:00:00+02:00", { properties: { segment: "enterprise", name: "A." } }),
    ];
    expect(await taken(sayings)).toMatchObject({ accepted: 3 });
    expect(await exportedUser(server, organization, "late")).toMatchObject({
      email: "march@example.com",
      properties: { plan: "pro", name: "Ada", segment: "enterprise" },
    });
  });

  test("does not win over an account that was left later", async () => {
    const account = { id: "acme", name: "Acme" };
    const batch = [
      at("leaver", "2026-01-01", { account }),
      at("leaver", "2026-03-01", { account: null }),
      at("leaver", "2026-02-01", { account: { id: "other", name: "Other" } }),
    ];
    expect(await taken(batch)).toMatchObject({ accepted: 3 });
    expect((await exportedUser(server, organization, "leaver")).account).toBeNull();
  });

  test("of the future counts as now: what is said afterwards wins", async () => {
    expect(await taken([at("early", "2299-01-01", { properties: { plan: "future" } })])).toMatchObject({
      accepted: 1,
    });
    await server.post("/identify", token, { userId: "early", email: "a@b.co", properties: { plan: "now" } });
    expect((await exportedUser(server, organization, "early")).properties).toEqual({ plan: "now" });
  });
});

test("a batch over the items a second is refused whole, with the time to wait", async () => {
  const slow = await server.organization("Slow batches");
  await server.command("organization", "set", "Slow batches", "--item-rate-limit", "10");
  const batch = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => identify(`u${from + n}`));
  expect((await server.post("/batch", slow, { batch: batch(0, 8) })).status).toBe(201);
  let stored = 8;
  const again = () => server.post("/batch", slow, { batch: batch(stored, 9) });
  let refused = await again();
  // Each node takes at once what the whole limit is: then whichever is asked for the second time refuses.
  for (let node = 1; node < nodesOfServers && refused.status === 201; node += 1) {
    stored += 9;
    refused = await again();
  }
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]$/);
  expect(refused.headers.get("ratelimit-limit")).toBe("10");
  await expectError(refused, "rate_limit_exceeded", "items per second");
  const never = await server.post("/batch", slow, { batch: batch(stored, 11) });
  await expectError(never, "rate_limit_exceeded", "Please send at most 10 at once.");
  expect(await server.exported("users", "Slow batches")).toHaveLength(stored);
});

test("a missing or wrong token is 401 whatever the batch is", async () => {
  await expectError(await server.post("/batch", "rk-wrong", "{"), "invalid_write_key");
});
