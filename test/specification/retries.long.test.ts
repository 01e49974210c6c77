/** Retries: the same message id is answered 201 again and stored once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { Server } from "../server.ts";
import { expectError, expectRefused, expectSuccess, exportedUser, send, user } from "./support.ts";

export const runsOn = { nodes: 3 };

let server: Server;
let token: string;
const organization = "Retries";

beforeAll(async () => {
  server = await Server.start();
  token = await server.organization(organization);
});
afterAll(() => server.stop());

/** A user of a test's own, and what sends that user's events. */
async function userOf(userId: string) {
  await send(server, "/identify", token, user(userId));
  const event = (more: object) => ({ userId, event: "e", ...more });
  return {
    post: (more: object, headers: Record<string, string> = {}) =>
      server.post("/track", token, event(more), headers),
    /** The stored fields of each event, sorted by its text. */
    stored: async () =>
      (await server.exported("events", organization))
        .filter((row) => row.userId === userId)
        .map(({ event, messageId, properties }) => ({ event, messageId, properties }))
        .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
  };
}

test("the same messageId is answered 201 and stored once, the first content kept", async () => {
  const { post, stored } = await userOf("body");
  for (const n of [1, 2, 3]) await expectSuccess(await post({ messageId: "b", properties: { n } }));
  await expectSuccess(await post({ event: "another", messageId: "b" }));
  expect(await stored()).toEqual([{ event: "e", messageId: "b", properties: { n: 1 } }]);
});

const uuid = "0a1b2c3d-0000-4000-8000-00000000000f";
const ids: readonly (readonly [string, string])[] = [
  ["a UUID", uuid],
  ["the same UUID in capitals", uuid.toUpperCase()],
  ["the same UUID without hyphens", uuid.replaceAll("-", "")],
  ["the same UUID and a space", `${uuid} `],
  ["the same UUID in braces", `{${uuid}}`],
  ["the empty UUID", "00000000-0000-0000-0000-000000000000"],
  ["a random UUID", randomUUID()],
  ["one letter", "m"],
  ["one letter in capitals", "M"],
  ["a letter and a NUL", "m\u0000"],
  ["a letter, a NUL and another", "m\u0000n"],
  ["digits", "1"],
  ["digits after a zero", "01"],
  ["other scripts", "сообщение-🙂"],
  ["é as one character", "\u00e9"],
  ["é as two characters", "e\u0301"],
  ["256 characters", "x".repeat(256)],
  ["255 characters", "x".repeat(255)],
];

describe("message ids that only look alike are different, and each is kept as it was sent and stored once", () => {
  let messageIds: unknown[];

  beforeAll(async () => {
    const { post, stored } = await userOf("alike");
    for (const round of [1, 2]) {
      for (const [, messageId] of ids) await expectSuccess(await post({ messageId, properties: { round } }));
    }
    const events = await stored();
    expect(events.map(({ properties }) => properties)).toEqual(ids.map(() => ({ round: 1 })));
    messageIds = events.map(({ messageId }) => messageId);
  });

  test.each(ids)("%s", (_title, messageId) => {
    expect(messageIds.filter((one) => one === messageId)).toHaveLength(1);
  });
});

test("the Idempotency-Key header means the same as messageId", async () => {
  const { post, stored } = await userOf("header");
  const header = { "Idempotency-Key": "h" };
  await expectSuccess(await post({ properties: { n: 1 } }, header));
  await expectSuccess(await post({ properties: { n: 2 } }, header));
  await expectSuccess(await post({ properties: { n: 3 }, messageId: "h" }));
  expect(await stored()).toEqual([{ event: "e", messageId: "h", properties: { n: 1 } }]);
});

test("the body's messageId comes before the header; null and an empty header are none", async () => {
  const { post, stored } = await userOf("both");
  const key = (name: string) => ({ "Idempotency-Key": name });
  await expectSuccess(await post({ messageId: "in body" }, key("in header")));
  await expectSuccess(await post({}, key("in header")));
  await expectSuccess(await post({ messageId: "in body" }, key("in another header")));
  await expectSuccess(await post({ messageId: null }, key("in header")));
  await expectSuccess(await post({ event: "unnamed" }, key("")));
  await expectSuccess(await post({ event: "unnamed" }, key("")));
  expect(await stored()).toEqual([
    { event: "e", messageId: "in body", properties: {} },
    { event: "e", messageId: "in header", properties: {} },
    { event: "unnamed", messageId: null, properties: {} },
    { event: "unnamed", messageId: null, properties: {} },
  ]);
});

