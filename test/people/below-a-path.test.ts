/** A PUBLIC_URL with a path: everything is served below it, whether the proxy in front takes the path away or
 * not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readConfig } from "../../server/config.ts";
import { dispatch } from "../../server/http/port/routes.ts";
import { Server } from "../server.ts";
import { Browser, codeIn, password, type SessionBody } from "./support.ts";

const PUBLIC_URL = "https://example.com/tools/rekindle";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ role: "intake", env: { PUBLIC_URL: `${PUBLIC_URL}/` } });
});
afterAll(() => server.stop());

const at = (path: string, more: RequestInit = {}) =>
  fetch(server.url + path, {
    ...more,
    redirect: "manual",
    headers: { ...more.headers, Host: "example.com" },
  });

describe.each([
  ["keeps the path", "/tools/rekindle"],
  ["takes the path away", ""],
])("behind a proxy that %s", (_what, sent) => {
  test.each([
    ["GET", "/", 200],
    ["GET", "/?a=/tools/rekindle", 200],
    ["GET", "/o/1/users/a%2Fb?sort=email", 200],
    ["GET", "/o/acme/overview", 404],
    ["GET", "/healthz", 200],
    ["HEAD", "/healthz", 200],
    ["OPTIONS", "/track", 204],
    ["GET", "/reference", 200],
    ["GET", "/openapi.json", 200],
    ["GET", "/api/installation", 200],
    ["GET", "/api/session", 401],
    ["GET", "/api/users", 401],
    ["GET", "/nothing", 404],
    ["POST", "/v1//track/", 401],
  ])("%s %s is answered %d", async (method, path, status) => {
    expect((await at(sent + path, { method })).status).toBe(status);
  });

  test("data arrives by the write API, a source and a webhook's address", async () => {
    const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      at(sent + path, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json", ...headers },
      });
    const { firstToken: token } = server;
    const Authorization = `Basic ${token}`;
    const user = { userId: "u1", email: "u1@example.com" };
    expect((await post("/identify", user, { Authorization })).status).toBe(201);
    expect((await post("/track", { userId: "u1", event: "x" }, { Authorization })).status).toBe(201);
    expect((await post("/v1/track", { userId: "u1", event: "x", writeKey: token })).status).toBe(200);
    const stripe = await post(`/v1/webhooks/stripe/${token}`, { id: "evt_1", type: "ping", object: "event" });
    expect(stripe.status).toBe(200);
  });

  test("the pages' document leads below the path, and what it names is there", async () => {
    const html = await (await at(`${sent}/o/1/overview`)).text();
    expect(html).toContain('data-base="/tools/rekindle"');
    const named = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = ""]) => address);
    expect(named.length).toBeGreaterThan(4);
    for (const address of named) {
      expect(address).toStartWith("/tools/rekindle/");
      const asset = await at(sent + address.slice("/tools/rekindle".length));
      expect([address, asset.status]).toEqual([address, 200]);
    }
  });

  test("the document without a dashboard's build and the reference lead below it, too", async () => {
    const { servers } = (await (await at(`${sent}/openapi.json`)).json()) as { servers: unknown };
    expect(servers).toEqual([{ url: PUBLIC_URL }]);
    const reference = await (await at(`${sent}/reference`)).text();
    expect(reference).toContain(`curl -X POST ${PUBLIC_URL}/track`);
    expect(reference).toContain('href="openapi.json"');
  });

  test("an invitation's link leads below it, and the session's cookie is sent nowhere else", async () => {
    const email = `${sent.length}@example.com`;
    const said = await server.command(
      "member",
      "invite",
      email,
      "--organization",
      "default",
      "--role",
      "owner",
    );
    expect(said).toContain(`${PUBLIC_URL}/invitation#`);
    const browser = new Browser(server);
    const body = { code: codeIn(said, "invitation"), name: "Ada", password };
    const { organizations } = await browser.json<SessionBody>(
      "POST",
      `${sent}/api/invitations/accept`,
      body,
      201,
    );
    expect(browser.lastSetCookie).toStartWith("__Secure-rekindle_session=");
    expect(browser.lastSetCookie).toContain("; Path=/tools/rekindle;");
    expect(browser.lastSetCookie).toEndWith("; Secure");
    expect((await browser.ask("GET", `${sent}/api/session`)).status).toBe(200);
    expect(organizations).toHaveLength(1);
    await browser.done("DELETE", `${sent}/api/session`);
    expect(browser.lastSetCookie).toStartWith("__Secure-rekindle_session=;");
    expect(browser.lastSetCookie).toContain("; Path=/tools/rekindle;");
  });
});

test("the link of the first start leads below it", () => {
  expect(server.output()).toContain(`${PUBLIC_URL}/claim#`);
});

test.each(["/tools", "/tools/rekindle2/healthz", "/tools/rekindl/healthz", "/Tools/rekindle/healthz"])(
  "%s is no path of it",
  async (path) => {
    expect((await at(path)).status).toBe(404);
  },
);

test("a host name alone is what it was", async () => {
  const { publicUrl, basePath } = readConfig({ PUBLIC_URL: "https://example.com/" });
  expect([publicUrl, basePath]).toEqual(["https://example.com", ""]);
  expect(readConfig({ PUBLIC_URL: "https://example.com:8443/a/b-c_d.e~f//" })).toMatchObject({
    publicUrl: "https://example.com:8443/a/b-c_d.e~f",
    basePath: "/a/b-c_d.e~f",
  });
  expect(readConfig({}).basePath).toBe("");
});

test.each([
  "https://example.com/a?b=c",
  "https://example.com/#a",
  "https://me:secret@example.com",
  "https://example.com/a//b",
  "https://example.com/../a",
  "https://example.com/a/..",
  "https://example.com/a b",
  "https://example.com/ü",
  "https:///a",
  "https://",
])("PUBLIC_URL=%s is refused, with an example", (url) => {
  expect(() => readConfig({ PUBLIC_URL: url })).toThrow("https://example.com/rekindle say");
});

test("a path that begins as paths of the service do stops the start", async () => {
  const start = Server.start({ role: "intake", env: { PUBLIC_URL: "https://example.com/assets" } });
  await expect(start).rejects.toThrow("paths of the service itself begin with /assets");
});

test.each(["/api", "/o/x", "/v1", "/track", "/sign-in"])("%s is such a path", (basePath) => {
  const answer = () => new Response();
  const table = { "POST /track": answer, "POST /v1/track": answer };
  expect(() => dispatch(table, answer, { basePath, dashboard: undefined })).toThrow("choose another one");
});
