/** Subscriptions that follow from the events of billing tools: the same in any order of arrival, while no
 * user is known. */
import { describe, expect, test } from "bun:test";
import { isBillingEvent, isCardEvent } from "../../../contract/billing/events.ts";
import type { WebhookPreset } from "../../../contract/source-settings.ts";
import { Zone } from "../../../server/calendar/zone.ts";
import { type BillingEvent, billingProperties } from "../../../server/revenue/billing-event.ts";
import { changesOf } from "../../../server/revenue/changes.ts";
import { chargebeeEvent, failed, paid, subscription as seats } from "./chargebee/payloads.ts";
import {
  invoice,
  lemonsqueezyEvent,
  trialing as onTrial,
  subscription as squeezed,
  ending as toEnd,
} from "./lemonsqueezy/payloads.ts";
import { ending, notification, subscription, transaction, trialing, unpaid } from "./paddle/payloads.ts";
import { order, subscription as polar, polarEvent } from "./polar/payloads.ts";
import { endMs, refund, revenuecatEvent, startMs, trial } from "./revenuecat/payloads.ts";
import { itemsOf } from "./support.ts";

const utc = new Zone("UTC");
const day = 86_400_000;

/** The billing events of payloads, of one user. */
async function billingOf(preset: WebhookPreset, payloads: readonly object[]): Promise<BillingEvent[]> {
  const items = await Promise.all(payloads.map((payload) => itemsOf(preset, payload)));
  return items.flat().flatMap((item) => {
    if (item.type !== "track") return [];
    const { event, atMs, messageId } = item;
    if (!isBillingEvent(event, item.properties) || isCardEvent(event)) return [];
    const who = { tieBreak: messageId ?? "", user: 1, account: 0, isAccountNamed: false };
    return [{ event, atMs, ...who, properties: billingProperties(item.properties, utc) }];
  });
}

/** The history in words, after each arrival of the payloads in this order, its reverse and twice. */
async function historyOf(preset: WebhookPreset, payloads: readonly object[]): Promise<string[]> {
  const told = (events: readonly BillingEvent[]) =>
    changesOf(events).map(
      ({ fromMs, status, mrr }) => `${new Date(fromMs).toISOString().slice(0, 10)} ${status} ${mrr}`,
    );
  const events = await billingOf(preset, payloads);
  const history = told(events);
  expect(told(events.toReversed())).toEqual(history);
  expect(told([...events, ...events])).toEqual(history);
  return history;
}

const statesOf = (history: readonly string[]) =>
  history.filter((line, index) => {
    const before = history[index - 1];
    return before === undefined || before.slice(11) !== line.slice(11);
  });

