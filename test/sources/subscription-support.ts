/** A subscription as an application sends it, and its changes, for tests over HTTP. */
import { expect } from "bun:test";
import type { Server } from "../server.ts";
import { startSeconds } from "./stripe-objects.ts";

/** The line of `rekindle doctor`. */
export const agreement = (organization: string) => `${organization}: ledger, events and rollups agree`;
/** So many days after the beginning. */
export const onDay = (day: number) => new Date((startSeconds + day * 86_400) * 1_000).toISOString();

/** The end of its paid period. */
export const periodEnd = onDay(30);
const team = {
  plan: "Team",
  amount: 4_900,
  currency: "EUR",
  interval: "month",
  quantity: 1,
  currentPeriodEnd: periodEnd,
};
/** The billing events of a subscription that grows, fails to be paid once, and is to end. */
export const asTracked = (subscriptionId = "sub_1", userId = "ada", accountId = "acme") => {
  const track = (day: number, event: string, properties: object) => ({
    type: "track",
    userId,
    event,
    timestamp: onDay(day),
    messageId: `${subscriptionId} ${day}`,
    properties: { subscriptionId, ...properties },
  });
  return [
    track(0, "subscription_started", { ...team, accountId }),
    track(1, "payment_succeeded", { amount: 4_900, currency: "EUR" }),
    track(20, "subscription_changed", { ...team, plan: "Gold", amount: 9_900 }),
    track(30, "payment_failed", { amount: 9_900, currency: "EUR" }),
    track(33, "payment_succeeded", { amount: 9_900, currency: "EUR" }),
    track(40, "cancellation_scheduled", { endsAt: onDay(60) }),
  ];
};
/** An identify of a batch. */
export const identify = (userId: string) => ({ type: "identify", userId, email: `${userId}@example.com` });

/** The changes of that subscription, as exported. */
export const expected = (subscriptionId = "sub_1", userId = "ada", accountId: string | null = "acme") => {
  const change = (day: number, status: string, plan: string, mrr: number, endsAt: string | null = null) => ({
    subscriptionId,
    userId,
    accountId,
    from: onDay(day),
    status,
    plan,
    mrr,
    currency: "EUR",
    quantity: 1,
    // The payment of day 33 is for the period after the first.
    currentPeriodEnd: day < 33 ? periodEnd : onDay(60),
    endsAt,
    isInvoluntary: false,
  });
  return [
    change(0, "active", "Team", 4_900),
    change(20, "active", "Gold", 9_900),
    change(30, "past_due", "Gold", 9_900),
    change(33, "active", "Gold", 9_900),
    change(40, "active", "Gold", 9_900, onDay(60)),
    change(60, "canceled", "Gold", 0),
  ];
};

/** Makes an organization and sends a batch, of which every item must be taken. @returns the organization's
 * token */
export async function sent(server: Server, name: string, ...batch: readonly object[]): Promise<string> {
  const token = await server.organization(name);
  const response = await server.post("/batch", token, { batch });
  expect(await response.json()).toMatchObject({ accepted: batch.length, rejected: [] });
  return token;
}
