/** Subscriptions over HTTP: the same facts by /track, /batch, import and Stripe end in the same changes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesWith, removeOldParts } from "../erasure/support.ts";
import { Server } from "../server.ts";
import { expectError, expectSuccess } from "../specification/support.ts";
import { invoice, price, startSeconds, subscription, subscriptionItem } from "./stripe-objects.ts";
import { at, delivered } from "./webhooks-support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start();
  await server.ready();
}, 180_000);
afterAll(async () => {
  await server.stop();
  rmSync(server.dataDir, { recursive: true, force: true });
});

const agreement = (organization: string) => `${organization}: ledger, events and rollups agree`;
const onDay = (day: number) => new Date((startSeconds + day * 86_400) * 1_000).toISOString();

const gold = [subscriptionItem({}, price({ nickname: "Gold", unit_amount: 9_900 }))];
const asStripe = [
  at("customer.subscription.created", 0, subscription({ metadata: { userId: "ada", accountId: "acme" } })),
  at("invoice.paid", 1, invoice({ id: "in_1" })),
  at("customer.subscription.updated", 20, subscription({ metadata: { userId: "ada" } }, gold), {
    items: { data: [subscriptionItem()] },
  }),
  at("invoice.payment_failed", 30, invoice({ id: "in_2", amount_due: 9_900 })),
  at("invoice.paid", 33, invoice({ id: "in_2", amount_paid: 9_900 })),
  at(
    "customer.subscription.updated",
    40,
    subscription({ metadata: { userId: "ada" }, cancel_at: startSeconds + 60 * 86_400 }, gold),
    {
      cancel_at: null,
    },
  ),
];

const periodEnd = onDay(30);
const team = {
  plan: "Team",
  amount: 4_900,
  currency: "EUR",
  interval: "month",
  quantity: 1,
  currentPeriodEnd: periodEnd,
};
const asTracked = (subscriptionId = "sub_1", userId = "ada", accountId = "acme") => {
  const track = (day: number, event: string, properties: object) => ({
    ...{ type: "track", userId, event, timestamp: onDay(day), messageId: `${subscriptionId} ${day}` },
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
const identify = (userId: string) => ({ type: "identify", userId, email: `${userId}@example.com` });

const expected = (subscriptionId = "sub_1", userId = "ada", accountId: string | null = "acme") => {
  const change = (day: number, status: string, plan: string, mrr: number, endsAt: string | null = null) => ({
    ...{
      subscriptionId,
      userId,
      accountId,
      from: onDay(day),
      status,
      plan,
      mrr,
      currency: "EUR",
      quantity: 1,
    },
    ...{ currentPeriodEnd: periodEnd, endsAt, isInvoluntary: false },
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

async function sent(name: string, ...batch: readonly object[]): Promise<string> {
  const token = await server.organization(name);
  const response = await server.post("/batch", token, { batch });
  expect(await response.json()).toMatchObject({ accepted: batch.length, rejected: [] });
  return token;
}

describe("a subscription", () => {
  test("has the same changes by /track and by Stripe's webhooks", async () => {
    const tracked = await sent("By track", identify("ada"));
    for (const { type: _, ...body } of asTracked())
      await expectSuccess(await server.post("/track", tracked, body));
    expect(await server.exported("subscriptions", "By track")).toEqual(expected());
    const stripe = await sent("By Stripe", identify("ada"));
    await delivered(server, stripe, ...asStripe);
    expect(await server.exported("subscriptions", "By Stripe")).toEqual(expected());
    for (const name of ["By track", "By Stripe"]) {
      expect(await server.command("doctor")).toContain(agreement(name));
      const accounts = await server.exported("accounts", name);
      expect(accounts.map(({ id }) => id)).toEqual(["acme"]);
    }
    // A payer is no account of the user.
    const [ada] = await server.exported("users", "By track");
    expect(ada?.account).toBeNull();
  });

  test("has them from an import, and when its events come backwards and twice", async () => {
    await sent("Backwards", identify("ada"), ...asTracked().reverse());
    expect(await server.exported("subscriptions", "Backwards")).toEqual(expected());
    const file = join(server.dataDir, "billing.jsonl");
    const lines = asTracked().map((one) => JSON.stringify({ ...one, isActivity: true }));
    writeFileSync(file, `${lines.join("\n")}\n`);
    await sent("Imported", identify("ada"));
    await server.command("import", file, "--type", "events", "--organization", "Imported");
    expect(await server.exported("subscriptions", "Imported")).toEqual(expected());
    const events = await server.exported("events", "Imported");
    expect(events.map(({ isActivity }) => isActivity)).toEqual(lines.map(() => false));
  });

  test("is in every format of an export", async () => {
    await sent("Formats", identify("ada"), ...asTracked());
    const csv = await server.command(
      "export",
      "subscriptions",
      "--organization",
      "Formats",
      "--format",
      "csv",
    );
    const [header, first, , , , scheduled] = csv.split("\r\n");
    expect(header?.replaceAll('"', "")).toBe(
      "subscriptionId,userId,accountId,from,status,plan,mrr,currency,quantity,currentPeriodEnd,endsAt,isInvoluntary",
    );
    expect(first?.replaceAll('"', "")).toBe(
      `sub_1,ada,acme,${onDay(0)},active,Team,4900,EUR,1,${periodEnd},,false`,
    );
    expect(scheduled?.replaceAll('"', "")).toContain(`,${onDay(60)},false`);
  });

  test("is refused with a wrong value, which the error names, and ordinary events are not", async () => {
    const token = await sent("Refused", identify("ada"));
    const wrong = {
      ...asTracked()[0],
      properties: { subscriptionId: "sub_1", amount: 49.5, currency: "EUR" },
    };
    const { type: _, ...body } = wrong;
    await expectError(await server.post("/track", token, body), "validation_error", "properties.amount");
    const answer = await (await server.post("/batch", token, { batch: [wrong, ...asTracked()] })).json();
    expect(answer).toMatchObject({ accepted: 6, rejected: [{ index: 0, name: "validation_error" }] });
    const browser = (
      await server.command("token", "create", "--organization", "Refused", "--scope", "browser")
    ).trim();
    const payment = { userId: "ada", event: "payment_succeeded", properties: { amount: 1, currency: "EUR" } };
    await expectError(await server.post("/track", browser, payment), "validation_error", "browser token");
    await expectSuccess(await server.post("/track", browser, { ...payment, properties: {} }));
    expect(await server.exported("subscriptions", "Refused")).toEqual(expected());
  });
});

test("an erased user and account leave no billing event and no change, and the others are whole", async () => {
  await sent(
    "Erased",
    ...["ada", "MARKER-user"].map(identify),
    ...asTracked("sub_1", "ada", "MARKER-account"),
    ...asTracked("MARKER-sub", "MARKER-user", "acme"),
    ...asTracked("sub_3", "ada", "acme"),
  );
  const all = [
    expected("sub_1", "ada", "MARKER-account"),
    expected("sub_3"),
    expected("MARKER-sub", "MARKER-user"),
  ];
  const before = await server.exported("subscriptions", "Erased");
  expect(new Set(before.map((one) => JSON.stringify(one)))).toEqual(
    new Set(all.flat().map((one) => JSON.stringify(one))),
  );
  await server.command("erase", "user", "MARKER-user", "--organization", "Erased");
  await server.command("erase", "account", "MARKER-account", "--organization", "Erased");
  const left = [...expected("sub_1", "ada", null), ...expected("sub_3")];
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  expect(JSON.stringify(await server.exported("events", "Erased"))).not.toContain("MARKER");
  expect(await server.command("doctor")).toContain(agreement("Erased"));
  await server.command("rebuild", "--organization", "Erased");
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  expect(await server.command("doctor")).toContain(agreement("Erased"));
  await server.command("organization", "set", "Erased", "--timezone", "Asia/Tokyo");
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  await server.crash();
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  await server.kill("SIGTERM");
  await removeOldParts(server.dataDir);
  expect(await filesWith(server.dataDir, "MARKER")).toEqual([]);
}, 120_000);
