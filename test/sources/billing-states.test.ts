/** Status, payer, price and test mode as billing tools say them, through the front door. Each case was a
 * figure about somebody else. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WebhookPreset } from "../../contract/source-settings.ts";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { until } from "../until.ts";
import { chargebeeEvent, line, subscription as seats, startSeconds } from "./presets/chargebee/payloads.ts";
import { lemonsqueezyEvent, subscription as squeezed } from "./presets/lemonsqueezy/payloads.ts";
import { notification, subscription as ofPaddle } from "./presets/paddle/payloads.ts";
import { revenuecatEvent, startMs } from "./presets/revenuecat/payloads.ts";
import { invoice, price, subscription, subscriptionItem } from "./stripe-objects.ts";
import { identify, onDay, sent } from "./subscription-support.ts";
import { at, deliver, delivered } from "./webhooks-support.ts";

const server: Server = await ownServer(() => server, { time: quick });
const day = 86_400_000;
const metadata = { userId: "ada" };

/** An organization with the users ada and bob, a webhook with the preset, and who may change it. */
async function withPreset(name: string, preset: WebhookPreset, more: object = {}) {
  const token = await sent(server, name, identify("ada"), identify("bob"));
  const owner = await joined(server, name, "owner", `${name} owner`);
  const path = `/api/webhooks?organization=${owner.organization}`;
  const { id } = await owner.json<{ id: number }>("POST", path, { name: preset, preset, ...more }, 201);
  const send = async (...payloads: readonly object[]) => {
    for (const payload of payloads) {
      const response = await deliver(server, `/v1/webhooks/${preset}/${token}`, payload);
      expect(response.status).toBe(200);
    }
  };
  return { token, owner, send, webhook: `/api/webhooks/${id}?organization=${owner.organization}` };
}

/** The last change of each subscription: `user status mrr`. */
async function now(name: string): Promise<string[]> {
  const rows = await server.exported("subscriptions", name);
  const last = new Map(rows.map((row) => [row.subscriptionId, row]));
  return [...last.values()].map(({ userId, status, mrr }) => `${userId} ${status} ${mrr}`);
}

const overdue = at("invoice.overdue", 2, invoice({ id: "in_1", status: "open" }));
const isPastDue = subscription({ status: "past_due", collection_method: "send_invoice", metadata });
const created = subscription({ collection_method: "send_invoice", metadata });
const pastDue = at("customer.subscription.updated", 2, isPastDue, { status: "active" });

describe("a subscription is past due when the tool says so", () => {
  test("of Stripe, by an invoice that is overdue without a failed charge, in any order", async () => {
    const events = [at("customer.subscription.created", 0, created), overdue, pastDue];
    for (const [name, order] of [
      ["Overdue", events],
      ["Overdue backwards", events.toReversed()],
    ] as const) {
      const token = await sent(server, name, identify("ada"));
      await delivered(server, token, ...order);
      expect(await now(name)).toEqual(["ada past_due 4900"]);
    }
  });

  test("of Paddle and Chargebee, which make no charge of an invoice either", async () => {
    const paddle = await withPreset("Paddle overdue", "paddle");
    const custom_data = { user_id: "ada" };
    await paddle.send(notification("subscription.past_due", ofPaddle({ status: "past_due", custom_data })));
    expect(await now("Paddle overdue")).toEqual(["ada past_due 43200"]);
    const chargebee = await withPreset("Chargebee overdue", "chargebee");
    const of = (due_invoices_count: number, more: object = {}) => ({
      subscription: seats({ due_invoices_count, cf_user_id: "ada", ...more }),
      customer: { id: "cus_1" },
    });
    const later = { ...chargebeeEvent("payment_succeeded", of(1)), occurred_at: startSeconds + 60 };
    await chargebee.send(chargebeeEvent("subscription_created", of(0)), later);
    expect(await now("Chargebee overdue")).toEqual(["ada past_due 10000"]);
  });

  test("by /track and by an import, of an application or of Stripe's export", async () => {
    const token = await sent(server, "Told", identify("ada"));
    const start = { plan: "Team", amount: 4_900, currency: "EUR", interval: "month" };
    const track = (event: string, timestamp: string, properties: object) =>
      server.post("/track", token, {
        userId: "ada",
        event,
        timestamp,
        properties: { subscriptionId: "s", ...properties },
      });
    expect((await track("subscription_started", onDay(0), start)).status).toBe(201);
    expect((await track("subscription_changed", onDay(2), { status: "past_due" })).status).toBe(201);
    const wrong = await track("subscription_changed", onDay(3), { status: "overdue" });
    await expectError(wrong, "validation_error", "properties.status");
    expect(await now("Told")).toEqual(["ada past_due 4900"]);
    await sent(server, "Exported", identify("ada"));
    const file = join(server.dataDir, "past-due.jsonl");
    writeFileSync(file, `${JSON.stringify({ ...isPastDue, current_period_start: isPastDue.start_date })}\n`);
    await server.command("import", file, "--from", "stripe", "--organization", "Exported");
    expect(await now("Exported")).toEqual(["ada past_due 4900"]);
  });
});

