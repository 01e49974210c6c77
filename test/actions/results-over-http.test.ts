/** Results from what team members do to the figures: contacts, done tasks, and handled calls with an
 * outcome. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { joined } from "../people/support.ts";
import { Server } from "../server.ts";

type Results = RouteAnswer<"GET /api/results">;

const name = "Results";
const today = todayIn(quietZone);
const noon = (days: number) => `${formatDay(today + days)}T12:00:00Z`;
let server: Server;
let olga: Awaited<ReturnType<typeof joined>>;
let mia: Awaited<ReturnType<typeof joined>>;

const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`;
const results = (query = "") => olga.json<Results>("GET", at(`/api/results?period=fourWeeks${query}`));
const call = (account: string, body: object) =>
  olga.ask("PATCH", at(`/api/accounts/${account}/call`), body).then(({ status }) => status);

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  const token = await server.organization(name, "--timezone", quietZone);
  olga = await joined(server, name, "owner", "Olga Results");
  mia = await joined(server, name, "member", "Mia Results");
  const person = (userId: string, account?: string) => ({
    type: "identify",
    userId,
    email: `${userId}@example.com`,
    ...(account !== undefined && { account: { id: account, name: `The ${account}` } }),
  });
  const bill = (userId: string, event: string, days: number, properties: object) => ({
    type: "track",
    userId,
    event,
    timestamp: noon(days),
    properties: { subscriptionId: `s-${userId}`, ...properties },
  });
  const price = { plan: "Team", currency: "USD", interval: "month", currentPeriodEnd: noon(20) };
  const opened = (userId: string, days: readonly number[]) =>
    days.map((back) => ({ type: "track", userId, event: "opened", timestamp: noon(-back) }));
  const batch = [
    person("ada", "acme"),
    person("bob", "acme"),
    { ...person("carl", "looms"), properties: { plan: "solo" } },
    person("dora"),
    person("bot", "acme"),
    bill("ada", "subscription_started", -80, { ...price, amount: 10_000 }),
    bill("carl", "subscription_started", -80, { ...price, amount: 5_000 }),
    bill("carl", "subscription_canceled", -1, {}),
    // Two of three days before the touch of three days ago, and one since.
    ...opened("ada", [6, 4, 2]),
    ...opened("bob", [5, 40]),
    // An application says whom it wrote to.
    {
      type: "track",
      userId: "dora",
      event: "contacted",
      timestamp: noon(-2),
      properties: { by: "campaign" },
    },
    { type: "track", userId: "bot", event: "contacted", timestamp: noon(-20), properties: {} },
  ];
  const response = await server.post("/batch", token, { batch });
  expect(await response.json()).toMatchObject({ rejected: [] });
  await olga.json("POST", at("/api/exclusions?kind=user&value=bot"));
  const contact = async (userId: string, days: number, text: string) => {
    const body = { timestamp: noon(days), kind: "call", text };
    expect((await mia.ask("POST", at(`/api/users/${userId}/contacts`), body)).status).toBe(204);
  };
  await contact("ada", -3, "Asked what is missing.");
  await contact("carl", -3, "No answer.");
  const task = await mia.json<{ id: number }>(
    "POST",
    at("/api/accounts/acme/tasks"),
    { title: "Offer" },
    201,
  );
  await mia.json("PATCH", at(`/api/tasks/${task.id}`), { isDone: true });
  expect(await call("acme", { outcome: "saved", note: "They stay." })).toBe(204);
  await server.exported("events", name);
  await server.exported("subscriptions", name);
  await server.command("score", "--organization", name);
});
afterAll(() => server.stop());

test("each customer stands there once, with what was done, what was at stake and what is left", async () => {
  const { customers, totals, members, hint, ...period } = await results();
  expect(period).toMatchObject({
    from: formatDay(today - 27),
    to: formatDay(today),
    reportingCurrency: "USD",
    rules: [],
  });
  expect(customers.map(({ id, mrrThen, mrrNow, outcome }) => [id, mrrThen, mrrNow, outcome])).toEqual([
    ["acme", 10_000, 10_000, "saved"],
    ["looms", 5_000, 0, null],
    ["dora", null, null, null],
  ]);
  const [acme, looms, dora] = customers;
  expect(acme?.touches.map(({ what, person, text }) => [what, person?.name, text])).toEqual([
    ["contact", "Mia Results", "Asked what is missing."],
    ["task", "Mia Results", "Offer"],
    ["handled", "Olga Results", "They stay."],
  ]);
  expect(acme).toMatchObject({ useDays: 3, useBefore: 3, useAfter: 1, state: "active" });
  expect(looms?.touches).toMatchObject([{ what: "contact", person: { name: "Mia Results" } }]);
  // Not a team member.
  expect(dora?.touches).toMatchObject([{ what: "contact", person: null, by: "campaign" }]);
  expect(totals).toEqual({
    customers: 3,
    mrrThen: 15_000,
    mrrNow: 10_000,
    paying: 2,
    stillPaying: 1,
    outcomes: { saved: 1, lost: 0, noAnswer: 0, wrongAlarm: 0, other: 0 },
  });
  // A customer of two members counts for each, and once in the sum.
  expect(members).toEqual([
    { member: { id: mia.id, name: "Mia Results" }, customers: 2, mrrThen: 15_000, mrrNow: 10_000 },
    { member: { id: olga.id, name: "Olga Results" }, customers: 1, mrrThen: 10_000, mrrNow: 10_000 },
  ]);
  // Nobody's horizon is over.
  expect(hint).toBeNull();
});

test("filters, the shorter period, CSV, the command and the digest have the same customers", async () => {
  const idsOf = ({ customers }: Results) => customers.map(({ id }) => id);
  expect(idsOf(await results(`&member=${mia.id}`))).toEqual(["acme", "looms"]);
  expect(idsOf(await results("&member=me"))).toEqual(["acme"]);
  const segment = await olga.json<{ id: number }>(
    "POST",
    at("/api/segments"),
    { kind: "users", name: "Of Looms", filter: { traits: [{ trait: "plan", value: "solo" }] } },
    201,
  );
  expect(idsOf(await results(`&segment=${segment.id}`))).toEqual(["looms"]);
  expect(idsOf(await olga.json<Results>("GET", at("/api/results")))).toEqual(["acme", "looms", "dora"]);
  const csv = await (await olga.ask("GET", at("/api/results?format=csv"))).text();
  expect(csv).toContain("acme");
  expect(csv.trim().split("\r\n")).toHaveLength(4);
  const printed = await server.command("results", "--organization", name);
  expect(printed).toContain("The acme");
  const digest = await olga.json<RouteAnswer<"GET /api/digest">>("GET", at("/api/digest"));
  expect(digest).toMatchObject({ hasNews: true, done: { customers: 3, paying: 2, stillPaying: 1 } });
});

test("an outcome is changed, taken back, and refused with another verdict; all of it stays in the trail", async () => {
  const outcome = async () => (await results()).customers[0]?.outcome;
  expect(await call("acme", { outcome: "lost" })).toBe(204);
  expect(await outcome()).toBe("lost");
  expect(await call("acme", { verdict: "notUseful", outcome: "saved" })).toBe(400);
  expect(await call("acme", { note: "Alone." })).toBe(400);
  expect(await outcome()).toBe("lost");
  expect(await call("acme", { verdict: null })).toBe(204);
  const { customers } = await results();
  expect(customers[0]).toMatchObject({ id: "acme", outcome: null });
  expect(customers[0]?.touches.map(({ what }) => what)).toEqual(["contact", "task"]);
  const { entries } = await olga.json<RouteAnswer<"GET /api/audit-log">>("GET", at("/api/audit-log"));
  expect(entries.filter(({ action }) => action === "call.set_aside")).toHaveLength(3);
});

test("an erased user's work leaves the results", async () => {
  const key = await server.command("key", "create", "--organization", name, "--right", "erase");
  await fetch(`${server.url}/api/users/dora`, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${key.trim()}` },
  });
  expect((await results()).customers.map(({ id }) => id)).toEqual(["acme", "looms"]);
});
