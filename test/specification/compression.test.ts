/** Compressed bodies: what is taken, what is refused and why, and that a small body never becomes a large
 * one. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { Server } from "../server.ts";
import {
  chunked,
  expectError,
  expectRefused,
  expectSuccess,
  largeEvent,
  peakBytes,
  send,
  user,
} from "./support.ts";

let server: Server;
let token: string;
const organization = "Compression";
const bodyBytes = 256 * 1024;

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization(organization);
  await send(server, "/identify", token, user("u"));
});
afterAll(() => server.stop());

function post(encoding: string, body: Uint8Array): Promise<Response> {
  return server.post("/track", token, body, { "Content-Encoding": encoding });
}

function event(name: string): Buffer {
  return Buffer.from(JSON.stringify({ userId: "u", event: name, properties: { text: "é".repeat(500) } }));
}

function joined(...parts: (Uint8Array | string)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

/** The two halves of a body as two members of one gzip file (RFC 1952 2.2). */
function inTwoMembers(body: Buffer): Buffer {
  return joined(gzipSync(body.subarray(0, 99)), gzipSync(body.subarray(99)));
}

const codings: readonly (readonly [string, string, (body: Buffer) => Uint8Array])[] = [
  ["gzip", "gzip", gzipSync],
  ["gzip_level_9", "gzip", (body) => gzipSync(body, { level: 9 })],
  ["gzip_stored", "gzip", (body) => gzipSync(body, { level: 0 })],
  ["gzip_in_two_members", "gzip", inTwoMembers],
  ["x-gzip", "x-gzip", gzipSync],
  ["upper_case", "GZIP", gzipSync],
  ["deflate", "deflate", (body) => deflateSync(body)],
  ["deflate_with_a_small_window", "deflate", (body) => deflateSync(body, { windowBits: 9 })],
  ["deflate_without_zlib_header", "deflate", (body) => deflateRawSync(body)],
  ["deflate_stored_without_zlib_header", "deflate", (body) => deflateRawSync(body, { level: 0 })],
  ["identity", "identity", (body) => body],
  ["identity_and_gzip", "identity, gzip", gzipSync],
  ["deflate_in_gzip", "deflate, gzip", (body) => gzipSync(deflateSync(body))],
  ["four_codings", "gzip,gzip ,gzip, x-gzip", (body) => gzipSync(gzipSync(gzipSync(gzipSync(body))))],
  ["empty_elements", "gzip, ,", gzipSync],
];

describe("taken, with a declared length and in chunks, is", () => {
  test.each(codings)("%s", async (name, encoding, compress) => {
    await expectSuccess(await post(encoding, compress(event(name))));
    const response = await fetch(`${server.url}/track`, {
      method: "POST",
      headers: { Authorization: `Basic ${token}`, "Content-Encoding": encoding },
      body: chunked(compress(event(`${name}_in_chunks`))),
    });
    await expectSuccess(response);
  });

  test("each of them is stored once", async () => {
    const sent = codings.flatMap(([name]) => [name, `${name}_in_chunks`]).sort();
    const stored = (await server.exported("events", organization)).map((row) => String(row.event));
    expect(stored.filter((name) => sent.includes(name)).sort()).toEqual(sent);
  });
});

test("identify takes a compressed body too", async () => {
  const body = gzipSync(JSON.stringify(user("compressed", { properties: { plan: "pro" } })));
  await expectSuccess(await server.post("/identify", token, body, { "Content-Encoding": "gzip" }));
});

describe("refused for what the header says is", () => {
  test.each([
    "br",
    "zstd",
    "compress",
    "gzip;q=1",
    "gzip gzip",
    "constructor",
    "gzip, br",
    "\u00e9",
    "x".repeat(5_000),
  ])("%s", async (encoding) => {
    const message = await expectError(
      await post(encoding, gzipSync(event("refused"))),
      "validation_error",
      "send gzip, deflate or an uncompressed body",
    );
    expect(message).toStartWith("Content-Encoding ");
    expect(message.length).toBeLessThan(200);
  });

  test("more than four codings", async () => {
    await expectRefused(await post("gzip, gzip, gzip, gzip, gzip", Buffer.from("x")), "Content-Encoding");
  });
});