describe("a complete object is a complete subscription", () => {
  test.each<[string, object]>([
    ["metadata alone", { metadata: {} }],
    ["a payment method", { default_payment_method: "pm_1" }],
    ["a status", { status: "past_due" }],
    ["a pause that is postponed", { pause_collection: null }],
  ])("first seen by an update of Stripe about %s", async (what, before) => {
    const name = `First seen, ${what}`;
    const token = await sent(server, name, identify("ada"));
    await delivered(
      server,
      token,
      at("customer.subscription.updated", 3, subscription({ metadata }), before),
    );
    expect(await now(name)).toEqual(["ada active 4900"]);
  });

  test("also one that is to end, and one of Paddle that was activated without a trial", async () => {
    const token = await sent(server, "First seen ending", identify("ada"));
    const ending = subscription({ cancel_at_period_end: true, metadata });
    await delivered(server, token, at("customer.subscription.updated", 3, ending, { metadata: {} }));
    expect(await server.exported("subscriptions", "First seen ending")).toMatchObject([
      { status: "active", mrr: 4_900, endsAt: expect.any(String) },
      { status: "canceled" },
    ]);
    const paddle = await withPreset("First seen by Paddle", "paddle");
    await paddle.send(notification("subscription.activated", ofPaddle({ custom_data: { user_id: "ada" } })));
    expect(await now("First seen by Paddle")).toEqual(["ada active 43200"]);
  });
});

