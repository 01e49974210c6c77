/** When work that failed is tried again, and when its failure is logged. */
import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import { Retries } from "../../server/process/retries.ts";

let nowMs = 0;
const clock = spyOn(performance, "now").mockImplementation(() => nowMs);
afterEach(() => {
  nowMs = 0;
});
afterAll(() => clock.mockRestore());

/** Milliseconds for which the work rests. The clock stands at its end afterwards. */
function restMs(retries: Retries<string>): number {
  const startMs = nowMs;
  while (retries.isResting("a")) nowMs += 1;
  return nowMs - startMs;
}

test("rests twice as long after each failure, up to a limit, and not after a success", () => {
  const retries = new Retries<string>({ firstMs: 10, longestMs: 35 }, Date.now);
  const rests = Array.from({ length: 4 }, () => {
    retries.failed("a");
    return restMs(retries);
  });
  expect(rests).toEqual([10, 20, 35, 35]);
  retries.failed("a");
  expect([retries.isResting("a"), retries.isResting("b")]).toEqual([true, false]);
  retries.succeeded("a");
  expect([retries.isResting("a"), retries.keys]).toEqual([false, []]);
  retries.failed("a");
  expect(restMs(retries)).toBe(10);
});

test("does not rest for another version of its input", () => {
  const retries = new Retries<string>({ firstMs: 10, longestMs: 35 }, Date.now);
  retries.failed("a", 1);
  expect([retries.isResting("a", 1), retries.isResting("a", 2)]).toEqual([true, false]);
});

test("is logged at the first failure, and once an hour", () => {
  const retries = new Retries<string>({ firstMs: 10, longestMs: 35 }, Date.now);
  const logged = [0, 1, 3_599_999, 3_600_000, 3_600_001].map((atMs) => {
    nowMs = atMs;
    return retries.failed("a");
  });
  expect(logged).toEqual([true, false, false, true, false]);
});
