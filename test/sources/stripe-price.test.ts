/** The properties of Stripe's billing events: what they cost, when they end, who pays. */
import { describe, expect, test } from "bun:test";
import { whyNotBilling } from "../../contract/billing/events.ts";
import { eventNames, itemsOf, propertiesOf, tracks, updated } from "./stripe-items.ts";
import {
  charge,
  invoice,
  price,
  startSeconds,
  stripeEvent,
  subscription,
  subscriptionItem,
} from "./stripe-objects.ts";

const monthSeconds = 30 * 86_400;
const ends = startSeconds + 3 * monthSeconds;
const endsAt = new Date(ends * 1_000).toISOString();

const started = (more: object, items: object[] = [subscriptionItem()]) =>
  (propertiesOf(stripeEvent("customer.subscription.created", { ...subscription({}, items), ...more })) ??
    {}) as { plan?: string } & Record<string, unknown>;
const costs = (more: object, items?: object[]) => {
  const { amount, amountAfterDiscount, discountEndsAt } = started(more, items);
  return [amount, amountAfterDiscount, discountEndsAt];
};

const discount = (coupon: object, more: object = {}) => ({ id: "di_1", object: "discount", coupon, ...more });
const forever = { duration: "forever", percent_off: 10 };
const limited = { duration: "repeating", duration_in_months: 3, percent_off: 50 };

const of = (interval: "week" | "year", more: Parameters<typeof price>[0] = {}) => ({
  ...price(more),
  unit_amount_decimal: more?.unit_amount === null ? null : "4900",
  recurring: { ...price().recurring, interval },
});

