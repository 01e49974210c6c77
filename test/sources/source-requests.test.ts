/** The addresses of connected sources: authorization, accepted bodies, and answers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { Server } from "../server.ts";
import { answer, newKey } from "../specification/operation-support.ts";
import { expectError } from "../specification/support.ts";
import { until } from "../until.ts";

let server: Server;
let token: string;

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization("Door");
});
afterAll(() => server?.stop());

interface Sent {
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Sends to a path of a source, with the test's headers only. */
function send({ path = "/v1/track", body = track(), headers = {} }: Sent): Promise<Response> {
  const bytes = body instanceof Uint8Array || typeof body === "string" ? body : JSON.stringify(body);
  return fetch(server.url + path, { method: "POST", headers, body: bytes, redirect: "manual" });
}

const track = (more: object = {}) => ({ userId: "ada", event: "opened", ...more });
const basic = (secret: string) => ({ Authorization: `Basic ${secret}` });
const base64 = (text: string) => Buffer.from(text).toString("base64");
const inBatch = (...batch: unknown[]) => ({ path: "/v1/batch", body: { batch } });

async function expectTaken(response: Response): Promise<void> {
  expect([response.status, await response.text()]).toEqual([200, '{"success":true}']);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
}

/** The events of an organization of its own that this leaves. */
async function eventsOf(name: string, send: (token: string) => Promise<unknown>): Promise<string[]> {
  const secret = await server.organization(name);
  await server.post("/identify", secret, { userId: "ada", email: "ada@example.com" });
  await send(secret);
  return (await server.exported("events", name)).map(({ event }) => String(event)).sort();
}

describe("the token is taken", () => {
  const places: readonly (readonly [string, (secret: string) => Sent])[] = [
    ["from Authorization: Basic rk-…", (secret) => ({ headers: basic(secret) })],
    ["from Basic base64(rk-…:)", (secret) => ({ headers: basic(base64(`${secret}:`)) })],
    ["from Bearer rk-…", (secret) => ({ headers: { Authorization: `Bearer ${secret}` } })],
    ["from X-Write-Key", (secret) => ({ headers: { "X-Write-Key": secret } })],
    ["from the address", (secret) => ({ path: `/v1/track?writeKey=${secret}` })],
    ["from the body", (secret) => ({ body: track({ writeKey: secret }) })],
    ["from a batch", (secret) => ({ path: "/v1/b", body: { batch: [track()], writeKey: secret } })],
    ["from a message of a batch", (secret) => inBatch({ userId: "a" }, track({ writeKey: secret }))],
    [
      "beside a header that is another's",
      (secret) => ({ body: track({ writeKey: secret }), headers: basic("x") }),
    ],
  ];
  test.each(places)("%s", async (_title, sent) => {
    await expectTaken(await send(sent(token)));
  });

  test("and remembered as used", async () => {
    const secret = await server.organization("Used");
    await expectTaken(await send({ body: track({ writeKey: secret }) }));
    const listed = () => server.command("token", "list", "--organization", "Used");
    expect(await listed()).not.toContain("never");
  });

  test.each(places)("not when it is unknown, %s", async (_title, sent) => {
    const response = await send(sent("rk-0123456789abcdefghijklmnopqrstuv"));
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    await expectError(response, "invalid_write_key");
  });

  test.each([{}, { body: "no json" }, { body: track({ writeKey: 7 }) }, { body: "[]" }])(
    "not from %j",
    async (sent) => {
      await expectError(await send(sent), "invalid_write_key");
    },
  );

  test("not when it is revoked, from the body either", async () => {
    const secret = await server.organization("Revoked at the door");
    await expectTaken(await send({ body: track({ writeKey: secret }) }));
    const id =
      /^(\d+)/m.exec(await server.command("token", "list", "--organization", "Revoked at the door"))?.[1] ??
      "";
    await server.command("token", "revoke", id);
    await expectError(await send({ body: track({ writeKey: secret }) }), "invalid_write_key");
  });
});

