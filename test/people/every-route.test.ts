/**
 * Walks the whole OpenAPI document, so that no route can be forgotten. With a foreign organization every
 * route answers as if there were none. With foreign ids no answer contains data of another organization, and
 * no data of that organization changes.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { quietZone } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { send, user } from "../specification/support.ts";
import { withinLimit } from "../until.ts";
import { company } from "./support.ts";

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: object;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}
interface Route extends Operation {
  readonly method: string;
  readonly path: string;
}

let server: Server;
let routes: readonly Route[];
let ours: Awaited<ReturnType<typeof company>>;
let theirs: Awaited<ReturnType<typeof company>>;
/** Our read key with every right. */
let key: string;
/** Their ids, by the path that takes them. */
let ids: Readonly<Record<string, number>>;

/** In everything of theirs but the ids that are sent: no answer to us may have it. */
const hidden = "theirs-alone";
const absent = 987_654_321;

beforeAll(async () => {
  server = await Server.start();
  await server.ready();
  ours = await company(server, "Ours");
  theirs = await company(server, "Theirs", "--timezone", quietZone);
  key = (
    await server.command("key", "create", "--organization", "Ours", "--right", "manage", "--right", "erase")
  ).trim();
  const properties = { name: `${hidden} name`, plan: hidden };
  const account = { id: "their-account", name: `${hidden} account` };
  const identified = { ...user("their-user"), email: `${hidden}@example.com`, properties, account };
  await send(server, "/identify", theirs.token, identified);
  const track = { userId: "their-user", event: "their_event", properties: { said: hidden } };
  await send(server, "/track", theirs.token, track);
  await server.exported("events", "Theirs");
  ids = await theirIds();
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
});
afterAll(() => server?.stop());

/** Makes one of everything that has an id. */
async function theirIds(): Promise<Readonly<Record<string, number>>> {
  const { owner, viewer, at } = theirs;
  const made = async (path: string, body?: object, status = 201) =>
    (await owner.json<{ id: number }>("POST", path, body, status)).id;
  await owner.json("PATCH", at("/api/settings"), { keyEvents: [hidden] });
  const rule = `/api/exclusions?kind=email_domain&value=${hidden}.example&organization=${owner.organization}`;
  return {
    tokens: await made(at("/api/tokens"), { name: hidden }),
    "read-keys": await made(at("/api/read-keys"), { name: hidden, rights: [] }),
    invitations: await made(at("/api/invitations"), { email: `${hidden}@example.org`, role: "viewer" }),
    exclusions: await made(rule, undefined, 200),
    outages: await made(at("/api/outages"), { from: "2026-01-03", to: "2026-01-04" }),
    views: await made(at("/api/views"), { page: "users", name: hidden, query: "state=active" }),
    imports: await made(`${at("/api/imports")}&name=${hidden}.jsonl`, { userId: hidden }),
    segments: await made(at("/api/segments"), { kind: "users", name: hidden, filter: { state: "active" } }),
    webhooks: await made(at("/api/webhooks"), {
      name: hidden,
      mapping: { ...mapping, account: { id: hidden } },
    }),
    members: viewer.id,
    "alert-rules": await made(at("/api/alert-rules"), { ...alertRule, name: hidden }),
    notes: await made(at("/api/users/their-user/notes"), { text: hidden }),
    tasks: await made(at("/api/accounts/their-account/tasks"), { title: hidden }),
    ...(await theirMessages()),
    "assistant-writes": await theirAssistantWrite(),
  };
}

/** A note that their assistant wrote. */
async function theirAssistantWrite(): Promise<number> {
  const right = ["--right", "assist"];
  const theirKey = (await server.command("key", "create", "--organization", "Theirs", ...right)).trim();
  const given = { kind: "user", id: "their-user", text: hidden, idempotencyKey: "note-of-theirs" };
  const call = { name: "add_note", arguments: given };
  const response = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${theirKey}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }),
  });
  expect([response.status, (await response.text()).includes("Done.")]).toEqual([200, true]);
  const { owner, at } = theirs;
  const { writes } = await owner.json<{ writes: { id: number }[] }>("GET", at("/api/assistant-writes"));
  return writes[0]?.id ?? 0;
}