describe("a subscription", () => {
  test("of Paddle converts, fails, is to end, goes on, pauses and ends", async () => {
    const history = await historyOf("paddle", [
      notification("subscription.created", trialing(), "2026-05-01T10:00:00Z"),
      notification("subscription.trialing", trialing(), "2026-05-01T10:00:00Z"),
      notification("subscription.activated", trialing({ status: "active" }), "2026-05-11T10:00:00Z"),
      notification("transaction.completed", transaction(), "2026-05-11T10:00:01Z"),
      notification("subscription.updated", subscription(), "2026-05-12T10:00:00Z"),
      notification("transaction.payment_failed", unpaid(), "2026-05-13T10:00:00Z"),
      notification("transaction.completed", transaction({ id: "txn_2" }), "2026-05-14T10:00:00Z"),
      notification("subscription.updated", ending(), "2026-05-20T10:00:00Z"),
      notification("subscription.updated", subscription(), "2026-05-21T10:00:00Z"),
      notification("subscription.paused", subscription({ status: "paused" }), "2026-07-01T10:00:00Z"),
      notification("subscription.resumed", subscription(), "2026-08-01T10:00:00Z"),
      notification("subscription.canceled", subscription({ status: "canceled" }), "2026-09-01T10:00:00Z"),
    ]);
    expect(statesOf(history)).toEqual([
      "2026-05-01 trialing 0",
      "2026-05-11 active 32400",
      "2026-05-12 active 43200",
      "2026-05-13 past_due 43200",
      "2026-05-14 active 43200",
      "2026-07-01 paused 0",
      "2026-08-01 active 43200",
      "2026-09-01 canceled 0",
    ]);
  });

  test("of Chargebee has its discount end, and ends without a payment", async () => {
    const at = (days: number, event: ReturnType<typeof chargebeeEvent>) => ({
      ...event,
      occurred_at: (startMs + days * day) / 1_000,
    });
    const discounts = [{ percentage: 50, duration_type: "limited_period", apply_till: endMs / 1_000 }];
    const content = (more: object) => ({ subscription: seats(more), customer: { id: "cus_1" } });
    const history = await historyOf("chargebee", [
      at(0, chargebeeEvent("subscription_created", content({ discounts }))),
      at(0, chargebeeEvent("payment_succeeded", paid())),
      at(60, chargebeeEvent("payment_failed", failed())),
      at(
        70,
        chargebeeEvent("subscription_cancelled", content({ status: "cancelled", cancel_reason: "not_paid" })),
      ),
    ]);
    expect(statesOf(history)).toEqual([
      "2026-05-01 active 5000",
      "2026-06-01 active 10000",
      "2026-06-30 past_due 10000",
      "2026-07-10 canceled 0",
    ]);
  });

  test("of RevenueCat converts its trial, and ends as scheduled without an event", async () => {
    const at = (days: number) => ({ event_timestamp_ms: startMs + days * day });
    const history = await historyOf("revenuecat", [
      trial(),
      revenuecatEvent("RENEWAL", { ...at(7), is_trial_conversion: true, transaction_id: "2001" }),
      refund(),
      revenuecatEvent("CANCELLATION", { ...at(20), cancel_reason: "UNSUBSCRIBE" }),
    ]);
    expect(statesOf(history)).toEqual([
      "2026-05-01 trialing 0",
      "2026-05-08 active 799",
      "2026-06-01 canceled 0",
    ]);
  });

  test("of LemonSqueezy has the amount of its invoices, fails, recovers, is to end and ends", async () => {
    const at = (updated_at: string, more: object = {}) => ({ updated_at, ...more });
    const created = "2026-05-01T10:00:00.000000Z";
    const history = await historyOf("lemonsqueezy", [
      lemonsqueezyEvent("subscription_created", onTrial(at(created))),
      lemonsqueezyEvent("subscription_updated", squeezed(at("2026-05-11T10:00:00.000000Z"))),
      lemonsqueezyEvent("subscription_payment_success", invoice(at("2026-05-11T10:00:00.000000Z"))),
      lemonsqueezyEvent(
        "subscription_payment_failed",
        invoice(at("2026-06-11T10:00:00.000000Z", { total: 9 })),
      ),
      lemonsqueezyEvent(
        "subscription_updated",
        squeezed(at("2026-06-11T10:00:01.000000Z", { status: "past_due" })),
      ),
      lemonsqueezyEvent("subscription_updated", squeezed(at("2026-06-14T10:00:00.000000Z"))),
      lemonsqueezyEvent(
        "subscription_payment_success",
        invoice(at("2026-06-14T10:00:00.000000Z", { billing_reason: "renewal", total: 24_990, tax: 3_990 })),
      ),
      lemonsqueezyEvent(
        "subscription_cancelled",
        toEnd(at("2026-06-20T10:00:00.000000Z", { ends_at: "2026-07-11T10:00:00.000000Z" })),
      ),
      lemonsqueezyEvent(
        "subscription_expired",
        toEnd(at("2026-07-11T10:00:00.000000Z", { status: "expired" })),
      ),
    ]);
    expect(statesOf(history)).toEqual([
      "2026-05-01 trialing 0",
      "2026-05-11 active 14700",
      "2026-06-11 past_due 14700",
      "2026-06-14 active 21000",
      "2026-07-11 canceled 0",
    ]);
  });

  test("of Polar has its discount end, is past due, and is revoked", async () => {
    const discount = {
      type: "percentage",
      basis_points: 5_000,
      duration: "repeating",
      duration_in_months: 1,
    };
    const history = await historyOf("polar", [
      polarEvent("subscription.created", polar({ discount }), "2026-05-01T10:00:00Z"),
      polarEvent("order.paid", order({ total_amount: 5_000 }), "2026-05-01T10:00:01Z"),
      polarEvent("subscription.updated", polar({ discount, modified_at: null }), "2026-05-02T10:00:00Z"),
      polarEvent("subscription.past_due", polar({ status: "past_due", discount }), "2026-07-01T10:00:00Z"),
      polarEvent(
        "subscription.revoked",
        polar({ status: "canceled", ended_at: "x" }),
        "2026-07-20T10:00:00Z",
      ),
    ]);
    expect(statesOf(history)).toEqual([
      "2026-05-01 active 5000",
      "2026-06-01 active 10000",
      "2026-07-01 past_due 10000",
      "2026-07-20 canceled 0",
    ]);
  });

  test("of RevenueCat is bought again after it ended or was paused, also while no user is known", async () => {
    const at = (days: number) => ({
      event_timestamp_ms: startMs + days * day,
      transaction_id: `t${days}`,
      store: "PLAY_STORE",
    });
    const renewal = (days: number) => {
      const period = { purchased_at_ms: startMs + days * day, expiration_at_ms: startMs + (days + 30) * day };
      return revenuecatEvent("RENEWAL", { ...at(days), ...period });
    };
    const history = await historyOf("revenuecat", [
      revenuecatEvent("INITIAL_PURCHASE", at(0)),
      revenuecatEvent("CANCELLATION", { ...at(10), cancel_reason: "UNSUBSCRIBE" }),
      revenuecatEvent("EXPIRATION", { ...at(31), expiration_reason: "UNSUBSCRIBE" }),
      renewal(40),
      renewal(70),
      revenuecatEvent("EXPIRATION", { ...at(100), expiration_reason: "SUBSCRIPTION_PAUSED" }),
      renewal(130),
    ]);
    expect(statesOf(history)).toEqual([
      "2026-05-01 active 799",
      "2026-06-01 canceled 0",
      "2026-06-10 active 799",
      "2026-08-09 paused 0",
      "2026-09-08 active 799",
    ]);
  });
});
