/**
 * The life of an alert from the front door: events over HTTP are scored, a rule about accounts fires, its
 * messages arrive, and it ends days later. An account that is excluded before the morning is in no message of
 * it.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { zoneOf } from "../../server/calendar/zone.ts";
import { nextMorningMs } from "../../server/features/alerts/next-morning.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { documentOf, notDescribed } from "./described.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const msPerDay = 86_400_000;
const beganMs = Date.now();
/** Also far from 08:00, when the message to Slack is due. */
const zone = nextMorningMs(zoneOf(quietZone), beganMs) - beganMs > 1_800_000 ? quietZone : "Etc/GMT-3";
const today = todayIn(zone);
const morningMs = nextMorningMs(zoneOf(zone), beganMs);
let [server, receiver]: [Server, Receiver] = [] as never;
let ours: Awaited<ReturnType<typeof company>>;
let secret = "";

beforeAll(async () => {
  receiver = await startReceiver();
  server = await Server.start({
    time: quick,
    env: { ALLOW_PRIVATE_DESTINATIONS: receiver.allowed },
  });
  await server.ready();
  ours = await company(server, "Lively", "--timezone", zone);
});
afterAll(async () => {
  await server.stop();
  receiver.stop();
});

/** Sets the clock of the service. */
function setClock(ms: number): void {
  server.putClockAhead(ms - Date.now());
}

const daysAgo = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => beganMs - (first + at) * msPerDay);

/** Three members of an account open something at these times. */
async function open(account: string, times: readonly number[]): Promise<void> {
  const items = ["ada", "bob", "eve"].flatMap((one) => [
    {
      type: "identify",
      userId: `${one} of ${account}`,
      email: `${one}@${account}.example.com`,
      account: { id: account, name: `The ${account}` },
      timestamp: new Date(beganMs - 61 * msPerDay).toISOString(),
    },
    ...times.map((atMs) => ({
      type: "track",
      userId: `${one} of ${account}`,
      event: "opened",
      timestamp: new Date(atMs).toISOString(),
    })),
  ]);
  expect((await server.post("/batch", ours.token, { batch: items })).status).toBe(201);
}

/** Adds a destination. @returns its id */
async function destination(kind: "webhook" | "slack"): Promise<number> {
  const { owner, at } = ours;
  const wanted = { kind, name: kind, address: receiver.address(`/${kind}`) };
  const added = await owner.json<{ secret?: string; destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    wanted,
    201,
  );
  secret = added.secret ?? secret;
  return added.destination.id;
}

const got = (kind: "webhook" | "slack") => receiver.got.filter(({ path }) => path === `/${kind}`);
const webhooks = () => got("webhook").map(({ body }) => JSON.parse(body) as object);

test("a rule about the health of accounts fires once for each, by scores of events", async () => {
  await open("steady", daysAgo(1, 60));
  for (const account of ["engines", "tools"]) await open(account, daysAgo(25, 60));
  const destinations = [await destination("webhook"), await destination("slack")];
  const rule = {
    name: "Low health",
    scope: { kind: "accounts" },
    condition: { kind: "healthBelow", below: 60 },
    destinations,
    includeCurrent: true,
    when: "08:00",
    cooldownDays: 3,
  };
  await ours.owner.json("POST", ours.at("/api/alert-rules"), rule, 201);
  await server.command("score", "--organization", "Lively");
  await until(
    "both webhooks have arrived",
    () => webhooks(),
    ({ length }) => length === 2,
  );
  const named = (account: string) => ({
    type: "alert.fired",
    data: { entity: { kind: "account", id: account, name: `The ${account}` }, day: formatDay(today) },
  });
  for (const { body, headers } of got("webhook")) new Webhook(secret).verify(body, headers);
  expect(webhooks().toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))).toMatchObject([
    named("engines"),
    named("tools"),
  ]);
});

/** A rule about failed payments that names one account in its message of the morning, and the payments of
 * two. @returns its id */
