/** The rate limit: requests a second, per token, set per organization. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectError, expectSuccess, send, user } from "./support.ts";

export const runsOn = { postgres: true };

let server: Server;

beforeAll(async () => {
  server = await Server.shared();
});
afterAll(() => server.stop());

async function limited(name: string, requestsPerSecond: number): Promise<string> {
  const token = await server.organization(name);
  await server.command("organization", "set", name, "--rate-limit", String(requestsPerSecond));
  return token;
}

let users = 0;

/** Sends that many identifies at once, each of another user. Returns the answers. */
function burst(token: string, requests: number): Promise<Response[]> {
  return Promise.all(
    Array.from({ length: requests }, () => {
      users += 1;
      return server.post("/identify", token, user(`u${users}`));
    }),
  );
}

/** The answers of bursts up to the first in which one is refused: on a slow machine that may be a later one,
 * since what is taken flows in again. */
async function burstUntilRefused(token: string, requests: number): Promise<Response[]> {
  const all: Response[] = [];
  while (countOf(all, 429) === 0) all.push(...(await burst(token, requests)));
  return all;
}

/** The most requests that a bucket gives since it was full: itself, and what flowed in since then. */
function mostTaken(perSecond: number, sinceMs: number): number {
  return perSecond + Math.ceil((perSecond * (performance.now() - sinceMs)) / 1_000);
}

const countOf = (responses: readonly Response[], status: number) =>
  responses.filter((response) => response.status === status).length;

test("a request over the limit is answered 429 with Retry-After, and is not stored", async () => {
  const token = await limited("Burst", 5);
  const startedMs = performance.now();
  const responses = await burstUntilRefused(token, 30);
  expect(countOf(responses, 201)).toBeWithin(5, mostTaken(5, startedMs) + 1);
  expect(countOf(responses, 201) + countOf(responses, 429)).toBe(responses.length);
  for (const response of responses.filter(({ status }) => status === 429)) {
    const message = (await expectError(response, "rate_limit_exceeded")).toLowerCase();
    expect(message).toContain("too many requests");
    expect(message).toContain("per second");
    expect(response.headers.get("retry-after")).toBe("1");
    expect(response.headers.get("ratelimit-limit")).toBe("5");
    expect(response.headers.get("ratelimit-remaining")).toBe("0");
    expect(response.headers.get("ratelimit-reset")).toBe("1");
  }
  expect(await server.exported("users", "Burst")).toHaveLength(countOf(responses, 201));
});

test("a request after the wait of Retry-After is accepted", async () => {
  const token = await limited("Waiting", 2);
  const refused = (await burstUntilRefused(token, 12)).find(({ status }) => status === 429);
  const seconds = Number(refused?.headers.get("retry-after"));
  expect(seconds).toBe(1);
  // Its own wait is what the test is about.
  await Bun.sleep(seconds * 1_000);
  await expectSuccess(await server.post("/identify", token, user("again")));
});

test("the limit is each token's own", async () => {
  const first = await limited("Two tokens", 3);
  const second = (await server.command("token", "create", "--organization", "Two tokens")).trim();
  await burstUntilRefused(first, 20);
  await expectSuccess(await server.post("/identify", second, user("u")));
});

test("every request that carries a token counts, also those that are refused for their body", async () => {
  const token = await limited("Bad bodies", 3);
  const startedMs = performance.now();
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => server.post("/track", token, "no json")),
  );
  expect(countOf(responses, 400)).toBeWithin(3, mostTaken(3, startedMs) + 1);
  expect(countOf(responses, 429)).toBe(20 - countOf(responses, 400));
});

test("a new limit holds at once, in both directions", async () => {
  const token = await limited("Changed", 2);
  await burstUntilRefused(token, 20);
  await server.command("organization", "set", "Changed", "--rate-limit", "100000");
  // 100 places are back after a millisecond.
  await Bun.sleep(50);
  expect(countOf(await burst(token, 100), 201)).toBe(100);
  await server.command("organization", "set", "Changed", "--rate-limit", "2");
  const startedMs = performance.now();
  expect(countOf(await burst(token, 20), 201)).toBeLessThanOrEqual(mostTaken(2, startedMs));
});

test("a changed setting gives no sender a full bucket", async () => {
  const token = await limited("Refilled", 10);
  const startedMs = performance.now();
  const before = await burst(token, 40);
  await server.command("organization", "set", "Refilled", "--name", "Refilled again");
  const after = await burst(token, 40);
  expect(countOf([...before, ...after], 201)).toBeLessThanOrEqual(mostTaken(10, startedMs));
});

test("by default a thousand requests a second are taken from a token", async () => {
  const token = await server.organization("Default");
  await send(server, "/identify", token, user("u"));
  const responses = await burst(token, 999);
  expect(countOf(responses, 201)).toBe(999);
  const list = await server.command("organization", "list");
  expect(list.split("\n").find((line) => line.includes("Default"))).toMatch(/\s1000\s/);
});
