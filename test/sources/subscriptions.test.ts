/** Subscriptions over HTTP: the same facts by /track, /batch, import and Stripe end in the same changes. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownServer } from "../own-server.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { expectError, expectSuccess } from "../specification/support.ts";
import { invoice, price, startSeconds, subscription, subscriptionItem } from "./stripe-objects.ts";
import { agreement, asTracked, expected, identify, onDay, periodEnd, sent } from "./subscription-support.ts";
import { at, delivered } from "./webhooks-support.ts";

export const runsOn = { postgres: true };

const server: Server = await ownServer(() => server, { time: quick });
const goldPrice = price({ nickname: "Gold", unit_amount: 9_900 });
const gold = [subscriptionItem({}, goldPrice)];
/** Its second month is paid for. */
const renewedGold = [subscriptionItem({ current_period_end: startSeconds + 60 * 86_400 }, goldPrice)];
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
    subscription({ metadata: { userId: "ada" }, cancel_at: startSeconds + 60 * 86_400 }, renewedGold),
    {
      cancel_at: null,
    },
  ),
];

describe("a subscription", () => {
  test("has the same changes by /track and by Stripe's webhooks", async () => {
    const tracked = await sent(server, "By track", identify("ada"));
    for (const { type: _, ...body } of asTracked())
      await expectSuccess(await server.post("/track", tracked, body));
    expect(await server.exported("subscriptions", "By track")).toEqual(expected());
    const stripe = await sent(server, "By Stripe", identify("ada"));
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
    await sent(server, "Backwards", identify("ada"), ...asTracked().reverse());
    expect(await server.exported("subscriptions", "Backwards")).toEqual(expected());
    const file = join(server.dataDir, "billing.jsonl");
    const lines = asTracked().map((one) => JSON.stringify({ ...one, isActivity: true }));
    writeFileSync(file, `${lines.join("\n")}\n`);
    await sent(server, "Imported", identify("ada"));
    await server.command("import", file, "--type", "events", "--organization", "Imported");
    expect(await server.exported("subscriptions", "Imported")).toEqual(expected());
    const events = await server.exported("events", "Imported");
    expect(events.map(({ isActivity }) => isActivity)).toEqual(lines.map(() => false));
  });

  test("is in every format of an export", async () => {
    await sent(server, "Formats", identify("ada"), ...asTracked());
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
      `sub_1,ada,acme,${onDay(0)},active,Team,49.00,EUR,1,${periodEnd},,false`,
    );
    expect(scheduled?.replaceAll('"', "")).toContain(`,${onDay(60)},false`);
  });

  test("is refused with a wrong value, which the error names, and ordinary events are not", async () => {
    const token = await sent(server, "Refused", identify("ada"));
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
