/** Events that may mean that a user has left, through HTTP: they are passive until a team member has
 * answered. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Static } from "typebox";
import { silence } from "../../contract/api/churn-targets.ts";
import { askedAbout, isDepartureName, passiveEventsOf } from "../../contract/api/departures-body.ts";
import type { DeparturesAnswer } from "../../contract/api/figures.ts";
import { defaultSettings } from "../../contract/settings.ts";
import { Server } from "../server.ts";
import { dateOf } from "./recount.ts";
import { msPerDay, patientGet } from "./world.ts";

const organization = "Departures";
const ofOrganization = ["--organization", organization] as const;
let server: Server;
let key: string;
const day = Math.floor(Date.now() / msPerDay) - 3;

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  const token = await server.organization(organization, "--timezone", "UTC");
  key = (await server.command("key", "create", ...ofOrganization)).trim();
  const identified = ["worker", "leaver", "shopper"].map((userId) => ({
    type: "identify",
    userId,
    email: `${userId}@example.com`,
    account: { id: "acme", name: "Acme" },
  }));
  const at = (userId: string, event: string, onDay: number) => ({
    type: "track",
    userId,
    event,
    timestamp: new Date((onDay + 0.5) * msPerDay).toISOString(),
  });
  const tracked = [
    at("worker", "opened", day),
    at("leaver", "opened", day - 40),
    at("leaver", "Subscription.Cancelled", day),
    at("shopper", "order_cancelled", day),
  ];
  await server.post("/batch", token, { batch: [...identified, ...tracked] });
  await server.exported("events", organization);
});
afterAll(() => server.stop());

async function ask<Answer>(path: string): Promise<Answer> {
  return (await (await patientGet(server.url + path, key)).json()) as Answer;
}

async function asked() {
  const { events } = await ask<Static<typeof DeparturesAnswer>>("/api/departures");
  return events.map(({ event, users, isPassive }) => [event, users, isPassive]);
}

/** Users who were active on the day of the departure, the leaver's last day, and the account's active
 * members. */
async function figures() {
  const { days } = await ask<{ days: { day: string; daily: number }[] }>("/api/active-users?days=10");
  const { users } = await ask<{ users: { userId: string; lastSeenDay: string | null }[] }>("/api/users");
  const { accounts } = await ask<{ accounts: { activeMembers: number }[] }>("/api/accounts");
  return {
    daily: days.find((one) => one.day === dateOf(day))?.daily,
    lastSeen: users.find(({ userId }) => userId === "leaver")?.lastSeenDay,
    activeMembers: accounts[0]?.activeMembers,
  };
}

async function scored(): Promise<string | undefined> {
  await server.command("score", ...ofOrganization);
  const { users } = await ask<{ users: { userId: string; state: string }[] }>("/api/users");
  return users.find(({ userId }) => userId === "leaver")?.state;
}

test("names of the closed list are found whatever their case and separators, and no other names", () => {
  const names = [
    "subscription_canceled",
    "Subscription-Cancelled",
    "ACCOUNT.DELETED",
    "churned",
    "accountCanceled",
  ];
  expect(names.filter(isDepartureName)).toEqual(names);
  const others = [
    "order_canceled",
    "subscription_canceled_by_mistake",
    "unchurned",
    "user_deleted",
    "Cancel",
    "账户 churned",
  ];
  expect(others.filter(isDepartureName)).toEqual([]);
  expect(askedAbout([...names, ...others, "opened"], defaultSettings)).toEqual([
    ...names,
    "order_canceled",
    "subscription_canceled_by_mistake",
    "Cancel",
  ]);
  const answered = {
    ...defaultSettings,
    churnTargets: { user: { by: "event", event: "churned", undoneBy: null }, account: silence } as const,
    ordinaryEvents: ["ACCOUNT.DELETED"],
    keyEvents: ["Cancel"],
  };
  expect(askedAbout(["churned", "ACCOUNT.DELETED", "Cancel", "order_canceled"], answered)).toEqual([
    "order_canceled",
  ]);
  expect(passiveEventsOf(["opened", ...names], { ...answered, passiveEvents: ["mail_sent"] })).toEqual([
    "Subscription-Cancelled",
    "accountCanceled",
    "mail_sent",
    "subscription_canceled",
  ]);
  expect(passiveEventsOf(["contacted", "Contacted"], answered)).toEqual(["contacted"]);
  expect(passiveEventsOf(["contacted"], { ...answered, ordinaryEvents: ["contacted"] })).toEqual([]);
});

test("until there is an answer a departure makes no user active, and its event is listed all the same", async () => {
  expect(await asked()).toEqual([
    ["Subscription.Cancelled", 1, true],
    ["order_cancelled", 1, false],
  ]);
  expect(await figures()).toEqual({ daily: 2, lastSeen: dateOf(day - 40), activeMembers: 2 });
  const { events } = await ask<{ events: { event: string; count: number }[] }>("/api/events");
  expect(events.map(({ event }) => event)).toContain("Subscription.Cancelled");
  const timeline = await ask<{ events: { event: string }[] }>("/api/users/leaver/timeline");
  expect(timeline.events.map(({ event }) => event)).toEqual(["Subscription.Cancelled", "opened"]);
  // Silent for 43 days.
  expect(await scored()).toBe("churned");
});

test("the answer no makes it an ordinary event, and is kept as a setting", async () => {
  await server.command("settings", "set", ...ofOrganization, "--ordinary-event", "Subscription.Cancelled");
  expect(await asked()).toEqual([["order_cancelled", 1, false]]);
  expect(await figures()).toEqual({ daily: 3, lastSeen: dateOf(day), activeMembers: 3 });
  expect(await scored()).toBe("active");
  expect(await server.command("settings", "history", ...ofOrganization)).toContain("ordinaryEvents");
});

test("the answer yes makes it the churn event, in place of a no before it", async () => {
  await server.command("settings", "set", ...ofOrganization, "--user-churn", "event Subscription.Cancelled");
  const { settings } = await ask<{ settings: typeof defaultSettings }>("/api/settings");
  expect(settings).toMatchObject({
    churnTargets: { user: { by: "event", event: "Subscription.Cancelled", undoneBy: null } },
    ordinaryEvents: [],
  });
  expect(await asked()).toEqual([["order_cancelled", 1, false]]);
  expect(await scored()).toBe("churned");
});
