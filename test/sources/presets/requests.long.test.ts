/** Webhooks with a preset through HTTP: added by the API, sent to by the tool, read back as users and
 * events. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { WebhookPreset } from "../../../contract/source-settings.ts";
import { auditLog, company } from "../../people/support.ts";
import { Server } from "../../server.ts";
import { expectError, user } from "../../specification/support.ts";
import { deliver, eventsOf } from "../webhooks-support.ts";
import {
  chargebeeEvent,
  failed,
  paid,
  customer as payer,
  subscription as seats,
} from "./chargebee/payloads.ts";
import { customer, ending, notification, subscription, transaction } from "./paddle/payloads.ts";
import { endMs, refund, revenuecatEvent } from "./revenuecat/payloads.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
});
afterAll(() => server?.stop());

let organizations = 0;

interface Webhook {
  readonly id: number;
  readonly name: string;
}

/** An organization with the user `ada` and a webhook with this preset. */
async function withPreset(preset: WebhookPreset, settings: object = {}) {
  organizations += 1;
  const own = await company(server, `Preset ${preset} ${organizations}`);
  const { owner, at, token } = own;
  const body = { name: "billing", preset, ...settings };
  const webhook = await owner.json<Webhook>("POST", at("/api/webhooks"), body, 201);
  await server.post("/identify", token, { ...user("ada"), email: "ada@example.com" });
  const send = (payload: unknown, headers: Record<string, string> = {}) =>
    deliver(server, `/v1/webhooks/billing/${token}`, payload, headers);
  const sent = async (...payloads: readonly object[]) => {
    for (const payload of payloads) {
      const response = await send(payload);
      expect([response.status, await response.json()]).toEqual([200, { success: true }]);
    }
  };
  return { ...own, webhook, send, sent };
}

const names = (events: readonly Record<string, unknown>[]) => events.map(({ event }) => event);

describe("a webhook with a preset takes", () => {
  test("notifications of Paddle, in any order and twice, and finds the user by the address", async () => {
    const { name, sent } = await withPreset("paddle");
    const cycle = [
      notification("customer.created", customer(), "2026-05-01T10:00:00Z"),
      notification("subscription.created", subscription(), "2026-05-01T10:00:01Z"),
      notification("transaction.completed", transaction(), "2026-05-01T10:00:02Z"),
      notification("subscription.updated", ending(), "2026-05-10T10:00:00Z"),
      notification("subscription.updated", subscription(), "2026-05-11T10:00:00Z"),
    ];
    const [created, ...rest] = cycle;
    // The first of a customer names no address, and waits until an address is told.
    await sent(...rest.slice(0, 2), ...(created === undefined ? [] : [created]), ...rest, ...cycle);
    const events = await eventsOf(server, name);
    expect(names(events)).toEqual([
      "subscription_started",
      "payment_succeeded",
      "cancellation_scheduled",
      "subscription_changed",
      "cancellation_withdrawn",
    ]);
    for (const { userId, messageId } of events) {
      expect([userId, messageId]).toEqual(["ada", expect.stringMatching(/^webhook:billing:/)]);
    }
    expect(events[1]?.properties).toMatchObject({ amount: 46_980, currency: "USD", subscriptionId: "sub_1" });
    const [ada] = await server.exported("users", name);
    expect(ada?.properties).toEqual({
      plan: "Team",
      planAmount: 43_200,
      planCurrency: "USD",
      planInterval: "month",
      subscriptionStatus: "active",
      subscriptionEndsAt: null,
    });
  });

  test("events of Chargebee, with an account from custom fields", async () => {
    const { name, sent } = await withPreset("chargebee");
    const owned = { subscription: seats({ cf_account_id: "acme", cf_user_id: "ada" }), customer: payer() };
    await sent(
      chargebeeEvent("subscription_created", owned),
      chargebeeEvent("payment_succeeded", paid()),
      chargebeeEvent("payment_failed", failed()),
      chargebeeEvent("plan_created", {}),
    );
    const events = await eventsOf(server, name);
    expect(names(events).sort()).toEqual(["payment_failed", "payment_succeeded", "subscription_started"]);
    const [ada] = await server.exported("users", name);
    expect(ada).toMatchObject({
      userId: "ada",
      account: { id: "acme" },
      properties: { plan: "team-EUR-monthly", planAmount: 10_000, subscriptionStatus: "active" },
    });
  });

  test("events of RevenueCat, whose app knows the user", async () => {
    const { name, sent } = await withPreset("revenuecat");
    await sent(
      revenuecatEvent("TEST"),
      revenuecatEvent("INITIAL_PURCHASE"),
      revenuecatEvent("RENEWAL", { event_timestamp_ms: endMs, transaction_id: "2001" }),
      refund(),
    );
    const events = await eventsOf(server, name);
    expect(names(events).sort()).toEqual([
      "payment_refunded",
      "payment_succeeded",
      "payment_succeeded",
      "subscription_started",
      "subscription_started",
    ]);
    expect(new Set(events.map(({ userId }) => userId))).toEqual(new Set(["ada"]));
  });
});

