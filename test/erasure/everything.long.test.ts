/** A copy of everything about a person: data of the person in every store is in it, and nothing of another
 * person. */

import { beforeAll, expect, test } from "bun:test";
import { analysisRoutes } from "../../contract/api/analysis-routes.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";
import { daysAgo, identify, sendAll, track } from "./support.ts";
import { firedDay, tellAbout } from "./told.ts";

export const runsOn = { postgres: true };

const organization = "Access";
const server: Server = await ownServer(() => server, { time: quick });
let token = "";
let olga: Awaited<ReturnType<typeof joined>>;

type Row = Readonly<Record<string, unknown>>;
type Document = Readonly<Record<string, readonly Row[]>>;

const at = (path: string) => `${path}?organization=${olga.organization}`;

beforeAll(async () => {
  token = await server.organization(organization, "--timezone", "UTC");
  olga = await joined(server, organization, "owner", "Olga Owner");
  await sendAll(server, token, [...dataOf("ada"), ...dataOf("eve")]);
  for (const who of ["ada", "eve"]) {
    await segment("/v1/identify", {
      anonymousId: `visitor of ${who}`,
      userId: who,
      traits: { segmented: who },
    });
    await server.post("/track", token, { userId: who, event: "warned", [`odd key of ${who}`]: 1 });
    const path = `/api/users/${who}`;
    await olga.json("POST", at(`${path}/notes`), { text: `note on ${who}` }, 201);
    await olga.json("POST", at(`${path}/tasks`), { title: `task for ${who}` }, 201);
    expect((await olga.ask("POST", at(`${path}/contacts`), { text: `called ${who}` })).status).toBe(204);
    expect((await olga.ask("PATCH", at(`${path}/owner`), { owner: olga.id })).status).toBe(204);
    const call = { snoozedUntil: "2099-01-01", verdict: "notUseful" };
    expect((await olga.ask("PATCH", at(`${path}/call`), call)).status).toBe(204);
    await server.command("exclude", "add", "--organization", organization, "--user", `${who} excluded`);
  }
  const pilots = { kind: "users", name: "Pilots with ada", ids: ["ada"] };
  const { id } = await olga.json<{ id: number }>("POST", at("/api/segments"), pilots, 201);
  await tellAbout(server, olga, ["ada", "eve"]);
  await segment("/v1/track", { anonymousId: "never seen", event: "held", properties: { text: "held text" } });
  await server.exported("events", organization);
  await server.command("score", "--organization", organization);
  await until("the segment is evaluated", async () => {
    const path = at(`/api/segments/${id}/history`);
    return (await olga.json<{ firstEvaluatedAt: string | null }>("GET", path)).firstEvaluatedAt !== null;
  });
});

/** The data of two people, each text with the name of its sender. */
function dataOf(who: string): object[] {
  const account = { id: `account of ${who}`, name: `Account of ${who}` };
  const billing = {
    subscriptionId: `subscription of ${who}`,
    status: "active",
    plan: `plan of ${who}`,
    amount: 1_000,
    currency: "USD",
    interval: "month",
  };
  return [
    identify(who, { account, properties: { name: `name of ${who}`, old: `old trait of ${who}` } }),
    ...[70, 40, 20, 3].map((days, index) =>
      track(who, `event_${index}_of_${who}`, daysAgo(days), { properties: { text: `property of ${who}` } }),
    ),
    track(who, "subscription_started", daysAgo(30), { isActivity: false, properties: billing }),
    identify(who, { account: null, properties: { old: `new trait of ${who}` } }),
  ];
}

async function segment(path: string, body: object): Promise<void> {
  const response = await fetch(server.url + path, {
    method: "POST",
    body: JSON.stringify({ writeKey: token, ...body }),
  });
  expect(response.status).toBe(200);
}

async function everything(userId: string): Promise<{ readonly text: string; readonly document: Document }> {
  const response = await olga.ask("GET", at(`/api/users/${encodeURIComponent(userId)}/everything`));
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return { text, document: JSON.parse(text) as Document };
}

test("it has what every store keeps of the person, and nothing of another", async () => {
  const { text, document } = await everything("ada");
  for (const planted of [
    "name of ada",
    "old trait of ada",
    "new trait of ada",
    "Account of ada",
    "visitor of ada",
    "event_0_of_ada",
    "event_3_of_ada",
    "property of ada",
    "odd key of ada",
    "note on ada",
    "Pilots with ada",
    "task for ada",
    "called ada",
    "ada@example.com",
    "olga.owner@example.com",
  ]) {
    expect([planted, text.includes(planted)]).toEqual([planted, true]);
  }
  expect(text).not.toMatch(/\beve\b/);
  expect(document.versions?.map(({ traits }) => (traits as { old?: string }).old)).toEqual(
    expect.arrayContaining(["old trait of ada", "new trait of ada"]),
  );
  expect(document.events?.length).toBeGreaterThanOrEqual(6);
  expect(document.accounts).toMatchObject([{ id: "account of ada" }]);
  expect(document.linkedIds).toMatchObject([{ kind: "visitor", id: "visitor of ada" }]);
  expect(document.scores?.length).toBeGreaterThan(0);
  expect(document.eventsByDay?.length).toBeGreaterThan(0);
  expect(document.billingEvents).toMatchObject([{ subscriptionId: "subscription of ada" }]);
  expect(document.segmentChanges).toMatchObject([{ change: "entered", cause: "first" }]);
  expect(document.segments).toHaveLength(1);
  expect(document.auditLog?.map(({ action }) => action).toSorted()).toEqual([
    "call.set_aside",
    "contact.created",
    "note.created",
    "owner.changed",
    "person.exported",
    "task.created",
  ]);
});

