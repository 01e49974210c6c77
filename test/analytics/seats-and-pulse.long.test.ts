/** Seats and pulses from the front door: what is sent and said is in lists, filters, segments, health, CSV
 * and timelines, as it was known at the start of the scored day. */
import { beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { identify, sendAll, track } from "../erasure/support.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { ownServer } from "../own-server.ts";
import { type Browser, joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { becomes } from "../until.ts";

const organization = "Seated";
const server: Server = await ownServer(() => server, { time: { ...quick, scheduleMs: null } });
let olga: Browser & { readonly organization: number };
let vera: Browser;
const msPerDay = 86_400_000;
const today = todayIn(quietZone);
const dayAgo = (days: number) => formatDay(today - days);

const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`;
const get = <Answer>(path: string) => olga.json<Answer>("GET", at(path));
const pulsesOf = (account: string) =>
  get<RouteAnswer<"GET /api/accounts/:accountId/pulses">>(`/api/accounts/${account}/pulses`);
const say = (account: string, value: number, text: string) =>
  olga.json<RouteAnswer<"POST /api/accounts/:accountId/pulses">>(
    "POST",
    at(`/api/accounts/${account}/pulses`),
    { value, text },
    201,
  );

/** Scores as of a day of the server's clock. */
async function score(daysAhead: number): Promise<void> {
  server.putClockAhead(daysAhead * msPerDay);
  const options = ["--organization", organization, "--as-of", formatDay(today + daysAhead)];
  await server.command("score", ...options, "--even-if-stopped");
}

async function listed(query = ""): Promise<(string | number | null)[][]> {
  const { accounts } = await get<RouteAnswer<"GET /api/accounts">>(
    `/api/accounts?${query || "sort=accountId&order=ascending"}`,
  );
  return accounts.map(({ accountId, seats, seatsUsed, pulse }) => [accountId, seats, seatsUsed, pulse]);
}

beforeAll(async () => {
  const token = await server.organization(organization, "--timezone", quietZone);
  olga = await joined(server, organization, "owner", "Olga Owner");
  vera = await joined(server, organization, "viewer", "Vera Viewer");
  const account = (id: string, properties: object) => ({ id, name: `The ${id}`, properties });
  const attributes: Record<string, object> = { acme: { seats: 20, owner: "Olga Owner" }, bolt: {}, cord: {} };
  const members = [
    ...["a1", "a2", "a3"].map((id) => [id, "acme"] as const),
    ...["b1", "b2"].map((id) => [id, "bolt"] as const),
    ["c1", "cord"] as const,
  ];
  await sendAll(server, token, [
    ...members.map(([id, of]) =>
      identify(id, {
        account: account(of, attributes[of] ?? {}),
        timestamp: `${dayAgo(60)}T12:00:00Z`,
      }),
    ),
    ...members.flatMap(([id]) =>
      Array.from({ length: 20 }, (_, time) => track(id, "opened", `${dayAgo(1 + 2 * time)}T12:00:00Z`)),
    ),
    track("b1", "subscription_started", `${dayAgo(50)}T12:00:00Z`, {
      properties: {
        subscriptionId: "s",
        plan: "team",
        amount: 900,
        currency: "USD",
        interval: "month",
        quantity: 4,
      },
    }),
  ]);
  await server.exported("events", organization);
});

test("a pulse is said by members and read by viewers, with one message for each mistake", async () => {
  const path = at("/api/accounts/acme/pulses");
  expect((await vera.ask("POST", path, { value: 3, text: "fine" })).status).toBe(403);
  const refused = async (body: object, account = "acme") => {
    const response = await olga.ask("POST", at(`/api/accounts/${account}/pulses`), body);
    return [response.status, ((await response.json()) as { message: string }).message];
  };
  expect(await refused({ value: 6, text: "a" })).toEqual([
    400,
    "value is not valid: send a whole number from 1 to 5.",
  ]);
  expect(await refused({ value: 2.5, text: "a" })).toEqual([
    400,
    "value is not valid: send a whole number from 1 to 5.",
  ]);
  expect((await refused({ value: 2 }))[0]).toBe(400);
  expect((await refused({ value: 2, text: "  " }))[0]).toBe(400);
  expect((await refused({ value: 2, text: "x".repeat(501) }))[0]).toBe(400);
  expect((await refused({ value: 2, text: "a" }, "nobody"))[0]).toBe(404);
  expect((await olga.ask("DELETE", at("/api/pulses/999"))).status).toBe(404);

  const said = await say("acme", 2, " Their champion left. ");
  expect(said).toMatchObject({ value: 2, text: "Their champion left.", saidBy: { name: "Olga Owner" } });
  const mistaken = await say("bolt", 1, "Mixed up with another.");
  expect((await olga.ask("DELETE", at(`/api/pulses/${mistaken.id}`))).status).toBe(204);
  await say("bolt", 5, "They renewed early.");
  expect(await vera.json<object>("GET", path)).toMatchObject({
    pulse: 2,
    pulses: [{ value: 2, state: "current", takenBackAt: null }],
  });
  const { pulse, pulses } = await pulsesOf("bolt");
  expect([pulse, pulses.map(({ value, state }) => [value, state])]).toEqual([
    5,
    [
      [5, "current"],
      [1, "taken_back"],
    ],
  ]);
  const { entries } = await get<RouteAnswer<"GET /api/audit-log">>("/api/audit-log?limit=9");
  expect(entries.map(({ action }) => action).filter((action) => action.startsWith("pulse"))).toEqual([
    "pulse.said",
    "pulse.taken_back",
    "pulse.said",
    "pulse.said",
  ]);
  expect(JSON.stringify(entries)).not.toContain("champion");
  const { events } = await get<RouteAnswer<"GET /api/accounts/:accountId/timeline">>(
    "/api/accounts/bolt/timeline?limit=3",
  );
  expect(events[0]).toMatchObject({
    kind: "pulse",
    properties: { value: 5, text: "They renewed early.", by: "Olga Owner" },
  });
  expect(events[1]?.kind).toBe("event");
});

test("seats are in today's scores, and a pulse of today in tomorrow's", async () => {
  await score(0);
  expect(await listed()).toEqual([
    ["acme", 20, 0.15, null],
    ["bolt", 4, 0.5, null],
    ["cord", null, null, null],
  ]);
  await score(1);
  expect(await listed()).toEqual([
    ["acme", 20, 0.15, 2],
    ["bolt", 4, 0.5, 5],
    ["cord", null, null, null],
  ]);
});

test("lists are sorted and filtered by both, segments of accounts too, and CSV has them", async () => {
  const idsOf = async (query: string) => (await listed(query)).map(([id]) => id);
  expect(await idsOf("sort=pulse&order=ascending")).toEqual(["acme", "bolt", "cord"]);
  expect(await idsOf("sort=pulse&order=descending")).toEqual(["bolt", "acme", "cord"]);
  expect(await idsOf("sort=seatsUsed&order=descending")).toEqual(["bolt", "acme", "cord"]);
  expect(await idsOf("sort=seats&order=ascending")).toEqual(["bolt", "acme", "cord"]);
  expect(await idsOf("pulseTo=2")).toEqual(["acme"]);
  expect(await idsOf("pulseFrom=3")).toEqual(["bolt"]);
  expect(await idsOf("seatsUsedTo=15")).toEqual(["acme"]);
  expect(await idsOf("seatsUsedTo=14")).toEqual([]);
  expect(await idsOf("seatsUsedFrom=50")).toEqual(["bolt"]);
  expect((await olga.ask("GET", at("/api/accounts?pulseTo=6"))).status).toBe(400);
  expect((await olga.ask("GET", at("/api/users?pulseTo=2"))).status).toBe(400);

  const saved = { name: "Unhappy", kind: "accounts", filter: { pulseTo: 2, seatsUsedTo: 50 } };
  const { id } = await olga.json<{ id: number }>("POST", at("/api/segments"), saved, 201);
  expect(await idsOf(`segment=${id}`)).toEqual(["acme"]);
  const { users } = await get<RouteAnswer<"GET /api/users">>(
    `/api/users?segment=${id}&sort=userId&order=ascending`,
  );
  expect(users.map(({ userId }) => userId)).toEqual(["a1", "a2", "a3"]);
  const ofUsers = await olga.ask("POST", at("/api/segments"), { ...saved, name: "Users", kind: "users" });
  expect([ofUsers.status, await ofUsers.text()]).toEqual([
    400,
    expect.stringContaining("filter.pulseTo is not valid: users have no such condition."),
  ]);
  const csv = await olga.ask(
    "GET",
    at("/api/accounts?format=csv&columns=accountId,seats,seatsUsed,pulse&sort=accountId&order=ascending"),
  );
  expect((await csv.text()).trim().split(/\r?\n/)).toEqual([
    "accountId,seats,seatsUsed,pulse",
    "acme,20,0.15,2",
    "bolt,4,0.5,5",
    "cord,,,",
  ]);
});

test("both are parts of health if the organization chooses them", async () => {
  const part = (trait: string, zeroAt: number, hundredAt: number, weight: number) => ({
    trait,
    zeroAt,
    hundredAt,
    weight,
  });
  await olga.json("PATCH", at("/api/settings"), {
    healthWeights: { engagement: 0, outlook: 0, momentum: 0, adoption: 0 },
    healthTraits: [part("$seatsUsed", 0, 100, 40), part("$pulse", 1, 5, 60)],
  });
  await score(1);
  const scoreOf = async (account: string) =>
    (await get<RouteAnswer<"GET /api/accounts/:accountId/score">>(`/api/accounts/${account}/score`)).health;
  const acme = await scoreOf("acme");
  // 0.4 · 15 + 0.6 · 25, and 0.4 · 50 + 0.6 · 100.
  expect(acme?.score).toBeCloseTo(21, 9);
  expect((await scoreOf("bolt"))?.score).toBeCloseTo(80, 9);
  expect(acme?.contributions["trait.$seatsUsed"]).toBeCloseTo(6, 9);
  expect(acme?.contributions["trait.$pulse"]).toBeCloseTo(15, 9);
  expect(acme?.traits).toMatchObject([
    { trait: "$pulse", value: 2 },
    { trait: "$seatsUsed", value: 15 },
  ]);
  expect((await scoreOf("cord"))?.score).toBeNull();
});

test("another owner ends a pulse, and so does taking it back", async () => {
  const nobody = await olga.ask("PATCH", at("/api/accounts/acme/owner"), { owner: null });
  expect(nobody.status).toBe(204);
  await becomes(async () => (await pulsesOf("acme")).pulses[0]?.state, "owner_changed");
  const [newest] = (await pulsesOf("bolt")).pulses;
  expect((await olga.ask("DELETE", at(`/api/pulses/${newest?.id}`))).status).toBe(204);
  expect((await pulsesOf("acme")).pulse).toBeNull();
  await score(2);
  expect((await listed()).map(([, , , pulse]) => pulse)).toEqual([null, null, null]);
  // A rebuild of the day before shows what its run showed: the health of then, with the pulses of then.
  await server.command(
    "score",
    ...["--organization", organization, "--as-of", formatDay(today + 1), "--even-if-stopped"],
  );
  const { days } = await get<RouteAnswer<"GET /api/accounts/:accountId/score/history">>(
    "/api/accounts/bolt/score/history",
  );
  const healthOn = (day: string) => days.find((one) => one.day === day)?.health;
  expect(healthOn(formatDay(today + 1))).toBeCloseTo(80, 9);
  expect(healthOn(formatDay(today + 2))).toBeCloseTo(50, 9);
});

test("pulses are exported, and erased with their account", async () => {
  const exported = async () => {
    const text = await server.command("export", "pulses", "--organization", organization);
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  expect((await exported()).map(({ accountId, value, saidBy }) => [accountId, value, saidBy])).toEqual([
    ["acme", 2, "Olga Owner"],
    ["bolt", 1, "Olga Owner"],
    ["bolt", 5, "Olga Owner"],
  ]);
  await olga.json("DELETE", at("/api/accounts/bolt"));
  expect((await exported()).map(({ accountId }) => accountId)).toEqual(["acme"]);
  expect((await olga.ask("GET", at("/api/accounts/bolt/pulses"))).status).toBe(404);
});
