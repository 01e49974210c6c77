/** Cards that end before the renewal from the front door: billing events and Stripe's messages, an alert, and
 * its message to a receiver. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { quietZone } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { stripeEvent, subscription, subscriptionItem } from "../sources/stripe-objects.ts";
import { delivered } from "../sources/webhooks-support.ts";
import { until } from "../until.ts";
import { logsRuns, twoMoreRuns } from "./polled.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

interface Told {
  readonly text: string;
  readonly entity: { readonly id: string };
  readonly reasons: readonly string[];
}

const msPerDay = 86_400_000;
const renewsAt = new Date(Date.now() + 12 * msPerDay);
/** The month before that of the renewal. */
const ended = new Date(Date.UTC(renewsAt.getUTCFullYear(), renewsAt.getUTCMonth() - 1, 1));
const lastMonth = ended.toISOString().slice(0, 7);
let server: Server;
let receiver: Receiver;
let ours: Awaited<ReturnType<typeof company>>;

beforeAll(async () => {
  receiver = await startReceiver();
  const env = { ...logsRuns, ALLOW_PRIVATE_DESTINATIONS: receiver.allowed };
  server = await Server.start({ time: quick, env });
  await server.ready();
  ours = await company(server, "Cards", "--timezone", quietZone);
});
afterAll(async () => {
  await server.stop();
  receiver.stop();
});

const track = (userId: string, event: string, properties: object) => ({
  type: "track",
  userId,
  event,
  properties,
});
const identify = (userId: string, accountId: string) => ({
  type: "identify",
  userId,
  email: `${userId}@example.com`,
  account: { id: accountId, name: `The ${accountId}` },
});
const started = (userId: string) =>
  track(userId, "subscription_started", {
    subscriptionId: `of ${userId}`,
    plan: "Team",
    amount: 4_900,
    currency: "USD",
    interval: "month",
    currentPeriodEnd: renewsAt.toISOString(),
  });

async function send(...batch: readonly object[]): Promise<void> {
  const response = await server.post("/batch", ours.token, { batch });
  expect([response.status, ((await response.json()) as { rejected: unknown }).rejected]).toEqual([201, []]);
}

const told = () => receiver.got.map(({ body }) => (JSON.parse(body) as { readonly data: Told }).data);

test("a card by a billing event and one by Stripe fire once each, and a card that lasts does not", async () => {
  const { owner, at } = ours;
  await send(...["ada", "bob", "eve", "zoe"].map((one) => identify(one, `${one}s`)));
  const hook = { kind: "webhook", name: "hook", address: receiver.address("/200") };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    hook,
    201,
  );
  const rule = {
    name: "Card",
    scope: { kind: "accounts" },
    condition: { kind: "cardExpires" },
    destinations: [destination.id],
  };
  await owner.json("POST", at("/api/alert-rules"), rule, 201);
  await until("the rule has a start", async () => {
    const path = at("/api/alert-rules");
    const { rules } = await owner.json<{ rules: { decidedThrough: string | null }[] }>("GET", path);
    return rules.every(({ decidedThrough }) => decidedThrough !== null);
  });
  // Stripe has whole seconds: the next one is after the rule was saved.
  const now = Math.floor(Date.now() / 1_000) + 1;
  const card = (year: number) => ({
    id: "pm_1",
    object: "payment_method",
    customer: "cus_1",
    livemode: true,
    type: "card",
    billing_details: { email: "bob@example.com" },
    metadata: { userId: "bob" },
    card: { exp_month: ended.getUTCMonth() + 1, exp_year: year, last4: "4242" },
  });
  const stripes = subscription({ metadata: { userId: "bob" }, created: now }, [
    subscriptionItem({ current_period_end: Math.floor(renewsAt.getTime() / 1_000) }),
  ]);
  type Type = Parameters<typeof stripeEvent>[0];
  await send(
    ...["ada", "eve", "zoe"].map(started),
    track("ada", "card_updated", { cardExpires: lastMonth }),
    track("eve", "card_updated", { cardExpires: `${renewsAt.getUTCFullYear() + 2}-01` }),
    // The accountant pays for another account than their own.
    track("zoe", "card_updated", { cardExpires: lastMonth, accountId: "nobody's" }),
  );
  await delivered(
    server,
    ours.token,
    stripeEvent("customer.subscription.created", stripes, { created: now }),
    stripeEvent("payment_method.attached" as Type, card(ended.getUTCFullYear()), { created: now }),
  );
  await until("both alerts are told", told, ({ length }) => length >= 2);
  await twoMoreRuns(server, "moments");
  const [year, month] = lastMonth.split("-");
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: quietZone });
  const sentence = `Card ends in ${month}/${year}, renewal on ${day.format(renewsAt).replace("Sept", "Sep")}`;
  expect(
    told()
      .map(({ entity, reasons }) => [entity.id, reasons[0]])
      .toSorted(),
  ).toEqual([
    ["adas", sentence],
    ["bobs", sentence],
  ]);
  expect(told()[0]?.text).toContain(sentence);
  const list = await owner.json<{ alerts: readonly object[] }>("GET", at("/api/alerts"));
  expect(list.alerts).toHaveLength(2);
  expect(JSON.stringify(await server.exported("events", "Cards"))).not.toContain("4242");
});

test("a card with a wrong month is refused, by the field", async () => {
  const response = await server.post("/track", ours.token, {
    userId: "ada",
    event: "card_updated",
    properties: { cardExpires: "11/26" },
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("properties.cardExpires is not a month");
});