async function failedPayments(slack: number): Promise<number> {
  const { owner, at } = ours;
  const rule = {
    name: "Payment failed",
    scope: { kind: "accounts" },
    condition: { kind: "paymentFailed" },
    destinations: [slack],
    when: "08:00",
    cap: 1,
  };
  const { id } = await owner.json<{ id: number }>("POST", at("/api/alert-rules"), rule, 201);
  const own = async () => {
    const { rules } = await owner.json<{ rules: Rule[] }>("GET", at("/api/alert-rules"));
    return rules.find((one) => one.id === id);
  };
  await until(
    "the rule has a start",
    async () => (await own())?.decidedThrough,
    (seen) => seen != null,
  );
  // They have the same risk, so the first one comes first.
  for (const [index, account] of ["tools", "engines"].entries()) {
    const event = { type: "track", userId: `ada of ${account}`, event: "payment_failed" };
    const properties = { subscriptionId: `of ${account}`, amount: 900, currency: "USD" };
    expect((await server.post("/batch", ours.token, { batch: [{ ...event, properties }] })).status).toBe(201);
    await until(
      "the alert has fired",
      async () => (await own())?.openAlerts,
      (seen) => seen === index + 1,
    );
  }
  return id;
}

interface Rule {
  readonly id: number;
  readonly decidedThrough: string | null;
  readonly openAlerts: number;
}

test("an account that is excluded before the morning leaves the messages to Slack, and another takes its place", async () => {
  const { organization } = ours.owner;
  const absent = () => Promise.reject(new Error("is not asked for here"));
  const ledger = remoteLedger(join(server.dataDir, "control.sock"), { read: absent, snapshot: absent });
  const slack = (await ledger.destinations.list(organization)).find(({ kind }) => kind === "slack");
  const payments = await failedPayments(slack?.id ?? 0);
  const waiting = await ledger.deliveries.list(organization, { state: "pending", limit: 9 });
  expect(waiting.map(({ dueAtMs, body }) => [dueAtMs, body])).toEqual([
    [morningMs, ""],
    [morningMs, ""],
  ]);
  await server.command("exclude", "add", "--organization", "Lively", "--account", "tools");
  setClock(morningMs - 60_000);
  type List = { freshness: { excludedUsers: number } };
  await until(
    "the members of the account are excluded",
    () => ours.owner.json<List>("GET", ours.at("/api/users")),
    ({ freshness }) => freshness.excludedUsers === 3,
  );
  expect(got("slack")).toEqual([]);
  setClock(morningMs + 1_000);
  await until(
    "the digest has arrived",
    () => got("slack"),
    ({ length }) => length > 1,
  );
  for (const rule of ["Low health", "Payment failed"]) {
    const { body } = got("slack").find((one) => one.body.includes(rule)) ?? { body: "" };
    expect(body).toContain(`${rule}: 1 alert fired.`);
    expect([body.includes("The engines"), body.includes("The tools")]).toEqual([true, false]);
  }
  await ours.owner.done("DELETE", ours.at(`/api/alert-rules/${payments}`));
});

test("the alert ends after two days out and the cooldown, and its end reaches the webhook as the document describes it", async () => {
  await open("engines", daysAgo(1, 24));
  for (const days of [1, 2, 3]) {
    setClock(morningMs + days * msPerDay);
    await open("steady", [morningMs + (days - 0.5) * msPerDay]);
    await server.command("score", "--organization", "Lively");
    await until("the rule has decided the day", async () => {
      const { rules } = await ours.owner.json<{ rules: { decidedThrough: string }[] }>(
        "GET",
        ours.at("/api/alert-rules"),
      );
      return rules[0]?.decidedThrough === formatDay(zoneOf(zone).dayOf(morningMs) + days);
    });
  }
  await until(
    "a further webhook has arrived",
    () => webhooks(),
    ({ length }) => length > 2,
  );
  expect(webhooks().slice(2)).toMatchObject([
    {
      type: "alert.resolved",
      data: {
        rule: { name: "Low health" },
        entity: { id: "engines" },
        firedDay: formatDay(today),
        why: "resolved",
        text: "Low health: The engines is no longer in this state.",
      },
    },
  ]);
  const document = await documentOf(server);
  expect(got("webhook").flatMap(({ body }) => notDescribed(document, body))).toEqual([]);
  const { alerts } = await ours.owner.json<{ alerts: { entityId: string; closedWhy: string }[] }>(
    "GET",
    `${ours.at("/api/alerts")}&state=all`,
  );
  expect(alerts.map(({ entityId, closedWhy }) => [entityId, closedWhy]).toSorted()).toEqual([
    ["engines", "resolved"],
    ["tools", "excluded"],
  ]);
});
