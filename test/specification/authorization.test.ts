/** Authorization of writes: the forms of a token, the order of checks, and revoked tokens. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectError, expectRefused, expectSuccess, send, user } from "./support.ts";

let server: Server;
let token: string;

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization("Authorization");
});
afterAll(() => server.stop());

const base64 = (text: string) => Buffer.from(text).toString("base64");

function identify(authorization: string | undefined, body: unknown = user("u")): Promise<Response> {
  return server.post("/identify", undefined, body, {
    ...(authorization !== undefined && { Authorization: authorization }),
  });
}

const taken: readonly (readonly [string, (token: string) => string])[] = [
  ["Basic rk-…", (secret) => `Basic ${secret}`],
  ['Basic base64("rk-…:")', (secret) => `Basic ${base64(`${secret}:`)}`],
  ["Bearer rk-…", (secret) => `Bearer ${secret}`],
  ["basic rk-…, since schemes have no case", (secret) => `basic ${secret}`],
  ["BEARER rk-…", (secret) => `BEARER ${secret}`],
];

describe("a token is taken as", () => {
  test.each(taken)("%s", async (_title, header) => {
    await expectSuccess(await identify(header(token)));
    const tracked = await server.post(
      "/track",
      undefined,
      { userId: "u", event: "e" },
      { Authorization: header(token) },
    );
    await expectSuccess(tracked);
  });
});

const refused: readonly (readonly [string, (token: string) => string | undefined])[] = [
  ["no header", () => undefined],
  ["an empty header", () => ""],
  ["a scheme alone", () => "Basic"],
  ["a scheme and a space", () => "Basic "],
  ["the token without a scheme", (secret) => secret],
  ["another scheme", (secret) => `Token ${secret}`],
  ["a token that nobody made", () => "Basic rk-0123456789abcdefghijklmnopqrstuv"],
  ["the prefix alone", () => "Basic rk-"],
  ["a token without its prefix", (secret) => `Basic ${secret.slice(3)}`],
  ["another prefix", (secret) => `Basic pk-${secret.slice(3)}`],
  ["a read key's prefix", (secret) => `Basic rr-${secret.slice(3)}`],
  ["the prefix in capitals", (secret) => `Basic RK-${secret.slice(3)}`],
  ["a token that is cut", (secret) => `Basic ${secret.slice(0, -1)}`],
  ["a token with a character more", (secret) => `Basic ${secret}x`],
  ["a token in other letters", (secret) => `Basic ${swapCase(secret)}`],
  ["two tokens", (secret) => `Basic ${secret} ${secret}`],
  ["two headers in one", (secret) => `Basic ${secret}, Basic ${secret}`],
  ["base64 of a token without its prefix", (secret) => `Basic ${base64(`${secret.slice(3)}:`)}`],
  ["base64 with the token as password", (secret) => `Basic ${base64(`user:${secret}`)}`],
  ["base64 with a password behind the token", (secret) => `Basic ${base64(`${secret}:password`)}`],
  ["base64 behind Bearer", (secret) => `Bearer ${base64(`${secret}:`)}`],
  ["quotes around the token", (secret) => `Basic "${secret}"`],
];

function swapCase(secret: string): string {
  const letter = (c: string) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase());
  return `rk-${[...secret.slice(3)].map(letter).join("")}`;
}

describe("401 with the specification's words is the answer to", () => {
  test.each(refused)("%s", async (_title, header) => {
    const authorization = header(token);
    const message = await expectError(await identify(authorization), "invalid_write_key");
    expect(message).toBe("Missing or invalid Project Token.");
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    await expectError(
      await server.post("/track", undefined, { userId: "u", event: "e" }, headers),
      "invalid_write_key",
      "Missing or invalid Project Token.",
    );
  });
});

test("the token comes before the body: no token and no JSON is 401", async () => {
  await expectError(await identify(undefined, "no json"), "invalid_write_key");
  await expectError(await identify("Basic rk-wrong", "x".repeat(300_000)), "invalid_write_key");
});

test("the rate comes before the body, the body before the user: 401, 429, 400, 404", async () => {
  const writer = await server.organization("Order");
  await server.command("organization", "set", "Order", "--rate-limit", "2");
  const ghost = { userId: "ghost", event: "e" };
  const bad = { userId: "ghost", event: "a b" };
  // Two requests a second are allowed. Of many more some are over the limit, whatever their body is.
  await expectRefused(await server.post("/track", writer, bad), "event");
  await expectError(await server.post("/track", writer, ghost), "not_found");
  const statuses = new Set<number>();
  while (!statuses.has(429)) {
    const rest = await Promise.all([1, 2, 3, 4, 5, 6].map(() => server.post("/track", writer, bad)));
    for (const { status } of rest) statuses.add(status);
  }
  expect([...statuses].filter((status) => status !== 400)).toEqual([429]);
  await expectError(await server.post("/track", "rk-wrong", bad), "invalid_write_key");
});

test("a revoked token is refused at once, and the others of its organization live on", async () => {
  const first = await server.organization("Revoked");
  const second = (
    await server.command("token", "create", "--organization", "Revoked", "--name", "second")
  ).trim();
  await send(server, "/identify", first, user("u"));
  await send(server, "/identify", second, user("u"));
  const lines = (await server.command("token", "list", "--organization", "Revoked")).split("\n");
  const id = lines.find((line) => line.includes(first.slice(-4)))?.split(/\s+/)[0] ?? "";
  await server.command("token", "revoke", id);
  for (const form of taken) {
    await expectError(
      await identify(form[1](first)),
      "invalid_write_key",
      "Missing or invalid Project Token.",
    );
  }
  await expectSuccess(await identify(`Basic ${second}`));
});

test("a token of one organization writes to that one only", async () => {
  const mine = await server.organization("Mine");
  const yours = await server.organization("Yours");
  await send(server, "/identify", mine, user("same", { properties: { whose: "mine" } }));
  await send(server, "/identify", yours, user("same", { properties: { whose: "yours" } }));
  const [mineRow] = await server.exported("users", "Mine");
  const [yoursRow] = await server.exported("users", "Yours");
  expect(mineRow?.properties).toEqual({ whose: "mine" });
  expect(yoursRow?.properties).toEqual({ whose: "yours" });
});

test("the token that the first start prints is taken", async () => {
  await expectSuccess(await identify(`Basic ${server.firstToken}`));
});

test("no token and no body is in what the server logs", async () => {
  await identify(`Basic ${token}`, user("in-the-log", { properties: { secret: "swordfish-4711" } }));
  await identify("Basic rk-notatokenofanybody", user("in-the-log"));
  expect(server.output()).not.toContain(token);
  expect(server.output()).not.toContain("notatokenofanybody");
  expect(server.output()).not.toContain("swordfish-4711");
  expect(server.output()).not.toContain("in-the-log");
});
