/**
 * Requests as raw bytes, without a client: tricks with lengths and chunks, unusual heads, nonsense. Bun's
 * parser answers most of it with an empty 400 and closes the connection. The tests record this behaviour as
 * it is. In all cases nothing hidden in a body is taken for a request, and the service stays up.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { exchange, head, RawConnection } from "./raw.ts";
import { largeEvent, peakBytes, send, user } from "./support.ts";

let server: Server;
let token: string;
const organization = "Raw socket";

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization(organization);
  await send(server, "/identify", token, user("u"));
});
afterAll(() => server.stop());

function post(...lines: readonly string[]): string {
  return head("POST /track HTTP/1.1", "Host: a", `Authorization: Basic ${token}`, ...lines);
}

function get(...lines: readonly string[]): string {
  return head("GET /healthz HTTP/1.1", "Host: a", ...lines);
}

function event(name: string): string {
  return JSON.stringify({ userId: "u", event: name });
}

/** A whole request that stores an event, to be hidden where it must not be found. */
function hidden(): string {
  return post(`Content-Length: ${event("hidden").length}`) + event("hidden");
}

function hex(text: string): string {
  return text.length.toString(16);
}

async function lives(): Promise<void> {
  const response = await fetch(`${server.url}/healthz`);
  expect(await response.text()).toBe("ok\n");
}

const chunks = (...parts: readonly string[]) =>
  `${post("Transfer-Encoding: chunked")}${parts.map((part) => `${hex(part)}\r\n${part}\r\n`).join("")}0\r\n\r\n`;

/** A chunked event, in which the text between its chunks is as given. */
const chunked = (name: string, size: (hex: string) => string, end = "0\r\n\r\n", after = "\r\n") =>
  `${post("Transfer-Encoding: chunked")}${size(hex(event(name)))}\r\n${event(name)}${after}${end}`;

const withLengths = (name: string, ...lengths: readonly string[]) =>
  `${post(...lengths.map((length) => `Content-Length: ${length.replace("N", String(event(name).length))}`))}${event(name)}`;

const taken: readonly (readonly [string, () => string])[] = [
  ["length", () => withLengths("length", "N")],
  ["length_twice_the_same", () => withLengths("length_twice_the_same", "N", "N")],
  ["length_with_zeros", () => withLengths("length_with_zeros", "000N")],
  ["chunk", () => chunks(event("chunk"))],
  ["chunks_of_one_byte", () => chunks(...event("chunks_of_one_byte"))],
  ["chunk_extension", () => chunked("chunk_extension", (size) => `${size};name=value;other`)],
  ["chunk_size_with_zeros", () => chunked("chunk_size_with_zeros", (size) => `0000000${size}`)],
  ["chunked_in_capitals", () => chunks(event("chunked_in_capitals")).replace("chunked\r", "CHUNKED\r")],
  [
    "header_names_in_any_case",
    () => withLengths("header_names_in_any_case", "N").replace("Content-L", "cONTENT-l"),
  ],
  ["a_hundred_headers", () => withHeaders("a_hundred_headers", 100)],
  ["8_KB_of_header", () => withLine("8_KB_of_header", `X: ${"x".repeat(8_000)}`)],
  ["expectation_that_is_unknown", () => withLine("expectation_that_is_unknown", "Expect: tea")],
  [
    "absolute_target",
    () => withLengths("absolute_target", "N").replace(" /track ", " http://other.example/track "),
  ],
];

describe("taken, and the connection goes on after", () => {
  test.each(taken)("%s", async (_name, bytes) => {
    expect(await exchange(server, bytes(), 1)).toEqual([201, 200]);
  });
});

function withLine(name: string, line: string): string {
  return post(line, `Content-Length: ${event(name).length}`) + event(name);
}

function withHeaders(name: string, count: number): string {
  return withLine(name, Array.from({ length: count }, (_, index) => `X-${index}: x`).join("\r\n"));
}