test("alerts, states of rules, hold-outs and messages say everything about the person, and nothing of another", async () => {
  const { document } = await everything("ada");
  const [alert] = document.alerts ?? [];
  const exported = (await server.command("export", "alerts", "--organization", organization)).split("\n");
  const line = exported.find((text) => text.includes('"userId":"ada"')) ?? "{}";
  expect(document.alerts).toEqual([JSON.parse(line)]);
  expect(alert).toMatchObject({ risk: 0.7, expectedLoss: 900, arm: "treated", isSent: true, version: 1 });
  const { ruleId } = alert ?? {};
  const state = { ruleId, hasLeft: false, firedDay: formatDay(firedDay), value: 0.7 };
  expect(document.alertStates).toMatchObject([state]);
  expect(document.calls).toEqual([
    { snoozedUntil: "2099-01-01", verdict: "notUseful", verdictAt: expect.any(String), outcome: null },
  ]);
  expect(document.holdOutEntries).toMatchObject([
    { ruleId, experiment: 1, accountId: null, arm: "treated", enteredDay: formatDay(firedDay) },
  ]);
  const messages = inOrder(document);
  expect(messages.map(({ destination, type, state: is }) => [destination, type, is])).toEqual([
    ["channel", "alert.fired", "held"],
    ["channel", "digest", "held"],
    ["hook", "alert.fired", "held"],
  ]);
  const [run, digest, one] = messages.map(({ content }) => content as { readonly rows?: readonly Row[] });
  expect(one).toMatchObject({ entity: { kind: "user", id: "ada", email: "ada@example.com" }, risk: 0.7 });
  expect(run?.rows).toMatchObject([
    { name: "name of ada (ada@example.com)", text: expect.stringMatching(/^silent for 9 days/) },
  ]);
  expect(digest?.rows?.map(({ name, text }) => [name, text])).toEqual([
    ["name of ada", "entered high risk: 70%, was 20%, expected loss 9 EUR a month"],
  ]);
});

/** The messages of a document by destination and type. */
function inOrder({ messages = [] }: Document): readonly Row[] {
  const key = ({ destination, type }: Row) => `${destination} ${type}`;
  return messages.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

test("its schema names every section, and an unknown person has no document", async () => {
  const { document } = await everything("eve");
  const schema = analysisRoutes["GET /api/users/:userId/everything"].answer;
  expect(Object.keys(document).toSorted()).toEqual(Object.keys(schema.properties).toSorted());
  const response = await olga.ask("GET", at("/api/users/nobody/everything"));
  expect(response.status).toBe(404);
});

test("an id that was never identified has its held events", async () => {
  const { document } = await everything("never seen");
  expect(document.identity).toBeNull();
  expect(document.heldEvents).toMatchObject([
    { item: { event: "held", properties: '{"text":"held text"}' } },
  ]);
  expect(document.events).toBeUndefined();
});

test("only owners get it, and the command line writes the same", async () => {
  const mia = await joined(server, organization, "member", "Mia Member");
  expect((await mia.ask("GET", at("/api/users/ada/everything"))).status).toBe(403);
  const key = await server.command("key", "create", "--organization", organization, "--right", "erase");
  const headers = { Authorization: `Bearer ${key.trim()}` };
  expect((await fetch(`${server.url}/api/users/ada/everything`, { headers })).status).toBe(403);
  const { document } = await everything("ada");
  const printed = await server.command("export", "person", "--organization", organization, "--user", "ada");
  const command = JSON.parse(printed) as Document;
  expect(Object.keys(command)).toEqual(Object.keys(document));
  // Earlier days are scored in the background meanwhile.
  for (const section of [
    "identity",
    "versions",
    "events",
    "billingEvents",
    "eventsByDay",
    "notes",
    "tasks",
  ]) {
    expect([section, command[section]]).toEqual([section, document[section]]);
  }
  expect(command.auditLog).toHaveLength((document.auditLog ?? []).length + 1);
  await expect(
    server.command("export", "person", "--organization", organization, "--user", "nobody"),
  ).rejects.toThrow("User not found");
});

test("an erased person is in no document", async () => {
  await server.command("erase", "user", "eve", "--organization", organization);
  const response = await olga.ask("GET", at("/api/users/eve/everything"));
  expect(response.status).toBe(404);
  // Both messages named both users, so their contents are deleted. That of the run is rendered again when it
  // is sent.
  const [run, digest] = inOrder((await everything("ada")).document);
  expect([digest?.state, digest?.content]).toEqual(["canceled", null]);
  expect([run?.state, run?.content]).toEqual(["held", null]);
});
