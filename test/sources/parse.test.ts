/** The times and ids that all sources read in the same way. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  maxTrustedSkewMs,
  parseId,
  parseMessageId,
  parseTimestamp,
  readTime,
} from "../../server/sources/parse.ts";
import { seeded } from "../pure/support.ts";

const receivedAtMs = Date.UTC(2026, 4, 17, 12);
const delivery = { receivedAtMs };
const iso = (ms: number) => new Date(ms).toISOString();
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const property = seeded("said", 300);

/** Times in messages, from 1980 until an hour before the arrival. */
const saidMs = fc.integer({ min: Date.UTC(1980, 0, 1), max: receivedAtMs - 60 * minuteMs });
/** Whole days by which a clock may be wrong, more than what is trusted. */
const skewMs = fc
  .integer({ min: maxTrustedSkewMs + 1, max: 3_650 * dayMs })
  .chain((ms) => fc.constantFrom(ms, -ms));

describe("a message happened", () => {
  test("when timestamp says, else originalTimestamp, else at its arrival", () => {
    fc.assert(
      fc.property(saidMs, saidMs, (timestamp, originalTimestamp) => {
        const both = { timestamp: iso(timestamp), originalTimestamp: iso(originalTimestamp) };
        expect(parseTimestamp(both, delivery)).toBe(timestamp);
        expect(parseTimestamp({ ...both, timestamp: null }, delivery)).toBe(originalTimestamp);
        expect(parseTimestamp({ sentAt: iso(timestamp) }, delivery)).toBe(receivedAtMs);
      }),
      property,
    );
  });

  test("by the arrival's clock when the sender's is wrong by more than 5 minutes, whichever time is said", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 * dayMs }), skewMs, (agoMs, wrongByMs) => {
        const sentAt = iso(receivedAtMs - wrongByMs);
        const said = iso(receivedAtMs - wrongByMs - agoMs);
        expect(parseTimestamp({ timestamp: said, sentAt }, delivery)).toBe(receivedAtMs - agoMs);
        expect(parseTimestamp({ originalTimestamp: said, sentAt }, delivery)).toBe(receivedAtMs - agoMs);
      }),
      property,
    );
  });

  test("when it says when the clock is wrong by less, or nothing is known of it", () => {
    const little = fc.integer({ min: -maxTrustedSkewMs, max: maxTrustedSkewMs });
    const unknown = fc.constantFrom(undefined, null, "", "yesterday", {}, true);
    fc.assert(
      fc.property(saidMs, fc.oneof(little, unknown), (ms, sent) => {
        const sentAt = typeof sent === "number" ? iso(receivedAtMs - sent) : sent;
        expect(parseTimestamp({ timestamp: iso(ms), sentAt }, delivery)).toBe(ms);
      }),
      property,
    );
  });

  test("never a little later than it arrived, but later still when it says so", () => {
    const ahead = (ms: number) => parseTimestamp({ timestamp: iso(receivedAtMs + ms) }, delivery);
    expect(ahead(1)).toBe(receivedAtMs);
    expect(ahead(maxTrustedSkewMs)).toBe(receivedAtMs);
    expect(ahead(dayMs)).toBe(receivedAtMs + dayMs);
  });

  test("not at a time that cannot be read or kept, whatever is said", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (timestamp, originalTimestamp, sentAt) => {
        const said = parseTimestamp({ timestamp, originalTimestamp, sentAt }, delivery);
        if (typeof said === "number") {
          expect(said).toBeWithin(Date.UTC(1970, 0, 2), Date.UTC(2299, 11, 31));
        } else
          expect(said.invalid).toMatch(/^(timestamp|originalTimestamp) is not a time that can be read: /);
      }),
      property,
    );
    expect(parseTimestamp({ timestamp: "yesterday", originalTimestamp: iso(0) }, delivery)).toHaveProperty(
      "invalid",
    );
    const before1970 = { timestamp: "1971-01-01T00:00:00Z", sentAt: "2299-01-01T00:00:00Z" };
    expect(parseTimestamp(before1970, delivery)).toHaveProperty("invalid");
  });
});

const noon = Date.UTC(2026, 4, 17, 9, 30);
const read: readonly (readonly [unknown, number | undefined])[] = [
  ["2026-05-17T09:30:00Z", noon],
  ["2026-05-17T09:30:00.123Z", noon + 123],
  ["2026-05-17T09:30:00.123456+00:00", noon + 123],
  ["2026-05-17T09:30:00,5Z", noon + 500],
  ["2026-05-17T11:30:00+0200", noon],
  ["2026-05-17T11:30:00+02", noon],
  ["2026-05-17 09:30:00", noon],
  ["2026-05-17 09:30:00 UTC", noon],
  ["2026-05-17T09:30", noon],
  [" 2026-05-17T09:30:00Z ", noon],
  ["2026-05-17", Date.UTC(2026, 4, 17)],
  ["1971-05-17T00:00:00Z", Date.UTC(1971, 4, 17)],
  [315_532_800, Date.UTC(1980, 0, 1)],
  [noon, noon],
  [noon / 1_000, noon],
  [noon / 1_000 + 0.25, noon + 250],
  [String(noon), noon],
  [String(noon / 1_000), noon],
  [undefined, undefined],
  [null, undefined],
  ["", undefined],
  [0, undefined],
  ["0001-01-01T00:00:00Z", undefined],
];

const unread: readonly unknown[] = [
  "yesterday",
  "2026-02-30T00:00:00Z",
  "2026-05-17T25:00:00Z",
  "17/05/2026",
  "2026",
  "12",
  // A year, a day of Excel, 20260517 as seconds and 202605170930 as milliseconds.
  2025,
  46_082,
  46_082.5,
  20_260_517,
  202_605_170_930,
  "202605170930",
  315_532_799,
  1_000_000,
  "1969-12-31T00:00:00Z",
  "2300-01-01T00:00:00Z",
  -5,
  1e18,
  Number.NaN,
  true,
  {},
  [],
];

test.each(read)("the time %p is read", (value, ms) => {
  expect(readTime(value, "timestamp")).toBe(ms);
});

test.each(unread.map((value) => [value]))("the time %p is not", (value) => {
  expect(readTime(value, "sentAt")).toHaveProperty("invalid", expect.stringMatching(/^sentAt is not a time/));
});

test("ids are texts, and numbers that are exactly what they were sent as", () => {
  expect([
    parseId("a", "userId"),
    parseId(42, "userId"),
    parseId(-7, "userId"),
    parseId(0, "userId"),
  ]).toEqual(["a", "42", "-7", "0"]);
  expect([undefined, null, ""].map((value) => parseId(value, "userId"))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  for (const value of [2 ** 53, 1.5, Number.NaN, true, {}, ["a"], "a".repeat(257)]) {
    expect(parseId(value, "userId")).toHaveProperty(
      "invalid",
      expect.stringMatching(/^userId is not valid: /),
    );
  }
});

test("a message's id is a text of at most 256 characters, or none", () => {
  expect([parseMessageId("m"), parseMessageId(7), parseMessageId(""), parseMessageId(null)]).toEqual([
    "m",
    "7",
    null,
    null,
  ]);
  expect(parseMessageId("m".repeat(257))).toHaveProperty("invalid");
  expect(parseMessageId({})).toHaveProperty("invalid");
  // Rounded, it would be the id of other messages, too.
  expect([2 ** 53, -(2 ** 60), 1.5, 1e21].map((number) => parseMessageId(number))).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect(parseMessageId(2 ** 53, "id", () => "9007199254740993")).toBe("9007199254740993");
});