test("only successes are remembered: after a 400 or a 404 the same id is stored", async () => {
  const { post, stored } = await userOf("mended");
  await expectRefused(await post({ event: "a b", messageId: "after 400" }), "event");
  await expectSuccess(await post({ messageId: "after 400" }));
  expect(await stored()).toHaveLength(1);

  const ghost = { userId: "ghost", event: "g", messageId: "after 404" };
  await expectError(await server.post("/track", token, ghost), "not_found");
  const ghosts = await userOf("ghost");
  await expectSuccess(await server.post("/track", token, ghost));
  expect(await ghosts.stored()).toHaveLength(1);

  const identify = (plan: unknown) => user("mended", { messageId: "identify", properties: { plan } });
  await expectRefused(await server.post("/identify", token, identify(5)), "properties.plan");
  await send(server, "/identify", token, identify("pro"));
  expect((await exportedUser(server, organization, "mended")).properties).toEqual({ plan: "pro" });
});

test("a replayed identify changes nothing, also when others came between", async () => {
  const identify = (more: object, messageId: string) =>
    send(server, "/identify", token, user("replayed", { ...more, messageId }));
  await identify({ properties: { plan: "free" } }, "first");
  await identify({ properties: { plan: "pro" } }, "second");
  await identify({ properties: { plan: "free" } }, "first");
  const other = { email: "other@example.com", isAccountOwner: true, account: { id: "a", name: "A" } };
  await identify(other, "first");
  await send(server, "/identify", token, user("made by a replay", { messageId: "first" }));
  const users = await server.exported("users", organization);
  expect(users.map(({ userId }) => userId)).not.toContain("made by a replay");
  const row = users.find(({ userId }) => userId === "replayed");
  expect(row).toMatchObject({ email: "ada@example.com", properties: { plan: "pro" }, isAccountOwner: null });
  expect(row?.account).toBeNull();
});

test("an identify and a track of one sign-up may have the same id, and both are stored once", async () => {
  const name = "Sign-up";
  const writer = await server.organization(name);
  for (let round = 0; round < 2; round += 1) {
    for (const [path, body] of [
      ["/identify", user("new")],
      ["/track", { userId: "new", event: "signed_up" }],
    ] as const) {
      const headers = { "Idempotency-Key": "sign-up-1" };
      await expectSuccess(await server.post(path, writer, body, headers));
    }
  }
  expect(await server.exported("users", name)).toHaveLength(1);
  expect(await server.exported("events", name)).toHaveLength(1);
});

test("message ids are each organization's own", async () => {
  const { post, stored } = await userOf("shared");
  const other = await server.organization("Other");
  await send(server, "/identify", other, user("shared"));
  await send(server, "/track", other, { userId: "shared", event: "e", messageId: "shared" });
  await expectSuccess(await post({ messageId: "shared" }));
  expect(await stored()).toHaveLength(1);
  expect(await server.exported("events", "Other")).toHaveLength(1);
});

test("fifty retries at once are stored once", async () => {
  const { post, stored } = await userOf("at once");
  const numbers = Array.from({ length: 50 }, (_, n) => n);
  const responses = await Promise.all(numbers.map((n) => post({ messageId: "at once", properties: { n } })));
  for (const response of responses) await expectSuccess(response);
  expect(await stored()).toHaveLength(1);
});

test("message ids are remembered by the server that comes after a killed one", async () => {
  const first = await Server.start();
  const writer = first.firstToken;
  const event = (n: number) => ({ userId: "u", event: "e", messageId: "m", properties: { n } });
  await send(first, "/identify", writer, user("u"));
  await send(first, "/track", writer, event(1));
  await first.kill("SIGKILL");
  const second = await Server.start({ dataDir: first.dataDir });
  try {
    await expectSuccess(await second.post("/track", writer, event(2)));
    const rows = await second.exported("events", "default");
    expect(rows.map((row) => row.properties)).toEqual([{ n: 1 }]);
  } finally {
    await second.kill("SIGTERM");
    await first.stop();
  }
});
