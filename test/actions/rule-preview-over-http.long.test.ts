/** The preview of an alert rule over HTTP, from events to figures. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { RulePreviewAnswer } from "../../contract/alerts/rule-preview.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { newKey } from "../specification/operation-support.ts";

type Preview = Static<typeof RulePreviewAnswer>;

const name = "Foreseen";
const today = todayIn(quietZone);
let server: Server;
let key = "";
let olga: Awaited<ReturnType<typeof joined>>;

/** Eight users come daily until they leave, one of each team a day: the last ones 8 days ago. The others come
 * until yesterday. */
const leavers = 8;
const lastDayOf = (user: number) => (user < leavers ? 8 + Math.floor(user / 2) : 1);
const scoredDays = 17;
const teamOf = (user: number) => (user % 2 === 0 ? "blue" : "red");

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  const token = await server.organization(name, "--timezone", quietZone);
  key = await newKey(server, name, "manage");
  olga = await joined(server, name, "owner", "Olga Owner");
  const events = Array.from({ length: 20 }, (_, user) =>
    Array.from({ length: 61 - lastDayOf(user) }, (__, at) => 60 - at).flatMap((daysAgo) => [
      {
        type: "track",
        event: "opened",
        userId: `u${user}`,
        timestamp: `${formatDay(today - daysAgo)}T12:00:00Z`,
      },
    ]),
  ).flat();
  const people = Array.from({ length: 20 }, (_, user) => ({
    type: "identify",
    userId: `u${user}`,
    email: `u${user}@example.com`,
    timestamp: `${formatDay(today - 60)}T11:00:00Z`,
    properties: { team: teamOf(user) },
    account: { id: teamOf(user), name: teamOf(user) },
  }));
  for (const batch of [people, events.slice(0, 600), events.slice(600)]) {
    const response = await server.post("/batch", token, { batch });
    expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  }
  const horizon = await send("PATCH", "/api/settings", { churnHorizonDays: 7 });
  expect(horizon.status).toBe(200);
  for (let daysAgo = scoredDays - 1; daysAgo >= 0; daysAgo -= 1) {
    await server.command("score", "--organization", name, "--as-of", formatDay(today - daysAgo));
  }
}, 400_000);
afterAll(() => server?.stop());

