/** Bodies that were made to be expensive. Each is refused before its parts are processed, and delays no other
 * request. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { limits } from "../../contract/limits.ts";
import { SourceBody, whyTooMuch } from "../../server/http/write/source-body.ts";
import { translateSegment } from "../../server/sources/segment.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";

let server: Server;
let token: string;
let other: string;

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization("Hostile sources");
  other = await server.organization("Hostile neighbour");
});
afterAll(() => server?.stop());

const digits = "9007199254740993";
const nested = (levels: number) => `${'{"a":'.repeat(levels)}${digits}${"}".repeat(levels)}`;
const send = (path: string, body: string, secret?: string) =>
  fetch(server.url + path, {
    method: "POST",
    body,
    ...(secret !== undefined && { headers: { Authorization: `Basic ${secret}` } }),
  });

describe("a body that nobody can be found for", () => {
  test.each([
    ["is full of what looks like a token", `{"writeKey":"${"rk-".repeat(50_000)}"}`],
    ["has the beginning of one, and is deep", `{"text":"work-","batch":[${nested(60_000)}]}`],
    ["has one that no organization has", `{"writeKey":"rk-${"A".repeat(32)}","batch":[${nested(8_000)}]}`],
  ])("%s", async (_name, body) => {
    await expectError(await send("/v1/batch", body), "invalid_write_key");
  });

  test("has a token where none belongs", async () => {
    const track = { userId: "u", event: "pasted", properties: { text: token } };
    await expectError(await send("/v1/track", JSON.stringify(track)), "invalid_write_key");
  });

  test("is larger than any of PostHog's on the path that it shares with the write API", async () => {
    const body = JSON.stringify({ batch: [], text: "x".repeat(limits.batchBytes) });
    await expectError(await send("/batch", body), "invalid_write_key");
  });
});

test("of two tokens in a body that counts which stands where it belongs", async () => {
  const track = { userId: "u", event: "said", properties: { text: token }, writeKey: other };
  expect((await send("/v1/track", JSON.stringify(track))).status).toBe(200);
  const identify = { userId: "u", traits: { email: "u@example.com" }, writeKey: other };
  expect((await send("/v1/identify", JSON.stringify(identify))).status).toBe(200);
  expect(await server.exported("events", "Hostile neighbour")).toMatchObject([{ event: "said" }]);
  expect(await server.exported("events", "Hostile sources")).toEqual([]);
});

describe("an error, and no failure of the service, is", () => {
  test.each([
    ["/v1/batch", `{"batch":[${nested(8_000)}]}`],
    ["/v1/batch", `{"batch":[${"{},".repeat(limits.sourceItems)}{"n":${digits}}]}`],
    ["/e/", `{"api_key":"","batch":[${"[1],".repeat(1_000_000)}${digits}]}`],
    ["/track", `{"userId":"u","event":"e","properties":${nested(8_000)}}`],
    ["/batch", `{"batch":[{"type":"track","userId":"u","event":"e","properties":${nested(8_000)}}]}`],
  ])("what is too deep or too much at %s", async (path, body) => {
    const response = await send(path, body, token);
    expect(path === "/e/" ? [400, 413] : [400]).toContain(response.status);
    expect(await response.text()).toMatch(/nested deeper|more than \d+ (messages|values)/);
  });
});

test("a body that is one long string costs about what an object costs that holds it", async () => {
  const text = JSON.stringify("x".repeat(1024 * 1024));
  const leastMicroseconds = async (json: string) => {
    const bytes = Buffer.from(json);
    const costs: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const before = process.cpuUsage();
      await SourceBody.parse(bytes, async () => undefined, { mayBeAny: true });
      const { user, system } = process.cpuUsage(before);
      costs.push(user + system);
    }
    return Math.min(...costs);
  };
  // A string was walked character by character: 1,700 times as much.
  const ofText = await leastMicroseconds(text);
  expect(ofText / (await leastMicroseconds(`{"a":${text}}`))).toBeLessThan(100);
});

test.each(["/v1/batch", "/batch"])("an item that is too deep costs no other at %s", async (path) => {
  const deep = `{"type":"track","userId":"d","event":"deep","properties":${nested(60_000).replace(digits, "1")}}`;
  const large = JSON.stringify({
    type: "track",
    userId: "d",
    event: "large",
    properties: { x: "x".repeat(250_000) },
  });
  const identify = JSON.stringify({ type: "identify", userId: "d", email: "d@example.com" });
  const name = `Deep ${path}`;
  const secret = await server.organization(name);
  const response = await send(path, `{"batch":[${identify},${deep},${large}]}`, secret);
  expect([200, 201]).toContain(response.status);
  expect(await server.exported("events", name)).toMatchObject([{ event: "large" }]);
});

test("the common context of a batch is not stored once for each message", () => {
  const context = {
    traits: { text: "x".repeat(100_000) },
    page: { url: "y".repeat(100_000) },
    active: false,
  };
  const message = { type: "page", userId: "u", messageId: "m" };
  const batch = Array.from({ length: 1_000 }, () => message);
  const translated = translateSegment(
    { batch, context, integrations: context },
    { receivedAtMs: 1 },
    "batch",
  );
  expect(JSON.stringify(translated).length).toBeLessThan(1_000_000);
  expect(translated[0]?.translated).toMatchObject({ items: [{ type: "track", isActivity: false }] });
});

test("the values that a mapping takes out of a body are bounded as a whole", () => {
  const item = (characters: number) => ({
    sent: null,
    translated: {
      items: [
        {
          type: "track" as const,
          userId: "u" as const,
          event: "e" as const,
          atMs: 1,
          messageId: null,
          isActivity: true,
          properties: { text: "x".repeat(characters) },
        },
      ],
    },
  });
  expect(whyTooMuch(Array.from({ length: 60 }, () => item(200_000)))).toBeUndefined();
  expect(whyTooMuch(Array.from({ length: 100 }, () => item(200_000)))).toMatchObject({
    invalid: expect.stringContaining("takes more out"),
  });
  expect(whyTooMuch(Array.from({ length: limits.sourceItems + 1 }, () => item(1)))).toMatchObject({
    isTooLarge: true,
  });
});
