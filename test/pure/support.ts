/** The parts that the property tests share. */
import fc from "fast-check";
import { Zone } from "../../server/calendar/zone.ts";
import type { Arrival } from "../../server/intake/admission/admit-event.ts";

/** One seed for a file's properties, printed so that a failure can be run again: SEED=n bun test FILE. */
export function seeded(file: string, runs: number): { readonly seed: number; readonly numRuns: number } {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`${file}: seed ${seed}`);
  return { seed, numRuns: runs };
}

/** An arrival in UTC at a fixed instant. */
export function arrivalIn(timezone: string, idempotencyKey: string | null = null): Arrival {
  return {
    organization: 1,
    zone: new Zone(timezone),
    receivedAtMs: Date.UTC(2026, 4, 17, 12),
    idempotencyKey,
  };
}

/** JSON values with the shapes and the keys that go wrong most often. */
export function anyJson(): fc.Arbitrary<unknown> {
  const keys = [
    "userId",
    "email",
    "event",
    "properties",
    "account",
    "id",
    "name",
    "avatar",
    "plan",
    "timestamp",
  ];
  const oddKeys = [
    "isAccountOwner",
    "messageId",
    "time",
    "__proto__",
    "constructor",
    "toString",
    "length",
    "",
    "0",
  ];
  const key = fc.oneof(fc.constantFrom(...keys, ...oddKeys), fc.string({ unit: "binary", maxLength: 8 }));
  const texts = ["u", "ada@example.com", "a b", "2026-02-30", "2026-05-17", "https://example.com", "\ud800"];
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.oneof(fc.constantFrom<unknown>(null, true, false, 0, -0, 1.5, 1e21, 2 ** 53), fc.double()),
      fc.oneof(fc.constantFrom(...texts), fc.string({ unit: "binary", maxLength: 20 })),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie("value")), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
    ),
  }));
  return value;
}