/** A destination and a message that it holds. */
async function theirMessages(): Promise<Readonly<Record<"destinations" | "deliveries", number>>> {
  const { owner, at } = theirs;
  const body = { kind: "webhook", name: hidden, address: `https://${hidden}.invalid/` };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    body,
    201,
  );
  const one = `/api/destinations/${destination.id}`;
  await owner.json("PATCH", at(one), { state: "paused" });
  const held = await owner.json<{ id: number }>("POST", at(`${one}/test`), undefined, 201);
  return { destinations: destination.id, deliveries: held.id };
}

const mapping = { userId: "user", event: { path: "name" } };
const alertRule = { scope: { kind: "users" }, condition: { kind: "healthBelow", below: 40 } };

/** A body for each route that takes one. A new route with a body fails the test until its body is added
 * here. */
const bodies: Readonly<Record<string, object>> = {
  "PATCH /api/settings": { weekStart: 7 },
  "POST /api/settings/restore": { to: 0 },
  "POST /api/alert-rules/preview": {
    scope: { kind: "users" },
    condition: { kind: "riskBand", band: "high" },
  },
  "POST /api/settings/preview": { weekStart: 7 },
  "PATCH /api/organization": { keepEventsDays: 400 },
  "PATCH /api/members/{id}": { role: "owner" },
  "POST /api/invitations": { email: "new@example.com", role: "viewer" },
  "POST /api/tokens": { name: "new" },
  "POST /api/destinations": { kind: "webhook", name: "new", address: "https://new.invalid/" },
  "PATCH /api/destinations/{id}": { name: "ours now" },
  "POST /api/destinations/{id}/held": { held: "drop" },
  "POST /api/alert-rules": { ...alertRule, name: "new" },
  "PUT /api/alert-rules/{id}": { ...alertRule, name: "ours now" },
  "PATCH /api/alerts/{id}": { verdict: "handled" },
  "PUT /api/own-digest": { period: "off" },
  "POST /api/users/{userId}/contacts": {},
  "POST /api/users/{userId}/notes": { text: "ours" },
  "POST /api/accounts/{accountId}/notes": { text: "ours" },
  "PATCH /api/notes/{id}": { text: "ours now" },
  "POST /api/users/{userId}/tasks": { title: "ours" },
  "POST /api/accounts/{accountId}/tasks": { title: "ours" },
  "POST /api/accounts/{accountId}/pulses": { value: 4, text: "ours" },
  "PATCH /api/tasks/{id}": { isDone: true },
  "PATCH /api/users/{userId}/call": { verdict: null },
  "PATCH /api/accounts/{accountId}/call": { verdict: null },
  "PATCH /api/users/{userId}/churn-reason": { reason: null },
  "PATCH /api/accounts/{accountId}/churn-reason": { reason: null },
  "PATCH /api/users/{userId}/owner": { owner: null },
  "PATCH /api/accounts/{accountId}/owner": { owner: null },
  "POST /api/views": { page: "users", name: "new", query: "state=active" },
  "PATCH /api/views/{id}": { name: "ours now" },
  "POST /api/imports": {},
  "POST /api/imports/{id}/check": { from: "segment" },
  "POST /api/outages": { from: "2026-01-05", to: "2026-01-06" },
  "POST /api/segments": { kind: "users", name: "new", filter: { state: "active" } },
  "POST /api/retention/segment": { name: "new" },
  "POST /api/segments/preview": { kind: "users", filter: { state: "active" } },
  "PATCH /api/segments/{id}": { name: "ours now" },
  "POST /api/webhooks": { name: "new", mapping },
  "POST /api/webhooks/try": { mapping, payload: { user: "1", name: "a" } },
  "PATCH /api/webhooks/{id}": { mapping },
  "PATCH /api/stripe": { unknownCustomers: "wait" },
  "POST /api/read-keys": { name: "new", rights: ["read"] },
};

/** The routes of an organization that no read key may ask. A new route takes keys, or is added here. */
const sessionsAlone: readonly string[] = [
  "DELETE /api/destinations/{id}",
  "DELETE /api/imports/{id}",
  "DELETE /api/invitations/{id}",
  "DELETE /api/members/{id}",
  "DELETE /api/organization",
  "DELETE /api/read-keys/{id}",
  "DELETE /api/tokens/{id}",
  "DELETE /api/webhooks/{id}",
  "GET /api/audit-log",
  "GET /api/erasures",
  "GET /api/imports",
  "GET /api/imports/{id}",
  "GET /api/imports/{id}/rejected",
  "GET /api/live",
  "GET /api/members",
  "GET /api/own-digest",
  "GET /api/read-keys",
  "GET /api/tokens",
  "GET /api/users/{userId}/everything",
  "PATCH /api/destinations/{id}",
  "PATCH /api/members/{id}",
  "PATCH /api/organization",
  "PATCH /api/stripe",
  "PATCH /api/webhooks/{id}",
  "POST /api/deliveries/{id}/again",
  "POST /api/destinations",
  "POST /api/destinations/{id}/held",
  "POST /api/destinations/{id}/secret",
  "POST /api/destinations/{id}/test",
  "POST /api/imports",
  "POST /api/imports/{id}/check",
  "POST /api/imports/{id}/run",
  "POST /api/invitations",
  "POST /api/read-keys",
  "POST /api/tokens",
  "POST /api/webhooks",
  "POST /api/webhooks/try",
  "PUT /api/own-digest",
];

