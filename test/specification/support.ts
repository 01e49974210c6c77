/**
 * The parts that tests of the specification share. They check both answers whole, and have tables of bodies
 * that must be taken or refused. The expected values are typed in here from the specification and not
 * imported from the code. Otherwise code and test could be wrong together.
 */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { isOnPostgres } from "../engines.ts";
import type { Server } from "../server.ts";
import { renameInLedger } from "../stored.ts";

const statusOf = {
  validation_error: 400,
  invalid_write_key: 401,
  not_found: 404,
  rate_limit_exceeded: 429,
  application_error: 500,
} as const;

/** /api alone has more. */
const apiStatusOf = { ...statusOf, forbidden: 403, conflict: 409 } as const;

/** A body as an object, or as the very text that is sent. */
export type Body = object | string;

/** A valid identify of this user, with what else is given. */
export function user(userId: unknown, more: object = {}): object {
  return { userId, email: "ada@example.com", ...more };
}

/** Checks the one answer to a write that was taken. */
export async function expectSuccess(response: Response): Promise<void> {
  const text = await response.text();
  expect(text).toBe('{"success":true}');
  expect(response.status).toBe(201);
  expect(response.headers.get("content-type")).toStartWith("application/json");
}

/** Checks an error answer whole: format, name, status. Returns its message, which must contain `texts`. */
export async function expectError(
  response: Response,
  name: keyof typeof apiStatusOf,
  ...texts: readonly string[]
): Promise<string> {
  const text = await response.text();
  expect(response.headers.get("content-type")).toStartWith("application/json");
  const body: unknown = JSON.parse(text);
  expect(body).toEqual({ message: expect.any(String), statusCode: apiStatusOf[name], name });
  expect(response.status).toBe(apiStatusOf[name]);
  expect(Object.keys(body ?? {}).sort()).toEqual(["message", "name", "statusCode"]);
  const message = messageIn(body);
  for (const part of texts) expect(message).toContain(part);
  return message;
}

function messageIn(body: unknown): string {
  if (typeof body === "object" && body !== null && "message" in body && typeof body.message === "string") {
    return body.message;
  }
  throw new Error(`no message in ${JSON.stringify(body)}`);
}

/** Checks a refusal of a body: the message begins with the field's path and says what to send. */
export async function expectRefused(response: Response, field: string): Promise<void> {
  const message = await expectError(response, "validation_error", "send");
  expect(message.slice(0, field.length + 1)).toBe(`${field} `);
}

/** Sends a write that the test builds on. It throws when the write is refused. */
export async function send(server: Server, path: string, token: string, body: Body): Promise<void> {
  const response = await server.post(path, token, body);
  if (response.status !== 201) {
    throw new Error(
      `${path} ${JSON.stringify(body)} was answered ${response.status} ${await response.text()}`,
    );
  }
  await response.arrayBuffer();
}

/** The user of this id as the organization's export has it. */
export async function exportedUser(
  server: Server,
  organization: string,
  userId: string,
): Promise<Record<string, unknown>> {
  const found = (await server.exported("users", organization)).filter((row) => row.userId === userId);
  if (found.length !== 1 || found[0] === undefined) {
    throw new Error(`${found.length} users ${JSON.stringify(userId)} in the export of ${organization}`);
  }
  return found[0];
}

/** The times of an organization's events as their `event` names them: name → timestamp in milliseconds. */
export async function exportedTimes(server: Server, organization: string): Promise<Map<string, number>> {
  const rows = await server.exported("events", organization);
  return new Map(rows.map((row) => [String(row.event), Date.parse(utc(String(row.timestamp)))]));
}

/** A time of the export, which must say that it is in UTC. */
function utc(text: string): string {
  expect(text).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/);
  return text;
}

/** JSON text of an object nested so that its innermost object stands at this level. The outermost is 1. */
export function nested(level: number): string {
  return `${'{"n":'.repeat(level - 1)}{}${"}".repeat(level - 1)}`;
}

/** A track body of exactly this many bytes. The filler is two bytes a character. */
export function largeEvent(bytes: number): string {
  const empty = JSON.stringify({ userId: "u", event: "large", properties: { x: "" } });
  const fillerBytes = bytes - Buffer.byteLength(empty);
  const filler = "é".repeat(Math.floor(fillerBytes / 2)) + "x".repeat(fillerBytes % 2);
  return JSON.stringify({ userId: "u", event: "large", properties: { x: filler } });
}

/** Bytes that are sent in chunks, without a declared length. */
export function chunked(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 50_000) controller.enqueue(bytes.subarray(at, at + 50_000));
      controller.close();
    },
  });
}

/** An object with this many keys. */
export function withKeys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
}

/** The most memory that the process with the HTTP port ever held, in bytes. */
export function peakBytes(server: Server): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Does something while the ledger fails on every write, because the table that it writes to is not there. */
export async function withBrokenLedger<Result>(server: Server, work: () => Promise<Result>): Promise<Result> {
  // On PostgreSQL this says to which table is written now.
  const table = isOnPostgres ? "inbox_segments" : "inbox";
  await renameInLedger(server.dataDir, table, "inbox_away");
  try {
    return await work();
  } finally {
    await renameInLedger(server.dataDir, "inbox_away", table);
  }
}
