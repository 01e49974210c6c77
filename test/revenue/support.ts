/** Billing events for tests. Times are days of 2026 in UTC, from 0. */
import type { BillingEventName } from "../../contract/billing/events.ts";
import type { JsonObject } from "../../contract/json.ts";
import { msPerDay, Zone } from "../../server/calendar/zone.ts";
import { type BillingEvent, billingProperties } from "../../server/revenue/billing-event.ts";
import { changesOf } from "../../server/revenue/changes.ts";

export const utc = new Zone("UTC");
const startMs = Date.UTC(2026, 0, 1);

/** The instant of a day of 2026. */
export const dayMs = (day: number) => startMs + day * msPerDay;

/** The time of a day of 2026, as events have it. */
export const timeOf = (day: number) => new Date(dayMs(day)).toISOString();

/** 49.00 USD a month. */
export const monthly: JsonObject = { plan: "pro", amount: 4_900, currency: "usd", interval: "month" };

/** A billing event of user 1 without an account. */
export function billing(
  day: number,
  event: BillingEventName,
  properties: JsonObject = {},
  who: Partial<BillingEvent> = {},
): BillingEvent {
  return {
    event,
    atMs: dayMs(day),
    tieBreak: `${event} ${day}`,
    user: 1,
    account: 0,
    isAccountNamed: false,
    properties: billingProperties({ subscriptionId: "s", ...properties }, utc),
    ...who,
  };
}

/** A history in words: `day status mrr`, each change in a line. */
export function told(...events: readonly BillingEvent[]): string[] {
  return changesOf(events).map(
    ({ fromMs, status, mrr }) => `${(fromMs - startMs) / msPerDay} ${status} ${mrr}`,
  );
}
