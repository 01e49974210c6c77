/** Rules about use that rises and about seats, from the front door: events, attributes, scores, alerts and a
 * message. Opportunities have no expected loss, no control group, and save nobody. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

type Alerts = RouteAnswer<"GET /api/alerts">;

const name = "Opportunities";
const today = todayIn(quietZone);
let server: Server;
let receiver: Receiver;
let ours: Awaited<ReturnType<typeof company>>;

/** Members of an account that open something daily: so often until four weeks ago, and so often since. */
interface Team {
  readonly members: number;
  readonly before: number;
  readonly since: number;
  readonly seats: number;
}
const teams: Readonly<Record<string, Team>> = {
  growing: { members: 2, before: 1, since: 3, seats: 20 },
  full: { members: 6, before: 1, since: 1, seats: 6 },
  alone: { members: 1, before: 1, since: 1, seats: 1 },
  roomy: { members: 1, before: 1, since: 1, seats: 10 },
};
const noon = (daysAgo: number) => `${formatDay(today - daysAgo)}T12:00:00Z`;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await Server.start({ time: quick, env: { ALLOW_PRIVATE_DESTINATIONS: receiver.allowed } });
  await server.ready();
  ours = await company(server, name, "--timezone", quietZone);
  for (const [id, { members, before, since, seats }] of Object.entries(teams)) {
    const batch = Array.from({ length: members }, (_, at) => `${id} ${at}`).flatMap((userId) => [
      {
        type: "identify",
        userId,
        email: `${userId.replace(" ", "")}@example.com`,
        timestamp: noon(70),
        account: { id, name: `The ${id}`, properties: { seats } },
      },
      ...Array.from({ length: 65 }, (_, at) => 65 - at).flatMap((daysAgo) =>
        Array.from({ length: daysAgo > 28 ? before : since }, () => ({
          type: "track",
          userId,
          event: "opened",
          timestamp: noon(daysAgo),
        })),
      ),
    ]);
    const response = await server.post("/batch", ours.token, { batch });
    expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  }
  await server.exported("events", name);
  await server.command("score", "--organization", name, "--as-of", formatDay(today - 28));
});
afterAll(async () => {
  await server?.stop();
  receiver.stop();
});

const conditions = {
  growth: { kind: "usageUp", percent: 50 },
  full: { kind: "seatsAbove", percent: 90 },
  empty: { kind: "seatsBelow", percent: 40 },
} as const;

test("each fires for the account that it is about, in plain words", async () => {
  const { owner, at } = ours;
  const hook = { kind: "webhook", name: "hook", address: receiver.address("/200") };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    hook,
    201,
  );
  for (const [rule, condition] of Object.entries(conditions)) {
    const body = {
      name: rule,
      scope: { kind: "accounts" },
      condition,
      includeCurrent: true,
      destinations: [destination.id],
    };
    const saved = await owner.json<{ condition: object }>("POST", at("/api/alert-rules"), body, 201);
    expect(saved.condition).toEqual(condition.kind === "usageUp" ? condition : { ...condition, minSeats: 5 });
  }
  await server.command("score", "--organization", name);
  const { alerts } = await until(
    "all alerts are there",
    () => owner.json<Alerts>("GET", at("/api/alerts")),
    ({ total }) => total >= 4,
  );
  const found = alerts.map(({ rule, entityId, reasons }) => [rule.name, entityId, reasons[0]]);
  expect(found.toSorted()).toEqual([
    ["empty", "growing", "Uses 2 of 20 seats"],
    ["empty", "roomy", "Uses 1 of 10 seats"],
    ["full", "full", "Uses 6 of 6 seats"],
    ["growth", "growing", "Use up 200% in 4 weeks: 168 actions, 56 before"],
  ]);
  const gains = alerts.filter(({ rule }) => rule.name !== "empty");
  expect(gains.map(({ risk, expectedLoss }) => [risk, expectedLoss])).toEqual([
    [null, null],
    [null, null],
  ]);
  await until("all messages have arrived", () => receiver.got.length === 4);
  expect(receiver.got.map(({ body }) => body).join()).toContain("full: The full: Uses 6 of 6 seats");
});

