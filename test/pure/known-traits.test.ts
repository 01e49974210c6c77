/** Traits that are left out of an import change nothing: the values of each time are the same as with all of
 * them. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { KnownTraits } from "../../server/features/imports/reading/known-traits.ts";
import type { SourcedIdentify, SourcedItem } from "../../server/intake/admission/sourced.ts";

type Values = Record<string, { readonly value: unknown; readonly atMs: number }>;

/** Merges as the ledger does: of each trait the latest value wins, and of two of one time the one that came
 * later. */
function merged(items: readonly SourcedItem[]): Map<string, Values> {
  const users = new Map<string, Values>();
  for (const item of items) {
    if (item.type !== "identify" || item.userId === undefined) continue;
    const values = users.get(item.userId) ?? {};
    users.set(item.userId, values);
    for (const [key, value] of Object.entries(item.traits)) {
      const known = values[key];
      if (known === undefined || known.atMs <= item.atMs) values[key] = { value, atMs: item.atMs };
    }
  }
  return users;
}

const valuesOf = (users: Map<string, Values>) =>
  [...users].map(([userId, values]) => [
    userId,
    Object.fromEntries(Object.entries(values).map(([key, { value }]) => [key, value])),
  ]);

const event: SourcedItem = {
  type: "track",
  userId: "u",
  event: "e",
  properties: {},
  isActivity: true,
  atMs: 1,
  messageId: "m",
};

const identify = fc.record({
  userId: fc.constantFrom("u", "v"),
  atMs: fc.integer({ min: 0, max: 12 }),
  traits: fc.constantFrom<Record<string, number>>({ a: 1 }, { a: 2 }, { b: 1 }, { a: 1, b: 2 }),
});

test("users are the same as with all traits, in any order of times", () => {
  let leftOut = 0;
  fc.assert(
    fc.property(fc.array(identify, { maxLength: 40 }), (rows) => {
      const known = new KnownTraits();
      const all = rows.map((row): SourcedIdentify => ({ type: "identify", messageId: null, ...row }));
      const needed = all.flatMap((item) =>
        known.needed([item, event]).filter(({ type }) => type === "identify"),
      );
      leftOut += Math.max(0, all.length - needed.length);
      expect(valuesOf(merged(needed))).toEqual(valuesOf(merged(all)));
    }),
    { numRuns: 500 },
  );
  expect(leftOut).toBeGreaterThan(10);
});

test("traits without an event beside them, and those with an id, are always sent", () => {
  const known = new KnownTraits();
  const item: SourcedIdentify = { type: "identify", userId: "u", atMs: 1, messageId: null, traits: { a: 1 } };
  expect(known.needed([item, event])).toEqual([item, event]);
  expect(known.needed([item, event])).toEqual([event]);
  expect(known.needed([item])).toEqual([item]);
  expect(known.needed([{ ...item, messageId: "id" }, event])).toHaveLength(2);
});

test("a user who is forgotten keeps the values that were seen last", () => {
  const known = new KnownTraits();
  const of = (userId: string, atMs: number, a: number): SourcedIdentify => {
    return { type: "identify", userId, atMs, messageId: null, traits: { a } };
  };
  known.needed([of("u", 1, 1), event]);
  known.needed([of("u", 9, 1), event]);
  const sent = Array.from({ length: 20_000 }, (_, n) => known.needed([of(`other-${n}`, 1, 1), event])).flat();
  expect(sent.filter((item) => item.type === "identify" && item.userId === "u")).toEqual([of("u", 9, 1)]);
});