describe("the payer moves when the tool says so", () => {
  const bought = { app_user_id: "ada", original_app_user_id: "ada", aliases: ["ada"] };
  const purchase = revenuecatEvent("INITIAL_PURCHASE", bought);
  const transfer = revenuecatEvent("TRANSFER", {
    app_user_id: undefined,
    original_app_user_id: undefined,
    aliases: undefined,
    transferred_from: ["ada"],
    transferred_to: ["bob"],
    event_timestamp_ms: startMs + 10 * day,
  });
  const renewal = revenuecatEvent("RENEWAL", {
    app_user_id: "bob",
    original_app_user_id: "ada",
    aliases: ["bob"],
    event_timestamp_ms: startMs + 31 * day,
    transaction_id: "2002",
  });

  test.each<[string, object[]]>([
    ["a transfer of RevenueCat", [purchase, transfer]],
    ["a renewal that names another user", [purchase, renewal]],
    ["both", [purchase, transfer, renewal]],
  ])("by %s", async (what, payloads) => {
    const name = `Transfer, ${what}`;
    const { send } = await withPreset(name, "revenuecat");
    await send(...payloads);
    expect(await now(name)).toEqual(["bob active 799"]);
    const users = await server.exported("users", name);
    const traits = users.map(({ userId, properties }) => [userId, (properties as { plan?: unknown }).plan]);
    const isMoved = payloads.includes(transfer);
    expect(traits).toEqual([
      ["ada", isMoved ? null : "pro.monthly"],
      ["bob", "pro.monthly"],
    ]);
  });

  test("which is no churn and no new payer in the figures, also of an account that is named", async () => {
    const start = { plan: "Team", amount: 8_000, currency: "USD", interval: "month" };
    const track = (event: string, timestamp: string, properties: object) => ({
      type: "track",
      userId: "ada",
      event,
      timestamp,
      properties: { subscriptionId: "s", ...properties },
    });
    await sent(
      server,
      "Moved accounts",
      identify("ada"),
      track("subscription_started", "2026-03-10T00:00:00Z", { ...start, accountId: "old" }),
      track("subscription_changed", "2026-04-10T00:00:00Z", { accountId: "new" }),
    );
    await server.exported("subscriptions", "Moved accounts");
    const owner = await joined(server, "Moved accounts", "owner", "Moved accounts owner");
    const { periods } = await owner.json<{ periods: object[] }>(
      "GET",
      `/api/revenue?organization=${owner.organization}&periods=1&to=2026-04-30`,
    );
    expect(periods).toMatchObject([
      {
        startMrr: 8_000,
        startPayers: 1,
        newMrr: 0,
        newPayers: 0,
        churnedMrr: 0,
        churnedPayers: 0,
        transferredInMrr: 8_000,
        transferredInPayers: 1,
        transferredOutMrr: 8_000,
        transferredOutPayers: 1,
        endMrr: 8_000,
        endPayers: 1,
        nrr: 1,
        grr: 1,
        logoChurn: 0,
      },
    ]);
    const { cells } = await owner.json<{ cells: object[] }>(
      "GET",
      `/api/revenue/cohorts?organization=${owner.organization}&periods=2&to=2026-04-30`,
    );
    expect(cells).toMatchObject([
      { cohortDay: "2026-03-01", payers: 1, entryMrr: 8_000, period: 0, mrr: 8_000 },
      { cohortDay: "2026-03-01", period: 1, mrr: 8_000 },
    ]);
  });
});

describe("test mode is no money", () => {
  const isWarned = (owner: Awaited<ReturnType<typeof joined>>) =>
    until("the warning is counted", async () => {
      const path = `/api/ingestion-warnings?organization=${owner.organization}&kind=test_mode_ignored`;
      const { warnings } = await owner.json<{ warnings: { count: number }[] }>("GET", path);
      return warnings[0]?.count === 1;
    });
  const ofTest = { ...at("customer.subscription.created", 0, created), livemode: false };

  test("of Stripe, unless its switch takes it for a first look", async () => {
    const token = await sent(server, "Stripe's test mode", identify("ada"));
    const owner = await joined(server, "Stripe's test mode", "owner", "Stripe's test mode owner");
    await delivered(server, token, ofTest);
    expect(await now("Stripe's test mode")).toEqual([]);
    const [ada] = await server.exported("users", "Stripe's test mode");
    expect(ada?.properties).toEqual({});
    await isWarned(owner);
    const settings = `/api/stripe?organization=${owner.organization}`;
    expect(await owner.json("GET", settings)).toMatchObject({ testMode: "ignore" });
    await owner.json("PATCH", settings, { testMode: "take" });
    await delivered(server, token, ofTest);
    expect(await now("Stripe's test mode")).toEqual(["ada active 4900"]);
  });

  test.each([
    ["revenuecat", revenuecatEvent("INITIAL_PURCHASE", { environment: "SANDBOX" })],
    [
      "lemonsqueezy",
      lemonsqueezyEvent("subscription_created", squeezed(), {
        test_mode: true,
        custom_data: { user_id: "ada" },
      }),
    ],
    [
      "paddle",
      {
        ...notification("subscription.created", ofPaddle({ custom_data: { user_id: "ada" } })),
        event_id: "ntfsimevt_1",
      },
    ],
    [
      "paddle",
      notification(
        "subscription.created",
        ofPaddle({
          custom_data: { user_id: "ada" },
          management_urls: { cancel: "https://sandbox-buyer-portal.paddle.com/x" },
        }),
      ),
    ],
  ] as const)("of %s, by its own mark, and its webhook has the switch", async (preset, payload) => {
    const name = `Test mode of ${preset} ${JSON.stringify(payload).length}`;
    const { send, owner, webhook } = await withPreset(name, preset);
    await send(payload);
    expect(await now(name)).toEqual([]);
    await isWarned(owner);
    expect(await owner.json("PATCH", webhook, { testMode: "take" })).toMatchObject({ testMode: "take" });
    await send(payload);
    expect(await now(name)).toHaveLength(1);
  });

  test("of Stripe's export", async () => {
    await sent(server, "Exported test", identify("ada"));
    const file = join(server.dataDir, "test-mode.jsonl");
    writeFileSync(file, `${JSON.stringify({ ...created, livemode: false })}\n`);
    const owner = await joined(server, "Exported test", "owner", "Exported test owner");
    await server.command("import", file, "--from", "stripe", "--organization", "Exported test");
    await isWarned(owner);
    expect(await now("Exported test")).toEqual([]);
  });
});

