/** A subscription's life through HTTP, as Stripe sends it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type Stripe from "stripe";
import { Server } from "../server.ts";
import { expectError, user } from "../specification/support.ts";
import {
  charge,
  customer,
  invoice,
  price,
  session,
  signed,
  signingSecret,
  stripeEvent,
  subscription,
  subscriptionItem,
} from "./stripe-objects.ts";
import { at, deliver, delivered, eventsOf, withStripe } from "./webhooks-support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
});
afterAll(() => server?.stop());

/** Two months of a subscription, in the order in which it happened. */
const life = [
  at("customer.created", 0, customer()),
  at("customer.subscription.created", 0, subscription({ status: "incomplete" })),
  at("customer.subscription.updated", 1, subscription(), { status: "incomplete" }),
  at("invoice.paid", 2, invoice({ id: "in_1" })),
  at("invoice.payment_succeeded", 2, invoice({ id: "in_1" })),
  at(
    "customer.subscription.updated",
    20,
    subscription({}, [subscriptionItem({}, price({ nickname: "Gold", unit_amount: 9_900 }))]),
    { items: { data: [subscriptionItem()] } },
  ),
  at("invoice.payment_failed", 30, invoice({ id: "in_2", amount_due: 9_900 })),
  at("customer.subscription.updated", 31, subscription({ cancel_at_period_end: true }), {
    cancel_at_period_end: false,
  }),
  at("charge.refunded", 32, charge()),
  at("customer.subscription.deleted", 60, subscription({ status: "canceled" })),
];
const namesOfLife = [
  "subscription_started",
  "payment_succeeded",
  "subscription_changed",
  "payment_failed",
  "cancellation_scheduled",
  "payment_refunded",
  "subscription_canceled",
];
const traitsOfLife = {
  plan: null,
  planAmount: null,
  planCurrency: null,
  planInterval: null,
  subscriptionStatus: "canceled",
};

/** The events and traits that must be stored after that life, in any order of delivery. */
async function expectLife(name: string, userId: string, email = "ada@example.com"): Promise<void> {
  const events = await eventsOf(server, name);
  expect(events.map(({ event, userId: whose }) => [event, whose])).toEqual(
    namesOfLife.map((event) => [event, userId]),
  );
  const users = await server.exported("users", name);
  expect(users.map((one) => [one.userId, one.email, one.properties])).toEqual([
    [userId, email, traitsOfLife],
  ]);
}

