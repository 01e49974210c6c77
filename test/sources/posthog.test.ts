/** The addresses of PostHog's API: accepted paths and forms, their answers, and the users of the events. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { PostHog } from "posthog-node";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { withinLimit } from "../until.ts";

let server: Server;
let token: string;

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization("PostHog door");
});
afterAll(() => server?.stop());

interface Sent {
  readonly path?: string;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

/** Sends as clients do: again after a 429, because this file's unreadable bodies use up the address's
 * bucket. */
function send({ path = "/i/v0/e/", body, headers = {} }: Sent): Promise<Response> {
  const bytes = body instanceof Uint8Array || typeof body === "string" ? body : JSON.stringify(body);
  const request: RequestInit = { method: "POST", headers, body: bytes, redirect: "manual" };
  return withinLimit(() => fetch(server.url + path, request));
}

const event = (more: object = {}) => ({ event: "opened", distinct_id: "ada", ...more });

/** Something that is sent to an organization which all cases share, each about users of its own: reading it
 * costs two seconds. */
interface Case {
  /** Begins the ids of its people, which are unlike those of other cases. */
  readonly name: string;
  readonly send: (secret: string) => Promise<unknown>;
  /** The stored events in the end, as "user event". */
  readonly stored: readonly string[];
}

/** Registers a test for each case. */
function stores(organization: string, cases: readonly Case[]): void {
  let events: string[] = [];
  beforeAll(async () => {
    const secret = await server.organization(organization);
    for (const one of cases) await one.send(secret);
    events = (await server.exported("events", organization)).map((row) => `${row.userId} ${row.event}`);
  });
  test.each(cases.map((one) => [one.name, one] as const))("%s", (name, one) => {
    expect(events.filter((event) => event.startsWith(name)).sort()).toEqual([...one.stored]);
  });
}

const identify = (secret: string, id: string) =>
  send({ body: { api_key: secret, event: "$identify", distinct_id: id } });

/** The forms of posthog-js, of its older versions, and of clients of servers: the events of a user in
 * each. */
const forms: Readonly<Record<string, (token: string, distinct_id: string) => Sent>> = {
  "one event": (token, distinct_id) => ({ path: "/capture/", body: event({ api_key: token, distinct_id }) }),
  "events with the token among their properties": (token, distinct_id) => ({
    path: "/e/?ip=1&_=1795264200000&ver=1",
    body: [event({ distinct_id, properties: { token } })],
  }),
  "gzip of which only the address tells": (token, distinct_id) => ({
    path: "/e/?compression=gzip-js&ver=1",
    body: gzipSync(JSON.stringify([event({ distinct_id, properties: { token } })])),
    headers: { "Content-Type": "text/plain" },
  }),
  "base64 in a form": (token, distinct_id) => ({
    path: "/e/?compression=base64",
    body: `data=${encodeURIComponent(Buffer.from(JSON.stringify(event({ token, distinct_id }))).toString("base64"))}`,
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  }),
  "a batch": (token, distinct_id) => ({
    path: "/batch/",
    body: { api_key: token, batch: [event({ distinct_id })] },
  }),
  "a short path of a batch": (token, distinct_id) => ({
    path: "/batch",
    body: { api_key: token, batch: [event({ distinct_id })] },
  }),
  "a header beside a batch": (token, distinct_id) => ({
    path: "/batch/",
    body: gzipSync(JSON.stringify({ api_key: token, batch: [event({ distinct_id })] })),
    headers: { "Content-Encoding": "gzip", Authorization: `Basic ${token}` },
  }),
};

describe("an event is stored, and answered as PostHog answers it, from", () => {
  stores(
    "Forms",
    Object.entries(forms).map(([name, form]) => ({
      name,
      stored: [`${name} opened`],
      send: async (secret) => {
        await identify(secret, name);
        const response = await send(form(secret, name));
        expect([response.status, await response.text()]).toEqual([200, '{"status":"Ok"}']);
      },
    })),
  );
});

describe("from a client there arrives", () => {
  const text = "x".repeat(30_000);
  stores("Clients", [
    {
      name: "what it sends to the newest path",
      stored: ["what it sends to the newest path opened"],
      send: async (secret) => {
        const id = "what it sends to the newest path";
        process.env.POSTHOG_CAPTURE_MODE = "v1";
        const client = new PostHog(secret, { host: server.url });
        delete process.env.POSTHOG_CAPTURE_MODE;
        const errors: unknown[] = [];
        client.on("error", (error) => errors.push(error));
        client.identify({ distinctId: id });
        client.capture({ distinctId: id, event: "opened" });
        await client.shutdown();
        expect(errors).toEqual([]);
      },
    },
    {
      name: "in parts what is too large at once",
      stored: Array.from(
        { length: 60 },
        (_, index) => `in parts what is too large at once opened_${index + 10}`,
      ),
      send: async (secret) => {
        const id = "in parts what is too large at once";
        const client = new PostHog(secret, { host: server.url, flushAt: 70, disableCompression: true });
        client.identify({ distinctId: id });
        for (let index = 10; index < 70; index += 1) {
          client.capture({ distinctId: id, event: `opened_${index}`, properties: { text } });
        }
        await client.shutdown();
      },
    },
    {
      name: "beside bad ones the good one",
      stored: ["beside bad ones the good one opened"],
      send: async (secret) => {
        const distinct_id = "beside bad ones the good one";
        await identify(secret, distinct_id);
        const bad = [
          7,
          { event: "opened" },
          event({ distinct_id, timestamp: "yesterday" }),
          event({ distinct_id: "null" }),
        ];
        const batch = [...bad, event({ distinct_id })];
        expect((await send({ path: "/batch/", body: { api_key: secret, batch } })).status).toBe(200);
      },
    },
    {
      name: "once what is sent again",
      stored: ["once what is sent again opened"],
      send: async (secret) => {
        const distinct_id = "once what is sent again";
        const uuid = "0190a5d2-7a3c-7cc0-8f3b-3d1f5f0a4b11";
        await identify(secret, distinct_id);
        for (let time = 0; time < 2; time += 1)
          await send({ body: event({ api_key: secret, distinct_id, uuid }) });
      },
    },
  ]);
});

