/** Moments from the front door: events and people over HTTP, a look, and messages that reach their
 * receiver. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { quietZone } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { logsRuns, twoMoreRuns } from "./polled.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

interface Rules {
  readonly rules: readonly { readonly decidedThrough: string | null; readonly openAlerts: number }[];
}
interface Message {
  readonly type: string;
  readonly data: { readonly rule: { readonly name: string }; readonly entity: { readonly id: string } };
}

const conditions = ["paymentFailed", "cancellationScheduled", "lastOwnerRemoved"] as const;
let server: Server;
let receiver: Receiver;
let ours: Awaited<ReturnType<typeof company>>;

beforeAll(async () => {
  receiver = await startReceiver();
  const env = { ...logsRuns, ALLOW_PRIVATE_DESTINATIONS: receiver.allowed };
  server = await Server.start({ time: quick, env });
  await server.ready();
  ours = await company(server, "Moments", "--timezone", quietZone);
});
afterAll(async () => {
  await server.stop();
  receiver.stop();
});

/** Sends items, of which none is rejected. */
async function send(...batch: readonly object[]): Promise<void> {
  const response = await server.post("/batch", ours.token, { batch });
  expect([response.status, ((await response.json()) as { rejected: unknown }).rejected]).toEqual([201, []]);
}

const member = (userId: string, accountId: string, isAccountOwner: boolean) => ({
  type: "identify",
  userId,
  email: `${userId}@example.com`,
  isAccountOwner,
  account: { id: accountId, name: `Name of ${accountId}` },
});

const billing = (userId: string, event: string, properties: object) => ({
  type: "track",
  userId,
  event,
  properties: { subscriptionId: `of ${userId}`, ...properties },
});

const told = () =>
  receiver.got.map(({ body }) => {
    const { type, data } = JSON.parse(body) as Message;
    return [type, data.rule.name, data.entity.id];
  });

test("a failed payment, a scheduled cancellation and the last owner's removal reach their receiver, once each", async () => {
  const { owner, at } = ours;
  await send(member("ada", "engines", true), member("bob", "engines", false), member("eve", "looms", true));
  const hook = { kind: "webhook", name: "hook", address: receiver.address("/200") };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    hook,
    201,
  );
  const token = { kind: "slack", name: "channel", address: receiver.address("/slack") };
  const channel = await owner.json<{ destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    token,
    201,
  );
  const destinations = [destination.id, channel.destination.id];
  for (const kind of conditions) {
    const rule = {
      name: kind,
      scope: { kind: "accounts" },
      condition: { kind },
      when: "08:00",
      destinations,
    };
    await owner.json("POST", at("/api/alert-rules"), rule, 201);
  }
  const rules = async () => (await owner.json<Rules>("GET", at("/api/alert-rules"))).rules;
  await until("all rules have a start", async () =>
    (await rules()).every(({ decidedThrough }) => decidedThrough !== null),
  );

  await send(billing("ada", "payment_failed", { amount: 900, currency: "USD" }));
  await until(
    "the first alert is told",
    () => told(),
    ({ length }) => length === 1,
  );
  await send(
    billing("eve", "payment_failed", { amount: 900, currency: "USD" }),
    billing("ada", "cancellation_scheduled", { endsAt: new Date(Date.now() + 7 * 86_400_000).toISOString() }),
    member("ada", "engines", false),
  );
  await until(
    "all four alerts are told",
    () => told(),
    ({ length }) => length >= 4,
  );
  await twoMoreRuns(server, "moments");
  expect(told().toSorted()).toEqual([
    ["alert.fired", "cancellationScheduled", "engines"],
    ["alert.fired", "lastOwnerRemoved", "engines"],
    ["alert.fired", "paymentFailed", "engines"],
    ["alert.fired", "paymentFailed", "looms"],
  ]);
  expect((await rules()).map(({ openAlerts }) => openAlerts).toSorted()).toEqual([1, 1, 2]);
  // The channel gets one message of each rule in the morning.
  const list = `${at("/api/deliveries")}&destination=${channel.destination.id}`;
  const { deliveries } = await owner.json<{ deliveries: readonly { readonly state: string }[] }>("GET", list);
  expect(deliveries.map(({ state }) => state)).toEqual(["pending", "pending", "pending"]);
});

test("a rule that was saved or resumed just now fires for the next event, and for none while it was paused", async () => {
  const { owner, at } = ours;
  const failed = (userId: string, subscriptionId: string) =>
    send(billing(userId, "payment_failed", { subscriptionId, amount: 900, currency: "USD" }));
  const body = { name: "now", scope: { kind: "users" }, condition: { kind: "paymentFailed" } };
  const rule = await owner.json<{ id: number }>("POST", at("/api/alert-rules"), body, 201);
  await failed("ada", "first");
  const alerts = async () => {
    const path = `${at("/api/alerts")}&rule=${rule.id}&state=all`;
    const { alerts: all } = await owner.json<{ alerts: { entityId: string }[] }>("GET", path);
    return all.map(({ entityId }) => entityId).toSorted();
  };
  const become = (expected: readonly string[]) =>
    until("alerts", alerts, (seen) => JSON.stringify(seen) === JSON.stringify(expected));
  await become(["ada"]);
  const change = (what: "pause" | "resume") => owner.json("POST", at(`/api/alert-rules/${rule.id}/${what}`));
  await change("pause");
  await failed("bob", "while paused");
  await server.exported("events", "Moments");
  await change("resume");
  await failed("eve", "second");
  await become(["ada", "eve"]);
  await twoMoreRuns(server, "moments");
  expect(await alerts()).toEqual(["ada", "eve"]);
});