/** Values for parameters. Each names something of the other organization. */
const values: Readonly<Record<string, string>> = {
  event: "their_event",
  trait: "plan",
  kind: "user",
  value: "their-user",
  search: "",
  ids: "1,2,3",
  since: "2026-01-01",
  cohort: "2026-01-01",
  at: "0",
};

const isOfOrganization = ({ parameters }: Route) =>
  (parameters ?? []).some(({ name, in: where }) => name === "organization" && where === "query");
const ofOrganization = () => routes.filter(isOfOrganization);

/** The address of a route with ids of the other organization, or with one that does not exist. */
function addressOf(route: Route, organization: number | undefined, isAbsent = false): string {
  const kind = route.path.split("/")[2] ?? "";
  const path = route.path
    .replace("{id}", String(isAbsent ? absent : (ids[kind] ?? 1)))
    .replace("{userId}", isAbsent ? "nobody" : "their-user")
    .replace("{accountId}", isAbsent ? "nobody" : "their-account")
    .replace("{source}", isAbsent ? "nobody" : "segment");
  const search = new URLSearchParams();
  if (organization !== undefined) search.set("organization", String(organization));
  for (const { name, in: where, required } of route.parameters ?? []) {
    if (where !== "query" || name === "organization") continue;
    const value = values[name];
    if (required || name === "event" || name === "ids") search.set(name, value ?? "");
  }
  return `${path}?${search}`;
}

const bodyOf = ({ method, path, requestBody }: Route) =>
  requestBody === undefined ? undefined : bodies[`${method} ${path}`];

/** Asks, and retries at the rate limit. @returns status and text of the answer, or the beginning of an
 * endless one */
async function answerOf(ask: () => Promise<Response>): Promise<readonly [number, string]> {
  const response = await withinLimit(ask);
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    return [response.status, await response.text()];
  }
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return [response.status, first?.value ? new TextDecoder().decode(first.value) : ""];
}

/** Everything of theirs that could have been changed, without when it was used, and without items by the
 * hour: the next hour may begin meanwhile. */
async function stateOfTheirs(): Promise<string> {
  const { owner, at } = theirs;
  const paths = [
    "organization",
    "members",
    "tokens",
    "read-keys",
    "settings",
    "exclusions",
    "users",
    "users/their-user",
    "accounts",
    "rejected-events",
    "outages",
    "views",
    "sources",
    "webhooks",
    "stripe",
    "destinations",
    "deliveries",
    "tasks",
    "segments",
    "users/their-user/notes",
    "alert-rules",
    "alerts",
    "assistant-writes",
  ];
  const answers = [];
  for (const path of paths) {
    const { freshness: _, ...answer } = await owner.json<Record<string, unknown>>("GET", at(`/api/${path}`));
    answers.push(answer);
  }
  return JSON.stringify(answers, (name, value) => (/^(last(Used|Seen)At|hours)$/.test(name) ? null : value));
}

/** Asks with a read key, our own with every right if none is given. */
function byKey(route: Route, address: string, by = key): Promise<Response> {
  return fetch(server.url + address, {
    method: route.method,
    headers: { Authorization: `Bearer ${by}`, "Content-Type": "application/json" },
    ...(route.requestBody !== undefined && { body: JSON.stringify(bodyOf(route)) }),
  });
}

/** Other tools' clients write there, with a project token. */
const isOfClient = ({ path }: (typeof routes)[number]) => /^\/api\/(s|public)\//.test(path);