describe("the amount of a subscription", () => {
  test.each([
    ["0.145", 100, 15],
    ["12.5", 3, 38],
    ["0.05", 20_000, 1_000],
  ])("of %s cents for one is exact for %d", (unit_amount_decimal, quantity, amount) => {
    const fraction = { ...price({ unit_amount: null }), unit_amount_decimal };
    expect(started({}, [subscriptionItem({ quantity }, fraction)])).toMatchObject({ amount, quantity });
  });

  test("in tiers is unknown, also beside parts with a price", () => {
    const tiered = { ...price({ unit_amount: null, billing_scheme: "tiered" }), unit_amount_decimal: null };
    for (const items of [
      [subscriptionItem({}, tiered)],
      [subscriptionItem(), subscriptionItem({}, tiered)],
    ]) {
      expect(started({}, items).amount).toBeUndefined();
      expect(started({}, items)).toMatchObject({ isPricedByInvoice: true });
    }
    expect(
      started({}, [subscriptionItem(), subscriptionItem({}, of("year", { unit_amount: null }))]),
    ).toEqual(expect.not.objectContaining({ isPricedByInvoice: true }));
  });

  test.each<[string, object, object[], number | undefined]>([
    ["are those of a year", {}, [subscriptionItem(), subscriptionItem({}, of("year"))], 13 * 4_900],
    ["of weeks count 52 of them", {}, [subscriptionItem(), subscriptionItem({}, of("week"))], 64 * 4_900],
    [
      "have a share off",
      { discounts: [discount(forever)] },
      [subscriptionItem(), subscriptionItem({}, of("year"))],
      57_330,
    ],
    [
      "are unknown with an amount off, which is of one invoice",
      { discounts: [discount({ duration: "forever", amount_off: 900, currency: "eur" })] },
      [subscriptionItem(), subscriptionItem({}, of("year"))],
      undefined,
    ],
  ])("of parts with several intervals %s", (_name, more, items, amount) => {
    expect(started(more, items).amount).toBe(amount);
    if (amount !== undefined) expect(started(more, items).interval).toBe("year");
  });

  test.each<[string, "up" | "down", number]>([
    ["part of a package as a whole one", "up", 5_000],
    ["whole packages alone", "down", 2_500],
  ])("for each package of 5 counts %s", (_name, round, amount) => {
    const transform_quantity = { divide_by: 5, round };
    const packages = price({ unit_amount: 2_500, transform_quantity });
    expect(started({}, [subscriptionItem({ quantity: 8 }, packages)])).toMatchObject({ amount, quantity: 8 });
    const plan = { amount: 2_500, currency: "eur", interval: "month", transform_usage: transform_quantity };
    expect(started({ plan, quantity: 8 }, [])).toMatchObject({ amount, quantity: 8 });
  });

  test.each<[string, object, unknown[]]>([
    ["without a discount", {}, [4_900, undefined, undefined]],
    ["with one for good", { discounts: [discount(forever)] }, [4_410, undefined, undefined]],
    ["with one of limited time", { discounts: [discount(limited, { end: ends })] }, [2_450, 4_900, endsAt]],
    [
      "with both, one after the other",
      { discounts: [discount(forever), discount(limited, { end: ends })] },
      [2_205, 4_410, endsAt],
    ],
    ["with one of the oldest form", { discount: discount(forever) }, [4_410, undefined, undefined]],
    [
      "with one of the newest form",
      { discounts: [{ id: "di_1", source: { type: "coupon", coupon: forever } }] },
      [4_410, undefined, undefined],
    ],
    [
      "with an amount off",
      { discounts: [discount({ duration: "forever", amount_off: 900, currency: "eur" })] },
      [4_000, undefined, undefined],
    ],
    [
      "with more off than it costs",
      { discounts: [discount({ duration: "forever", amount_off: 9_000 })] },
      [0, undefined, undefined],
    ],
    [
      "with one of a single invoice",
      { discounts: [discount({ duration: "once", percent_off: 50 })] },
      [4_900, undefined, undefined],
    ],
    [
      "with one that has ended",
      { discounts: [discount(limited, { end: startSeconds - 1 })] },
      [4_900, undefined, undefined],
    ],
    ["with ids of discounts alone", { discounts: ["di_1"] }, [4_900, undefined, undefined]],
    [
      "with tax that it includes",
      {
        default_tax_rates: [
          { inclusive: true, percentage: 22.5 },
          { inclusive: false, percentage: 3 },
        ],
      },
      [4_000, undefined, undefined],
    ],
  ])("%s", (_name, more, expected) => {
    expect(costs(more)).toEqual(expected);
  });

  test("is that of licensed parts, each with its own discount", () => {
    const seats = subscriptionItem({ quantity: 3 }, price({ unit_amount: 1_000 }));
    const addOn = {
      ...subscriptionItem({}, price({ unit_amount: 500, product: "prod_add" })),
      discounts: [discount(forever)],
    };
    const metered = subscriptionItem(
      {},
      price({
        recurring: {
          interval: "month",
          interval_count: 1,
          usage_type: "metered",
          meter: null,
          trial_period_days: null,
        },
      }),
    );
    expect(costs({}, [seats, addOn, metered])).toEqual([3_450, undefined, undefined]);
    const ofAddOn = { ...forever, applies_to: { products: ["prod_add"] } };
    expect(costs({ discounts: [discount(ofAddOn)] }, [seats, addOn])).toEqual([3_405, undefined, undefined]);
    expect(costs({}, [metered])).toEqual([0, undefined, undefined]);
  });

  test.each([
    ["isk", 50_000, 500],
    ["ugx", 50_000, 500],
    ["mga", 500, 50_000],
    ["jpy", 500, 500],
    ["kwd", 5_120, 5_120],
  ])("in %s is in the units of ISO 4217", (currency, sent, amount) => {
    const items = [subscriptionItem({}, price({ currency, unit_amount: sent }))];
    expect(started({}, items)).toMatchObject({ amount, currency });
    const paid = stripeEvent("invoice.paid", invoice({ currency, amount_paid: sent }));
    expect(propertiesOf(paid)).toMatchObject({ amount, currency });
    const refunded = stripeEvent("charge.refunded", charge({ currency, amount_refunded: sent }));
    expect(propertiesOf(refunded)).toMatchObject({ amount, currency });
  });

  test("with more parts or discounts than Stripe allows is unknown", () => {
    const many = <Each>(each: Each) => Array.from({ length: 101 }, () => each);
    expect(costs({ discounts: many(discount(forever)) })[0]).toBeUndefined();
    expect(costs({}, many(subscriptionItem()))[0]).toBeUndefined();
    const items = [{ ...subscriptionItem(), discounts: many(discount(forever)) }];
    expect(costs({}, items)[0]).toBeUndefined();
  });

  test("changes with its discounts", () => {
    const now = { ...subscription(), discounts: [discount(forever)] };
    const event = updated(now, { discounts: [] });
    expect(eventNames(event)).toEqual(["subscription_changed"]);
    expect(propertiesOf(event)).toMatchObject({ amount: 4_410, fromAmount: 4_900 });
    const same = updated(now, { discounts: [discount({ ...forever, id: "other" })] });
    expect(propertiesOf(same)).toMatchObject({ amount: 4_410 });
    expect(propertiesOf(same)).not.toHaveProperty("fromAmount");
  });
});