function withBitFlipped(bytes: Uint8Array, fromEnd: number): Uint8Array {
  const flipped = Buffer.from(bytes);
  const at = flipped.length - fromEnd;
  flipped[at] = (flipped[at] ?? 0) ^ 1;
  return flipped;
}

const refused = event("refused");
const gzipped = gzipSync(refused);
const deflated = deflateSync(refused);
const raw = deflateRawSync(refused);

describe("refused for what the body is", () => {
  test.each<readonly [string, string, Uint8Array, string]>([
    ["gzip without its end", "gzip", gzipped.subarray(0, -1), "ends before its gzip data"],
    ["half of gzip", "gzip", gzipped.subarray(0, gzipped.length / 2), "ends before its gzip data"],
    ["gzip's header alone", "gzip", gzipped.subarray(0, 10), "ends before its gzip data"],
    ["nothing", "gzip", Buffer.alloc(0), "ends before its gzip data"],
    ["half of deflate", "deflate", deflated.subarray(0, -20), "ends before its deflate data"],
    ["deflate without its checksum", "deflate", deflated.subarray(0, -4), "ends before its deflate data"],
    ["half of raw deflate", "deflate", raw.subarray(0, -5), "ends before its deflate data"],
    ["gzip with another checksum", "gzip", withBitFlipped(gzipped, 6), "is not valid gzip data"],
    ["gzip with another length", "gzip", withBitFlipped(gzipped, 1), "is not valid gzip data"],
    ["deflate with another checksum", "deflate", withBitFlipped(deflated, 1), "is not valid deflate data"],
    ["gzip, then text", "gzip", joined(gzipped, "and some more text"), "is not valid gzip data"],
    ["gzip, then zeros", "gzip", joined(gzipped, Buffer.alloc(20)), "goes on after its gzip data"],
    ["deflate, then text", "deflate", joined(deflated, "x"), "goes on after its deflate data"],
    ["raw deflate, then a second body", "deflate", joined(raw, raw), "goes on after its deflate data"],
    ["JSON called gzip", "gzip", refused, "is not valid gzip data"],
    ["JSON called deflate", "deflate", refused, "is not valid deflate data"],
    ["gzip called deflate", "deflate", gzipped, "is not valid deflate data"],
    ["deflate called gzip", "gzip", deflated, "is not valid gzip data"],
    ["the codings in the other order", "gzip, deflate", gzipSync(deflated), "is not valid deflate data"],
    [
      "deflate that wants a dictionary",
      "deflate",
      deflateSync(refused, { dictionary: refused }),
      "is not valid",
    ],
    ["gzip that nobody speaks of", "identity", gzipped, "is not valid UTF-8"],
    ["gzip of no JSON", "gzip", gzipSync("userId=u"), "is not valid JSON"],
    ["gzip of nothing", "gzip", gzipSync(""), "is not valid JSON"],
  ])("%s", async (_name, encoding, body, problem) => {
    const message = await expectError(await post(encoding, body), "validation_error", problem, "send");
    expect(message).toStartWith("body ");
  });

  test("none of them is stored", async () => {
    const stored = (await server.exported("events", organization)).map((row) => row.event);
    expect(stored).not.toContain("refused");
  });
});

test("an unauthorized request gets no message about codings", async () => {
  await expectError(
    await server.post("/track", "rk-wrong", "x", { "Content-Encoding": "br" }),
    "invalid_write_key",
  );
});

/** Zeros of so many million bytes, compressed. */
function bomb(millions: number, compress: (bytes: Uint8Array) => Buffer): Buffer {
  return compress(Buffer.alloc(millions * 1_000_000));
}

