/** The translation of Stripe's events. The objects have the types of Stripe's own package. */
import { describe, expect, test } from "bun:test";
import type Stripe from "stripe";
import { stripePerson, translateStripe } from "../../server/sources/stripe/stripe.ts";
import {
  delivery,
  eventNames,
  ignored,
  itemsOf,
  nobody,
  propertiesOf,
  tracks,
  traitsOf,
  updated,
} from "./stripe-items.ts";
import {
  charge,
  customer,
  dispute,
  invoice,
  price,
  session,
  startSeconds,
  stripeEvent,
  subscription,
  subscriptionItem,
} from "./stripe-objects.ts";

describe("a subscription", () => {
  test("that begins is an event, with what it costs, and the plan is a trait", () => {
    const items = itemsOf(stripeEvent("customer.subscription.created", subscription()));
    expect(items).toEqual([
      {
        type: "identify",
        userId: undefined,
        anonymousId: "stripe:cus_1",
        atMs: startSeconds * 1_000,
        messageId: `evt_customer_subscription_created_${startSeconds}:identify`,
        email: undefined,
        account: undefined,
        traits: {
          plan: "Team",
          planAmount: 4_900,
          planCurrency: "eur",
          planInterval: "month",
          subscriptionStatus: "active",
        },
      },
      {
        type: "track",
        userId: undefined,
        anonymousId: "stripe:cus_1",
        atMs: startSeconds * 1_000,
        messageId: "sub_1:subscription_started",
        lastingDay: 0,
        event: "subscription_started",
        isActivity: false,
        account: undefined,
        properties: {
          plan: "Team",
          amount: 4_900,
          currency: "eur",
          interval: "month",
          quantity: 1,
          status: "active",
          subscriptionId: "sub_1",
          currentPeriodEnd: "2026-06-16T09:30:00.000Z",
        },
      },
    ]);
  });

  test("begins when its first payment is made, if it was incomplete until then", () => {
    const incomplete = subscription({ status: "incomplete" });
    expect(ignored(stripeEvent("customer.subscription.created", incomplete))).toContain("incomplete");
    expect(eventNames(updated(subscription(), { status: "incomplete" }))).toEqual(["subscription_started"]);
    const expired = subscription({ status: "incomplete_expired" });
    expect(ignored(updated(expired, { status: "incomplete" }))).toContain("not started");
  });

  test("that changes tells from which plan to which", () => {
    const gold = price({ id: "price_gold", nickname: "Gold", unit_amount: 9_900 });
    const now = subscription({}, [subscriptionItem({ quantity: 3 }, gold)]);
    const event = updated(now, { items: { data: [subscriptionItem()] } });
    expect(eventNames(event)).toEqual(["subscription_changed"]);
    expect(propertiesOf(event)).toMatchObject({
      plan: "Gold",
      amount: 29_700,
      quantity: 3,
      fromPlan: "Team",
      fromAmount: 4_900,
      fromQuantity: 1,
      fromInterval: "month",
      fromCurrency: "eur",
    });
    expect(traitsOf(event)).toMatchObject({ plan: "Gold", planAmount: 29_700 });
  });

  test("that renews tells the new end of its period, once and only while it goes on", () => {
    const before = { items: { data: [subscriptionItem({ current_period_end: startSeconds })] } };
    const event = updated(subscription(), before);
    expect(eventNames(event)).toEqual(["subscription_changed"]);
    expect(propertiesOf(event)).toMatchObject({ currentPeriodEnd: "2026-06-16T09:30:00.000Z" });
    const onSubscription = { ...subscription(), current_period_end: startSeconds };
    expect(eventNames(updated(onSubscription, { current_period_end: 0 }))).toEqual(["subscription_changed"]);
    expect(eventNames(updated(subscription(), { ...before, status: "trialing" }))).toEqual([
      "trial_converted",
    ]);
    expect(eventNames(updated(subscription({ status: "canceled" }), before))).toEqual([]);
  });

  test("may change in several ways at once, each with an id of its own", () => {
    const now = subscription({ cancel_at_period_end: true }, [subscriptionItem({ quantity: 2 })]);
    const event = updated(now, {
      status: "trialing",
      cancel_at_period_end: false,
      items: { data: [subscriptionItem()] },
    });
    const items = tracks(itemsOf(event));
    expect(items.map(({ event: name }) => name)).toEqual([
      "subscription_changed",
      "trial_converted",
      "cancellation_scheduled",
    ]);
    expect(new Set(items.map(({ messageId }) => messageId)).size).toBe(3);
  });

  test("that will end at its period's end says so, and when it is taken back", () => {
    const reason = { comment: null, feedback: "too_expensive", feedback_option: null, reason: null } as const;
    const ending = subscription({ cancel_at_period_end: true, cancellation_details: reason });
    const scheduled = updated(ending, { cancel_at_period_end: false });
    expect(eventNames(scheduled)).toEqual(["cancellation_scheduled"]);
    expect(propertiesOf(scheduled)).toMatchObject({
      endsAt: "2026-06-16T09:30:00.000Z",
      feedback: "too_expensive",
    });
    expect(traitsOf(scheduled)).toMatchObject({ plan: "Team" });
    expect(eventNames(updated(subscription(), { cancel_at_period_end: true }))).toEqual([
      "cancellation_withdrawn",
    ]);
    // It was ending before, and now only something else changes. The object says all of it once more.
    const [again] = tracks(itemsOf(updated(ending, { metadata: {} })));
    expect(again).toMatchObject({
      event: "subscription_changed",
      properties: { amount: 4_900, endsAt: expect.any(String) },
    });
  });

  test("that will end at a time, as newer versions have it, is scheduled to end as well", () => {
    const cancelAt = startSeconds + 86_400;
    const scheduled = updated(subscription({ cancel_at: cancelAt }), { cancel_at: null });
    expect(eventNames(scheduled)).toEqual(["cancellation_scheduled"]);
    expect(propertiesOf(scheduled)).toMatchObject({ endsAt: "2026-05-18T09:30:00.000Z" });
    expect(eventNames(updated(subscription(), { cancel_at: cancelAt }))).toEqual(["cancellation_withdrawn"]);
  });

  test("whose end is moved is scheduled anew, with another id", () => {
    const [may, june] = [startSeconds + 86_400, startSeconds + 31 * 86_400];
    const ending = (cancel_at: number) => subscription({ cancel_at, canceled_at: startSeconds });
    const idsOf = (event: object) =>
      tracks(itemsOf(event)).map(({ messageId, formerMessageId }) => [messageId, formerMessageId]);
    const id = `sub_1:cancellation_scheduled:${startSeconds}`;
    // Earlier versions had no end in the id of the fact.
    expect(idsOf(updated(ending(may), { cancel_at: null }))).toEqual([[`${id}:${may}`, id]]);
    expect(idsOf(updated(ending(june), { cancel_at: may }))).toEqual([[`${id}:${june}`, undefined]]);
  });

  test("that ends leaves no plan", () => {
    const event = stripeEvent("customer.subscription.deleted", subscription({ status: "canceled" }));
    expect(eventNames(event)).toEqual(["subscription_canceled"]);
    expect(propertiesOf(event)).toMatchObject({ plan: "Team", amount: 4_900 });
    expect(traitsOf(event)).toEqual({
      plan: null,
      planAmount: null,
      planCurrency: null,
      planInterval: null,
      subscriptionStatus: "canceled",
    });
  });

  test("that ends is not taken back by the update that comes with its end", () => {
    const ended = subscription({ status: "canceled" });
    const event = updated(ended, { status: "active", cancel_at_period_end: true });
    expect(eventNames(event)).toEqual([]);
    expect(traitsOf(event)).toEqual({ subscriptionStatus: "canceled" });
  });

  const types: readonly (readonly [Stripe.Event["type"], object, string, object])[] = [
    ["customer.subscription.paused", subscription({ status: "paused" }), "subscription_paused", {}],
    ["customer.subscription.resumed", subscription(), "subscription_resumed", {}],
    [
      "customer.subscription.trial_will_end",
      subscription({ status: "trialing", trial_end: startSeconds }),
      "trial_ending",
      { trialEndsAt: "2026-05-17T09:30:00.000Z" },
    ],
    ["customer.deleted", customer(), "customer_deleted", { customerId: "cus_1" }],
    ["checkout.session.completed", session(), "checkout_completed", { mode: "subscription", amount: 4_900 }],
    [
      "invoice.payment_failed",
      invoice({ attempt_count: 2 }),
      "payment_failed",
      { amount: 4_900, attempt: 2 },
    ],
    ["invoice.payment_action_required", invoice(), "payment_action_required", { currency: "eur" }],
    ["invoice.overdue", invoice(), "payment_overdue", { invoiceId: "in_1" }],
    ["invoice.marked_uncollectible", invoice(), "payment_uncollectible", { subscriptionId: "sub_1" }],
    ["charge.dispute.created", dispute({ charge: charge() as Stripe.Charge }), "payment_disputed", {}],
  ];
  test.each(types)("%s is an event, and no activity", (type, object, name, properties) => {
    const person = { linked: "42" };
    const [track, ...more] = tracks(itemsOf(stripeEvent(type, object), person));
    expect(more).toEqual([]);
    expect(track).toMatchObject({ event: name, properties, isActivity: false });
  });

  test("that recovers without a payment is past due no more", () => {
    const recovered = updated(subscription(), { status: "past_due" });
    expect(tracks(itemsOf(recovered))).toMatchObject([
      {
        event: "subscription_changed",
        properties: { status: "active", amount: 4_900, currency: "eur", subscriptionId: "sub_1" },
        messageId: expect.stringMatching(/^evt_.*:subscription_changed$/),
      },
    ]);
    const before = {
      status: "past_due",
      items: { data: [subscriptionItem({ current_period_end: startSeconds })] },
    };
    // The end of the new period is told, too.
    expect(eventNames(updated(subscription(), before))).toEqual(["subscription_changed"]);
  });

  test("that is unpaid has ended, and may begin and end again", () => {
    const unpaid = updated(subscription({ status: "unpaid" }), { status: "past_due" });
    const [ended] = tracks(itemsOf(unpaid));
    expect(ended).toMatchObject({
      event: "subscription_canceled",
      properties: { reason: "payment_failed", subscriptionId: "sub_1" },
    });
    const [again] = tracks(itemsOf(updated(subscription(), { status: "unpaid" })));
    expect(again).toMatchObject({ event: "subscription_started", properties: { amount: 4_900 } });
    for (const item of [ended, again]) {
      expect(item?.messageId).toStartWith("evt_");
      expect(item?.lastingDay).toBeUndefined();
    }
    expect(eventNames(updated(subscription({ status: "unpaid" }), { metadata: {} }))).toEqual([]);
  });

  test("that gets a trial later is a trial until it ends", () => {
    const trialEnd = startSeconds + 14 * 86_400;
    const trialing = updated(subscription({ status: "trialing", trial_end: trialEnd }), {
      status: "active",
      trial_end: null,
    });
    const trialEndsAt = new Date(trialEnd * 1_000).toISOString();
    expect(tracks(itemsOf(trialing))).toMatchObject([
      { event: "trial_started", properties: { subscriptionId: "sub_1", trialEndsAt } },
    ]);
  });

  test("whose payments are not collected is paused", () => {
    const pause = { behavior: "void", resumes_at: null } as const;
    const paused = subscription({ pause_collection: pause });
    expect(eventNames(updated(paused, { pause_collection: null }))).toEqual(["subscription_paused"]);
    expect(eventNames(updated(subscription(), { pause_collection: pause }))).toEqual([
      "subscription_resumed",
    ]);
    const postponed = { behavior: "keep_as_draft", resumes_at: null } as const;
    const [stillPaused] = tracks(itemsOf(updated(paused, { pause_collection: postponed })));
    expect(stillPaused).toMatchObject({ event: "subscription_changed", properties: { status: "paused" } });
    expect(eventNames(updated(paused, {}))).toEqual(["subscription_changed"]);
  });
});

