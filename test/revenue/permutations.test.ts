/** A subscription's history does not depend on the order in which its events arrive, or on how often. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { BillingEventName } from "../../contract/billing/events.ts";
import type { BillingEvent, BillingProperties } from "../../server/revenue/billing-event.ts";
import { changesOf } from "../../server/revenue/changes.ts";
import { dayMs } from "./support.ts";

const names: readonly BillingEventName[] = [
  "subscription_started",
  "subscription_changed",
  "subscription_canceled",
  "subscription_paused",
  "subscription_resumed",
  "cancellation_scheduled",
  "cancellation_withdrawn",
  "trial_started",
  "trial_converted",
  "trial_ending",
  "payment_succeeded",
  "payment_failed",
  "payment_refunded",
  "payment_disputed",
] as const;
const day = fc.integer({ min: 0, max: 20 }).map(dayMs);
const maybe = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined });

/** Few values, so that times, message ids and contents collide. */
const properties: fc.Arbitrary<BillingProperties> = fc.record({
  plan: maybe(fc.constantFrom("pro", "team")),
  amount: maybe(fc.integer({ min: 0, max: 5 })),
  currency: maybe(fc.constantFrom("USD", "EUR")),
  interval: maybe(fc.constantFrom({ count: 1, unit: "month" } as const, { count: 2, unit: "week" } as const)),
  quantity: maybe(fc.integer({ min: 0, max: 2 })),
  currentPeriodEndMs: maybe(day),
  trialEndsAtMs: maybe(day),
  endsAtMs: fc.oneof(maybe(day), fc.constant(null)),
  discountEndsAtMs: maybe(day),
  amountAfterDiscount: maybe(fc.integer({ min: 6, max: 9 })),
  reason: maybe(fc.constantFrom("payment_failed", "cancellation_requested")),
  status: maybe(fc.constantFrom("trialing", "active", "past_due", "paused", "canceled")),
  resourceVersion: maybe(fc.integer({ min: 0, max: 2 })),
  isTransfer: maybe(fc.constant(true)),
  isPricedByInvoice: maybe(fc.constant(true)),
  recurringAmount: maybe(fc.integer({ min: 0, max: 5 })),
  recurringInterval: maybe(fc.constant({ count: 1, unit: "month" } as const)),
});

const event: fc.Arbitrary<BillingEvent> = fc.record({
  event: fc.constantFrom(...names),
  atMs: day,
  tieBreak: fc.constantFrom("a", "b", "c"),
  user: fc.integer({ min: 1, max: 2 }),
  account: fc.integer({ min: 0, max: 2 }),
  isAccountNamed: fc.boolean(),
  properties,
});

/** Events in two orders, the second with some of them twice. */
const arrivals = fc
  .array(event, { minLength: 1, maxLength: 12 })
  .chain((events) =>
    fc.record({
      events: fc.constant(events),
      repeated: fc.shuffledSubarray(events),
      order: fc.shuffledSubarray([...events, ...events].map((_, index) => index)),
    }),
  )
  .map(({ events, repeated, order }) => {
    const all = [...events, ...repeated];
    const chosen = order.flatMap((index) => all[index] ?? []);
    const missing = all.filter((one) => !chosen.includes(one));
    return { events, other: [...chosen, ...missing].map((one) => ({ ...one })) };
  });

test("any order of the same events with duplicates gives the same changes", () => {
  fc.assert(
    fc.property(arrivals, ({ events, other }) => {
      expect(changesOf(other)).toEqual(changesOf(events));
    }),
    { numRuns: 3_000 },
  );
});

test("changes come by time, each differs from the one before, and only what is active or past due has MRR", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), (events) => {
      const changes = changesOf(events);
      for (const [index, change] of changes.entries()) {
        const before = changes[index - 1];
        if (before !== undefined) {
          expect(change.fromMs).toBeGreaterThan(before.fromMs);
          const { fromMs, lastEventMs, ...state } = change;
          expect({ ...before, fromMs, lastEventMs }).not.toEqual({ ...state, fromMs, lastEventMs });
        }
        if (change.status !== "active" && change.status !== "past_due") expect(change.mrr).toBe(0);
        if (change.status !== "canceled") expect(change.isInvoluntary).toBe(false);
      }
    }),
    { numRuns: 1_000 },
  );
});
