/** Webhooks at the front door: a subscription's life as Stripe sends it, and bodies that a mapping reads. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type Stripe from "stripe";
import { company, joined } from "../people/support.ts";
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
  startSeconds,
  stripeEvent,
  subscription,
  subscriptionItem,
} from "./stripe-objects.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start();
  await server.ready();
}, 120_000);
afterAll(() => server?.stop());

/** Sends a body without any header of ours, as Stripe does. */
function deliver(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return server.post(path, undefined, body, headers);
}

/** Delivers events of Stripe's, one after another, each of which must be taken. */
async function delivered(token: string, ...events: readonly object[]): Promise<void> {
  for (const event of events) {
    const response = await deliver(`/v1/webhooks/stripe/${token}`, event);
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
  }
}

async function eventsOf(name: string): Promise<readonly Record<string, unknown>[]> {
  const rows = await server.exported("events", name);
  return rows.sort((one, other) => String(one.time).localeCompare(String(other.time)));
}

const usersOf = (name: string) => server.exported("users", name);
const seconds = (day: number) => startSeconds + day * 86_400;
const at = (type: Stripe.Event["type"], day: number, object: object, before?: object) =>
  stripeEvent(type, object, { created: seconds(day), ...(before && { before }) });

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
  ...{ plan: null, planAmount: null, planCurrency: null, planInterval: null },
  subscriptionStatus: "canceled",
};

/** What must be known after that life, in whatever order it came. */
async function expectLife(name: string, userId: string): Promise<void> {
  const events = await eventsOf(name);
  expect(events.map(({ event, userId: whose }) => [event, whose])).toEqual(
    namesOfLife.map((event) => [event, userId]),
  );
  const users = await usersOf(name);
  expect(users.map((one) => [one.userId, one.email, one.properties])).toEqual([
    [userId, "ada@example.com", traitsOfLife],
  ]);
}

describe("the life of a subscription", () => {
  test("is the events of the user with the customer's e-mail address", async () => {
    const token = await server.organization("Stripe by e-mail");
    expect((await server.post("/identify", token, { ...user("42"), email: "Ada@example.com" })).status).toBe(
      201,
    );
    await delivered(token, ...life);
    const events = await eventsOf("Stripe by e-mail");
    expect(events.map(({ event, userId }) => [event, userId])).toEqual(namesOfLife.map((one) => [one, "42"]));
    expect(events[2]).toMatchObject({
      properties: { plan: "Gold", fromPlan: "Team", amount: 9_900, fromAmount: 4_900, currency: "eur" },
    });
    const [ada, ...others] = await usersOf("Stripe by e-mail");
    expect([ada?.userId, ada?.email, others]).toEqual(["42", "Ada@example.com", []]);
    expect(ada?.properties).toMatchObject(traitsOfLife);
  }, 60_000);

  test("is the same when it comes backwards, and each of it twice", async () => {
    const token = await server.organization("Stripe backwards");
    const backwards = [...life].reverse();
    await delivered(token, ...backwards, ...backwards);
    await expectLife("Stripe backwards", "cus_1");
  }, 60_000);

  test("waits for who it is, and is the user's whom the checkout names", async () => {
    const owner = await withStripe("Stripe waits", { unknownCustomers: "wait" });
    await delivered(owner.token, ...life);
    expect(await eventsOf("Stripe waits")).toEqual([]);
    await delivered(
      owner.token,
      at("checkout.session.completed", 61, session({ client_reference_id: "42" })),
    );
    const events = await eventsOf("Stripe waits");
    expect(events.map(({ event, userId }) => [event, userId])).toEqual(
      [...namesOfLife, "checkout_completed"].map((event) => [event, "42"]),
    );
    const [ada] = await usersOf("Stripe waits");
    expect(ada).toMatchObject({ userId: "42", properties: traitsOfLife });
  }, 60_000);

  test("is no activity", async () => {
    const { token, browser } = await withStripe("Stripe is passive", {});
    const now = Math.floor(Date.now() / 1_000) - 60;
    const recent = (type: Stripe.Event["type"], object: object) =>
      stripeEvent(type, object, { created: now });
    const lastSeen = async () => {
      const path = `/api/users/cus_1?organization=${browser.organization}`;
      return (await browser.json<{ lastSeenDay: string | null }>("GET", path)).lastSeenDay;
    };
    await delivered(token, recent("customer.created", customer()), recent("invoice.paid", invoice()));
    expect((await eventsOf("Stripe is passive")).map(({ event }) => event)).toEqual(["payment_succeeded"]);
    expect(await lastSeen()).toBeNull();
    await server.post("/track", token, { userId: "cus_1", event: "opened" });
    expect(await eventsOf("Stripe is passive")).toHaveLength(2);
    expect(await lastSeen()).not.toBeNull();
  }, 60_000);
});

/** An organization with settings of Stripe's. */
async function withStripe(name: string, settings: object) {
  const token = await server.organization(name);
  const browser = await joined(server, name, "owner", `${name} owner`);
  if (Object.keys(settings).length > 0) {
    await browser.json("PATCH", `/api/stripe?organization=${browser.organization}`, settings);
  }
  return { token, browser };
}

describe("a signature", () => {
  test("is asked for once a secret is set, and a wrong one is refused", async () => {
    const { token } = await withStripe("Stripe signs", {
      signingSecrets: [signingSecret, "whsec_rolledover"],
    });
    const payload = JSON.stringify(at("customer.created", 0, customer()));
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
        path,
        payload,
        header === undefined ? {} : { "Stripe-Signature": header },
      );
      await expectError(response, "validation_error", why);
    }
    expect(await usersOf("Stripe signs")).toEqual([]);
    for (const secret of [signingSecret, "whsec_rolledover"]) {
      const response = await deliver(path, payload, { "Stripe-Signature": await signed(payload, secret) });
      expect(response.status).toBe(200);
    }
    expect(await usersOf("Stripe signs")).toHaveLength(1);
  }, 60_000);
});

