/** Retries: the same message id is answered 201 again and stored once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { Server } from "../server.ts";
import { expectError, expectRefused, expectSuccess, exportedUser, send, user } from "./support.ts";

let server: Server;

beforeAll(async () => {
  server = await Server.start();
}, 60_000);
afterAll(() => server.stop());

/** An organization of its own with the user "u"; its token. */
async function organization(name: string): Promise<string> {
  const token = await server.organization(name);
  await send(server, "/identify", token, user("u"));
  return token;
}

const event = (more: object) => ({ userId: "u", event: "e", ...more });

/** What is stored of each event of an organization, sorted by the text of it. */
async function stored(name: string): Promise<unknown[]> {
  const rows = await server.exported("events", name);
  return rows
    .map(({ event, messageId, properties }) => ({ event, messageId, properties }))
    .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

test("the same messageId is answered 201 and stored once, the first content kept", async () => {
  const token = await organization("Body");
  for (const n of [1, 2, 3]) {
    await expectSuccess(await server.post("/track", token, event({ messageId: "m", properties: { n } })));
  }
  await send(server, "/track", token, event({ event: "another", messageId: "m" }));
  expect(await stored("Body")).toEqual([{ event: "e", messageId: "m", properties: { n: 1 } }]);
});

test.each([
  ["a UUID", randomUUID()],
  ["a UUID in capitals", randomUUID().toUpperCase()],
  ["a UUID without hyphens", randomUUID().replaceAll("-", "")],
  ["a text of other scripts", "сообщение-🙂"],
  ["a NUL", "a\u0000b"],
  ["256 characters", "x".repeat(256)],
])("a message id that is %s is kept as it was sent and stored once", async (title, messageId) => {
  const name = `Kept ${title}`;
  const token = await organization(name);
  await send(server, "/track", token, event({ messageId }));
  await send(server, "/track", token, event({ messageId }));
  expect(await stored(name)).toEqual([{ event: "e", messageId, properties: {} }]);
});

test("message ids that only look alike are different", async () => {
  const token = await organization("Alike");
  const uuid = "0a1b2c3d-0000-4000-8000-00000000000f";
  const ids = [uuid, uuid.toUpperCase(), uuid.replaceAll("-", ""), `${uuid} `, "m", "M", "m ", "1", "01"];
  for (const messageId of ids) await send(server, "/track", token, event({ messageId }));
  for (const messageId of ids) await send(server, "/track", token, event({ messageId }));
  const rows = await server.exported("events", "Alike");
  expect(rows.map((row) => row.messageId).sort()).toEqual([...ids].sort());
});

test("the Idempotency-Key header means the same as messageId", async () => {
  const token = await organization("Header");
  const header = { "Idempotency-Key": "k" };
  await expectSuccess(await server.post("/track", token, event({ properties: { n: 1 } }), header));
  await expectSuccess(await server.post("/track", token, event({ properties: { n: 2 } }), header));
  await expectSuccess(await server.post("/track", token, event({ properties: { n: 3 }, messageId: "k" })));
  expect(await stored("Header")).toEqual([{ event: "e", messageId: "k", properties: { n: 1 } }]);
});

test("the body's messageId comes before the header; null and an empty header are none", async () => {
  const token = await organization("Both");
  const post = (more: object, key: string) =>
    server.post("/track", token, event(more), { "Idempotency-Key": key });
  await expectSuccess(await post({ messageId: "body" }, "header"));
  await expectSuccess(await post({}, "header"));
  await expectSuccess(await post({ messageId: "body" }, "another"));
  await expectSuccess(await post({ messageId: null }, "header"));
  await expectSuccess(await post({ event: "unnamed" }, ""));
  await expectSuccess(await post({ event: "unnamed" }, ""));
  expect(await stored("Both")).toEqual([
    { event: "e", messageId: "body", properties: {} },
    { event: "e", messageId: "header", properties: {} },
    { event: "unnamed", messageId: null, properties: {} },
    { event: "unnamed", messageId: null, properties: {} },
  ]);
});

test("only successes are remembered: after a 400 or a 404 the same id is stored", async () => {
  const token = await organization("Mended");
  await expectRefused(await server.post("/track", token, event({ event: "a b", messageId: "m" })), "event");
  await expectSuccess(await server.post("/track", token, event({ messageId: "m" })));
  const ghost = { userId: "ghost", event: "g", messageId: "g" };
  await expectError(await server.post("/track", token, ghost), "not_found");
  await send(server, "/identify", token, user("ghost"));
  await expectSuccess(await server.post("/track", token, ghost));
  const refused = user("u", { messageId: "i", properties: { plan: 5 } });
  await expectRefused(await server.post("/identify", token, refused), "properties.plan");
  await send(server, "/identify", token, user("u", { messageId: "i", properties: { plan: "pro" } }));
  expect(await server.exported("events", "Mended")).toHaveLength(2);
  expect((await exportedUser(server, "Mended", "u")).properties).toEqual({ plan: "pro" });
});

test("a replayed identify changes nothing, also when others came between", async () => {
  const token = await organization("Replayed");
  const identify = (plan: string, messageId: string) =>
    send(server, "/identify", token, user("u", { properties: { plan }, messageId }));
  await identify("free", "first");
  await identify("pro", "second");
  await identify("free", "first");
  await send(server, "/identify", token, {
    userId: "u",
    email: "other@example.com",
    isAccountOwner: true,
    account: { id: "a", name: "A" },
    messageId: "first",
  });
  await send(server, "/identify", token, user("new", { messageId: "first" }));
  const [row, ...others] = await server.exported("users", "Replayed");
  expect(others).toEqual([]);
  expect(row).toMatchObject({ email: "ada@example.com", properties: { plan: "pro" }, isAccountOwner: null });
  expect(row?.account).toBeNull();
});

test("message ids are each organization's own", async () => {
  for (const name of ["Mine", "Yours"]) {
    const token = await organization(name);
    await send(server, "/track", token, event({ messageId: "shared" }));
    expect(await server.exported("events", name)).toHaveLength(1);
  }
});

test("fifty retries at once are stored once", async () => {
  const token = await organization("At once");
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      server.post("/track", token, event({ messageId: "m", properties: { n } })),
    ),
  );
  for (const response of responses) await expectSuccess(response);
  expect(await server.exported("events", "At once")).toHaveLength(1);
});

test("message ids are remembered across a restart", async () => {
  const first = await Server.start();
  const token = await first.organization("Restarted");
  await send(first, "/identify", token, user("u"));
  await send(first, "/track", token, event({ messageId: "m", properties: { n: 1 } }));
  await first.kill("SIGKILL");
  const second = await Server.start({ dataDir: first.dataDir });
  try {
    await expectSuccess(await second.post("/track", token, event({ messageId: "m", properties: { n: 2 } })));
    const rows = await second.exported("events", "Restarted");
    expect(rows.map((row) => row.properties)).toEqual([{ n: 1 }]);
  } finally {
    await second.kill("SIGTERM");
    await first.stop();
  }
}, 30_000);