describe("a body is read", () => {
  const gzip = gzipSync(JSON.stringify(track()));
  const form = "application/x-www-form-urlencoded";
  const bodies: readonly (readonly [string, Sent])[] = [
    ["as JSON", { headers: { "Content-Type": "application/json" } }],
    ["as text/plain, which beacons send", { headers: { "Content-Type": "text/plain;charset=UTF-8" } }],
    ["as a form, which it is not", { headers: { "Content-Type": form } }],
    ["without Content-Type", { body: new TextEncoder().encode(JSON.stringify(track())) }],
    ["as gzip", { body: gzip, headers: { "Content-Encoding": "gzip" } }],
    [
      "as gzip labelled as a form",
      { body: gzip, headers: { "Content-Encoding": "gzip", "Content-Type": form } },
    ],
    ["as gzip that nothing labels", { body: gzip }],
    ["as gzip labelled as JSON", { body: gzip, headers: { "Content-Type": "application/json" } }],
  ];
  test.each(bodies)("%s", async (_title, sent) => {
    await expectTaken(await send({ ...sent, headers: { ...sent.headers, ...basic(token) } }));
  });

  const refused: readonly (readonly [string, unknown])[] = [
    ["no JSON", "{"],
    ["no object", "[1]"],
    ["empty", ""],
    ["gzip that ends too soon", gzip.subarray(0, 30)],
    ["larger than 8 MiB", " ".repeat(8 * 1024 * 1024 + 1)],
    ["gzip that inflates to more than 8 MiB", gzipSync(" ".repeat(8 * 1024 * 1024 + 1))],
    ["of more than 10,000 messages", { batch: Array.from({ length: 10_001 }, () => 1) }],
  ];
  test.each(refused)("not when it is %s", async (_title, body) => {
    await expectError(await send({ path: "/v1/batch", body, headers: basic(token) }), "validation_error");
  });

  test("up to 1 MiB when its token is nowhere else", async () => {
    const body = (bytes: number) => ({
      path: "/v1/batch",
      body: { batch: ["x".repeat(bytes)], writeKey: token },
    });
    await expectTaken(await send(body(1_000_000)));
    const message = await expectError(await send(body(1_100_000)), "validation_error");
    expect(message).toContain("With the token in a header it may be larger.");
  });
});

test("a path may have slashes to spare, and is never redirected", async () => {
  for (const path of ["/v1/track/", "//v1/track", "/v1//track//", "/v1/t/", "//v1//batch/"]) {
    await expectTaken(await send({ path, headers: basic(token), body: track({ batch: [] }) }));
  }
  expect((await send({ path: "/v1/walk", headers: basic(token) })).status).toBe(404);
});

test("RudderStack's clients are answered OK", async () => {
  const body = track({ context: { library: { name: "RudderLabs JavaScript SDK" } } });
  const response = await send({ path: `/beacon/v1/batch?writeKey=${token}`, body: { batch: [body] } });
  expect([response.status, await response.text()]).toEqual([200, "OK"]);
});

test("a bad message fails no other, and none is an error of the request", async () => {
  const events = await eventsOf("Bad messages", async (secret) => {
    const messages = [
      { type: "track", ...track({ event: "first" }) },
      { type: "walk", userId: "ada" },
      7,
      null,
      { type: "track", userId: "ada" },
      { type: "track", ...track({ timestamp: "soon" }) },
      { type: "track", ...track({ event: "rounded", properties: { id: 1 } }) },
      { type: "track", ...track({ event: "large", properties: { text: "x".repeat(262_144) } }) },
      { type: "track", ...track({ event: "last" }) },
    ];
    const text = JSON.stringify({ batch: messages }).replace('{"id":1}', '{"id":9007199254740993}');
    await expectTaken(await send({ path: "/v1/batch", body: text, headers: basic(secret) }));
    for (const body of [{}, { batch: 7 }, { batch: [] }, { batch: [{}] }]) {
      await expectTaken(await send({ path: "/v1/batch", body, headers: basic(secret) }));
    }
    await expectTaken(await send({ path: "/v1/identify", body: {}, headers: basic(secret) }));
  });
  expect(events).toEqual(["first", "last", "rounded"]);
});