describe("the limit of 256 KiB counts inflated bytes:", () => {
  const shapes: readonly (readonly [string, string, (body: string) => Uint8Array])[] = [
    ["gzip", "gzip", gzipSync],
    ["gzip that did not shrink", "gzip", (body) => gzipSync(body, { level: 0 })],
    ["gzip in two members", "gzip", (body) => inTwoMembers(Buffer.from(body))],
    ["deflate", "deflate", deflateSync],
    ["raw deflate", "deflate", deflateRawSync],
    [
      "gzip in gzip that did not shrink",
      "gzip, gzip",
      (body) => gzipSync(gzipSync(body, { level: 0 }), { level: 0 }),
    ],
  ];

  test.each(shapes)("%s of 256 KiB is taken, of one byte more refused", async (_name, encoding, compress) => {
    await expectSuccess(await post(encoding, compress(largeEvent(bodyBytes))));
    const response = await post(encoding, compress(largeEvent(bodyBytes + 1)));
    await expectError(response, "validation_error", "body inflates to more than 262144 bytes", "send less");
  });

  test("the compressed body may not be much larger either", async () => {
    const members = joined(...Array.from({ length: 20_000 }, () => gzipSync("")), gzipSync(event("late")));
    await expectRefused(await post("gzip", members), "body");
    await expectRefused(await post("gzip", gzipSync(largeEvent(2 * bodyBytes), { level: 0 })), "body");
  });

  test("uncompressed bodies keep their limit when the header says identity", async () => {
    await expectSuccess(await post("identity", Buffer.from(largeEvent(bodyBytes))));
    await expectRefused(await post("identity", Buffer.from(largeEvent(bodyBytes + 1))), "body");
  });
});

test("a batch is compressed as others are, under its own limit", async () => {
  const headers = { "Content-Encoding": "gzip" };
  const properties = { text: randomBytes(5_000).toString("hex") };
  const batch = Array.from({ length: 100 }, (_, n) => ({
    type: "track",
    userId: "u",
    event: `b${n}`,
    properties,
  }));
  const taken = await server.post("/batch", token, gzipSync(JSON.stringify({ batch })), headers);
  expect([taken.status, await taken.json()]).toEqual([
    201,
    { success: true, accepted: 100, duplicates: 0, rejected: [] },
  ]);
  // White space that shrinks to a fifth, as JSON does at least.
  const blanks = (bytes: number) => gzipSync(randomBytes(bytes).map((byte) => (byte < 128 ? 0x20 : 0x0a)));
  const posted = (body: Buffer) => server.post("/batch", token, body, headers);
  await expectError(await posted(blanks(8_388_608)), "validation_error", "JSON");
  const past = await posted(blanks(8_388_609));
  await expectError(past, "validation_error", "body inflates to more than 8388608 bytes", "send less");
});

test("what inflates to more than 512 KiB and 100 times its size is no application's data", async () => {
  const headers = (encoding: string) => ({ "Content-Encoding": encoding });
  const spaces = gzipSync(Buffer.alloc(524_289, " "));
  const refused = [
    "validation_error",
    "body inflates to more than 524288 bytes",
    "compress it less",
  ] as const;
  await expectError(await server.post("/batch", token, spaces, headers("gzip")), ...refused);
  await expectError(await server.post("/batch", token, gzipSync(spaces), headers("gzip, gzip")), ...refused);
  for (const path of ["/v1/batch", "/v1/track", "/capture/"]) {
    // Some clients do not say that they compress.
    for (const said of [headers("gzip"), {}]) {
      const response = await server.post(path, token, spaces, said);
      expect([path, response.status]).toEqual([path, path === "/capture/" ? 413 : 400]);
      expect(await response.text()).toContain("inflates to more than 524288 bytes");
    }
  }
});

test("bombs are refused, and ten of 100 MB take less memory than one that was inflated", async () => {
  const bombs: readonly (readonly [string, Buffer])[] = [
    ["gzip", bomb(100, gzipSync)],
    ["deflate", bomb(100, deflateSync)],
    ["deflate", bomb(100, deflateRawSync)],
    // A gigabyte in 6 KB: what comes out of the first pass is already too large.
    [
      "gzip, gzip",
      gzipSync(joined(...Array.from({ length: 10 }, () => gzipSync(Buffer.alloc(100_000_000))))),
    ],
  ];
  const beforeBytes = peakBytes(server);
  for (const [encoding, body] of bombs) {
    for (let sent = 0; sent < 10; sent += 1) {
      await expectError(await post(encoding, body), "validation_error", "inflates to more than", "send less");
    }
  }
  expect(peakBytes(server) - beforeBytes).toBeLessThan(50_000_000);
  await expectSuccess(await post("gzip", gzipSync(event("after_the_bombs"))));
});