describe("the life of a subscription", () => {
  test("is the events of the user with the customer's e-mail address", async () => {
    const token = await server.organization("Stripe by e-mail");
    expect((await server.post("/identify", token, { ...user("42"), email: "Ada@example.com" })).status).toBe(
      201,
    );
    await delivered(server, token, ...life);
    const events = await eventsOf(server, "Stripe by e-mail");
    expect(events.map(({ event, userId }) => [event, userId])).toEqual(namesOfLife.map((one) => [one, "42"]));
    expect(events[2]).toMatchObject({
      properties: { plan: "Gold", fromPlan: "Team", amount: 9_900, fromAmount: 4_900, currency: "eur" },
    });
    const [ada, ...others] = await server.exported("users", "Stripe by e-mail");
    expect([ada?.userId, ada?.email, others]).toEqual(["42", "Ada@example.com", []]);
    expect(ada?.properties).toMatchObject(traitsOfLife);
  });

  test("is the same when it comes backwards, each of it twice, and before the user is identified", async () => {
    const token = await server.organization("Stripe backwards");
    const backwards = [...life].reverse();
    await delivered(server, token, ...backwards, ...backwards);
    expect(await server.exported("users", "Stripe backwards")).toEqual([]);
    const ada = { userId: "42", email: "ADA@example.com" };
    expect((await server.post("/identify", token, ada)).status).toBe(201);
    await expectLife("Stripe backwards", "42", "ADA@example.com");
    // Later events belong to the same user, also without an address.
    await delivered(server, token, at("customer.subscription.paused", 61, subscription()));
    expect((await eventsOf(server, "Stripe backwards")).at(-1)).toMatchObject({
      event: "subscription_paused",
      userId: "42",
    });
  });

  test("is a user's made of the customer's id, where it is set so", async () => {
    const { token } = await withStripe(server, "Stripe creates", { unknownCustomers: "create" });
    await delivered(server, token, ...life);
    await expectLife("Stripe creates", "cus_1");
  });

  test("is nobody's any more when the user is erased before or after", async () => {
    const token = await server.organization("Stripe erased");
    const paid = (day: number) => at("invoice.paid", day, invoice({ id: `in_${day}` }));
    await delivered(server, token, at("customer.created", 0, customer()), paid(1));
    await server.post("/identify", token, { userId: "42", email: "ada@example.com" });
    expect(await eventsOf(server, "Stripe erased")).toHaveLength(1);
    await server.command("erase", "user", "42", "--organization", "Stripe erased");
    // Stripe's events from before the erasure stay out, even if they are delivered late.
    const since = { id: "evt_since", created: Math.ceil(Date.now() / 1_000) };
    await delivered(server, token, paid(2), stripeEvent("invoice.paid", invoice({ id: "in_since" }), since));
    expect(await server.exported("users", "Stripe erased")).toEqual([]);
    // A new user with the same address gets the events since then.
    await server.post("/identify", token, { userId: "43", email: "ada@example.com" });
    const events = await eventsOf(server, "Stripe erased");
    expect(events.map(({ userId }) => userId)).toEqual(["43"]);
  });

  test("waits for who it is, and is the user's whom the checkout names", async () => {
    const token = await server.organization("Stripe waits");
    await delivered(server, token, ...life);
    expect(await eventsOf(server, "Stripe waits")).toEqual([]);
    await server.post("/identify", token, { userId: "42", email: "her@example.com" });
    await delivered(
      server,
      token,
      at("checkout.session.completed", 61, session({ client_reference_id: "42" })),
    );
    const events = await eventsOf(server, "Stripe waits");
    expect(events.map(({ event, userId }) => [event, userId])).toEqual(
      [...namesOfLife, "checkout_completed"].map((event) => [event, "42"]),
    );
    const [ada] = await server.exported("users", "Stripe waits");
    expect(ada).toMatchObject({ userId: "42", properties: traitsOfLife });
  });

  test("is not for good whose e-mail address somebody claims, and nobody's while two have it", async () => {
    const token = await server.organization("Stripe claimed");
    const name = "Stripe claimed";
    const identify = async (userId: string, email: string) =>
      expect((await server.post("/identify", token, { userId, email })).status).toBe(201);
    const paid = (day: number) => at("invoice.paid", day, invoice({ id: `in_${day}`, customer_email: null }));
    const whose = async () => (await eventsOf(server, name)).map(({ userId }) => userId);
    await delivered(server, token, paid(1), at("customer.created", 0, customer()));
    await identify("evil", "ada@example.com");
    await delivered(server, token, paid(2));
    expect(await whose()).toEqual(["evil", "evil"]);
    await identify("ada", "Ada@example.com");
    await delivered(server, token, paid(3));
    await identify("evil", "ada@example.com");
    await identify("ada", "ada@example.com");
    expect(await whose()).toEqual(["evil", "evil"]);
    // As soon as only one has it, that one gets what waits.
    await identify("evil", "evil@example.com");
    await delivered(server, token, paid(4));
    expect(await whose()).toEqual(["evil", "evil", "ada", "ada"]);
    // A link by metadata is permanent.
    const named = customer({ metadata: { userId: "ceo" }, email: "ceo@example.com" });
    await delivered(server, token, at("customer.updated", 5, named), paid(6));
    expect((await whose()).at(-1)).toBe("ceo");
  });

  test("is not a cart's, to which a checkout refers", async () => {
    const token = await server.organization("Stripe carts");
    await server.post("/identify", token, { userId: "payer", email: "ada@example.com" });
    const cart = session({ client_reference_id: "cart-4711" });
    await delivered(server, token, at("checkout.session.completed", 0, cart));
    await delivered(server, token, at("invoice.paid", 1, invoice()));
    const events = await eventsOf(server, "Stripe carts");
    expect(events.map(({ event, userId }) => [event, userId])).toEqual([
      ["checkout_completed", "payer"],
      ["payment_succeeded", "payer"],
    ]);
    const users = await server.exported("users", "Stripe carts");
    expect(users.map(({ userId }) => userId)).toEqual(["payer"]);
  });

  test("is nobody's who shares the address with somebody, and goes over to who is named later", async () => {
    const { token } = await withStripe(server, "Stripe shared", { unknownCustomers: "create" });
    for (const userId of ["7", "8"]) await server.post("/identify", token, user(userId));
    await delivered(server, token, at("customer.created", 0, customer()), at("invoice.paid", 1, invoice()));
    const named = at(
      "customer.updated",
      2,
      customer({ metadata: { user_id: "8" }, email: "bills@example.com" }),
    );
    await delivered(
      server,
      token,
      named,
      at("customer.subscription.deleted", 3, subscription({ status: "canceled" })),
    );
    const events = await eventsOf(server, "Stripe shared");
    expect(events.map(({ event, userId }) => [event, userId])).toEqual([
      ["payment_succeeded", "cus_1"],
      ["subscription_canceled", "8"],
    ]);
    const users = await server.exported("users", "Stripe shared");
    expect(users.map(({ userId, email }) => [userId, email])).toEqual(
      ["7", "8", "cus_1"].map((userId) => [userId, "ada@example.com"]),
    );
  });

  test("is no activity", async () => {
    const { token, browser } = await withStripe(server, "Stripe is passive", { unknownCustomers: "create" });
    const now = Math.floor(Date.now() / 1_000) - 60;
    const recent = (type: Stripe.Event["type"], object: object) =>
      stripeEvent(type, object, { created: now });
    const lastSeen = async () => {
      const path = `/api/users/cus_1?organization=${browser.organization}`;
      return (await browser.json<{ lastSeenDay: string | null }>("GET", path)).lastSeenDay;
    };
    await delivered(server, token, recent("customer.created", customer()), recent("invoice.paid", invoice()));
    expect((await eventsOf(server, "Stripe is passive")).map(({ event }) => event)).toEqual([
      "payment_succeeded",
    ]);
    expect(await lastSeen()).toBeNull();
    await server.post("/track", token, { userId: "cus_1", event: "opened" });
    expect(await eventsOf(server, "Stripe is passive")).toHaveLength(2);
    expect(await lastSeen()).not.toBeNull();
  });
});