function send(method: string, path: string, body: object): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function preview(body: object): Promise<Preview> {
  const response = await send("POST", "/api/alert-rules/preview", body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}

test("an event unseen for four days foretells each silence of seven, three days before", async () => {
  const condition = { kind: "keyEventUnseen", event: "opened", days: 4 };
  const told = await preview({ scope: { kind: "users" }, condition });
  expect(told).toMatchObject({ scoredDays, horizonDays: 7, entities: leavers, fired: leavers });
  expect([told.fromDay, told.toDay]).toEqual([formatDay(today - scoredDays + 1), formatDay(today)]);
  expect(told.weeks.reduce((sum, { fired }) => sum + fired, 0)).toBe(leavers);
  expect([told.churnedEntities, told.missed]).toEqual([leavers, 0]);
  expect(told.open).toBe(0);
});

test("a rule that never fires misses each churn", async () => {
  const condition = { kind: "keyEventUnseen", event: "never_done", days: 4 };
  const told = await preview({ scope: { kind: "users" }, condition });
  expect(told).toMatchObject({ fired: 0, churnedEntities: leavers, missed: leavers, medianLeadDays: null });
  expect(told.precision).toMatchObject({ mature: 0, rate: null, interval: null, steps: "weekly" });
  expect(told.baseRate.count).toBeGreaterThan(0);
});

async function segmentOf(kind: string, content: object): Promise<number> {
  const body = { kind, name: `Segment ${JSON.stringify(content)}`.slice(0, 80), ...content };
  const path = `/api/segments?organization=${olga.organization}`;
  return (await olga.json<{ id: number }>("POST", path, body, 201)).id;
}

test("a segment of users without the event for four days foretells the same", async () => {
  const filter = { events: [{ event: "opened", match: "fewerThan", days: 5 }] };
  const segment = await segmentOf("users", { filter });
  const told = await preview({ scope: { kind: "users" }, condition: { kind: "inSegment", segment } });
  expect(told).toMatchObject({ scoredDays, entities: leavers, fired: leavers, open: 0 });
  expect([told.churnedEntities, told.missed, told.insideNow]).toEqual([leavers, 0, 0]);
});

test("the scope leaves out all others, in the base rate, too", async () => {
  const condition = { kind: "keyEventUnseen", event: "opened", days: 4 };
  const all = await preview({ scope: { kind: "users" }, condition });
  const team = await segmentOf("users", { filter: { traits: [{ trait: "team", value: "blue" }] } });
  // A segment of a segment, with those who are not there on the last days.
  const present = await segmentOf("users", {
    filter: { segments: [{ segment: team }], events: [{ event: "opened", days: 28 }] },
  });
  for (const segment of [team, present]) {
    const told = await preview({ scope: { kind: "users", segment }, condition });
    expect(told).toMatchObject({ scoredDays, entities: leavers / 2, fired: leavers / 2 });
    expect([told.churnedEntities, told.missed]).toEqual([leavers / 2, 0]);
    expect([2 * told.baseRate.count, 2 * told.baseRate.churned]).toEqual([
      all.baseRate.count,
      all.baseRate.churned,
    ]);
  }
});

test("segments of accounts are previewed by the members of the time", async () => {
  const segment = await segmentOf("accounts", { filter: { seenWithinDays: 90 } });
  const scope = { kind: "accounts", segment };
  const told = await preview({ scope, condition: { kind: "inSegment", segment } });
  // Both are there on all days, so nothing fires.
  expect(told).toMatchObject({ scoredDays, fired: 0, insideNow: 2 });
});

test("conditions of segments without a history are refused by name", async () => {
  const owned = await segmentOf("users", { filter: { owner: "nobody" } });
  const below = await segmentOf("users", { filter: { segments: [{ segment: owned }] } });
  const fixed = await segmentOf("users", { ids: ["u1", "u2"] });
  const accounts = await segmentOf("accounts", { filter: { state: "active" } });
  const reasons = {
    [owned]: "the condition owner of the segment",
    [below]: "the condition owner of the segment",
    [fixed]: `is known from ${formatDay(today + 1)} on`,
    [accounts]: "is a segment of accounts",
  };
  const rules = [
    (segment: number) => ({
      field: "scope.segment",
      body: { scope: { kind: "users", segment }, condition: { kind: "healthBelow", below: 40 } },
    }),
    (segment: number) => ({
      field: "condition.segment",
      body: { scope: { kind: "users" }, condition: { kind: "inSegment", segment } },
    }),
  ];
  for (const [segment, reason] of Object.entries(reasons)) {
    for (const rule of rules) {
      const { field, body } = rule(Number(segment));
      const response = await send("POST", "/api/alert-rules/preview", body);
      expect(response.status).toBe(400);
      const text = await response.text();
      expect(text).toContain(field);
      expect(text).toContain(reason);
    }
  }
});

test("rules without a past are refused by name, and conditions by the field", async () => {
  const cases = [
    [
      { scope: { kind: "users", segment: 9_999 }, condition: { kind: "healthBelow", below: 40 } },
      "scope.segment",
    ],
    [{ scope: { kind: "users" }, condition: { kind: "inSegment", segment: 9_999 } }, "condition.segment"],
    [{ scope: { kind: "accounts" }, condition: { kind: "lastOwnerRemoved" } }, "lastOwnerRemoved"],
    [{ scope: { kind: "accounts" }, condition: { kind: "sourceSilent" } }, "sourceSilent"],
    [{ scope: { kind: "users" }, condition: { kind: "riskUp", days: 7 } }, "condition.by is missing"],
    [{ scope: { kind: "users" }, condition: { kind: "state", state: "new", days: 7 } }, "condition.days"],
    [{ scope: { kind: "users" }, condition: { kind: "riskUp", by: 0.1, days: 29 } }, "1 to 28"],
  ] as const;
  for (const [body, part] of cases) {
    const response = await send("POST", "/api/alert-rules/preview", body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(part);
  }
});

test("conditions of segments that compare two days, and on renewals, are previewed", async () => {
  // Changes of the last 17 days are told against this one. Its own scores are compared with none.
  await server.command("score", "--organization", name, "--as-of", formatDay(today - 44));
  const scope = { kind: "users" };
  const cases = [
    [{ moved: "fell" }, leavers],
    [{ healthBandBefore: "present", moved: "fell" }, leavers],
    [{ toCall: true }, 1],
    [{ renewsWithinDays: 30 }, 0],
  ] as const;
  for (const [filter, least] of cases) {
    const segment = await segmentOf("users", { filter });
    const told = await preview({ scope, condition: { kind: "inSegment", segment } });
    expect(told.scoredDays).toBe(scoredDays + 1);
    expect([filter, told.entities]).toEqual([filter, Math.max(least, told.entities)]);
    const path = `/api/users?organization=${olga.organization}&segment=${segment}`;
    const list = await olga.json<{ total: number }>("GET", path);
    expect([filter, told.insideNow]).toEqual([filter, list.total]);
    expect(told.fired).toBe(told.weeks.reduce((sum, { fired }) => sum + fired, 0));
    const scoped = { scope: { ...scope, segment }, condition: { kind: "healthBelow", below: 100 } };
    expect((await preview(scoped)).scoredDays).toBe(scoredDays + 1);
  }
});
