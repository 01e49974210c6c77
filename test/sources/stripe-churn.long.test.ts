/** Stripe's events as churn: from its webhook to the scores of a user and an account. Activity plays no part
 * in it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type Stripe from "stripe";
import type { Static } from "typebox";
import type { HistoryAnswer, ScoreAnswer } from "../../contract/api/scores.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { customer, stripeEvent, subscription } from "./stripe-objects.ts";
import { delivered } from "./webhooks-support.ts";

const organization = "Stripe churn";
const today = todayIn(quietZone);
const noon = (daysAgo: number) => `${formatDay(today - daysAgo)}T12:00:00Z`;

let server: Server;
let token = "";
let key = "";

/** Users with their accounts, each active on every day up to yesterday. The last one stopped 40 days ago. */
const users = [
  ["ada", "canceling-co"],
  ["colleague", "canceling-co"],
  ["bob", "resuming-co"],
  ["silent", "silent-co"],
] as const;

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  token = await server.organization(organization, "--timezone", quietZone);
  key = (await server.command("key", "create", "--organization", organization)).trim();
  const batch = users.flatMap(([userId, id]) => [
    { type: "identify", userId, email: `${userId}@example.com`, account: { id, name: id } },
    ...Array.from({ length: 60 }, (_, index) => ({
      type: "track",
      userId,
      event: "opened",
      timestamp: noon(index + (userId === "silent" ? 40 : 1)),
    })),
  ]);
  const response = await server.post("/batch", token, { batch });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
});
afterAll(() => server?.stop());

/** An event of Stripe's about a user's customer or subscription. */
function ofUser(userId: string, type: Stripe.Event["type"], daysAgo: number) {
  const id = `cus_${userId}`;
  const object =
    type === "customer.created"
      ? customer({ id, email: `${userId}@example.com` })
      : subscription({
          id: `sub_${userId}`,
          customer: id,
          status: type === "customer.subscription.deleted" ? "canceled" : "active",
        });
  return stripeEvent(type, object, {
    id: `evt_${userId}_${type}`,
    created: Date.parse(noon(daysAgo)) / 1_000,
  });
}

async function ask<Answer>(path: string): Promise<Answer> {
  const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
  expect([path, response.status]).toEqual([path, 200]);
  return response.json() as Promise<Answer>;
}

const scoreOf = (path: string) => ask<Static<typeof ScoreAnswer>>(`/api/${path}/score`);

const setTargets = (target: string) =>
  server.command(
    "settings",
    "set",
    "--organization",
    organization,
    "--user-churn",
    target,
    "--account-churn",
    target,
  );
const scoreAsOf = (daysAgo: number) =>
  server.command("score", "--organization", organization, "--as-of", formatDay(today - daysAgo));

test("a user and the account have churned by a subscription that ended, unless it was resumed", async () => {
  await delivered(
    server,
    token,
    ...["ada", "bob"].flatMap((userId) => [
      ofUser(userId, "customer.created", 50),
      ofUser(userId, "customer.subscription.created", 50),
    ]),
    // The order of arrival is not that of time.
    ofUser("bob", "customer.subscription.resumed", 8),
    ofUser("bob", "customer.subscription.deleted", 10),
    ofUser("ada", "customer.subscription.deleted", 10),
  );
  await setTargets("event subscription_canceled undone by subscription_resumed");
  await server.exported("events", organization);
  await scoreAsOf(9);
  await scoreAsOf(0);

  const cause = { by: "event", event: "subscription_canceled", trait: null };
  const churned = {
    state: "churned",
    verdict: "churned",
    risk: null,
    returnProbability: null,
    churnedDay: formatDay(today - 10),
    model: {
      churnTarget: { by: "event", event: "subscription_canceled", undoneBy: "subscription_resumed" },
      churnMeans: "subscription_canceled, not undone by subscription_resumed",
    },
  };
  expect(await scoreOf("users/ada")).toMatchObject({ ...churned, churnCause: { ...cause, member: null } });
  expect(await scoreOf("accounts/canceling-co")).toMatchObject({
    ...churned,
    churnCause: { ...cause, member: { userId: "ada", label: "ada@example.com" } },
  });
  expect(await scoreOf("users/colleague")).toMatchObject({
    state: "active",
    verdict: "account_churned",
    churnCause: null,
  });
  for (const path of ["users/bob", "accounts/resuming-co"]) {
    expect(await scoreOf(path)).toMatchObject({ state: "active", churnedDay: null, churnCause: null });
    const { days } = await ask<Static<typeof HistoryAnswer>>(`/api/${path}/score/history`);
    expect(days.map(({ day, state }) => [day, state])).toEqual([
      [formatDay(today - 9), "churned"],
      [formatDay(today), "active"],
    ]);
  }
  for (const path of ["users/silent", "accounts/silent-co"]) {
    expect(await scoreOf(path)).toMatchObject({ state: "inactive", churnedDay: null, churnCause: null });
  }
});

test("with silence as the target it means nothing, and silence means churn", async () => {
  await setTargets("silence");
  await scoreAsOf(0);
  for (const path of ["users/ada", "accounts/canceling-co"]) {
    expect(await scoreOf(path)).toMatchObject({ state: "active", churnCause: null });
  }
  for (const path of ["users/silent", "accounts/silent-co"]) {
    expect(await scoreOf(path)).toMatchObject({
      state: "churned",
      churnedDay: formatDay(today - 12),
      churnCause: { by: "silence", event: null, trait: null, member: null },
    });
  }
});