test("work on an opportunity saves nobody: the results have it only when its rule is asked for", async () => {
  const { owner, at } = ours;
  const { alerts } = await owner.json<Alerts>("GET", at("/api/alerts"));
  const full = alerts.find(({ rule }) => rule.name === "full");
  const roomy = alerts.find(({ entityId }) => entityId === "roomy");
  for (const alert of [full, roomy]) {
    await owner.json("PATCH", at(`/api/alerts/${alert?.id}`), { outcome: "saved" });
  }
  const results = async (query: string) => {
    const path = `${at("/api/results")}&period=fourWeeks${query}`;
    const { customers, totals } = await owner.json<RouteAnswer<"GET /api/results">>("GET", path);
    return [customers.map(({ id }) => id), totals.outcomes.saved];
  };
  expect(await results("")).toEqual([["roomy"], 1]);
  expect(await results(`&rule=${full?.rule.id}`)).toEqual([["full"], 1]);
});

test("hostile conditions are refused by the field, also in the preview", async () => {
  const { owner, at } = ours;
  const accounts = { kind: "accounts" };
  const users = { kind: "users" };
  const cases: readonly (readonly [object, object, string])[] = [
    [accounts, { kind: "usageUp", percent: 1_001 }, "condition.percent"],
    [accounts, { kind: "usageUp", percent: 0 }, "condition.percent"],
    [accounts, { kind: "usageDown", percent: 101 }, "condition.percent is not valid"],
    [accounts, { kind: "usageUp" }, "condition.percent is missing"],
    [accounts, { kind: "seatsAbove", percent: 101 }, "condition.percent is not valid"],
    [accounts, { kind: "seatsAbove", percent: 90, minSeats: 0 }, "condition.minSeats"],
    [accounts, { kind: "seatsAbove", percent: 90, minSeats: 1.5 }, "condition.minSeats"],
    [accounts, { kind: "seatsBelow", percent: 40, minSeats: 1_000_001 }, "condition.minSeats"],
    [accounts, { kind: "seatsBelow", percent: "40); DROP TABLE events" }, "condition.percent"],
    [users, { kind: "seatsBelow", percent: 40 }, "condition.kind seatsBelow is about accounts"],
    [accounts, { kind: "pulseAtMost", atMost: 5 }, "condition.atMost"],
    [accounts, { kind: "pulseAtMost", atMost: 2.5 }, "condition.atMost"],
    [accounts, { kind: "pulseAtMost" }, "condition.atMost is missing"],
    [users, { kind: "pulseAtMost", atMost: 2 }, "condition.kind pulseAtMost is about accounts"],
    [accounts, { kind: "cardExpires", days: 30 }, "condition.days does not belong"],
    [accounts, { kind: "usageUp", percent: 50, minSeats: 5 }, "condition.minSeats does not belong"],
  ];
  for (const [scope, condition, part] of cases) {
    for (const [path, body] of [
      ["/api/alert-rules", { name: "hostile", scope, condition }],
      ["/api/alert-rules/preview", { scope, condition }],
    ] as const) {
      const { status, text } = await refused(path, body);
      expect([condition, status]).toEqual([condition, 400]);
      expect(text).toContain(part);
    }
  }
  const held = {
    name: "held",
    scope: accounts,
    holdOutShare: 0.2,
    condition: { kind: "usageUp", percent: 50 },
  };
  const { status, text } = await refused("/api/alert-rules", held);
  expect(status).toBe(400);
  expect(text).toContain("holdOutShare does not belong to usageUp");

  async function refused(path: string, body: object) {
    const response = await owner.ask("POST", at(path), body);
    return { status: response.status, text: await response.text() };
  }
});

test("the preview has no control groups for an opportunity, and some for a risk", async () => {
  const { owner, at } = ours;
  const groups = async (condition: object) => {
    const body = { scope: { kind: "accounts" }, condition };
    const answer = await owner.json<RouteAnswer<"POST /api/alert-rules/preview">>(
      "POST",
      at("/api/alert-rules/preview"),
      body,
    );
    return [answer.controlGroups.length, answer.insideNow];
  };
  expect(await groups(conditions.full)).toEqual([0, 1]);
  expect(await groups(conditions.empty)).toEqual([2, 2]);
});
