/** What the tests of warnings, dead letters and exclusions share: keys, answers, and waiting for figures. */
import { expect } from "bun:test";
import { isOnPostgres } from "../engines.ts";
import type { Server } from "../server.ts";

/** A read key of this organization with further rights. */
export async function newKey(server: Server, organization: string, ...rights: string[]): Promise<string> {
  const options = rights.flatMap((right) => ["--right", right]);
  return (await server.command("key", "create", "--organization", organization, ...options)).trim();
}

/** Asks the JSON API. */
export function ask(server: Server, key: string, path: string, method = "GET"): Promise<Response> {
  return fetch(server.url + path, { method, headers: { Authorization: `Bearer ${key}` } });
}

/** The JSON of an answer that must be 200. */
export async function answer<Answer>(
  server: Server,
  key: string,
  path: string,
  method = "GET",
): Promise<Answer> {
  const response = await ask(server, key, path, method);
  const text = await response.text();
  expect([path, response.status, text]).toEqual([path, 200, text]);
  return JSON.parse(text);
}

/** Asks again until the answer is as expected, for as long as the test may take: a machine may be slow. */
export async function eventually(look: () => Promise<unknown>, expected: unknown): Promise<void> {
  const sayAtMs = performance.now() + 60_000;
  for (let isSaid = false; ; await Bun.sleep(50)) {
    const found = await look();
    if (Bun.deepEquals(found, expected)) return;
    if (isSaid || performance.now() < sayAtMs) continue;
    isSaid = true;
    console.log("after a minute it is", found, "and not", expected);
  }
}

/** The answer is as expected at once. In a cluster it is so when its nodes have heard of each other: a follower hears of
 * what the leader did a moment later, and a node that was slow for seconds is not ready until it is heard of again. */
export async function immediately(look: () => Promise<unknown>, expected: unknown): Promise<void> {
  if (isOnPostgres) await eventually(look, expected);
  else expect(await look()).toEqual(expected);
}
