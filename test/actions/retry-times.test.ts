/** When a delivery is tried again. */
import { describe, expect, test } from "bun:test";
import { longestWaitMs } from "../../server/sending/deliveries.ts";
import { retryAfterMs, verdictOf, waitsMs } from "../../server/sending/retry-times.ts";

const answer = (status: number | null, after: number | null = null) => ({
  status,
  retryAfterMs: after,
  isMail: false,
});

describe("an answer", () => {
  test.each([200, 201, 204, 299])("of %i is success", (status) => {
    expect(verdictOf(answer(status), 1, 0)).toEqual({ is: "delivered" });
  });

  test.each([301, 302, 307, 308])("of %i, a redirect, fails for good", (status) => {
    expect(verdictOf(answer(status), 1, 0)).toEqual({ is: "failed", isGone: false });
  });

  test("of 410 says that the address is gone", () => {
    expect(verdictOf(answer(410), 1, 0)).toEqual({ is: "failed", isGone: true });
  });

  test.each([null, 400, 404, 429, 500, 503])("of %p is tried again at the schedule's times", (status) => {
    const attempts = waitsMs.map((_, index) => verdictOf(answer(status), index + 1, 0));
    const expected = [
      ...waitsMs.slice(1).map((waitMs) => ({ is: "retry", waitMs })),
      { is: "failed", isGone: false },
    ];
    expect(attempts as unknown).toEqual(expected);
  });

  test("of a mail server: 2xx is success, 4xx is tried again, 5xx fails for good", () => {
    const reply = (status: number | null) => verdictOf({ ...answer(status), isMail: true }, 1, 0);
    expect(reply(250)).toEqual({ is: "delivered" });
    expect(reply(421)).toEqual({ is: "retry", waitMs: 5_000 });
    expect(reply(null)).toEqual({ is: "retry", waitMs: 5_000 });
    expect(reply(550)).toEqual({ is: "failed", isGone: false });
  });

  test("with Retry-After waits for so long, up to the schedule's next step", () => {
    expect(verdictOf(answer(429, 60_000), 1, 0)).toEqual({ is: "retry", waitMs: 60_000 });
    expect(verdictOf(answer(429, 1_000), 1, 0)).toEqual({ is: "retry", waitMs: 5_000 });
    expect(verdictOf(answer(503, 1e12), 1, 0)).toEqual({ is: "retry", waitMs: 300_000 });
    expect(verdictOf(answer(503, 1e12), 9, 0)).toEqual({ is: "retry", waitMs: 86_400_000 });
    const endless = retryAfterMs("9".repeat(400), 0);
    expect(verdictOf(answer(503, endless), 1, 0)).toEqual({ is: "retry", waitMs: 300_000 });
  });

  test("adds up to a tenth by chance, so that waiting messages do not come at once", () => {
    expect(verdictOf(answer(500), 1, 0.5)).toEqual({ is: "retry", waitMs: 5_250 });
  });
});

test("no wait is longer than the ledger takes a clock to be right", () => {
  const longest = waitsMs.map((_, attempts) => verdictOf(answer(500, 1e12), attempts, 1));
  for (const verdict of longest) {
    expect(verdict.is === "retry" ? verdict.waitMs : 0).toBeLessThan(longestWaitMs);
  }
  // The next morning, on a day of 25 hours.
  expect(25 * 3_600_000).toBeLessThan(longestWaitMs);
});

test("Retry-After is seconds or a date", () => {
  const nowMs = Date.UTC(2026, 10, 25, 12);
  expect(retryAfterMs("120", nowMs)).toBe(120_000);
  expect(retryAfterMs("9999999999", nowMs)).toBe(9_999_999_999_000);
  expect(retryAfterMs("Wed, 25 Nov 2026 12:01:00 GMT", nowMs)).toBe(60_000);
  expect(retryAfterMs("Wed, 25 Nov 2026 11:00:00 GMT", nowMs)).toBe(0);
  for (const text of [undefined, "", "soon", "-5", "1e9", "Wed, 99 Nov 2026 12:01:00 GMT"]) {
    expect(retryAfterMs(text, nowMs)).toBeNull();
  }
});