describe("a payment", () => {
  test("is told by two types, and is one event", () => {
    const [paid, succeeded] = (["invoice.paid", "invoice.payment_succeeded"] as const).map(
      (type) => tracks(itemsOf(stripeEvent(type, invoice())))[0],
    );
    expect(paid).toMatchObject({ event: "payment_succeeded", messageId: "in_1:payment_succeeded" });
    expect(succeeded).toEqual(paid);
  });

  test("of nothing is none, but one that was made outside of Stripe is", () => {
    expect(ignored(stripeEvent("invoice.paid", invoice({ amount_paid: 0 })))).toContain("amount 0");
    const outside = invoice({ amount_paid: 0, amount_paid_off_stripe: 4_900 });
    expect(eventNames(stripeEvent("invoice.paid", outside))).toEqual(["payment_succeeded"]);
  });

  test("that is given back in parts is each time the part", () => {
    const event = stripeEvent("charge.refunded", charge(), { before: { amount_refunded: 1_000 } });
    expect(propertiesOf(event)).toMatchObject({ amount: 500, isWhole: false, currency: "eur" });
  });
});

describe("what is no event for us", () => {
  test("is ignored, and what is none of Stripe's is invalid", () => {
    expect(ignored(stripeEvent("payment_intent.created", {}))).toContain("is not used");
    expect(ignored({ id: "evt_1", object: "v2.core.event", type: "customer.created" })).toContain("snapshot");
    for (const body of [null, 7, [], {}, { id: "evt_1" }, { id: 1, type: "customer.created" }]) {
      expect(translateStripe(body, delivery, nobody, "create")).toHaveProperty("invalid");
      expect(stripePerson(body)).toBeUndefined();
    }
  });

  test.each(["constructor", "toString", "__proto__", "hasOwnProperty"])("%s is no type", (type) => {
    expect(ignored({ id: "evt_1", type, data: { object: { customer: "cus_1" } } })).toContain("is not used");
  });

  test("takes no harm from fields of other kinds", () => {
    const odd: readonly unknown[] = [
      null,
      1e308,
      -1,
      "x",
      [],
      [[]],
      {},
      { data: {} },
      { data: [null, 3] },
      true,
    ];
    for (const type of ["customer.subscription.updated", "invoice.paid", "charge.refunded"] as const) {
      for (const value of odd) {
        const keys = ["items", "plan", "quantity", "status", "cancel_at", "lines", "parent", "metadata"];
        const object = Object.fromEntries(
          [...keys, "customer_email", "amount_paid"].map((key) => [key, value]),
        );
        const event = stripeEvent(type, { ...object, customer: "cus_1" }, { before: object });
        const translated = translateStripe(event, delivery, nobody, "create");
        expect(translated).toHaveLength(1);
      }
    }
  });
});