test("a beacon is answered with nothing", async () => {
  const response = await send({ path: "/e/?beacon=1", body: event({ api_key: token }) });
  expect([response.status, await response.text()]).toEqual([204, ""]);
});

test("a batch with a header and no api_key is the write API's, and without both it is refused", async () => {
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

test("an unreadable body is answered 400, with the reason", async () => {
  const lz64 = await send({ path: "/e/?compression=lz64", body: "N4Ig" });
  await expectError(lz64, "validation_error", "lz64 compression is not known");
  const cut = gzipSync(JSON.stringify(event({ api_key: token }))).subarray(0, 40);
  await expectError(await send({ body: cut }), "validation_error", "body ends before");
});

test("a page of any origin may send", async () => {
  const headers = { Origin: "https://app.example", "Access-Control-Request-Headers": "content-type" };
  for (const path of ["/e/", "/i/v0/e/", "/capture/"]) {
    const response = await fetch(server.url + path, { method: "OPTIONS", headers });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const refused = await send({ path, body: {} });
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
  }
});

const visit = (secret: string, visitor: string) => {
  const properties = { $device_id: visitor, $is_identified: false };
  return send({ body: { api_key: secret, event: "$pageview", distinct_id: visitor, properties } });
};

const alias = (secret: string, distinct_id: string, other: string) =>
  send({ body: { api_key: secret, event: "$create_alias", distinct_id, properties: { alias: other } } });

describe("what a visitor did becomes the user's", () => {
  const viewed = (user: string) => [`${user} page_viewed`, `${user} page_viewed`];
  stores("Visitors", [
    {
      name: "when the browser identifies",
      stored: viewed("when the browser identifies"),
      send: async (secret) => {
        await visit(secret, "v1");
        const properties = { $anon_distinct_id: "v1", $device_id: "v1", $is_identified: true };
        const distinct_id = "when the browser identifies";
        await send({ body: { api_key: secret, event: "$identify", distinct_id, properties } });
        await visit(secret, "v1");
      },
    },
    ...[0, 1].map((place) => {
      const name = `when a known user is the ${place === 0 ? "distinct id" : "alias"} of an alias`;
      const send = async (secret: string) => {
        const visitor = `v2-${place}`;
        await visit(secret, visitor);
        await identify(secret, name);
        await (place === 0 ? alias(secret, name, visitor) : alias(secret, visitor, name));
        await visit(secret, visitor);
      };
      return { name, stored: viewed(name), send };
    }),
    ...[0, 1].map((place) => {
      const name = `when somebody is identified after an alias as its ${place === 0 ? "distinct id" : "alias"}`;
      const sendAll = async (secret: string) => {
        const visitor = `v3-${place}`;
        await visit(secret, visitor);
        await (place === 0 ? alias(secret, name, visitor) : alias(secret, visitor, name));
        await send({ body: event({ api_key: secret, distinct_id: name }) });
        await identify(secret, name);
        await visit(secret, visitor);
      };
      return { name, stored: [`${name} opened`, ...viewed(name)], send: sendAll };
    }),
    {
      name: "and of two users neither",
      stored: ["and of two users neither 1 opened", "and of two users neither 2 opened"],
      send: async (secret) => {
        const ids = ["and of two users neither 1", "and of two users neither 2"] as const;
        for (const id of ids) await identify(secret, id);
        await alias(secret, ...ids);
        for (const id of ids) await send({ body: event({ api_key: secret, distinct_id: id }) });
      },
    },
  ]);
});

test("traits, groups and what is said once come from posthog-node as they do to PostHog", async () => {
  const secret = await server.organization("Traits");
  const client = new PostHog(secret, { host: server.url });
  const set = { email: "ada@example.com", name: "Ada", plan: "free" };
  client.identify({ distinctId: "ada", properties: { $set: set, $set_once: { source: "ad" } } });
  client.setPersonProperties({
    distinctId: "ada",
    properties: { plan: "pro", seats: 3 },
    propertiesOnce: { source: "friend", cohort: "2026" },
  });
  client.unsetPersonProperties({ distinctId: "ada", properties: ["seats"] });
  // The client names no user here, nor is there one of this account yet.
  client.groupIdentify({ groupType: "company", groupKey: "acme", properties: { name: "Acme" } });
  client.capture({ distinctId: "ada", event: "Order Completed", groups: { company: "acme" } });
  await client.shutdown();
  const expected = { name: "Ada", plan: "pro", seats: null, source: "ad", cohort: "2026" };
  expect(await server.exported("users", "Traits")).toMatchObject([
    { userId: "ada", email: "ada@example.com", properties: expected, account: { id: "acme", name: "Acme" } },
  ]);
  expect(await server.exported("accounts", "Traits")).toMatchObject([{ name: "Acme" }]);
  const [stored] = await server.exported("events", "Traits");
  expect(stored).toMatchObject({ userId: "ada", event: "Order_Completed" });
});