/** A request whose length can be read in two ways, with another request where one of them ends. */
describe("refused by an empty 400, and closed, is", () => {
  test.each<readonly [string, () => string]>([
    ["two lengths", () => withLengths("refused", "N", "1")],
    [
      "two lengths, the short one first",
      () => post("Content-Length: 0", `Content-Length: ${hidden().length}`) + hidden(),
    ],
    ["a list of lengths", () => withLengths("refused", "N, N")],
    ["a negative length", () => withLengths("refused", "-N")],
    ["a length with a plus", () => withLengths("refused", "+N")],
    ["a length in hexadecimal", () => withLengths("refused", "0xN")],
    ["a length with a fraction", () => withLengths("refused", "N.0")],
    ["a length with a space inside", () => withLengths("refused", "N 0")],
    ["a length that is no number", () => withLengths("refused", "many")],
    ["a length of nothing", () => withLengths("refused", "")],
    ["a length of 30 digits", () => withLengths("refused", "9".repeat(30))],
    [
      "a space before the colon",
      () => withLengths("refused", "N").replace("Content-Length:", "Content-Length :"),
    ],
    ["length and chunks", () => post("Content-Length: 0", "Transfer-Encoding: chunked") + hidden()],
    [
      "chunks and length",
      () => post("Transfer-Encoding: chunked", `Content-Length: ${hidden().length}`) + hidden(),
    ],
    ["another transfer coding", () => post("Transfer-Encoding: gzip, chunked") + hidden()],
    ["a transfer coding that is none", () => post("Transfer-Encoding: xchunked") + hidden()],
    ["identity as a transfer coding", () => post("Transfer-Encoding: identity") + hidden()],
    [
      "two transfer codings",
      () => post("Transfer-Encoding: chunked", "Transfer-Encoding: identity") + hidden(),
    ],
    ["a chunk size that is none", () => chunked("refused", () => "zz")],
    ["a negative chunk size", () => chunked("refused", (size) => `-${size}`)],
    ["a chunk size with 0x", () => chunked("refused", (size) => `0x${size}`)],
    [
      "a chunk size of 65 bits",
      () => chunked("refused", (size) => `100000000000000${size.padStart(2, "0")}`),
    ],
    ["a chunk that is longer than it says", () => chunked("refused", () => "1")],
    ["a chunk without an end", () => chunked("refused", (size) => size, "0\r\n\r\n", "XX")],
    [
      "chunks ended by line feeds",
      () =>
        chunked("refused", (size) => size)
          .replaceAll("\r\n0", "\n0")
          .replace(/\r\n\{/, "\n{"),
    ],
    ["a line feed in a chunk extension", () => chunked("refused", (size) => `${size};a\nb`)],
    ["line feeds alone", () => withLengths("refused", "N").replace("Host: a\r\n", "Host: a\n")],
    ["a carriage return alone", () => withLine("refused", "X: a\rb")],
    ["a zero byte in a header", () => withLine("refused", "X: a\0b")],
    ["a zero byte in a header's name", () => withLine("refused", "X\0: a")],
    ["a header without a colon", () => withLine("refused", "nonsense")],
    ["a header that goes on in the next line", () => withLine("refused", "X: a\r\n b")],
    ["no Host", () => withLengths("refused", "N").replace("Host: a\r\n", "")],
    ["a target without a slash", () => withLengths("refused", "N").replace(" /track ", " track ")],
    ["a target that is a star", () => head("OPTIONS * HTTP/1.1", "Host: a")],
    ["a method that is no word", () => withLengths("refused", "N").replace("POST", "P@ST")],
    ["a space before the method", () => ` ${withLengths("refused", "N")}`],
    ["an empty line before the method", () => `\r\n\r\n${withLengths("refused", "N")}`],
    [
      "the first bytes of TLS",
      () => `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${"\x00\x01\xff".repeat(100)}`,
    ],
    ["the first bytes of HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("%s", async (_name, bytes) => {
    const connection = await RawConnection.open(server);
    connection.write(bytes());
    await connection.closed;
    expect(connection.statuses).toEqual([400]);
    expect(connection.answers[0]?.body).toBe("");
    await lives();
  });
});

describe("refused by another status, and closed, is", () => {
  test.each<readonly [number, string, () => string]>([
    [431, "a header of 100 KB", () => withLine("refused", `X: ${"x".repeat(100_000)}`)],
    [431, "10,000 headers", () => withHeaders("refused", 10_000)],
    [431, "300 headers", () => withHeaders("refused", 300)],
    [
      431,
      "a target of 100 KB",
      () => withLengths("refused", "N").replace("/track", `/track?${"x".repeat(100_000)}`),
    ],
    [505, "HTTP/2.0", () => withLengths("refused", "N").replace("HTTP/1.1", "HTTP/2.0")],
    [505, "HTTP/0.9", () => "POST /track\r\n\r\n"],
    [505, "another protocol", () => withLengths("refused", "N").replace("HTTP/1.1", "HTPP/1.1")],
    [505, "a zero byte in the target", () => withLengths("refused", "N").replace("/track", "/track\0")],
    [505, "a head of line feeds", () => withLengths("refused", "N").replaceAll("\r\n", "\n")],
    [413, "more than Bun takes at all", () => withLengths("refused", "4294967296")],
    [413, "a chunk extension of 50 KB", () => chunked("refused", (size) => `${size};${"x".repeat(50_000)}`)],
  ])("%d for %s", async (status, _name, bytes) => {
    const connection = await RawConnection.open(server);
    connection.write(bytes());
    await connection.closed;
    expect(connection.statuses).toEqual([status]);
    await lives();
  });

  test("closed without a word: a method that Bun does not know", async () => {
    for (const method of ["FOO", "post"]) {
      const connection = await RawConnection.open(server);
      connection.write(withLengths("refused", "N").replace("POST", method));
      await connection.closed;
      expect(connection.received).toBe("");
    }
    await lives();
  });

  test.each<readonly [string, Uint8Array]>([
    ["zeros", Buffer.alloc(10_000_000)],
    ["lines", Buffer.alloc(10_000_000, "nonsense: of lines\r\n")],
    [
      "bytes in no order",
      Buffer.from(Uint32Array.from({ length: 2_500_000 }, (_, i) => i * 2654435761).buffer),
    ],
  ])("10 MB of %s", async (_name, nonsense) => {
    const connection = await RawConnection.open(server);
    connection.write(nonsense);
    await connection.closed;
    // The answer may be lost, because the connection is closed while there is more to read.
    for (const status of connection.statuses) expect(status).toBeOneOf([400, 431, 505]);
    await lives();
  });
});

describe("a request hidden in a body is part of the body:", () => {
  test.each<readonly [string, number, () => string]>([
    ["of a write that is refused", 400, () => post(`Content-Length: ${hidden().length}`) + hidden()],
    ["of a write that is refused, in chunks", 400, () => chunks(hidden())],
    ["of a write without a token", 401, () => unauthorized(hidden())],
    [
      "of a path that is not there",
      404,
      () => post(`Content-Length: ${hidden().length}`).replace("/track", "/x") + hidden(),
    ],
    ["of a GET", 200, () => get(`Content-Length: ${hidden().length}`) + hidden()],
    [
      "behind 256 KiB",
      400,
      () => post(`Content-Length: ${300_000 + hidden().length}`) + "x".repeat(300_000) + hidden(),
    ],
    ["behind 256 KiB, in chunks", 400, () => chunks("x".repeat(300_000), hidden())],
  ])("%s", async (_name, status, bytes) => {
    expect(await exchange(server, bytes(), 1)).toEqual([status, 200]);
  });

  test.each<readonly [string, () => string]>([
    ["in a trailer", () => chunked("trailer", (size) => size, `0\r\nX: 1\r\n${hidden()}`)],
    ["in place of a trailer", () => chunked("no_trailer", (size) => size, `0\r\n${hidden()}`)],
    ["two bytes behind the last chunk", () => chunked("two_bytes", (size) => size, `0\r\nXX${hidden()}`)],
  ])("%s, where Bun closes the connection", async (_name, bytes) => {
    const connection = await RawConnection.open(server);
    connection.write(bytes());
    await connection.closed;
    for (const status of connection.statuses) expect(status).toBeOneOf([201, 400]);
    await lives();
  });

  function unauthorized(body: string): string {
    return head("POST /track HTTP/1.1", "Host: a", `Content-Length: ${body.length}`) + body;
  }
});

test("a Host that is none does not lead to another path", async () => {
  const statuses = [];
  for (const path of ["/a/healthz", "/x?://y/healthz", "/healthz"]) {
    const connection = await RawConnection.open(server);
    connection.write(head(`GET ${path} HTTP/1.1`, "Host: a/b@c:x", "Connection: close"));
    await connection.closed;
    statuses.push(connection.statuses);
  }
  expect(statuses).toEqual([[404], [404], [200]]);
});

test("accepted events are stored once, and refused or hidden ones are not", async () => {
  const stored = (await server.exported("events", organization)).map((row) => String(row.event));
  expect(stored).not.toContain("refused");
  expect(stored).not.toContain("hidden");
  const names = taken.map(([name]) => name);
  expect(stored.filter((name) => names.includes(name)).sort()).toEqual([...names].sort());
});

test("a body in chunks of one byte takes no more memory than others", async () => {
  const beforeBytes = peakBytes(server);
  for (let sent = 0; sent < 5; sent += 1) {
    const body = largeEvent(256 * 1024).replaceAll("é", "ee");
    expect(await exchange(server, chunks(...body), 1)).toEqual([201, 200]);
  }
  // Kept one by one, the chunks of one body alone took 41 MB.
  expect(peakBytes(server) - beforeBytes).toBeLessThan(60_000_000);
});