test.each(["paddle", "chargebee", "revenuecat"] as const)(
  "%s: bodies of other tools are rejected with a reason, and nothing fails",
  async (preset) => {
    const { name, send, sent } = await withPreset(preset);
    for (const body of [[], {}, "text", 1, { event: 1 }, { event_id: [], event_type: {}, data: 1 }]) {
      await expectError(await send(JSON.stringify(body)), "validation_error", "body is not");
    }
    const odd = { id: "x", event_id: "y", occurred_at: {}, content: { customer: { id: "c" } } };
    const type = { paddle: "customer.updated", chargebee: "customer_changed", revenuecat: "CANCELLATION" }[
      preset
    ];
    const event = { id: "z", type, app_user_id: { a: 1 }, expiration_at_ms: "soon", price: [] };
    await sent({ ...odd, event_type: type, event, data: { id: "c", email: 7 } });
    expect(await eventsOf(server, name)).toEqual([]);
  },
);

describe("a secret", () => {
  const secret = "pdl_ntfset_secret_ABCD";

  test("of Paddle verifies signatures", async () => {
    const { send } = await withPreset("paddle", { secret });
    const payload = JSON.stringify(notification("subscription.created", subscription()));
    const signed = (key: string, text = payload, seconds = Math.floor(Date.now() / 1_000)) => {
      const h1 = createHmac("sha256", key).update(`${seconds}:${text}`).digest("hex");
      return { "Paddle-Signature": `ts=${seconds};h1=${"0".repeat(64)};h1=${h1}` };
    };
    expect((await send(payload, signed(secret))).status).toBe(200);
    const old = Math.floor(Date.now() / 1_000) - 400;
    for (const [headers, why] of [
      [{}, "Paddle-Signature is missing"],
      [{ "Paddle-Signature": "h1=1" }, "Paddle-Signature is not valid"],
      [signed("another"), "check the signing secret"],
      [signed(secret, `${payload} `), "check the signing secret"],
      [signed(secret, payload, old), "older than 5 minutes"],
      [signed(secret, payload, old + 800), "5 minutes in the future"],
    ] as const) {
      await expectError(await send(payload, headers), "validation_error", why);
    }
  });

  test.each([
    ["chargebee", "rekindle:password", (text: string) => `Basic ${btoa(text)}`],
    ["revenuecat", "Bearer a secret of ours", (text: string) => text],
  ] as const)("of %s is in the header Authorization", async (preset, own, headerOf) => {
    const { send } = await withPreset(preset, { secret: own });
    const payload = preset === "chargebee" ? chargebeeEvent("plan_created", {}) : revenuecatEvent("TEST");
    expect((await send(payload, { Authorization: headerOf(own) })).status).toBe(200);
    await expectError(await send(payload), "validation_error", "Authorization is missing");
    for (const wrong of [`${own}x`, own.slice(1)]) {
      const refused = await send(payload, { Authorization: headerOf(wrong) });
      await expectError(refused, "validation_error", "Authorization is not valid");
    }
  });

  test("is shown by its last four characters, changed, and removed", async () => {
    const { owner, viewer, at, webhook } = await withPreset("paddle", { secret: `${secret}EFGH` });
    const one = at(`/api/webhooks/${webhook.id}`);
    const shown = { name: "billing", preset: "paddle", mapping: null };
    expect(webhook).toMatchObject({ ...shown, secret: { lastFour: "EFGH" } });
    expect(await viewer.json("GET", at("/api/webhooks"))).toMatchObject({ webhooks: [webhook] });
    expect(await owner.json("PATCH", one, { secret })).toMatchObject({ secret: { lastFour: "ABCD" } });
    expect(await owner.json("PATCH", one, { secret: null })).toMatchObject({ ...shown, secret: null });
    await owner.done("DELETE", one);
    const log = await auditLog(owner);
    const ours = { name: "billing", preset: "paddle" };
    expect(log.slice(0, 4).map(({ summary, detail }) => [summary, detail])).toEqual([
      ["Deleted the webhook billing", { ...ours, secret: null }],
      [
        "Changed how the webhook billing is verified",
        {
          name: "billing",
          from: { preset: "paddle", secret: "ABCD" },
          to: { preset: "paddle", secret: null },
        },
      ],
      [
        "Changed how the webhook billing is verified",
        {
          name: "billing",
          from: { preset: "paddle", secret: "EFGH" },
          to: { preset: "paddle", secret: "ABCD" },
        },
      ],
      ["Added the webhook billing", { ...ours, secret: "EFGH" }],
    ]);
    for (const text of [JSON.stringify(log), server.output()]) expect(text).not.toContain("pdl_ntfset");
  });
});

