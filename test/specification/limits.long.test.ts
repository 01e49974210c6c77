/** Every limit of the write API: what lies at it is taken, one past it is refused and nothing is stored. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import {
  type Body,
  chunked,
  expectError,
  expectRefused,
  expectSuccess,
  exportedUser,
  largeEvent,
  nested,
  send,
  user,
  withKeys,
} from "./support.ts";

let server: Server;
let token: string;
const organization = "Limits";
const bodyBytes = 256 * 1024;

beforeAll(async () => {
  server = await Server.start();
  token = await server.organization(organization);
  await send(server, "/identify", token, user("u"));
});
afterAll(() => server.stop());

function postChunked(text: string): Promise<Response> {
  const headers = { Authorization: `Basic ${token}` };
  return fetch(`${server.url}/track`, { method: "POST", headers, body: chunked(Buffer.from(text)) });
}

describe("a body of 256 KiB", () => {
  test("is taken, with a declared length and in chunks", async () => {
    expect(Buffer.byteLength(largeEvent(bodyBytes))).toBe(bodyBytes);
    await expectSuccess(await server.post("/track", token, largeEvent(bodyBytes)));
    await expectSuccess(await postChunked(largeEvent(bodyBytes)));
  });

  test("and one byte is refused, with a declared length and in chunks", async () => {
    await expectRefused(await server.post("/track", token, largeEvent(bodyBytes + 1)), "body");
    await expectRefused(await postChunked(largeEvent(bodyBytes + 1)), "body");
  });

  test("and 16 MiB are refused in the same words", async () => {
    await expectError(
      await server.post("/track", token, "x".repeat(16 * 1024 ** 2)),
      "validation_error",
      "262144",
    );
  });
});

/** An address of this many characters: local part 64, labels of at most 63. */
function address(characters: number): string {
  const domain = `${"d".repeat(63)}.`.repeat(4).slice(0, characters - 65);
  return `${"l".repeat(64)}@${domain}`;
}

const identifyLimits: readonly (readonly [string, string, Body, Body])[] = [
  ["userId of 256 characters", "userId", user("u".repeat(256)), user("u".repeat(257))],
  ["userId of 256 characters of four bytes", "userId", user("🙂".repeat(256)), user("🙂".repeat(257))],
  ["email of 320 characters", "email", withEmail(320), withEmail(321)],
  ["account.id of 256 characters", "account.id", withAccount("a".repeat(256)), withAccount("a".repeat(257))],
  ["messageId of 256 characters", "messageId", withMessage("m".repeat(256)), withMessage("m".repeat(257))],
  ["32 levels", "properties", withProperties(nested(31)), withProperties(nested(32))],
  ["32 levels of lists", "properties", withProperties(lists(30)), withProperties(lists(31))],
  // The body has three keys beside those in properties.
  [
    "1,000 keys",
    "body",
    user("u1", { properties: withKeys(997) }),
    user("u2", { properties: withKeys(998) }),
  ],
  ["1,000 keys in lists", "body", withProperties(listed(996)), withProperties(listed(997))],
];

function withEmail(characters: number): Body {
  expect(address(characters)).toHaveLength(characters);
  return { userId: "u", email: address(characters) };
}

function withAccount(id: string): Body {
  return user("u", { account: { id, name: "A" } });
}

function withMessage(messageId: string): Body {
  return user("u", { messageId });
}

function withProperties(json: string): Body {
  return `{"userId":"deep","email":"a@b.co","properties":${json}}`;
}

/** An object that holds lists in lists: itself one level, the lists so many more. */
function lists(levels: number): string {
  return `{"n":${"[".repeat(levels)}${"]".repeat(levels)}}`;
}

/** An object with one key, a list of objects with one key each. */
function listed(keys: number): string {
  return JSON.stringify({ n: Array.from({ length: keys }, (_, index) => ({ k: index })) });
}

describe("identify takes at its limit, and refuses one past it,", () => {
  test.each(identifyLimits)("%s", async (_title, field, atLimit, past) => {
    await expectSuccess(await server.post("/identify", token, atLimit));
    await expectRefusedUnder(await server.post("/identify", token, past), field);
  });
});

/** Like expectRefused, for a field or anything inside it. */
async function expectRefusedUnder(response: Response, field: string): Promise<void> {
  const message = await expectError(response, "validation_error", "send");
  expect(message).toStartWith(field);
}

describe("track takes at its limit, and refuses one past it,", () => {
  test.each([
    ["event of 256 characters", "event", { event: "e".repeat(256) }, { event: "e".repeat(257) }],
    [
      "event of 256 characters of four bytes",
      "event",
      { event: "🙂".repeat(256) },
      { event: "🙂".repeat(257) },
    ],
    [
      "messageId of 256 characters",
      "messageId",
      { messageId: "t".repeat(256) },
      { messageId: "t".repeat(257) },
    ],
    ["1,000 keys", "body", { properties: withKeys(997) }, { properties: withKeys(998) }],
  ])("%s", async (_title, field, atLimit, past) => {
    const body = (more: object) => ({ userId: "u", event: "e", ...more });
    await expectSuccess(await server.post("/track", token, body(atLimit)));
    await expectRefusedUnder(await server.post("/track", token, body(past)), field);
  });
});

test("the Idempotency-Key header has the limit of messageId and is named when it is past it", async () => {
  const body = { userId: "u", event: "e" };
  const key = (characters: number) => ({ "Idempotency-Key": "k".repeat(characters) });
  await expectSuccess(await server.post("/track", token, body, key(256)));
  await expectRefused(await server.post("/track", token, body, key(257)), "Idempotency-Key");
});

test("a hundred thousand levels are refused and do no harm", async () => {
  for (const text of ["[".repeat(100_000), `{"userId":${"[".repeat(100_000)}${"]".repeat(100_000)}}`]) {
    await expectError(await server.post("/identify", token, text), "validation_error");
  }
  await expectSuccess(await server.post("/identify", token, user("u")));
});

test("no user grows for ever: what would go past 1,000 traits or 256 KiB is refused and changes nothing", async () => {
  const merge = (properties: object) => server.post("/identify", token, user("grown", { properties }));
  await expectSuccess(await merge(withKeys(900)));
  const more = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, i]));
  await expectSuccess(await merge(more(100)));
  await expectRefused(await merge({ oneMore: 1 }), "properties");
  await expectSuccess(await merge({ k0: "changed" }));
  const stored = await exportedUser(server, organization, "grown");
  expect(stored.properties).toEqual({ ...withKeys(900), ...more(100), k0: "changed" });

  const large = (key: string) => user("wide", { properties: { [key]: "x".repeat(200_000) } });
  await expectSuccess(await server.post("/identify", token, large("a")));
  await expectRefused(await server.post("/identify", token, large("b")), "properties");
  await expectSuccess(await server.post("/identify", token, large("a")));
});

test("requests past a limit are not stored", async () => {
  const users = await server.exported("users", organization);
  expect(users.map((row) => row.userId)).not.toContain("u2");
  expect(users.map((row) => row.userId)).not.toContain("u".repeat(257));
});