describe("a signature", () => {
  test("is asked for once a secret is set, and a wrong one is refused", async () => {
    const { token } = await withStripe(server, "Stripe signs", {
      signingSecrets: [signingSecret, "whsec_rolledover"],
    });
    const payload = JSON.stringify(at("customer.deleted", 0, customer()));
    const path = `/v1/webhooks/stripe/${token}`;
    const now = Math.floor(Date.now() / 1_000);
    const wrong: readonly (readonly [string | undefined, string])[] = [
      [undefined, "Stripe-Signature is missing"],
      [await signed(payload, "whsec_another"), "check the signing secret"],
      [await signed(`${payload} `), "check the signing secret"],
      [await signed(payload, signingSecret, now - 600), "older than 5 minutes"],
    ];
    for (const [header, why] of wrong) {
      const response = await deliver(
        server,
        path,
        payload,
        header === undefined ? {} : { "Stripe-Signature": header },
      );
      await expectError(response, "validation_error", why);
    }
    await server.post("/identify", token, user("42"));
    expect(await eventsOf(server, "Stripe signs")).toEqual([]);
    for (const secret of [signingSecret, "whsec_rolledover"]) {
      const response = await deliver(server, path, payload, {
        "Stripe-Signature": await signed(payload, secret),
      });
      expect(response.status).toBe(200);
    }
    expect(await eventsOf(server, "Stripe signs")).toHaveLength(1);
  });
});
