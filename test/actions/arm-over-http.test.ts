/** `POST /arm` from the front door to the figures of the rule: who may ask, what it refuses, and one entry
 * and one alert for each customer, whether the request or the event comes first. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import type { ArmAnswer } from "../../contract/arm.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { OpenApi } from "../specification/document.ts";
import { renameInLedger } from "../stored.ts";
import { until } from "../until.ts";
import { Offers } from "./arm-support.ts";

export const runsOn = { nodes: 3 };

const customers = Array.from({ length: 12 }, (_, index) => `c${index}`);
let server: Server;
let offers: Offers;

beforeAll(async () => {
  server = await Server.start({ time: quick });
  await server.ready();
  offers = await Offers.found(server, "Offers");
  const { owner, at, token } = offers.ours;
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
  const account = { id: "whale", name: "whale" };
  const large = { type: "identify", userId: "large", email: "large@example.com", account };
  await offers.identified(...customers, "tester");
  const batch = [large, bill("large", 1_000_000), bill("c0", 5_000)];
  expect(await (await server.post("/batch", token, { batch })).json()).toMatchObject({ rejected: [] });
  await owner.json("POST", `${at("/api/exclusions")}&kind=user&value=tester`);
  type Users = RouteAnswer<"GET /api/users">;
  type Accounts = RouteAnswer<"GET /api/accounts">;
  await until("lists know who pays, and leave out who is excluded", async () => {
    const { users } = await owner.json<Users>("GET", at("/api/users"));
    const { accounts } = await owner.json<Accounts>("GET", at("/api/accounts"));
    return accounts.some(({ mrr }) => mrr !== null) && users.every(({ userId }) => userId !== "tester");
  });
  await offers.begin("c0");
});
afterAll(() => server.stop());

test("only a token of the scope arm may ask, it can do nothing else, and no page of another origin can ask", async () => {
  expect((await offers.ask({ rule: offers.rule, userId: "c1" }, offers.ours.token)).status).toBe(401);
  expect((await offers.ask({ rule: offers.rule, userId: "c1" }, "rk-unknown")).status).toBe(401);
  expect((await server.post("/track", offers.armToken, { userId: "c1", event: "opened" })).status).toBe(401);
  expect((await server.post("/batch", offers.armToken, { batch: [] })).status).toBe(401);
  const preflight = await fetch(`${server.url}/arm`, {
    method: "OPTIONS",
    headers: { Origin: "https://shop.example.com", "Access-Control-Request-Method": "POST" },
  });
  expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  expect((await offers.holdOut())?.controls).toBeLessThanOrEqual(1);
});

test("a wrong question is refused with the field and what to send, and enters nobody", async () => {
  const { rule } = offers;
  const refused = async (body: object) => {
    const response = await offers.ask(body);
    return [response.status, ((await response.json()) as { message: string }).message] as const;
  };
  const before = await offers.holdOut();
  expect(await refused({ userId: "c1" })).toMatchObject([400, expect.stringContaining("rule is missing")]);
  expect(await refused({ rule })).toMatchObject([400, expect.stringContaining("userId or accountId")]);
  expect(await refused({ rule, userId: "c1", accountId: "whale" })).toMatchObject([400, expect.anything()]);
  expect(await refused({ rule, accountId: "whale" })).toMatchObject([400, expect.stringContaining("userId")]);
  expect(await refused({ rule, userId: "nobody" })).toMatchObject([404, expect.anything()]);
  expect(await refused({ rule: rule + 1_000, userId: "c1" })).toMatchObject([404, expect.anything()]);
  expect(await offers.holdOut()).toEqual(before);
});

test("exempt and excluded users are treated and not counted", async () => {
  const notCounted = { arm: "treated", counted: false, until: null };
  for (const userId of ["large", "tester"])
    expect([userId, await offers.arm(userId)]).toMatchObject([userId, notCounted]);
});

test("a customer has one arm, one entry and one alert, whether the request or the event comes first", async () => {
  const [asked, sent] = [customers.slice(0, 6), customers.slice(6)];
  const arms = new Map<string, ArmAnswer>();
  for (const userId of asked) arms.set(userId, await offers.arm(userId));
  for (const userId of customers) await offers.opened(userId);
  // The answer knows the arms of events once they are decided.
  await until("all events are decided", async () => {
    const holdOut = await offers.holdOut();
    return (holdOut?.treated ?? 0) + (holdOut?.controls ?? 0) === customers.length;
  });
  for (const userId of sent) arms.set(userId, await offers.arm(userId));
  for (const userId of customers) expect(await offers.arm(userId)).toEqual(arms.get(userId) as ArmAnswer);
  const all = [...arms.values()];
  expect(all.every(({ counted, experiment }) => counted && experiment === 1)).toBe(true);
  const controls = all.filter(({ arm: own }) => own === "control");
  expect(await offers.holdOut()).toMatchObject({ treated: 12 - controls.length, controls: controls.length });
  // A control is in no list before its horizon is over.
  const treated = customers.filter((userId) => arms.get(userId)?.arm === "treated");
  expect(await offers.alerted()).toEqual(treated.toSorted());
});

test("a customer who is asked for many times at the same moment, at any node, enters once", async () => {
  await offers.identified("fast", "quick");
  const { treated = 0, controls = 0 } = (await offers.holdOut()) ?? {};
  const asked = Array.from({ length: 24 }, (_, n) => (n % 3 === 0 ? "fast" : "quick"));
  const answers = await Promise.all(asked.map(async (userId) => [userId, await offers.arm(userId)] as const));
  const arms = new Map(answers);
  for (const [userId, answer] of answers) expect(answer).toEqual(arms.get(userId) as ArmAnswer);
  const all = [...arms.values()];
  expect(all).toMatchObject([{ counted: true }, { counted: true }]);
  const isHeld = all.filter(({ arm }) => arm === "control").length;
  expect(await offers.holdOut()).toMatchObject({
    treated: treated + 2 - isHeld,
    controls: controls + isHeld,
  });
});

test("every documented answer was seen, and each is of its schema", async () => {
  const api = await OpenApi.of(server);
  const { rule } = offers;
  const seen = new Set<string>();
  const look = async (...responses: readonly Response[]) => {
    for (const response of responses) {
      expect(api.whyUndocumented("/arm", response.status, await response.json())).toBeUndefined();
      seen.add(String(response.status));
    }
  };
  const good = { rule, userId: "c1" };
  await look(await offers.ask(good), await offers.ask({}), await offers.ask(good, "rk-unknown"));
  await look(await offers.ask({ rule: rule + 1_000, userId: "c1" }));
  await renameInLedger(server.dataDir, "hold_out_listed", "hold_out_away");
  await look(await offers.ask(good));
  await renameInLedger(server.dataDir, "hold_out_away", "hold_out_listed");
  await server.command("organization", "set", "Offers", "--rate-limit", "1");
  while (!seen.has("429")) await look(...(await Promise.all([1, 2, 3].map(() => offers.ask({})))));
  expect([...seen].sort()).toEqual(Object.keys(api.operation("/arm").responses).sort());
});
