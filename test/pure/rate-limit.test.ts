/** The places that a bucket gives under a limit, on one node and on several. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Authorizer } from "../../server/http/port/authorize.ts";
import { TokenBucket } from "../../server/http/port/rate-limit.ts";
import { type Credentials, secretPrefix } from "../../server/ledger/stores/credentials.ts";
import { seeded } from "./support.ts";

const limit = 900;
const nodes = 3;

test("a batch beyond a node's share passes while single requests take nine tenths of it, and no more than the limit does", () => {
  const bucket = new TokenBucket(limit, 0, nodes);
  const everyMs = 1_000 / ((limit / nodes) * 0.9);
  const seconds = 300;
  let [batches, passed] = [0, 0];
  for (let atMs = 0, next = 0; atMs < seconds * 1_000; atMs += everyMs) {
    if (bucket.take(atMs) === 0) passed += 1;
    if (atMs < next) continue;
    const waitSeconds = bucket.take(atMs, 500);
    if (waitSeconds === 0) batches += 1;
    next = atMs + 1_000 * Math.max(1, waitSeconds);
  }
  expect(batches).toBeGreaterThan(20);
  expect(passed + 500 * batches).toBeLessThan(((limit / nodes) * seconds + limit) * 1.01);
});

test("a node alone lets the limit pass at once, and never more", () => {
  const bucket = new TokenBucket(limit, 0);
  expect(bucket.take(0, limit + 1)).toBeGreaterThan(0);
  expect(bucket.take(0, 1)).toBe(0);
  expect(bucket.take(0, limit)).toBeGreaterThan(0);
  expect(bucket.take(0, limit - 1)).toBe(0);
});

/** A sender that takes a bucket's places and returns exactly at the given time. */
function comesBackInTime(
  nodes: number,
  takes: (bucket: TokenBucket, atMs: number, places: number) => number,
) {
  const step = fc.record({
    perSecond: fc.integer({ min: 1, max: 3_000 }),
    places: fc.integer({ min: 1, max: 9_000 }),
  });
  fc.assert(
    fc.property(step, fc.double({ min: 0, max: 1e9, noNaN: true }), ({ perSecond, places }, startMs) => {
      const bucket = new TokenBucket(perSecond, startMs, nodes);
      let atMs = startMs;
      for (let round = 0; round < 3; round += 1) {
        while (takes(bucket, atMs, 1) === 0);
        const waitSeconds = takes(bucket, atMs, places);
        expect(waitSeconds).toBeInteger();
        expect(waitSeconds).toBeGreaterThan(0);
        if (places > perSecond && takes === takeAll) return;
        atMs += waitSeconds * 1_000;
        expect(takes(bucket, atMs, places)).toBe(0);
      }
    }),
    seeded("rate-limit.test.ts", 300),
  );
}

const takeAll = (bucket: TokenBucket, atMs: number, places: number) => bucket.take(atMs, places);
const takeInAdvance = (bucket: TokenBucket, atMs: number, places: number) =>
  bucket.takeInAdvance(atMs, places);

test.each([1, 3])("asked exactly when Retry-After said, a request is let in: %d nodes", (nodes) => {
  comesBackInTime(nodes, takeAll);
  comesBackInTime(nodes, takeInAdvance);
});

test.each([1, 3])("Retry-After is the first whole second in which a place is free: %d nodes", (nodes) => {
  const bucket = new TokenBucket(nodes, 0, nodes);
  const share = 1;
  for (let taken = 0; taken < share; taken += 1) expect(bucket.take(0)).toBe(0);
  expect([bucket.take(0), bucket.take(999)]).toEqual([1, 1]);
  expect(bucket.take(1_000)).toBe(0);
});

test("places that were used already are taken even where there are none, and have to flow in first", () => {
  const bucket = new TokenBucket(10, 0);
  expect(bucket.waitSeconds(0)).toBe(0);
  bucket.charge(0, 35);
  // 25 beyond the bucket, and one for the next request.
  expect(bucket.waitSeconds(0)).toBe(3);
  expect(bucket.waitSeconds(2_500)).toBe(1);
  expect(bucket.waitSeconds(2_600)).toBe(0);
});

test("a changed rate limit gives no fresh bucket, and keeps the last use", async () => {
  let requestsPerSecond = 5;
  const credential = { id: 1, name: "t", lastFour: "abcd", rights: ["write"] };
  const used: unknown[] = [];
  const credentials = {
    find: async () => ({ credential, organization: { id: 1, timezone: "UTC" } }),
    touch: async (touched: unknown) => void used.push(touched),
  };
  const authorizer = new Authorizer(credentials as unknown as Credentials, {
    prefix: secretPrefix.token,
    takes: () => true,
    limits: () => ({ requestsPerSecond, itemsPerSecond: 10 * requestsPerSecond }),
  });
  const usage = async () => {
    const caller = await authorizer.authorizeSecret("rk-a");
    if (caller === undefined) throw new Error("nobody was let in");
    return caller.usage;
  };
  const before = await usage();
  const nowMs = performance.now();
  for (let taken = 0; taken < 5; taken += 1) expect(before.bucket.take(nowMs)).toBe(0);
  expect(before.itemsBucket.take(nowMs, 50)).toBe(0);
  before.lastUsedAtMs = 1_234;
  requestsPerSecond = 8;
  authorizer.forget();
  const after = await usage();
  expect([after.bucket.perSecond, after.itemsBucket.perSecond]).toEqual([8, 80]);
  expect([after.bucket.take(nowMs), after.itemsBucket.take(nowMs)]).toEqual([1, 1]);
  await authorizer.recordUse();
  expect(used).toEqual([[{ id: 1, atMs: 1_234 }]]);
  await authorizer.recordUse();
  expect(used).toHaveLength(1);
});
