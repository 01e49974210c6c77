/** The machine-readable description: it is what the server does, and every answer in it was seen. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { Server } from "../server.ts";
import { becomes } from "../until.ts";
import { OpenApi, type Schema } from "./document.ts";
import { send, user, withBrokenLedger } from "./support.ts";

let server: Server;
let token: string;
let api: OpenApi;
let document: OpenApi["document"];
/** The paths of the specification. */
let paths: OpenApi["document"]["paths"];

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization("OpenAPI");
  api = await OpenApi.of(server);
  document = api.document;
  const own = Object.entries(document.paths).filter(
    ([path]) => !/^\/(api|arm|v1|beacon|i|e|capture|openpanel|mixpanel)(\/|$)/.test(path),
  );
  paths = Object.fromEntries(own);
});
afterAll(() => server.stop());

const post = (path: string, body: unknown, secret: string | undefined = token) =>
  server.post(path, secret, body);

describe("the document", () => {
  test("is OpenAPI 3.1 with version 1.0.0 and the address of the service", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info.version).toBe("1.0.0");
    expect(document.servers.map(({ url }) => URL.canParse(url))).toEqual([true]);
  });

  test("has the paths of the specification, with their statuses and no version segment", () => {
    const statuses = Object.entries(paths).map(([path, item]) => [
      path,
      Object.keys(item),
      Object.keys(item.post.responses).sort(),
    ]);
    expect(statuses).toEqual([
      ["/identify", ["post"], ["201", "400", "401", "429", "500"]],
      ["/track", ["post"], ["201", "400", "401", "404", "429", "500"]],
      ["/batch", ["post"], ["201", "400", "401", "429", "500"]],
    ]);
  });

  test("says when a segment is not deleted", () => {
    const paths: Readonly<Record<string, Record<string, { readonly responses: object }>>> = document.paths;
    expect(paths["/api/segments/{id}"]?.delete?.responses).toMatchObject({
      409: {
        description: expect.stringContaining("`conflict`: Another segment or an alert rule uses the segment"),
      },
    });
  });

  test("names every path of the connected sources, each of which is there", async () => {
    const calls = ["identify", "track", "group", "page", "screen", "alias", "batch"];
    const expected = calls.flatMap((call) => [`/v1/${call}`, `/v1/${call.slice(0, 1)}`]);
    const ofSources = /^\/(v1|beacon|i|e|capture|api\/s|api\/public|openpanel|mixpanel)(\/|$)/;
    const named = Object.keys(document.paths).filter((path) => ofSources.test(path));
    const posthog = ["/i/v0/e", "/i/v1/analytics/events", "/e", "/capture"];
    const webhooks = ["/v1/webhooks/stripe/{token}", "/v1/webhooks/{name}/{token}"];
    const others = [
      ...calls.flatMap((call) => [`/api/s/${call}`, `/api/s/s2s/${call}`, `/api/public/apps/${call}`]),
      "/openpanel/track",
      "/mixpanel/track",
      "/mixpanel/import",
      "/mixpanel/engage",
      "/mixpanel/groups",
    ];
    expect(named.sort()).toEqual(
      [...expected, "/beacon/v1/batch", ...posthog, ...others, ...webhooks].sort(),
    );
    const ofClients = named.filter((path) => !webhooks.includes(path));
    for (const path of ofClients) expect((await post(path, { batch: [] })).status).toBe(200);
    for (const path of webhooks) {
      const url = server.url + path.replace("{name}", "forms").replace("{token}", "rk-nobodys");
      expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(401);
    }
    const html = await (await fetch(`${server.url}/reference`)).text();
    for (const path of named) expect(html).toContain(`POST ${path}<`);
  });

  test("asks for an organization where a session alone does not name it", () => {
    const asked = expect.arrayContaining([expect.objectContaining({ name: "organization" })]);
    expect(document.paths["/api/session"]).toMatchObject({ get: { parameters: [] } });
    expect(document.paths["/api/users"]).toMatchObject({ get: { parameters: asked } });
  });

  test("declares the project token as the specification says", () => {
    expect(document.components.securitySchemes.projectToken).toMatchObject({
      type: "http",
      scheme: "bearer",
      bearerFormat: "Write Key",
    });
    expect(JSON.stringify(document.components.securitySchemes)).toContain("Authorization: Basic");
  });

  test("resolves every reference, and holds nothing that only the library understands", () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(references.length).toBeGreaterThan(0);
    for (const name of references) expect(Object.keys(document.components.schemas)).toContain(String(name));
    expect(text).not.toContain('"~');
  });

  test("requires what the specification requires", () => {
    const required = (name: string) => document.components.schemas[name]?.required;
    expect(required("Identify")).toEqual(["userId", "email"]);
    expect(required("Track")).toEqual(["userId", "event"]);
    expect(required("Success")).toEqual(["success"]);
    expect([...(required("Error") ?? [])].sort()).toEqual(["message", "name", "statusCode"]);
    const account = document.components.schemas.Identify?.properties?.account;
    const choice = account?.anyOf?.find(({ properties }) => properties !== undefined);
    expect(choice?.required).toEqual(["id", "name"]);
  });

  test("describes every field of the specification", () => {
    const fields = (schema: Schema | undefined): string[] =>
      Object.keys([schema, ...(schema?.anyOf ?? [])].find((at) => at?.properties)?.properties ?? {});
    const { Identify, Track } = document.components.schemas;
    const identify = ["userId", "email", "properties", "isAccountOwner", "account"];
    expect(fields(Identify)).toEqual(expect.arrayContaining(identify));
    const traits = ["name", "avatar", "plan", "acquisitionChannel", "companySize", "segment"];
    expect(fields(Identify?.properties?.properties)).toEqual(expect.arrayContaining(traits));
    // The last one is beyond the specification, and the document says so.
    const account = Identify?.properties?.account;
    expect(fields(account)).toEqual(["id", "name", "avatar", "properties"]);
    expect(JSON.stringify(account)).toContain("Beyond the specification: attributes of the account");
    expect(fields(Track)).toEqual(expect.arrayContaining(["userId", "event", "properties", "timestamp"]));
  });
});

