/** The parts that tests of warnings, rejected events and exclusions share: keys, answers, and waiting for
 * figures. */
import { expect } from "bun:test";
import { isOnPostgres } from "../engines.ts";
import type { Server } from "../server.ts";
import { becomes } from "../until.ts";

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

/** Expects the answer at once. In a cluster it waits until the nodes have exchanged their changes. A follower
 * learns of the leader's change a moment later. A node that was slow for seconds is not ready until the
 * others reach it again. */
export async function immediately(look: () => Promise<unknown>, expected: unknown): Promise<void> {
  if (isOnPostgres) await becomes(look, expected);
  else expect(await look()).toEqual(expected);
}
