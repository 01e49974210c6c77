/** PostHog's door: which paths and forms are taken, what is answered, and who the events are of. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { PostHog } from "posthog-node";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";

let server: Server;
let token: string;

beforeAll(async () => {
  server = await Server.start();
  token = await server.organization("Door");
});
afterAll(() => server?.stop());

interface Sent {
  readonly path?: string;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

function send({ path = "/i/v0/e/", body, headers = {} }: Sent): Promise<Response> {
  const bytes = body instanceof Uint8Array || typeof body === "string" ? body : JSON.stringify(body);
  return fetch(server.url + path, { method: "POST", headers, body: bytes, redirect: "manual" });
}

const formType = { "Content-Type": "application/x-www-form-urlencoded" };
const plain = { "Content-Type": "text/plain" };
const event = (more: object = {}) => ({ event: "opened", distinct_id: "ada", ...more });

/** An organization where Ada is a user, its token, and what it has after `use`. */
async function eventsOf(name: string, use: (token: string) => Promise<unknown>): Promise<string[]> {
  const secret = await server.organization(name);
  await server.post("/identify", secret, { userId: "ada", email: "ada@example.com" });
  await use(secret);
  return (await server.exported("events", name)).map((row) => `${row.userId} ${row.event}`).sort();
}

/** The forms of posthog-js, of its older versions, and of clients of servers. */
const forms: readonly (readonly [string, (secret: string) => Sent])[] = [
  ["one event", (secret) => ({ path: "/capture/", body: event({ api_key: secret }) })],
  [
    "events with the token among their properties",
    (secret) => ({
      path: "/e/?ip=1&_=1795264200000&ver=1",
      body: [event({ properties: { token: secret } })],
    }),
  ],
  [
    "gzip of which only the address tells",
    (secret) => ({
      path: "/e/?compression=gzip-js&ver=1",
      body: gzipSync(JSON.stringify([event({ properties: { token: secret } })])),
      headers: plain,
    }),
  ],
  [
    "base64 in a form",
    (secret) => ({
      path: "/e/?compression=base64",
      body: `data=${encodeURIComponent(Buffer.from(JSON.stringify(event({ token: secret }))).toString("base64"))}`,
      headers: formType,
    }),
  ],
  ["a batch", (secret) => ({ path: "/batch/", body: { api_key: secret, batch: [event()] } })],
  [
    "a batch without the last slash",
    (secret) => ({ path: "/batch", body: { api_key: secret, batch: [event()] } }),
  ],
  [
    "a batch with a header too",
    (secret) => ({
      ...{ path: "/batch/", body: gzipSync(JSON.stringify({ api_key: secret, batch: [event()] })) },
      headers: { "Content-Encoding": "gzip", Authorization: `Basic ${secret}` },
    }),
  ],
];

describe("an event is stored, and answered as PostHog answers it, from", () => {
  test.each(forms)("%s", async (form, sent) => {
    let answer: unknown;
    const events = await eventsOf(form, async (secret) => {
      const response = await send(sent(secret));
      answer = [response.status, await response.text()];
    });
    expect(answer).toEqual([200, '{"status":"Ok"}']);
    expect(events).toEqual(["ada opened"]);
  });

  test("the newest path, where its client asks for it", async () => {
    const events = await eventsOf("Newest", async (secret) => {
      process.env.POSTHOG_CAPTURE_MODE = "v1";
      const client = new PostHog(secret, { host: server.url });
      delete process.env.POSTHOG_CAPTURE_MODE;
      const errors: unknown[] = [];
      client.on("error", (error) => errors.push(error));
      client.capture({ distinctId: "ada", event: "opened" });
      await client.shutdown();
      expect(errors).toEqual([]);
    });
    expect(events).toEqual(["ada opened"]);
  });
});

test("a beacon is answered with nothing", async () => {
  const response = await send({ path: "/e/?beacon=1", body: event({ api_key: token }) });
  expect([response.status, await response.text()]).toEqual([204, ""]);
});

test("a batch with a header and no api_key is the write API's, and without both it is nobody's", async () => {
  const body = { batch: [{ type: "identify", userId: "own", email: "own@example.com" }] };
  const own = await server.post("/batch", token, body);
  expect([own.status, await own.json()]).toEqual([
    201,
    { success: true, accepted: 1, duplicates: 0, rejected: [] },
  ]);
  expect(own.headers.get("access-control-allow-origin")).toBeNull();
  await expectError(await send({ path: "/batch", body }), "invalid_write_key");
  const named = { batch: [{ type: "track", userId: "own", event: "api_key", properties: { api_key: "x" } }] };
  expect((await server.post("/batch", token, named)).status).toBe(201);
});

test("a token that is missing, wrong or not the only one is 401", async () => {
  const wrong = "rk-0123456789abcdefghijklmnopqrstuv";
  for (const body of [event(), event({ api_key: wrong }), [event({ token }), event({ token: wrong })], 7]) {
    await expectError(await send({ body }), "invalid_write_key");
  }
});

test("what cannot be read is 400 and says why", async () => {
  const lz64 = await send({ path: "/e/?compression=lz64", body: "N4Ig" });
  await expectError(lz64, "validation_error", "lz64 compression is not known");
  const cut = gzipSync(JSON.stringify(event({ api_key: token }))).subarray(0, 40);
  await expectError(await send({ body: cut }), "validation_error", "body ends before");
});