/** Bodies on which the document's schemas and the server must agree. */
const bodies: readonly (readonly [string, object])[] = [
  ["/identify", user("u")],
  ["/identify", user("u", { properties: { plan: "pro", custom: [1] }, account: { id: "a", name: "A" } })],
  ["/identify", user("u", { account: { id: "a", name: "A", properties: { owner: "a@b.co", n: [1] } } })],
  ["/identify", user("u", { account: { id: "a", name: "A", properties: { owner: "nobody" } } })],
  ["/identify", user("u", { account: { id: "a", name: "A", properties: { renewsAt: "tomorrow" } } })],
  ["/identify", user("u", { account: { id: "a", name: "A", properties: { contractValue: "1" } } })],
  ["/identify", user("u", { properties: null, account: null, isAccountOwner: null, messageId: null })],
  ["/identify", { userId: "u" }],
  ["/identify", user("")],
  ["/identify", user("u".repeat(257))],
  ["/identify", user("u", { properties: { plan: 5 } })],
  ["/identify", user("u", { properties: [] })],
  ["/identify", user("u", { account: { id: "a" } })],
  ["/identify", user("u", { isAccountOwner: "yes" })],
  ["/identify", { userId: "u", email: "nobody" }],
  ["/track", { userId: "u", event: "e" }],
  ["/track", { userId: "u", event: "e", properties: null, timestamp: null }],
  ["/track", { userId: "u", event: "e", properties: { a: {} }, timestamp: "2026-05-17" }],
  ["/track", { userId: "u", event: "a b" }],
  ["/track", { userId: "u", event: "" }],
  ["/track", { userId: "u", event: "e".repeat(257) }],
  ["/track", { userId: "u", event: "e", properties: [] }],
  ["/track", { userId: "u", event: "e", timestamp: 5 }],
  ["/track", { event: "e" }],
  ["/batch", { batch: [{ type: "track", userId: "u", event: "e" }] }],
  ["/batch", { batch: [{ type: "identify", ...user("u"), timestamp: "2026-05-17" }] }],
  ["/batch", { batch: [{ type: "page", userId: "u", event: "e" }] }],
  ["/batch", { batch: [{ userId: "u", event: "e" }] }],
  ["/batch", { batch: [] }],
  ["/batch", {}],
];

