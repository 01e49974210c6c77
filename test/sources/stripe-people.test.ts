/** The users of Stripe's events, and the plan that an event names, in the forms of newer and older
 * versions. */
import { describe, expect, test } from "bun:test";
import type Stripe from "stripe";
import type { KnownPerson } from "../../server/sources/billing/person.ts";
import { ignored, itemsOf, propertiesOf, traitsOf, updated } from "./stripe-items.ts";
import {
  charge,
  customer,
  dispute,
  invoice,
  price,
  session,
  stripeEvent,
  subscription,
  subscriptionItem,
} from "./stripe-objects.ts";

describe("whose an event is", () => {
  const created = (more: Partial<Stripe.Customer> = {}) => stripeEvent("customer.created", customer(more));
  const firstOf = (event: object, known?: Partial<KnownPerson>, unknown?: "create" | "wait") =>
    itemsOf(event, known, unknown)[0];

  test.each(["userId", "user_id", "rekindle_user_id"])("metadata says it as %s", (key) => {
    const named = { userId: "42", anonymousId: "stripe:cus_1" };
    expect(firstOf(created({ metadata: { [key]: "42" } }))).toMatchObject(named);
    const ofSubscription = subscription({ metadata: { [key]: "42" } });
    expect(firstOf(stripeEvent("customer.subscription.created", ofSubscription))).toMatchObject(named);
    const details = { metadata: { [key]: "42" }, subscription: "sub_1" };
    const parent = {
      type: "subscription_details",
      quote_details: null,
      subscription_details: details,
    } as const;
    expect(firstOf(stripeEvent("invoice.paid", invoice({ parent })))).toMatchObject(named);
    const old = { ...invoice(), parent: undefined, subscription_details: details };
    expect(firstOf(stripeEvent("invoice.paid", old))).toMatchObject(named);
  });

  test("a checkout says it as its reference, if that is a user's id and the customer is nobody else", () => {
    const event = stripeEvent("checkout.session.completed", session({ client_reference_id: "42" }));
    const named = { type: "identify", userId: "42", anonymousId: "stripe:cus_1" };
    expect(firstOf(event, { referenced: "42", withEmail: "7" })).toMatchObject(named);
    expect(firstOf(event, { referenced: "42", linked: "7" })).toMatchObject({ userId: "7" });
    expect(firstOf(event, { withEmail: "7" })).toMatchObject({ userId: "7", anonymousId: undefined });
    expect(firstOf(event)).toMatchObject({ userId: undefined, anonymousId: "stripe:cus_1" });
  });

  test("the user whom the customer is known to be, before the user with the e-mail address", () => {
    expect(firstOf(created(), { linked: "42", withEmail: "7" })).toMatchObject({ userId: "42" });
    // Anyone can enter an address at Stripe. The customer is therefore linked to the address, and not to the
    // user.
    expect(itemsOf(created(), { withEmail: "7" })).toMatchObject([
      { type: "alias", previousId: "stripe:cus_1", userId: "mailto:ada@example.com" },
      { type: "identify", userId: "7", anonymousId: undefined, email: undefined },
    ]);
  });

  test("else it is the customer's, who becomes a user with the e-mail address", () => {
    const itself = { userId: "cus_1", anonymousId: "stripe:cus_1", email: "ada@example.com" };
    expect(firstOf(created())).toMatchObject(itself);
    expect(firstOf(stripeEvent("invoice.paid", invoice()))).toMatchObject(itself);
    // And gives way to a user whom the product has named since.
    expect(firstOf(created(), { linked: "cus_1", withEmail: "7" })).toMatchObject({ userId: "7" });
  });

  test("a customer of whom no address is told waits, and so does everybody where it is set so", () => {
    const waiting = { userId: undefined, anonymousId: "stripe:cus_1" };
    expect(firstOf(stripeEvent("customer.subscription.created", subscription()))).toMatchObject(waiting);
    expect(itemsOf(created({ email: null }))).toEqual([]);
    const address = { type: "alias", previousId: "stripe:cus_1", userId: "mailto:ada@example.com" };
    expect(itemsOf(created({ email: "Ada@Example.com" }), {}, "wait")).toMatchObject([address]);
    expect(itemsOf(created({ email: `ada@${"x".repeat(300)}.com` }), {}, "wait")).toEqual([]);
    const invoiceItems = itemsOf(stripeEvent("invoice.paid", invoice()), {}, "wait");
    expect(invoiceItems).toMatchObject([address, waiting]);
    // An address that several users have names none of them.
    expect(itemsOf(created(), { isEmailShared: true }, "wait")).toEqual([]);
  });

  test("a user's own address is not taken over by that of the bills", () => {
    const event = created({ metadata: { userId: "42" }, email: "bills@example.com" });
    expect(firstOf(event, { hasEmail: true })).toMatchObject({ userId: "42", email: undefined });
    expect(firstOf(event)).toMatchObject({ userId: "42", email: "bills@example.com" });
  });

  test("metadata names the account", () => {
    const event = created({ metadata: { userId: "42", accountId: "acme" } });
    expect(firstOf(event)).toMatchObject({ account: { id: "acme" } });
  });

  test("an event of no customer is ignored", () => {
    expect(ignored(stripeEvent("charge.dispute.created", dispute()))).toContain("names neither");
    expect(ignored(stripeEvent("charge.refunded", charge({ customer: null })))).toContain("names neither");
  });
});

describe("the plan's name", () => {
  const named = (more: object) => traitsOf(stripeEvent("customer.subscription.created", more))?.plan;
  const product = { id: "prod_team", object: "product", name: "The team plan" } as Stripe.Product;

  test("is the price's nickname, the product's name, the lookup key, the price's id: the first that is there", () => {
    const of = (its: object) => named(subscription({}, [subscriptionItem({}, its)]));
    expect(of(price({ product }))).toBe("Team");
    expect(of(price({ product, nickname: null }))).toBe("The team plan");
    expect(of(price({ nickname: null }))).toBe("team-monthly");
    expect(of(price({ nickname: null, lookup_key: null }))).toBe("price_team_month");
  });

  test("is that of what is not metered", () => {
    const recurring = { interval: "month", interval_count: 1, usage_type: "metered" };
    const metered = price({ nickname: "Usage", recurring: recurring as Stripe.Price.Recurring });
    const items = [subscriptionItem({}, metered), subscriptionItem({ quantity: 2 })];
    expect(named(subscription({}, items))).toBe("Team");
  });

  test("is read as old versions have it, with what they had before a change", () => {
    const plan = { id: "gold", object: "plan", name: "Gold", amount: 900, currency: "usd", interval: "year" };
    const old = {
      id: "sub_0",
      object: "subscription",
      customer: "cus_1",
      status: "active",
      plan,
      quantity: 2,
    };
    expect(traitsOf(stripeEvent("customer.subscription.created", old))).toMatchObject({
      plan: "Gold",
      planAmount: 1_800,
      planCurrency: "usd",
      planInterval: "year",
    });
    const changed = updated(old, { plan: { id: "silver", name: "Silver", amount: 500 } });
    expect(propertiesOf(changed)).toMatchObject({ plan: "Gold", fromPlan: "Silver", fromAmount: 1_000 });
    expect(propertiesOf(updated(old, { quantity: 1 }))).toMatchObject({ quantity: 2, fromQuantity: 1 });
  });
});
