/** Ingestion warnings in memory: nothing is lost in the counts, and memory stays bounded. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { explainInvalid } from "../../contract/explain.ts";
import { isInvalid, parseBody } from "../../server/intake/admission/json.ts";
import { IngestionWarnings, type Noted } from "../../server/intake/warnings.ts";
import { type IngestionWarning, UnwritableWarnings } from "../../server/ledger/stores/warnings.ts";

const msPerDay = 86_400_000;

/** A store that keeps every line, and fails as often as the test sets. */
function storeOf(failures: boolean[]) {
  const lines: IngestionWarning[] = [];
  const add = async (
    counted: readonly IngestionWarning[],
    tell: (lines: number) => void = () => undefined,
  ) => {
    if (failures.shift() === true) {
      const written = counted.slice(0, Math.floor(counted.length / 2));
      lines.push(...written);
      tell(written.length);
      throw new Error("the disk is full");
    }
    lines.push(...counted);
  };
  return { lines, add };
}

const noted = fc.record({
  organization: fc.integer({ min: 1, max: 2 }),
  atMs: fc.integer({ min: 0, max: 2 * msPerDay }),
  kind: fc.constantFrom("unknown_key", "duplicate", "refused_validation"),
  endpoint: fc.constantFrom("identify", "track"),
  detail: fc.oneof(fc.constant(null), fc.constantFrom("", "a", "b", "ü")),
}) satisfies fc.Arbitrary<Noted>;

/** Counts, first and last time by all distinguishing fields. A missing detail is "". */
function totals(lines: readonly (Noted & Partial<IngestionWarning>)[] | readonly IngestionWarning[]) {
  const sums = new Map<string, { count: number; first: number; last: number }>();
  for (const line of lines) {
    const [count, first, last, day] =
      "count" in line && line.count !== undefined
        ? [line.count, line.firstSeenMs ?? 0, line.lastSeenMs ?? 0, line.utcDay ?? 0]
        : "atMs" in line
          ? [1, line.atMs, line.atMs, Math.floor(line.atMs / msPerDay)]
          : [0, 0, 0, 0];
    const key = [line.organization, day, line.kind, line.endpoint, line.detail || ""].join(" ");
    const sum = sums.get(key) ?? { count: 0, first, last };
    sums.set(key, {
      count: sum.count + count,
      first: Math.min(sum.first, first),
      last: Math.max(sum.last, last),
    });
  }
  return sums;
}

test("the written warnings equal the noted ones, however often writing fails in between", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(noted, { maxLength: 20 }), { maxLength: 6 }),
      fc.array(fc.boolean(), { maxLength: 5 }),
      async (groups, failures) => {
        const store = storeOf([...failures]);
        const warnings = new IngestionWarnings(store);
        for (const group of groups) {
          for (const one of group) warnings.note(one);
          await warnings.flush().catch(() => undefined);
        }
        for (let again = 0; again <= failures.length; again += 1)
          await warnings.flush().catch(() => undefined);
        expect(warnings.size).toBe(0);
        expect(totals(store.lines)).toEqual(totals(groups.flat()));
      },
    ),
    { numRuns: 200 },
  );
});

test("past a thousand details of an organization the rest is counted without them", async () => {
  const store = storeOf([]);
  const warnings = new IngestionWarnings(store);
  for (let round = 0; round < 2; round += 1) {
    for (let key = 0; key < 5_000; key += 1) {
      const detail = `key ${key}`;
      warnings.note({ organization: 1, atMs: 5, kind: "unknown_key", endpoint: "track", detail });
    }
  }
  warnings.note({ organization: 2, atMs: 5, kind: "unknown_key", endpoint: "track", detail: "its own" });
  expect(warnings.size).toBe(1_002);
  await warnings.flush();
  const others = store.lines.filter(({ detail }) => detail === null);
  expect(others.map(({ organization, count }) => [organization, count])).toEqual([[1, 8_000]]);
  expect(store.lines.reduce((sum, { count }) => sum + count, 0)).toBe(10_001);
  expect(store.lines.at(-1)).toMatchObject({ organization: 2, detail: "its own", count: 1 });
});

test("all organizations together are bounded too", () => {
  const warnings = new IngestionWarnings(storeOf([]));
  for (let organization = 1; organization <= 30; organization += 1) {
    for (let key = 0; key < 1_000; key += 1) {
      warnings.note({
        organization,
        atMs: 5,
        kind: "unknown_key",
        endpoint: "track",
        detail: `key ${key}`,
      });
    }
  }
  expect(warnings.size).toBeLessThanOrEqual(20_000 + 30);
});

test("long texts are cut without leaving half a character, and the latest example is kept", async () => {
  const store = storeOf([]);
  const warnings = new IngestionWarnings(store);
  const about = { organization: 1, kind: "refused_validation", endpoint: "track", detail: "x" } as const;
  warnings.note({ ...about, atMs: 7, message: "the latest", userId: "b" });
  warnings.note({ ...about, atMs: 3, message: "an earlier one", userId: "a" });
  warnings.note({ ...about, atMs: 9, detail: "😀".repeat(400), message: "😀".repeat(400) });
  await warnings.flush();
  const [first, long] = store.lines;
  expect(first).toMatchObject({
    count: 2,
    firstSeenMs: 3,
    lastSeenMs: 7,
    message: "the latest",
    userId: "b",
  });
  expect(long?.detail?.length).toBeLessThanOrEqual(200);
  expect(long?.message?.length).toBeLessThanOrEqual(500);
  expect(long?.detail?.isWellFormed()).toBe(true);
  expect(long?.message?.isWellFormed()).toBe(true);
});

test("a message that names a long key has no half of a character, and neither has a warning", async () => {
  const key = `${"k".repeat(199)}😀kkkk`;
  const refused = parseBody(Buffer.from(`{"${key}": "\\ud800"}`));
  const message = isInvalid(refused) ? refused.invalid : "";
  expect(message).toContain("half of a surrogate pair");
  expect(message.isWellFormed()).toBe(true);
  const schema = Type.Object({}, { additionalProperties: false });
  const explained = explainInvalid(schema, Compile(schema), { [key]: 1 });
  expect(explained).toContain("… is not known");
  expect(explained.isWellFormed()).toBe(true);
  const store = storeOf([]);
  const warnings = new IngestionWarnings(store);
  warnings.note({ organization: 1, atMs: 5, kind: "unknown_key", endpoint: "track", detail: "\ud800" });
  await warnings.flush();
  expect(store.lines.map(({ detail }) => detail)).toEqual(["\ufffd"]);
});

test("warnings that can never be written are not tried again", async () => {
  const add = () => Promise.reject(new UnwritableWarnings("one is left out"));
  const warnings = new IngestionWarnings({ add });
  warnings.note({ organization: 1, atMs: 5, kind: "duplicate", endpoint: "track", detail: null });
  expect(warnings.flush()).rejects.toThrow("one is left out");
  await warnings.flush().catch(() => undefined);
  expect(warnings.size).toBe(0);
});