test("an end that is scheduled at the start, or moved, is an event", () => {
  const ending = subscription({ cancel_at: ends });
  const event = stripeEvent("customer.subscription.created", ending);
  expect(eventNames(event)).toEqual(["subscription_started", "cancellation_scheduled"]);
  expect(tracks(itemsOf(event))[1]?.properties).toMatchObject({ endsAt });
  const moved = updated(ending, { cancel_at: ends - monthSeconds });
  expect(eventNames(moved)).toEqual(["cancellation_scheduled"]);
  expect(propertiesOf(moved)).toMatchObject({ endsAt });
});

test("an end of a failed payment says so", () => {
  const canceled = subscription({
    status: "canceled",
    cancellation_details: { comment: null, feedback: null, reason: "payment_failed" },
  } as Parameters<typeof subscription>[0]);
  expect(propertiesOf(stripeEvent("customer.subscription.deleted", canceled))).toMatchObject({
    reason: "payment_failed",
  });
});

test("the account of metadata is the payer", () => {
  const named = subscription({ metadata: { accountId: "acme" } });
  const [track] = tracks(itemsOf(stripeEvent("customer.subscription.created", named)));
  expect([track?.account, track?.properties.accountId]).toEqual([{ id: "acme" }, "acme"]);
  expect(propertiesOf(stripeEvent("customer.subscription.created", subscription()))).not.toHaveProperty(
    "accountId",
  );
});

test("a name that is cut within a character can be stored", () => {
  const nickname = `${"x".repeat(255)}😀`;
  const { plan } = started({}, [subscriptionItem({}, price({ nickname }))]);
  expect([plan?.length, plan?.isWellFormed()]).toEqual([256, true]);
});

test("values that admission refuses are left out, and the event is kept", () => {
  const long = "x".repeat(2_000);
  const odd = subscription({ metadata: { accountId: long } }, [
    subscriptionItem({ quantity: 1.5 }, price({ nickname: long, currency: "xyz", unit_amount: 10 })),
  ]);
  const events = [
    stripeEvent("customer.subscription.created", odd),
    updated(odd, { items: { data: [subscriptionItem()] } }),
    stripeEvent("customer.subscription.deleted", {
      ...odd,
      cancellation_details: { comment: long, feedback: long, reason: long },
    }),
    stripeEvent("invoice.payment_failed", invoice({ amount_due: -1 })),
  ];
  for (const event of events) {
    const [track] = tracks(itemsOf(event));
    expect(track?.properties).toHaveProperty("subscriptionId");
    expect(track?.properties).not.toHaveProperty("amount");
    expect(whyNotBilling(track?.event ?? "", track?.properties ?? {}, () => true)).toBeUndefined();
  }
});
