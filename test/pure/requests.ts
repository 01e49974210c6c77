/** Random requests, and the way they go through `decide`. */
import fc from "fast-check";
import { Zone } from "../../server/calendar/zone.ts";
import { decide } from "../../server/intake/decide/decide.ts";
import { type Decidable, NeedsOf, type SourcedOutcome } from "../../server/intake/decide/requests.ts";
import type { AdmittedIdentify } from "../../server/intake/identify.ts";
import type { AdmittedTrack } from "../../server/intake/track.ts";
import type { LedgerModel } from "./ledger-model.ts";

const organization = fc.constantFrom(1, 2);
const userId = fc.constantFrom("a", "b", "c");
const messageId = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  { weight: 2, arbitrary: fc.constantFrom("m", "n", "0a1b2c3d-0000-4000-8000-00000000000f") },
);
const trait = fc.constantFrom("plan", "name", "x", "__proto__", "10", "9");
const value = fc.constantFrom<unknown>(null, 1, "one", { deep: 1 }, { other: 2 }, [1], true);
const traits = fc
  .array(fc.tuple(trait, value), { maxLength: 3 })
  .map((entries): Record<string, unknown> => Object.fromEntries(entries));
const account = fc.oneof(
  fc.constant(undefined),
  fc.constant(null),
  fc.record({
    accountId: fc.constantFrom("x", "y"),
    name: fc.constantFrom("X", "Y", undefined),
    avatar: fc.constantFrom(undefined, null, "https://example.com/a.png"),
    properties: fc.option(traits, { nil: undefined }),
  }),
);
const zone = new Zone("UTC");
/** Nodes whose clocks differ by 300 ms. */
const receivedAtMs = fc.constantFrom(1_000, 1_300);
const common = { organization, userId, messageId, receivedAtMs };
/** Identifies of few users. A timestamp makes some of them late, and the clocks of nodes differ. */
export const identify: fc.Arbitrary<AdmittedIdentify> = fc
  .record({
    kind: fc.constant("identify" as const),
    email: fc.constantFrom("a@example.com", "b@example.com", undefined),
    traits,
    isAccountOwner: fc.constantFrom(undefined, true, false),
    account,
    timestampMs: fc.constantFrom(undefined, 400, 600, 800, 1_100),
    zone: fc.constant(zone),
    ...common,
  })
  .map(({ timestampMs, ...sent }) => ({
    ...sent,
    timestampMs: Math.min(timestampMs ?? sent.receivedAtMs, sent.receivedAtMs),
  }));
const track: fc.Arbitrary<AdmittedTrack> = fc.record({
  kind: fc.constant("track" as const),
  event: fc.constantFrom("e", "f"),
  timeMs: fc.constantFrom(0, Date.UTC(2025, 11, 31, 23), Date.UTC(2026, 0, 1)),
  day: fc.constant(20_000),
  properties: fc.constant("{}"),
  isOfPast: fc.constant(false),
  ...common,
});
/** Identifies and tracks in a random order. */
export const requests = fc.array(fc.oneof(identify, track), { minLength: 1, maxLength: 40 });
/** Sizes of the groups in which requests are decided. */
export const sizes = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 40 });

/** Runs the requests through `decide` in groups of these sizes. Returns the outcomes. */
export function run(
  ledger: LedgerModel,
  all: readonly Decidable[],
  groupSizes: readonly number[],
): SourcedOutcome[] {
  const outcomes: SourcedOutcome[] = [];
  for (let at = 0, groups = 0; at < all.length; groups += 1) {
    const size = groupSizes[groups % groupSizes.length] ?? 1;
    const group = all.slice(at, at + size);
    const decision = decide(group, ledger.stored(new NeedsOf(group)), 1_000);
    ledger.write(decision.writes);
    outcomes.push(...decision.outcomes);
    at += decision.outcomes.length;
  }
  return outcomes;
}