test("a client whose body is too large is told to send it in parts, and it does", async () => {
  const text = "x".repeat(30_000);
  const events = await eventsOf("Large", async (secret) => {
    const client = new PostHog(secret, { host: server.url, flushAt: 60, disableCompression: true });
    for (let index = 0; index < 60; index += 1) {
      client.capture({ distinctId: "ada", event: `opened_${index}`, properties: { text } });
    }
    await client.shutdown();
  });
  expect(events).toHaveLength(60);
});

test("a page of any origin may send", async () => {
  const headers = { Origin: "https://app.example", "Access-Control-Request-Headers": "content-type" };
  for (const path of ["/e/", "/i/v0/e/", "/batch/", "/capture/"]) {
    const response = await fetch(server.url + path, { method: "OPTIONS", headers });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const refused = await send({ path, body: {} });
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
  }
});

test("a bad event fails no other", async () => {
  const events = await eventsOf("Bad ones", async (secret) => {
    const bad = [7, { event: "opened" }, event({ timestamp: "yesterday" }), event({ distinct_id: "null" })];
    const response = await send({ path: "/batch/", body: { api_key: secret, batch: [...bad, event()] } });
    expect(response.status).toBe(200);
  });
  expect(events).toEqual(["ada opened"]);
});

test("an event that is sent again is stored once", async () => {
  const uuid = "0190a5d2-7a3c-7cc0-8f3b-3d1f5f0a4b11";
  const events = await eventsOf("Again", async (secret) => {
    for (let time = 0; time < 2; time += 1) await send({ body: event({ api_key: secret, uuid }) });
  });
  expect(events).toEqual(["ada opened"]);
});

describe("what a visitor did becomes the user's", () => {
  const visited = (secret: string) => ({
    ...{ api_key: secret, event: "$pageview", distinct_id: "visitor" },
    properties: { $device_id: "visitor", $is_identified: false },
  });

  test("when the browser identifies the user", async () => {
    const events = await eventsOf("Identified", async (secret) => {
      await send({ body: visited(secret) });
      const properties = { $anon_distinct_id: "visitor", $device_id: "visitor", $is_identified: true };
      await send({ body: { api_key: secret, event: "$identify", distinct_id: "bob", properties } });
      await send({ body: visited(secret) });
    });
    expect(events).toEqual(["bob page_viewed", "bob page_viewed"]);
  });

  const aliases = [
    ["distinct_id", { distinct_id: "bob", properties: { alias: "visitor" } }],
    ["alias", { distinct_id: "visitor", properties: { alias: "bob" } }],
  ] as const;
  const identify = (secret: string) =>
    send({ body: { api_key: secret, event: "$identify", distinct_id: "bob" } });

  test.each(aliases)("when an alias names a user who is known, as %s", async (field, alias) => {
    const events = await eventsOf(`Known ${field}`, async (secret) => {
      await send({ body: visited(secret) });
      await identify(secret);
      await send({ body: { api_key: secret, event: "$create_alias", ...alias } });
      await send({ body: visited(secret) });
    });
    expect(events).toEqual(["bob page_viewed", "bob page_viewed"]);
  });

  test.each(aliases)("when an alias names a user who is known later, as %s", async (field, alias) => {
    const events = await eventsOf(`Later ${field}`, async (secret) => {
      await send({ body: visited(secret) });
      await send({ body: { api_key: secret, event: "$create_alias", ...alias } });
      await send({ body: event({ api_key: secret, distinct_id: "bob" }) });
      await identify(secret);
      await send({ body: visited(secret) });
    });
    expect(events).toEqual(["bob opened", "bob page_viewed", "bob page_viewed"]);
  });

  test("and an alias of two users changes neither", async () => {
    const events = await eventsOf("Two users", async (secret) => {
      await identify(secret);
      const properties = { alias: "bob" };
      await send({ body: event({ api_key: secret, event: "$create_alias", properties }) });
      await send({ body: event({ api_key: secret }) });
      await send({ body: event({ api_key: secret, distinct_id: "bob" }) });
    });
    expect(events).toEqual(["ada opened", "bob opened"]);
  });
});

test("traits, groups and what is said once come from posthog-node as they do to PostHog", async () => {
  const secret = await server.organization("Traits");
  const client = new PostHog(secret, { host: server.url });
  const set = { email: "ada@example.com", name: "Ada", plan: "free" };
  client.identify({ distinctId: "ada", properties: { $set: set, $set_once: { source: "ad" } } });
  client.setPersonProperties({
    ...{ distinctId: "ada", properties: { plan: "pro", seats: 3 } },
    propertiesOnce: { source: "friend", cohort: "2026" },
  });
  client.unsetPersonProperties({ distinctId: "ada", properties: ["seats"] });
  client.groupIdentify({
    ...{ groupType: "company", groupKey: "acme", distinctId: "ada" },
    properties: { name: "Acme" },
  });
  client.capture({ distinctId: "ada", event: "Order Completed", groups: { company: "acme" } });
  await client.shutdown();
  const expected = { name: "Ada", plan: "pro", seats: null, source: "ad", cohort: "2026" };
  expect(await server.exported("users", "Traits")).toMatchObject([
    { userId: "ada", email: "ada@example.com", properties: expected },
  ]);
  expect(await server.exported("accounts", "Traits")).toMatchObject([{ name: "Acme" }]);
  const [stored] = await server.exported("events", "Traits");
  expect(stored).toMatchObject({ userId: "ada", event: "Order_Completed" });
});