test("a message is stored once, by its id, whichever path it comes by", async () => {
  const events = await eventsOf("Once", async (secret) => {
    const message = { type: "track", ...track({ messageId: "m-1" }) };
    for (const sent of [{ body: message }, inBatch(message, message), { path: "/v1/t", body: message }]) {
      await expectTaken(await send({ ...sent, headers: basic(secret) }));
    }
    await server.post("/track", secret, { userId: "ada", event: "opened", messageId: "m-1" });
  });
  expect(events).toEqual(["opened"]);
});

test("every call is understood, and what comes before its user waits for it", async () => {
  const secret = await server.organization("Calls");
  const headers = basic(secret);
  const call = (path: string, body: object) => send({ path: `/v1/${path}`, body, headers }).then(expectTaken);
  await call("t", { anonymousId: "v", event: "Signed Up", timestamp: "2026-01-02T03:04:05Z" });
  await call("p", { anonymousId: "v", name: "Home", context: { page: { path: "/home" } } });
  await call("i", { anonymousId: "v", userId: "ada", traits: { email: "ada@example.com", plan: "pro" } });
  await call("g", { userId: "ada", groupId: "g1", traits: { name: "Engines", employees: 12 } });
  await call("s", { userId: "ada", name: "Settings" });
  await call("t", { userId: "early", event: "before" });
  await call("a", { previousId: "early", userId: "ada" });
  expect(await server.exported("users", "Calls")).toMatchObject([
    { userId: "ada", email: "ada@example.com", properties: { plan: "pro", companySize: "12" } },
  ]);
  expect(await server.exported("accounts", "Calls")).toMatchObject([{ name: "Engines" }]);
  const events = await server.exported("events", "Calls");
  const said = events.map(({ userId, event, properties }) => ({ userId, event, properties }));
  expect(said).toHaveLength(4);
  expect(said).toEqual(
    expect.arrayContaining([
      { userId: "ada", event: "Signed_Up", properties: {} },
      { userId: "ada", event: "page_viewed", properties: { path: "/home", name: "Home" } },
      { userId: "ada", event: "screen_viewed", properties: { name: "Settings" } },
      { userId: "ada", event: "before", properties: {} },
    ]),
  );
  const key = (await server.command("key", "create", "--organization", "Calls")).trim();
  const overTime = await fetch(
    `${server.url}/api/events-over-time?breakdown=event&period=month&periods=1&to=2026-01-31`,
    { headers: { Authorization: `Bearer ${key}` } },
  );
  expect(await overTime.json()).toMatchObject({
    periods: [{ value: "Signed_Up", label: "Signed Up", isRest: false, count: 1 }],
  });
});

