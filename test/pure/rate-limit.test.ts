/** What one of several nodes lets pass of a limit. */
import { expect, test } from "bun:test";
import { TokenBucket } from "../../server/http/rate-limit.ts";

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
