/** The preview of an alert rule over HTTP, from events to figures. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { RulePreviewAnswer } from "../../contract/alerts/rule-preview.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { newKey } from "../specification/operation-support.ts";
import { until } from "../until.ts";

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
});
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

test("a preview is for everybody while the segment of its scope is new, and says so", async () => {
  const condition = { kind: "keyEventUnseen", event: "opened", days: 4 };
  const all = await preview({ scope: { kind: "users" }, condition });
  expect(all.note).toBeNull();
  const segment = await segmentOf("users", { filter: { traits: [{ trait: "team", value: "blue" }] } });
  const told = await preview({ scope: { kind: "users", segment }, condition });
  const of = 'The segment Segment {"filter":{"traits":[{"trait":"team","value":"blue"}]}}';
  const note = `${of} has no recorded members of past days yet, so the preview is for all users.`;
  expect(told).toEqual({ ...all, note });
  const inSegment = { kind: "inSegment", segment };
  const ofMembers = await until(
    "the members of today are recorded",
    () => preview({ scope: { kind: "users" }, condition: inSegment }),
    ({ scoredDays }) => scoredDays > 0,
  );
  // Four of its ten members have churned.
  const since = `The members of the segment Segment {"filter":{"traits":[{"trait":"team","value":"blue"}]}} are recorded from ${formatDay(today)} on.`;
  expect(ofMembers).toMatchObject({ scoredDays: 1, fired: 0, insideNow: 6, note: since });
});

test("a segment of the other kind is refused by name", async () => {
  const segment = await segmentOf("accounts", { filter: { state: "active" } });
  const rules = {
    "scope.segment": { scope: { kind: "users", segment }, condition: { kind: "healthBelow", below: 40 } },
    "condition.segment": { scope: { kind: "users" }, condition: { kind: "inSegment", segment } },
  };
  for (const [field, body] of Object.entries(rules)) {
    const response = await send("POST", "/api/alert-rules/preview", body);
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text).toContain(field);
    expect(text).toContain("is a segment of accounts");
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