test.each(bodies)("%s and its schema agree on %j", async (path, body) => {
  await send(server, "/identify", token, user("u"));
  const { status } = await post(path, body);
  expect(Compile(api.request(path)).Check(body)).toBe(status === 201);
});

test("every documented answer was seen, and each is of its schema", async () => {
  const limited = await server.organization("OpenAPI limited");
  await server.command("organization", "set", "OpenAPI limited", "--rate-limit", "1");
  const seen = new Set<string>();
  const look = async (path: string, responses: readonly Response[]) => {
    for (const response of responses) {
      expect(api.whyUndocumented(path, response.status, await response.json())).toBeUndefined();
      seen.add(`${path} ${response.status}`);
    }
  };
  const good: Readonly<Record<string, object>> = {
    "/identify": user("u"),
    "/track": { userId: "u", event: "e" },
    "/batch": { batch: [{ type: "track", userId: "u", event: "e" }] },
  };
  for (const [path, body] of Object.entries(good)) {
    await look(path, [await post(path, body), await post(path, {}), await post(path, body, "rk-wrong")]);
    while (!seen.has(`${path} 429`)) {
      await look(path, await Promise.all([1, 2, 3, 4].map(() => post(path, "no json", limited))));
    }
  }
  await look("/track", [await post("/track", { userId: "nobody", event: "e" })]);
  await withBrokenLedger(server, async () => {
    // Events are on the disk before they are in the ledger: they are taken until it has refused the first.
    await becomes(async () => (await post("/track", good["/track"])).ok, false);
    await look("/identify", [await post("/identify", user("u", { properties: { at: 1 } }))]);
    await look("/track", [await post("/track", good["/track"])]);
    await look("/batch", [await post("/batch", good["/batch"])]);
  });
  const documented = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item.post.responses).map((status) => `${path} ${status}`),
  );
  expect([...seen].sort()).toEqual(documented.sort());
});

test("the reference page shows every field and every answer, and runs no script", async () => {
  const response = await fetch(`${server.url}/reference`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toStartWith("text/html");
  const html = await response.text();
  expect(html).toStartWith("<!doctype html>");
  expect(html).not.toContain("<script");
  const names = [
    "/identify",
    "/track",
    "/batch",
    "userId",
    "email",
    "properties.acquisitionChannel",
    "account.avatar",
  ];
  const answers = ["201", "400", "401", "404", "429", "500", "validation_error", "rate_limit_exceeded"];
  for (const text of [...names, ...answers, "timestamp", "curl", "1.0.0", "Content-Encoding"])
    expect(html).toContain(text);
  const ofApi = Object.entries(document.paths).filter(([path]) => path.startsWith("/api/"));
  expect(ofApi.length).toBeGreaterThan(100);
  const ofSources = /^\/api\/(s|public)\//;
  for (const [path, item] of ofApi.filter(([path]) => !ofSources.test(path))) {
    for (const method of Object.keys(item))
      expect(html).toContain(`<span class="method">${method.toUpperCase()}</span> ${path}</code>`);
  }
  for (const text of ["riskBand", "tasks[].due", "alert.fired", "scores.completed"])
    expect(html).toContain(text);
});