describe("every route of the document", () => {
  test("is of an organization, or of nobody's but the person who asks", () => {
    expect(ofOrganization().length).toBeGreaterThan(40);
    const others = routes
      .filter((route) => route.path.startsWith("/api/") && !isOfOrganization(route) && !isOfClient(route))
      .map(({ method, path }) => `${method} ${path}`);
    expect(others.sort()).toEqual([
      "DELETE /api/session",
      "DELETE /api/sessions",
      "GET /api/installation",
      "GET /api/session",
      "PATCH /api/person",
      "POST /api/claim",
      "POST /api/destinations/agree",
      "POST /api/invitations/accept",
      "POST /api/invitations/lookup",
      "POST /api/organizations",
      "POST /api/password",
      "POST /api/session",
      "POST /api/unsubscribe/{id}/{code}",
    ]);
    const unknown = ofOrganization().filter((route) => route.requestBody && bodyOf(route) === undefined);
    expect(unknown.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  test("answers a foreign organization as one that there is not, to each role", async () => {
    const before = await stateOfTheirs();
    for (const route of ofOrganization()) {
      for (const somebody of [ours.owner, ours.viewer]) {
        const [foreign, none] = await Promise.all(
          [theirs.organization, absent].map(async (organization) =>
            answerOf(() => somebody.ask(route.method, addressOf(route, organization), bodyOf(route))),
          ),
        );
        const name = `${route.method} ${route.path}`;
        expect([name, foreign?.[0]]).toEqual([name, 404]);
        expect([name, foreign]).toEqual([name, none]);
      }
    }
    expect(await stateOfTheirs()).toBe(before);
  });

  test("gives nothing of theirs by their ids, to a session and to a read key, and changes nothing of theirs", async () => {
    const before = await stateOfTheirs();
    const bySession = (route: Route, address: string) => ours.owner.ask(route.method, address, bodyOf(route));
    for (const [ask, organization] of [
      [bySession, ours.organization],
      [byKey, undefined],
    ] as const) {
      for (const route of ofOrganization()) {
        const name = `${route.method} ${route.path}`;
        const [status, text] = await answerOf(() => ask(route, addressOf(route, organization)));
        expect([name, text.includes(hidden)]).toEqual([name, false]);
        expect([name, status]).not.toEqual([name, 500]);
        if (!route.path.includes("{")) continue;
        const none = await answerOf(() => ask(route, addressOf(route, organization, true)));
        const same = [status, text.replaceAll("their-user", "nobody").replaceAll("their-account", "nobody")];
        expect([name, ...same]).toEqual([name, ...none]);
      }
    }
    expect(await stateOfTheirs()).toBe(before);
  });

  test("takes a read key if the document says so, and only with the right that it says", async () => {
    const reading = (await server.command("key", "create", "--organization", "Ours")).trim();
    const taking: string[] = [];
    for (const route of ofOrganization()) {
      const name = `${route.method} ${route.path}`;
      const takesKeys = route.security?.some((one) => "readKey" in one) ?? false;
      const [status] = await answerOf(() => byKey(route, addressOf(route, undefined, true)));
      const [withRead] = await answerOf(() => byKey(route, addressOf(route, undefined, true), reading));
      const right = /read key with the right to (\w+)/.exec(route.description ?? "")?.[1];
      expect([name, takesKeys]).toEqual([name, right !== undefined]);
      if (takesKeys) {
        taking.push(name);
        expect([name, [401, 403].includes(status)]).toEqual([name, false]);
        expect([name, withRead === 403]).toEqual([name, right !== "read"]);
      } else {
        expect([name, [401, 403].includes(status), withRead]).toEqual([name, true, status]);
      }
    }
    const left = ofOrganization()
      .map(({ method, path }) => `${method} ${path}`)
      .filter((name) => !taking.includes(name));
    expect(left.sort()).toEqual([...sessionsAlone]);
  });

  test("of the write API writes only where its token belongs", async () => {
    const before = await stateOfTheirs();
    const track = { userId: "their-user", event: "forged", properties: {} };
    expect((await server.post("/track", ours.token, track)).status).toBe(404);
    await send(server, "/identify", ours.token, { ...user("their-user"), email: "ours@example.com" });
    await send(server, "/track", ours.token, track);
    await server.exported("events", "Ours");
    expect(await stateOfTheirs()).toBe(before);
    const path = theirs.at("/api/users/their-user/timeline");
    const { events } = await theirs.owner.json<{ events: { event: string }[] }>("GET", path);
    // The notes are those that theirs has from the beginning.
    expect(events.map(({ event }) => event)).toEqual(["note", "note", "their_event"]);
  });
});