test("versions order changes of one second, whatever comes first", async () => {
  const of = (amount: number, resource_version: number) =>
    chargebeeEvent("subscription_changed", {
      subscription: seats({
        resource_version,
        cf_user_id: "ada",
        subscription_items: [line("team", "plan", amount, 1)],
      }),
      customer: { id: "cus_1" },
    });
  for (const order of [
    [of(5_000, 2), of(100, 1)],
    [of(100, 1), of(5_000, 2)],
  ]) {
    const name = `Versions ${JSON.stringify(order).indexOf("5000")}`;
    const { send } = await withPreset(name, "chargebee");
    await send(...order);
    expect(await now(name)).toEqual(["ada active 5000"]);
  }
});

describe("a price", () => {
  const tiered = { ...price({ unit_amount: null, billing_scheme: "tiered" }), unit_amount_decimal: null };
  const ofTiers = subscription({ metadata }, [subscriptionItem({ quantity: 12 }, tiered)]);
  const period = { start: ofTiers.start_date, end: ofTiers.start_date + 30 * 86_400 };
  const lineOf = (amount: number, more: object = {}) => ({
    object: "line_item",
    type: "subscription",
    amount,
    period,
    proration: false,
    price: tiered,
    ...more,
  });
  const newest = (amount: number, more: object = {}) =>
    lineOf(amount, {
      type: undefined,
      price: undefined,
      pricing: { type: "price_details", price_details: { price: "p" } },
      parent: { type: "subscription_item_details", subscription_item_details: { proration: false } },
      ...more,
    });
  const arrears = { period: { start: period.start - 30 * 86_400, end: period.start } };

  test.each<[string, object[], number]>([
    ["all tiers of the invoice", [lineOf(5_000), lineOf(1_400)], 6_400],
    ["also of the newest versions", [newest(5_000), newest(1_400)], 6_400],
    ["not what is metered", [lineOf(5_000), lineOf(900, arrears)], 5_000],
    [
      "not a proration, nor a charge of one time",
      [lineOf(5_000), lineOf(70, { proration: true }), lineOf(9, { type: "invoiceitem" })],
      5_000,
    ],
    [
      "its discounts and included tax",
      [
        lineOf(5_000, {
          discount_amounts: [{ amount: 500 }],
          tax_amounts: [
            { amount: 300, inclusive: true },
            { amount: 80, inclusive: false },
          ],
        }),
      ],
      4_200,
    ],
    [
      "a whole year",
      [lineOf(12_000, { period: { start: period.start, end: period.start + 365 * 86_400 } })],
      1_000,
    ],
  ])("in tiers has %s", async (what, data, mrr) => {
    const name = `Tiers, ${what}`;
    const token = await sent(server, name, identify("ada"));
    await delivered(server, token, at("customer.subscription.created", 0, ofTiers));
    expect(await now(name)).toEqual(["ada active 0"]);
    const paid = {
      ...invoice({ id: "in_1", amount_paid: 6_400, created: period.start }),
      lines: { object: "list", data },
    };
    await delivered(server, token, at("invoice.paid", 0, paid));
    expect(await now(name)).toEqual([`ada active ${mrr}`]);
  });
});