describe("a request over the rate limit", () => {
  test("is answered with Retry-After in whole seconds, which a browser's client can read", async () => {
    const secret = await server.organization("Fast");
    await server.command("organization", "set", "Fast", "--rate-limit", "2");
    const startedMs = performance.now();
    const responses: Response[] = [];
    const refused = () => responses.filter(({ status }) => status === 429);
    const crowd = Array<Sent>(12).fill({ headers: basic(secret) });
    do responses.push(...(await Promise.all(crowd.map(send))));
    while (refused().length === 0);
    const refilled = Math.ceil(((performance.now() - startedMs) / 1_000) * 2);
    expect(responses.length - refused().length).toBeLessThanOrEqual(2 + refilled);
    for (const { headers } of refused()) {
      expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
      expect(headers.get("access-control-expose-headers")).toBe("Retry-After");
    }
  });

  test("may send more messages at once than in a second, but not again at once", async () => {
    const secret = await server.organization("Large items");
    await server.command("organization", "set", "Large items", "--item-rate-limit", "1");
    const sent = () => send({ ...inBatch(...Array(1_000).fill(7)), headers: basic(secret) });
    const sentMs = performance.now();
    await expectTaken(await sent());
    const again = await sent();
    const refilled = Math.ceil((performance.now() - sentMs) / 1_000);
    expect([again.status, Number(again.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
    expect(Number(again.headers.get("retry-after"))).toBeWithin(1_000 - refilled, 1_001);
  });
});

describe("a page of another origin", () => {
  const origin = { Origin: "https://shop.example" };
  const asks = { ...origin, "Access-Control-Request-Method": "POST" };
  const preflight = (path: string, headers: string) =>
    fetch(server.url + path, {
      method: "OPTIONS",
      headers: { ...asks, "Access-Control-Request-Headers": headers },
    });

  test("may send, with the headers that clients send", async () => {
    for (const path of [
      "/v1/t",
      "/v1/batch",
      "/v1/track/",
      "//v1/p",
      "/identify",
      "/track",
      "/track/",
      "/batch",
    ]) {
      const { status, headers } = await preflight(path, "authorization,content-type,anonymousid");
      expect(status).toBe(204);
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-allow-methods")).toBe("POST");
      expect(headers.get("access-control-allow-headers")).toBe("authorization,content-type,anonymousid");
      expect(headers.get("access-control-allow-credentials")).toBeNull();
    }
    const odd = await preflight("/v1/t", "x".repeat(600));
    expect(odd.headers.get("access-control-allow-headers")).toContain("Authorization");
  });

  const native: readonly (readonly [path: string, body: object])[] = [
    ["/identify", { userId: "in-a-page", email: "in-a-page@example.com" }],
    ["/track", { userId: "in-a-page", event: "done" }],
    ["/batch", { batch: [{ type: "track", userId: "in-a-page", event: "done" }] }],
  ];
  const post = (path: string, body: object, headers: Record<string, string>) =>
    fetch(server.url + path, {
      method: "POST",
      headers: { ...origin, ...headers },
      body: JSON.stringify(body),
    });

  test.each(native)("may send to %s, and reads its errors", async (path, body) => {
    const browser = (
      await server.command("token", "create", "--organization", "Door", "--scope", "browser")
    ).trim();
    const answers = [
      await post(path, body, basic(browser)),
      await post(path, {}, basic(browser)),
      await post(path, body, basic("rk-unknown")),
      await post(path, body, {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 400, 401, 401]);
    for (const { headers } of answers) {
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  test("with a token of the scope server is taken, and warned about on native paths and those of sources", async () => {
    const name = "Server tokens in pages";
    const secret = await server.organization(name);
    await post("/identify", { userId: "ada", email: "ada@example.com" }, basic(secret));
    await post("/v1/track", { userId: "ada", event: "done" }, basic(secret));
    const track = await server.post("/track", secret, { userId: "ada", event: "done" });
    expect(track.status).toBe(201);
    const key = await newKey(server, name);
    await until(
      "the warnings are counted",
      async () => {
        const path = "/api/ingestion-warnings?kind=server_token_in_page";
        const { warnings } = await answer<{ warnings: { endpoint: string; detail: string }[] }>(
          server,
          key,
          path,
        );
        return warnings.map(({ endpoint, detail }) => `${endpoint} ${detail}`).sort();
      },
      (seen) =>
        JSON.stringify(seen) ===
        JSON.stringify(["identify https://shop.example", "segment https://shop.example"]),
    );
  });

  const closed = ["/mcp", "/arm", "/api/users", "/api/session", "/", "/metrics", "/openapi.json"];
  test.each(closed)("is told of nothing at %s", async (path) => {
    const answers = [
      await preflight(path, "authorization"),
      await fetch(server.url + path, { headers: { ...origin, ...basic(token) } }),
      await fetch(server.url + path, { method: "POST", headers: { ...origin, ...basic(token) }, body: "{}" }),
    ];
    for (const { headers } of answers) {
      for (const [name] of headers) expect(name).not.toStartWith("access-control-");
    }
  });

  test("cannot read with a project token", async () => {
    for (const path of ["/api/users", "/api/week-summary", "/api/live", "/api/events"]) {
      const headers = { ...origin, Authorization: `Bearer ${token}` };
      expect((await fetch(server.url + path, { headers })).status).toBe(401);
    }
  });
});
