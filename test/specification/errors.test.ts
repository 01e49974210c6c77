/** One format for every error, on every path and method, without internal details. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { request } from "node:http";
import { analysisRoutes } from "../../contract/api/analysis-routes.ts";
import { intakeRoutes } from "../../contract/api/intake-routes.ts";
import { hintOfOtherTool } from "../../server/http/port/other-tools.ts";
import { Server } from "../server.ts";
import { becomes } from "../until.ts";
import { expectError, expectSuccess, send, user, withBrokenLedger } from "./support.ts";

let server: Server;
let token: string;

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization("Errors");
});
afterAll(() => server.stop());

const nowhere: readonly (readonly [string, string])[] = [
  ["GET", "/identify"],
  ["PUT", "/identify"],
  ["PATCH", "/identify"],
  ["DELETE", "/identify"],
  ["OPTIONS", "/nowhere"],
  ["GET", "/track"],
  ["DELETE", "/track"],
  ["POST", "/"],
  ["POST", "/nowhere"],
  ["GET", "/nowhere"],
  ["POST", "/Identify"],
  ["POST", "/v2/identify"],
  ["POST", "/identify/u"],
  ["POST", "/identify//"],
  ["POST", "/identify%00"],
  ["POST", "/openapi.json"],
  ["GET", "/%2e%2e/%2e%2e/etc/passwd"],
  ["GET", "/ledger.sqlite"],
  ["GET", "/constructor"],
  ["GET", "/__proto__"],
];

describe("not_found in the error format is the answer to", () => {
  test.each(nowhere)("%s %s, with a token and without", async (method, path) => {
    for (const headers of [{}, { Authorization: `Basic ${token}` }]) {
      await expectError(await fetch(server.url + path, { method, headers }), "not_found");
    }
  });

  test("HEAD, as far as an answer without a body can", async () => {
    const response = await fetch(`${server.url}/identify`, { method: "HEAD" });
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toStartWith("application/json");
  });

  test.each([
    ["TRACE", "/identify"],
    ["PROPFIND", "/identify"],
    ["PURGE", "/track"],
    ["POST", "//identify"],
  ])("%s %s, which fetch does not send as it stands", async (method, path) => {
    const { status, body } = await rawRequest(method, path);
    expect(status).toBe(404);
    expect(JSON.parse(body)).toMatchObject({ name: "not_found", statusCode: 404 });
  });
});

/** A request with any method and path. */
function rawRequest(method: string, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const sent = request({ hostname, port, path, method, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

describe("the same path is", () => {
  test.each([
    "/identify",
    "/identify/",
    "/identify?source=app",
    "/identify/?source=app",
    "/identify?next=/x/",
  ])("POST %s", async (path) => {
    await expectSuccess(await server.post(path, token, user("u")));
  });

  test("POST /track/", async () => {
    await send(server, "/identify", token, user("u"));
    await expectSuccess(await server.post("/track/", token, { userId: "u", event: "e" }));
  });
});

/** Internal details that an error must not contain: stacks, files, engines. */
const inside =
  /\bat \S+ \(|node_modules|\.ts\b|\.js\b|\/server\/|sqlite|clickhouse|bun\b|SyntaxError|TypeError/i;

test("no error tells of the inside", async () => {
  const bodies = [
    "",
    "{",
    "[]",
    '{"userId":{}}',
    '{"userId":"u","event":"a b"}',
    '{"userId":"u","email":"x"}',
  ];
  for (const path of ["/identify", "/track", "/nowhere"]) {
    for (const body of [...bodies, `${"[".repeat(10_000)}`, "x".repeat(300_000)]) {
      for (const secret of [token, "rk-wrong", undefined]) {
        const response = await server.post(path, secret, body);
        const text = await response.text();
        expect(text).not.toMatch(inside);
        expect(response.headers.get("server")).toBeNull();
        expect(response.headers.get("x-powered-by")).toBeNull();
      }
    }
  }
});

describe("a path below /api that does not exist", () => {
  test.each(["GET", "POST", "DELETE"])(
    "is 404 with a read key and with a project token, by %s",
    async (method) => {
      const key = (await server.command("key", "create", "--organization", "Errors")).trim();
      const asked = (secret?: string) =>
        fetch(`${server.url}/api/no/such/path`, {
          method,
          headers: secret === undefined ? {} : { Authorization: `Bearer ${secret}` },
        });
      for (const secret of [key, token]) await expectError(await asked(secret), "not_found", "/openapi.json");
      for (const secret of [undefined, `rk-${key.slice(3)}`, `rr-${token.slice(3)}`]) {
        await expectError(await asked(secret), "invalid_write_key", "read key");
      }
    },
  );

  test("is told to clients of other tools with where they can send, whatever their key", async () => {
    for (const [path, tool] of [
      ["/api/event", "Plausible"],
      ["/api/v1/customers/7/events", "Customer.io"],
      ["/2/httpapi", "Amplitude"],
      ["/v1/projects/rk-1/settings/", "cdnSettings"],
      ["/sourceConfig/?p=npm", "getSourceConfig"],
      ["/sdk/track", "June"],
      ["/engage", "/mixpanel"],
    ] as const) {
      for (const headers of [{}, { Authorization: `Basic ${token}` }]) {
        const response = await fetch(server.url + path, { method: "POST", headers });
        await expectError(response, "not_found", "There is nothing at this path", tool);
      }
    }
    for (const name of [...Object.keys(analysisRoutes), ...Object.keys(intakeRoutes)]) {
      const path = name.slice(name.indexOf(" ") + 1);
      expect([path, hintOfOtherTool(path)]).toEqual([path, undefined]);
    }
  });
});

/** Whether the service says that it is ready, and what it says of writes. */
async function readiness(): Promise<[number, unknown]> {
  const response = await fetch(`${server.url}/readyz`);
  const detail = (await response.json()) as { readonly writes: string };
  return [response.status, detail.writes];
}

test("a ledger that cannot be written to is application_error without a stack, and heals", async () => {
  await send(server, "/identify", token, user("u", { properties: { n: 1 } }));
  const kept = ["kept"];
  await withBrokenLedger(server, async () => {
    // Events may still be taken: they are on the disk before they are in the ledger. Then the failure is
    // noticed.
    while ((await server.post("/track", token, { userId: "u", event: "first" })).ok) kept.push("first");
    const responses = await Promise.all([
      server.post("/identify", token, user("u", { properties: { n: 2 } })),
      server.post("/track", token, { userId: "u", event: "lost", messageId: "m" }),
    ]);
    for (const response of responses) {
      const message = await expectError(response, "application_error", "unexpected error", "try again later");
      expect(message).not.toMatch(inside);
    }
    expect(await readiness()).toEqual([503, "failing, see the log"]);
  });
  await expectSuccess(await server.post("/track", token, { userId: "u", event: "kept", messageId: "m" }));
  await becomes(async () => (await readiness())[1], "open");
  const events = await server.exported("events", "Errors");
  const ours = events.map(({ event }) => String(event)).filter((event) => /^(first|lost|kept)$/.test(event));
  expect(ours.sort()).toEqual(kept.sort());
  const users = await server.exported("users", "Errors");
  expect(users.find(({ userId }) => userId === "u")?.properties).toEqual({ n: 1 });
});