test("a webhook has a mapping or a preset, and a preset is tried without storing anything", async () => {
  const { owner, at } = await company(server, "Preset or mapping");
  const mapping = { userId: "id", event: { text: "a" } };
  const wrong: readonly (readonly [object, string])[] = [
    [{ name: "a" }, "mapping is missing: send an object of paths, or the preset of a billing tool"],
    [{ name: "a", mapping, preset: "paddle" }, "exclude each other"],
    [
      { name: "a", preset: "recurly" },
      "preset is not valid: send one of paddle, chargebee, revenuecat, lemonsqueezy, polar",
    ],
    [{ name: "a", mapping, secret: "long enough" }, "signature is missing"],
    [{ name: "a", mapping, signature: "standard-webhooks" }, "secret is missing"],
    [{ name: "a", mapping, testMode: "take" }, "testMode belongs to a preset"],
    [{ name: "a", preset: "paddle", signature: "standard-webhooks" }, "signature belongs to a mapping"],
    [{ name: "a", mapping, secret: "long enough", signature: { header: "A B" } }, "signature"],
    [{ name: "a", preset: "paddle", secret: "short" }, "secret is not valid: send 8 to 200"],
    [{ name: "a", preset: "paddle", secret: "one\ntwo three" }, "secret is not valid: send 8 to 200"],
  ];
  for (const [body, message] of wrong) {
    await expectError(await owner.ask("POST", at("/api/webhooks"), body), "validation_error", message);
  }
  const { id } = await owner.json<Webhook>("POST", at("/api/webhooks"), { name: "a", mapping }, 201);
  const one = at(`/api/webhooks/${id}`);
  for (const [body, message] of [
    [{ secret: "long enough" }, "signature is missing"],
    [{ mapping, signature: "standard-webhooks" }, "secret is missing"],
    [{ testMode: "take" }, "only a webhook with a preset has it"],
  ] as const) {
    await expectError(await owner.ask("PATCH", one, body), "validation_error", message);
  }
  expect(await owner.json("PATCH", one, { mapping, secret: null })).toMatchObject({ secret: null });
  const payload = notification("subscription.created", subscription());
  const tried = await owner.json("POST", at("/api/webhooks/try"), { preset: "paddle", payload });
  expect(tried).toMatchObject({
    invalid: null,
    items: [{ items: [{ type: "identify" }, { type: "track", event: "subscription_started" }] }],
  });
  const nothing = await owner.json("POST", at("/api/webhooks/try"), { preset: "paddle", payload: {} });
  expect(nothing).toMatchObject({ invalid: expect.stringContaining("body is not"), items: [] });
});
