/** `POST /arm` from the front door to the figures of the rule: who may ask, what it refuses, and one entry
 * and one alert for each customer, whether the request or the event comes first. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import type { ArmAnswer } from "../../contract/arm.ts";
import { quietZone } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";

const customers = Array.from({ length: 12 }, (_, index) => `c${index}`);
let server: Server;
let ours: Awaited<ReturnType<typeof company>>;
let armToken: string;
let rule: number;

beforeAll(async () => {
  server = await Server.start({ time: quick });
  await server.ready();
  ours = await company(server, "Offers", "--timezone", quietZone);
  const { owner, at, token } = ours;
  const created = await owner.json<{ token: string }>(
    "POST",
    at("/api/tokens"),
    { name: "Cancel flow", scope: "arm" },
    201,
  );
  armToken = created.token;
  const person = (userId: string, account?: string) => ({
    type: "identify",
    userId,
    email: `${userId}@example.com`,
    ...(account !== undefined && { account: { id: account, name: account } }),
  });
  const bill = (userId: string, amount: number) => ({
    type: "track",
    userId,
    event: "subscription_started",
    properties: {
      subscriptionId: userId,
      amount,
      currency: "USD",
      interval: "month",
      currentPeriodEnd: new Date(Date.now() + 20 * 86_400_000).toISOString(),
    },
  });
  const batch = [
    ...customers.map((userId) => person(userId)),
    person("large", "whale"),
    person("tester"),
    bill("large", 1_000_000),
    bill("c0", 5_000),
  ];
  const response = await server.post("/batch", token, { batch });
  expect(await response.json()).toMatchObject({ rejected: [] });
  await owner.json("POST", `${at("/api/exclusions")}&kind=user&value=tester`);
  await server.exported("subscriptions", "Offers");
  const body = {
    name: "Cancel flow opened",
    scope: { kind: "users" },
    condition: { kind: "event", event: "cancel_flow_opened" },
    holdOutShare: 0.5,
    exemptions: { mrrAbove: 100_000 },
  };
  rule = (await owner.json<{ id: number }>("POST", at("/api/alert-rules"), body, 201)).id;
  await until("who may enter is listed", async () => (await arm("c0")).counted);
});
afterAll(() => server.stop());

const post = (body: object, token = armToken) => server.post("/arm", token, body);
const arm = async (userId: string): Promise<ArmAnswer> => {
  const response = await post({ rule, userId });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return JSON.parse(text) as ArmAnswer;
};
const figures = async () => {
  const { rules } = await ours.owner.json<RouteAnswer<"GET /api/alert-rules/figures">>(
    "GET",
    ours.at("/api/alert-rules/figures"),
  );
  return rules.find((one) => one.id === rule)?.holdOut;
};
const alertsOf = async () => {
  const path = `${ours.at("/api/alerts")}&rule=${rule}&state=all`;
  const { alerts } = await ours.owner.json<RouteAnswer<"GET /api/alerts">>("GET", path);
  return alerts.map(({ entityId }) => entityId).toSorted();
};
const opened = async (userId: string) => {
  const response = await server.post("/track", ours.token, { userId, event: "cancel_flow_opened" });
  expect(response.status).toBe(201);
};

test("only a token of the scope arm may ask, it can do nothing else, and no page of another origin can ask", async () => {
  expect((await post({ rule, userId: "c1" }, ours.token)).status).toBe(401);
  expect((await post({ rule, userId: "c1" }, "rk-unknown")).status).toBe(401);
  expect((await server.post("/track", armToken, { userId: "c1", event: "opened" })).status).toBe(401);
  expect((await server.post("/batch", armToken, { batch: [] })).status).toBe(401);
  const preflight = await fetch(`${server.url}/arm`, {
    method: "OPTIONS",
    headers: { Origin: "https://shop.example.com", "Access-Control-Request-Method": "POST" },
  });
  expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  expect((await figures())?.controls).toBeLessThanOrEqual(1);
});

test("a wrong question is refused with the field and what to send, and enters nobody", async () => {
  const refused = async (body: object) => {
    const response = await post(body);
    return [response.status, ((await response.json()) as { message: string }).message] as const;
  };
  const before = await figures();
  expect(await refused({ userId: "c1" })).toMatchObject([400, expect.stringContaining("rule is missing")]);
  expect(await refused({ rule })).toMatchObject([400, expect.stringContaining("userId or accountId")]);
  expect(await refused({ rule, userId: "c1", accountId: "whale" })).toMatchObject([400, expect.anything()]);
  expect(await refused({ rule, accountId: "whale" })).toMatchObject([400, expect.stringContaining("userId")]);
  expect(await refused({ rule, userId: "nobody" })).toMatchObject([404, expect.anything()]);
  expect(await refused({ rule: rule + 1_000, userId: "c1" })).toMatchObject([404, expect.anything()]);
  expect(await figures()).toEqual(before);
});

test("exempt and excluded users are treated and not counted", async () => {
  for (const userId of ["large", "tester"])
    expect(await arm(userId)).toMatchObject({ arm: "treated", counted: false, until: null });
});

test("a customer has one arm, one entry and one alert, whether the request or the event comes first", async () => {
  const [asked, sent] = [customers.slice(0, 6), customers.slice(6)];
  const arms = new Map<string, ArmAnswer>();
  for (const userId of asked) arms.set(userId, await arm(userId));
  for (const userId of customers) await opened(userId);
  // The answer knows the arms of events once they are decided.
  await until("all events are decided", async () => {
    const holdOut = await figures();
    return (holdOut?.treated ?? 0) + (holdOut?.controls ?? 0) === customers.length;
  });
  for (const userId of sent) arms.set(userId, await arm(userId));
  for (const userId of customers) expect(await arm(userId)).toEqual(arms.get(userId) as ArmAnswer);
  const all = [...arms.values()];
  expect(all.every(({ counted, experiment }) => counted && experiment === 1)).toBe(true);
  const controls = all.filter(({ arm: own }) => own === "control");
  expect(await figures()).toMatchObject({ treated: 12 - controls.length, controls: controls.length });
  // A control is in no list before its horizon is over.
  const treated = customers.filter((userId) => arms.get(userId)?.arm === "treated");
  expect(await alertsOf()).toEqual(treated.toSorted());
});

test("the arm stays when the rule is paused, and nobody new enters", async () => {
  const before = await arm("c3");
  await ours.owner.json("POST", ours.at(`/api/alert-rules/${rule}/pause`));
  expect(await arm("c3")).toEqual(before);
  await server.post("/identify", ours.token, { userId: "late", email: "late@example.com" });
  expect(await arm("late")).toMatchObject({ arm: "treated", counted: false });
});
