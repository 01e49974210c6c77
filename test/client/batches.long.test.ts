/** Whatever is handed over: requests keep the limits of the contract, and order, and everything is stored
 * once. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { limits } from "../../contract/limits.ts";
import { Server } from "../server.ts";
import { Gate, type Mischief } from "./gate.ts";
import { ada, Told } from "./support.ts";

/** Sizes of properties: mostly small, some near the limit of an item. */
const sizes = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: fc.nat(300) },
    { weight: 1, arbitrary: fc.integer({ min: 200_000, max: limits.bodyBytes - 1_000 }) },
  ),
  { minLength: 1, maxLength: 80 },
);
const troubles = fc.array(fc.constantFrom<Mischief>("pass", "pass", "cut", "refuse", { status: 503 }), {
  maxLength: 3,
});

test("any sizes, in batches of any length, with any trouble on the way", async () => {
  const server = await Server.start();
  const token = await server.organization("Any");
  const gate = await Gate.before(() => server.url);
  const all: string[] = [];
  const property = fc.asyncProperty(
    sizes,
    fc.integer({ min: 1, max: 40 }),
    troubles,
    async (bytes, maxBatchItems, next) => {
      const before = gate.seen.length;
      gate.next = [...next];
      const { client, failures, drops } = new Told({
        token,
        host: gate.url,
        maxBatchItems,
        maxQueueBytes: 2 ** 30,
      });
      client.identify({ ...ada(), messageId: `user-${all.length}` });
      const ids = bytes.map((_, n) => `event-${all.length + n}`);
      for (const [n, size] of bytes.entries()) {
        client.track({
          userId: "ada",
          event: "e",
          messageId: ids[n] ?? "",
          properties: { text: "é".repeat(size / 2) },
        });
      }
      expect(await client.close()).toBe(true);
      expect([drops, failures.filter(({ willRetry }) => !willRetry)]).toEqual([[], []]);
      const requests = gate.seen.slice(before);
      for (const request of requests) {
        expect(request.items.length).toBeWithin(1, maxBatchItems + 1);
        expect(request.bytes).toBeLessThanOrEqual(limits.batchBytes);
      }
      const first = [...new Set(requests.flatMap(({ items }) => items.map(({ messageId }) => messageId)))];
      expect(first).toEqual([`user-${all.length}`, ...ids]);
      all.push(...ids);
    },
  );
  try {
    await fc.assert(property, { numRuns: 15 });
    const stored = (await server.exported("events", "Any")).map(({ messageId }) => String(messageId));
    expect(stored.sort()).toEqual(all.sort());
  } finally {
    gate.close();
    await server.stop();
  }
});

test("12 MiB at once go in requests of at most 8, and an item of exactly 256 KiB is stored", async () => {
  const server = await Server.start();
  const token = await server.organization("Large");
  const gate = await Gate.before(() => server.url);
  try {
    const { client, failures } = new Told({ token, host: gate.url });
    client.identify(ada());
    const item = { userId: "ada", event: "e", timestamp: "2026-01-01" };
    const bytes = (text: string) =>
      JSON.stringify({ ...item, type: "track", messageId: "0".repeat(36), properties: { text } }).length;
    const text = "x".repeat(limits.bodyBytes - bytes(""));
    for (let n = 0; n < 48; n += 1) {
      client.track({ ...item, messageId: String(n).padStart(36, "0"), properties: { text } });
    }
    client.track({ ...item, messageId: "0".repeat(36), properties: { text: `${text}x` } });
    expect(await client.close()).toBe(true);
    expect(failures).toMatchObject([{ name: "invalid_item", message: "Error: larger than 262144 bytes" }]);
    expect(gate.seen.map(({ items }) => items.length)).toEqual([32, 17]);
    expect(await server.exported("events", "Large")).toHaveLength(48);
  } finally {
    gate.close();
    await server.stop();
  }
});

test("2,000 items are one request, and more are never asked for", async () => {
  const gate = await Gate.before(() => "");
  gate.always = { status: 201, body: '{"success":true,"accepted":0,"duplicates":0,"rejected":[]}' };
  const { client } = new Told({ token: "rk-x", host: `${gate.url}//`, maxBatchItems: 9_999 });
  for (let n = 0; n < 4_500; n += 1) client.identify(ada(n));
  expect(await client.close()).toBe(true);
  expect(gate.seen.map(({ items }) => items.length)).toEqual([2_000, 2_000, 500]);
  gate.close();
});
