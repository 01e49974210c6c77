/** Connections that are slow on purpose, or by misfortune: each is cut off, whatever it drips. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { Server } from "../server.ts";
import { head, RawConnection } from "./raw.ts";
import { expectSuccess, send, user } from "./support.ts";

let server: Server;
let token: string;
let key: string;
const organization = "Slow";

beforeAll(async () => {
  server = await Server.start({ http: { idleTimeoutSeconds: 12 } });
  token = await server.organization(organization);
  await send(server, "/identify", token, user("u"));
  const options = ["--organization", organization, "--right", "manage"];
  key = (await server.command("key", "create", ...options)).trim();
});
afterAll(() => server.stop());

const slowEvent = JSON.stringify({ userId: "u", event: "slow", properties: { text: "x".repeat(100_000) } });

function post(...lines: readonly string[]): string {
  return head("POST /track HTTP/1.1", "Host: a", `Authorization: Basic ${token}`, ...lines);
}

const ofKey = (line: string, ...lines: readonly string[]) =>
  head(`${line} HTTP/1.1`, "Host: a", `Authorization: Bearer ${key}`, ...lines);
const change = () => ofKey("PATCH /api/settings", "Content-Type: application/json", "Content-Length: 1000");
const withLength = () => post(`Content-Length: ${slowEvent.length}`);
const get = head("GET /healthz HTTP/1.1", "Host: a");

/** Ways to be slow: what is sent at once, what then comes a byte at a time, and the answers there are. */
const ways: Readonly<
  Record<string, () => { first: string; drip?: string | Uint8Array; answers?: number[] }>
> = {
  "nothing at all": () => ({ first: "" }),
  "half a head": () => ({ first: withLength().slice(0, 50) }),
  "a head, a byte at a time": () => ({ first: "", drip: withLength() }),
  "an endless head, a byte at a time": () => ({ first: "GET / HTTP/1.1\r\nX: ", drip: "x".repeat(10_000) }),
  "a second head, a byte at a time": () => ({ first: get, drip: withLength(), answers: [200] }),
  "an answered request, then nothing": () => ({ first: get, answers: [200] }),
  "half a body": () => ({ first: withLength() + slowEvent.slice(0, 50_000) }),
  "a body, a byte at a time": () => ({ first: withLength(), drip: slowEvent }),
  "a body's last byte missing": () => ({ first: withLength() + slowEvent.slice(0, -1) }),
  "a chunk, a byte at a time": () => ({
    first: `${post("Transfer-Encoding: chunked")}${slowEvent.length.toString(16)}\r\n`,
    drip: slowEvent,
  }),
  "chunks of a byte, one at a time": () => ({
    first: post("Transfer-Encoding: chunked"),
    drip: "1\r\nx\r\n".repeat(10_000),
  }),
  "chunks without the last one": () => ({
    first: `${post("Transfer-Encoding: chunked")}${slowEvent.length.toString(16)}\r\n${slowEvent}\r\n`,
  }),
  "a compressed body, a byte at a time": () => ({
    first: post(`Content-Length: ${slowEvent.length}`, "Content-Encoding: gzip"),
    drip: gzipSync(slowEvent),
  }),
  "a body that was refused, a byte at a time": () => ({
    first: post("Content-Length: 300000"),
    drip: "x".repeat(10_000),
    answers: [400],
  }),
  "a body without a token, a byte at a time": () => ({
    first: head("POST /track HTTP/1.1", "Host: a", "Content-Length: 1000"),
    drip: "x".repeat(1_000),
    answers: [401],
  }),
  "a change of settings, a byte at a time": () => ({ first: change(), drip: " ".repeat(999) }),
  "a promised body that does not come": () => ({
    first: post("Content-Length: 1000", "Expect: 100-continue"),
    answers: [100],
  }),
};

/** Between two bytes of a slow sender. */
const slowSenderMs = 100;

/** Sends in this way until the server has closed the connection. Returns the statuses of its answers. */
async function sendSlowly(way: string): Promise<readonly number[]> {
  const { first, drip = "" } = ways[way]?.() ?? { first: "" };
  const connection = await RawConnection.open(server);
  const rest = Buffer.from(drip);
  connection.write(first);
  for (let at = 0; at < rest.length && !connection.isClosed; at += 1) {
    connection.write(rest.subarray(at, at + 1));
    await Promise.race([Bun.sleep(slowSenderMs), connection.closed]);
  }
  await connection.closed;
  return connection.statuses;
}

test("each way to be slow ends with the connection closed, and others are answered meanwhile", async () => {
  const slow = Promise.all(Object.keys(ways).map(async (way) => [way, await sendSlowly(way)] as const));
  const silent = await Promise.all(Array.from({ length: 200 }, () => RawConnection.open(server)));
  for (let sent = 0; sent < 20; sent += 1) {
    await expectSuccess(await server.post("/track", token, { userId: "u", event: `quick_${sent}` }));
  }
  expect(Object.fromEntries(await slow)).toEqual(
    Object.fromEntries(Object.entries(ways).map(([way, told]) => [way, told().answers ?? []])),
  );
  await Promise.all(silent.map(({ closed }) => closed));
  await expectSuccess(await server.post("/track", token, { userId: "u", event: "quick_at_last" }));
});

test("nothing of them is stored, and they are no failures of the service", async () => {
  const stored = (await server.exported("events", organization)).map((row) => String(row.event));
  expect(stored.filter((name) => !name.startsWith("quick_"))).toEqual([]);
  expect(stored).toHaveLength(21);
  expect(server.output()).not.toContain("fail");
});