describe("the token", () => {
  const body = at("customer.created", 0, customer());

  test("is taken from the address, a parameter or a header, and no other is", async () => {
    const token = await server.organization("Webhook tokens");
    const taken = [
      deliver(`/v1/webhooks/stripe/${token}`, body),
      deliver(`/v1/webhooks/stripe/${token}/`, body),
      deliver(`//v1/webhooks/stripe/${token}`, body),
      deliver(`/v1/webhooks/stripe?token=${token}`, body),
      server.post("/v1/webhooks/stripe", token, body),
      deliver("/v1/webhooks/stripe", body, { Authorization: `Basic ${btoa(`${token}:`)}` }),
    ];
    for (const response of await Promise.all(taken)) expect(response.status).toBe(200);
    const wrong = `rk-${"0".repeat(32)}`;
    for (const path of [`stripe/${wrong}`, "stripe", "stripe/", `stripe?token=${wrong}`, `forms/${wrong}`]) {
      await expectError(await deliver(`/v1/webhooks/${path}`, body), "invalid_write_key");
    }
    for (const path of [
      "/v1/webhooks",
      "/v1/webhooks/",
      `/v1/webhooks/No/${token}`,
      `/v1/webhooks/a/${token}/b`,
    ]) {
      await expectError(await deliver(path, body), "not_found");
    }
    const read = await fetch(`${server.url}/v1/webhooks/stripe/${token}`);
    expect([read.status, read.redirected]).toEqual([404, false]);
  }, 60_000);

  test("is in no log and in no live view, and neither is what an answer says", async () => {
    const { token, browser } = await withStripe("Webhook secrets", {});
    const stopping = new AbortController();
    const live = await fetch(`${server.url}/api/live?organization=${browser.organization}`, {
      ...{ headers: { Cookie: `rekindle_session=${browser.cookie}` }, signal: stopping.signal },
    });
    let shown = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of live.body ?? []) shown += decoder.decode(chunk, { stream: true });
    })().catch(() => undefined);
    const answers = [];
    for (const sent of [
      { ...body, token, link: `/v1/webhooks/stripe/${token}` },
      { nothing: token },
      "no JSON",
    ]) {
      answers.push(await (await deliver(`/v1/webhooks/stripe/${token}`, sent)).text());
    }
    const deadlineMs = performance.now() + 20_000;
    while ((shown.match(/^event: item$/gm) ?? []).length < 3) {
      if (performance.now() > deadlineMs) throw new Error(`not shown: ${shown}`);
      await Bun.sleep(20);
    }
    stopping.abort();
    await reading;
    expect(shown).toContain('"endpoint":"stripe"');
    for (const text of [shown, server.output(), ...answers]) expect(text).not.toContain(token);
  }, 60_000);
});

describe("a webhook of one's own", () => {
  const mapping = {
    ...{ items: "events", userId: "user.id", email: "user.email", event: { path: "type" }, messageId: "id" },
    ...{ timestamp: "at", traits: { plan: "user.plan" }, properties: "data" },
  };

  test("is read as its mapping says, each message once, good ones beside bad ones", async () => {
    const { name, token, owner, at: path } = await company(server, "Own webhook");
    await owner.json("POST", path("/api/webhooks"), { name: "forms", mapping }, 201);
    const message = (id: string, more: object = {}) => ({
      ...{ id, type: "Form sent", at: "2026-05-17T11:00:00+02:00", data: { form: "contact" } },
      ...{ user: { id: 42, email: "ada@example.com", plan: "Gold" }, ...more },
    });
    const rounded = message("m3", { data: { snowflake: 1 } });
    const text = JSON.stringify({
      events: [message("m1"), message("m1"), message("m2", { user: {} }), rounded],
    });
    const sent = text.replace('"snowflake":1', '"snowflake":1234567890123456789');
    const response = await deliver(`/v1/webhooks/forms/${token}`, sent, { "Content-Type": "text/plain" });
    expect([response.status, await response.json()]).toEqual([200, { success: true }]);
    const events = await eventsOf(name);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ event: "Form_sent", userId: "42", properties: { form: "contact" } });
    expect(await usersOf(name)).toEqual([
      expect.objectContaining({ userId: "42", email: "ada@example.com", properties: { plan: "Gold" } }),
    ]);
  }, 60_000);

  test("takes an array, and refuses what it cannot read and what nobody has set up", async () => {
    const { name, token, owner, at: path } = await company(server, "Array webhook");
    const called = { userId: "who", event: { text: "called" }, isActivity: true };
    await owner.json("POST", path("/api/webhooks"), { name: "calls", mapping: called }, 201);
    expect((await deliver(`/v1/webhooks/calls/${token}`, [{ who: "a" }, { who: "b" }])).status).toBe(200);
    expect(await server.command("export", "events", "--organization", name, "--format", "jsonl")).toBe("");
    const refused: readonly (readonly [string, unknown, string])[] = [
      ["calls", "no JSON", "body is not valid JSON"],
      ["others", {}, "There is no webhook called others"],
    ];
    for (const [webhook, body, why] of refused) {
      await expectError(await deliver(`/v1/webhooks/${webhook}/${token}`, body), "validation_error", why);
    }
    await server.post("/identify", token, user("a"));
    expect((await eventsOf(name)).map(({ event, userId }) => [event, userId])).toEqual([["called", "a"]]);
  }, 60_000);
});
