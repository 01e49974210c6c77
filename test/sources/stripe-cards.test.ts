/** Stripe's events about cards: of each card only the month in which it ends is kept. */
import { describe, expect, test } from "bun:test";
import { eventNames, ignored, itemsOf, propertiesOf, tracks } from "./stripe-items.ts";
import { stripeEvent } from "./stripe-objects.ts";

const card = {
  brand: "visa",
  exp_month: 11,
  exp_year: 2026,
  fingerprint: "fp_1",
  last4: "4242",
  country: "FR",
};
const method = (more: object = {}) => ({
  id: "pm_1",
  object: "payment_method",
  billing_details: { email: null, name: "Ada Lovelace" },
  card,
  customer: "cus_1",
  livemode: true,
  metadata: {},
  type: "card",
  ...more,
});
const older = (more: object = {}) => ({
  id: "card_1",
  object: "card",
  customer: "cus_1",
  livemode: true,
  metadata: {},
  ...card,
  ...more,
});
type Type = Parameters<typeof stripeEvent>[0];
const told = (type: string, object: object, before?: object) =>
  stripeEvent(type as Type, object, before === undefined ? {} : { before });

const updated = { event: "card_updated", properties: { cardExpires: "2026-11" } };
const removed = { event: "card_removed", properties: { cardExpires: "2026-11" } };

test.each<[string, object, object | undefined, object]>([
  ["payment_method.attached", method(), undefined, updated],
  ["payment_method.updated", method(), { card: { exp_year: 2023 } }, updated],
  ["payment_method.automatically_updated", method(), { card: { exp_month: 10, exp_year: 2025 } }, updated],
  ["payment_method.card_automatically_updated", method(), { card: { exp_month: 10 } }, updated],
  ["payment_method.detached", method({ customer: null }), { customer: "cus_1" }, removed],
  ["customer.source.created", older(), undefined, updated],
  [
    "customer.source.created",
    { ...older(), object: "source", exp_month: undefined, card },
    undefined,
    updated,
  ],
  ["customer.source.updated", older(), { exp_month: 10 }, updated],
  ["customer.source.expiring", older(), undefined, updated],
  ["customer.source.deleted", older(), undefined, removed],
])("%s is kept as the month in which the card ends", (type, object, before, expected) => {
  const items = tracks(itemsOf(told(type, object, before)));
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ ...expected, anonymousId: "stripe:cus_1", isActivity: false });
  expect(JSON.stringify(items)).not.toMatch(/4242|visa|fp_1|pm_1|card_1/);
});

describe("nothing is said", () => {
  test.each<[string, object, object | undefined, string]>([
    ["payment_method.attached", method({ type: "sepa_debit", card: undefined }), undefined, "without an end"],
    [
      "payment_method.attached",
      method({ card: { exp_month: 13, exp_year: 2026 } }),
      undefined,
      "without an end",
    ],
    [
      "payment_method.attached",
      method({ card: { exp_month: "11", exp_year: null } }),
      undefined,
      "without an end",
    ],
    ["payment_method.updated", method(), { billing_details: { name: "A" } }, "The end of the card stays"],
    ["payment_method.updated", method(), undefined, "The end of the card stays"],
    ["customer.source.updated", older(), { name: "A" }, "The end of the card stays"],
    ["payment_method.detached", method({ customer: null }), undefined, "neither a customer nor a user"],
  ])("by %s: %#", (type, object, before, why) => {
    expect(ignored(told(type, object, before))).toContain(why);
  });
});

test("the customer's metadata names the account that pays", () => {
  const event = told("payment_method.attached", method({ metadata: { account_id: "acme" } }));
  expect(eventNames(event)).toEqual(["card_updated"]);
  expect(propertiesOf(event)).toEqual({ cardExpires: "2026-11", accountId: "acme" });
});
