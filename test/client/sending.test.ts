/** The client beside a server that is well: what is handed over arrives once, as it was, in its order. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { type Item, Rekindle, type Track } from "../../client/rekindle.ts";
import type { Gate } from "./gate.ts";
import { ada, ClientBench, patienceMs } from "./support.ts";

const organization = "Sending";
let bench: ClientBench;
let gate: Gate;
beforeAll(async () => {
  bench = await ClientBench.start(organization);
  gate = bench.gate;
});
afterAll(() => bench.stop());

const start = (options?: object) => bench.client(options);
const eventsOf = (userId: string) => bench.eventsOf(userId);

test("a user and events arrive with the time of the call and an id of their own, in one request", async () => {
  const { client, failures } = start();
  const before = gate.seen.length;
  const beganMs = Date.now();
  expect(
    client.identify({ ...ada("first"), properties: { plan: "pro" }, account: { id: 7, name: "Acme" } }),
  ).toBe(undefined);
  client.track({ userId: "first", event: "report_created", properties: { pages: 3 } });
  const calledMs = Date.now();
  // The clock moves on between the call and the request.
  await Bun.sleep(30);
  expect(await client.flush()).toBe(true);
  client.track({ userId: "first", event: "report_sent" });
  expect(await client.close()).toBe(true);
  expect(gate.seen.slice(before).map(({ items }) => items.length)).toEqual([2, 1]);
  expect(failures).toEqual([]);
  const [created, sent, ...others] = await eventsOf("first");
  expect(others).toEqual([]);
  expect(created).toMatchObject({ event: "report_created", properties: { pages: 3 } });
  expect(created?.messageId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  expect(created?.messageId).not.toBe(sent?.messageId);
  expect(Date.parse(String(created?.timestamp))).toBeWithin(beganMs, calledMs + 1);
  const users = await bench.server.exported("users", organization);
  expect(users.find(({ userId }) => userId === "first")).toMatchObject({ properties: { plan: "pro" } });
});

test("the caller's values win: messageId, timestamp as text, Date or alias, a number as id", async () => {
  const { client, failures } = start();
  client.identify(ada(42));
  const event = (more: object) => client.track({ userId: 42, event: "e", ...more });
  event({ messageId: "mine", timestamp: "2026-01-01T10:00:00+02:00" });
  event({ messageId: "date", timestamp: new Date("2026-01-02T03:04:05.678Z") });
  event({ messageId: "alias", occurredAt: "2026-01-03T00:00:00Z" });
  expect(await client.flush()).toBe(true);
  expect(failures).toEqual([]);
  const stored = (await eventsOf("42")).map((row) => [row.messageId, Date.parse(String(row.timestamp))]);
  expect(stored).toEqual([
    ["mine", Date.parse("2026-01-01T08:00:00Z")],
    ["date", Date.parse("2026-01-02T03:04:05.678Z")],
    ["alias", Date.parse("2026-01-03T00:00:00Z")],
  ]);
});

test("identifies of the same millisecond keep their order, and objects that change later are sent as they were", async () => {
  const { client } = start();
  const properties = { plan: "free", seats: 1 };
  client.identify({ ...ada("changing"), properties });
  properties.plan = "pro";
  client.identify({ ...ada("changing"), properties: { plan: properties.plan } });
  properties.plan = "never sent";
  properties.seats = 99;
  await client.flush();
  const users = await bench.server.exported("users", organization);
  expect(users.find(({ userId }) => userId === "changing")?.properties).toEqual({ plan: "pro", seats: 1 });
});

test("a batch is taken apart and sent like single calls", async () => {
  const { client, failures } = start({ maxBatchItems: 3 });
  const before = gate.seen.length;
  const items: Item[] = [
    { type: "identify", ...ada("several") },
    ...Array.from({ length: 7 }, (_, n) => ({ type: "track" as const, userId: "several", event: `e${n}` })),
  ];
  client.batch(items);
  expect(await client.flush()).toBe(true);
  expect(gate.seen.slice(before).map(({ items }) => items.length)).toEqual([3, 3, 2]);
  expect(failures).toEqual([]);
  expect((await eventsOf("several")).map(({ event }) => event).sort()).toEqual(
    items.slice(1).map((_, n) => `e${n}`),
  );
});

describe("what cannot be stored", () => {
  test("is told by its own reason alone as well, and as the first of several of which none can be", async () => {
    const { client, failures } = start({ maxBatchItems: 2 });
    client.track({ userId: "nobody", event: "alone" });
    expect(await client.flush()).toBe(true);
    expect(failures).toMatchObject([{ name: "not_found", statusCode: 404, willRetry: false }]);
    expect(failures[0]?.message).toStartWith("User not found.");
    client.track({ userId: "nobody", event: "two words" });
    expect(await client.flush()).toBe(true);
    expect(failures[1]).toMatchObject({ name: "validation_error", statusCode: 400 });
    expect(failures[1]?.message).toStartWith("event contains white space");
    client.batch([
      { type: "track", userId: "nobody", event: "first" },
      { type: "track", userId: "nobody", event: "second" },
    ]);
    expect(await client.flush()).toBe(true);
    expect(failures.slice(2).map(({ name, item }) => [name, (item as Track).event])).toEqual([
      ["not_found", "first"],
      ["validation_error", "second"],
    ]);
  });

  test("is reported with its item and its own reason, and the rest is stored", async () => {
    const { client, failures } = start();
    client.identify(ada("mixed"));
    client.track({ userId: "nobody", event: "lost", messageId: "lost-1" });
    client.track({ userId: "mixed", event: "two words" });
    client.track({ userId: "mixed", event: "good" });
    expect(await client.flush()).toBe(true);
    expect(failures.map(({ name, statusCode, willRetry }) => [name, statusCode, willRetry])).toEqual([
      ["not_found", 404, false],
      ["validation_error", 400, false],
    ]);
    expect(failures[0]).toMatchObject({
      item: {
        type: "track",
        userId: "nobody",
        event: "lost",
        messageId: "lost-1",
        timestamp: expect.any(String),
      },
    });
    expect(failures[1]?.message).toContain("event contains white space");
    expect((await eventsOf("mixed")).map(({ event }) => event)).toEqual(["good"]);
  });

  test("when it is a whole batch, every item is reported", async () => {
    const { client, failures } = start();
    client.track({ userId: "nobody", event: "one" });
    client.track({ userId: "nobody", event: "two" });
    expect(await client.flush()).toBe(true);
    expect(failures.map(({ item }) => item?.type === "track" && item.event)).toEqual(["one", "two"]);
    for (const { message } of failures) expect(message).toContain("User not found");
  });
});

function angry(): never {
  throw new Error("the application's own");
}
const circular: Record<string, unknown> = {};
circular.self = circular;
const thrower = Object.defineProperty({}, "userId", {
  enumerable: true,
  get: () => {
    throw Object.create(null);
  },
});
let deep: unknown = 1;
for (let level = 0; level < 10_000; level += 1) deep = [deep];

const nonsense: readonly (readonly [string, unknown])[] = [
  ["nothing", undefined],
  ["null", null],
  ["a text", "u1"],
  ["a number", 7],
  ["a list", []],
  ["no userId", { event: "e", email: "a@b.co" }],
  ["a circle", { userId: "u", event: "e", email: "a@b.co", properties: circular }],
  ["a BigInt", { userId: 1n, event: "e", email: "a@b.co" }],
  ["NaN as id", { userId: Number.NaN, event: "e", email: "a@b.co" }],
  ["a getter that throws what has no text", thrower],
  ["a proxy that refuses everything", Proxy.revocable({}, {}).proxy],
  ["a revoked proxy", revoked()],
  ["10,000 levels", { userId: "u", event: "e", email: "a@b.co", properties: { deep } }],
  ["300 KiB", { userId: "u", event: "e", email: "a@b.co", properties: { a: "x".repeat(300 * 1024) } }],
  ["half a surrogate", { userId: "u", event: "e", email: "a@b.co", properties: { a: "\ud800" } }],
  ["a function", () => "u1"],
  ["a toJSON that says nothing", { toJSON: () => undefined }],
  ["a toJSON that throws", { userId: 5, properties: { toJSON: angry } }],
  ["a messageId of another kind", { userId: "u", event: "e", email: "a@b.co", messageId: { a: 1 } }],
];

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

test.each(nonsense)(
  "%s throws nothing, is reported once for each call, and has no other effect",
  async (_name, value) => {
    const { client, failures } = start();
    const given = value as never;
    client.identify(ada("sound"));
    client.identify(given);
    client.track(given);
    client.batch([given]);
    client.batch(given);
    client.track({ userId: "sound", event: "after" });
    expect(await client.flush()).toBe(true);
    expect(failures.length).toBeGreaterThanOrEqual(3);
    for (const { name, willRetry } of failures) {
      expect(["invalid_item", "validation_error"]).toContain(name);
      expect(willRetry).toBe(false);
    }
  },
);

test("and what was tracked after each of them is stored", async () => {
  expect((await eventsOf("sound")).map(({ event }) => event)).toEqual(nonsense.map(() => "after"));
});

test("callbacks that throw, or return a promise that fails, change nothing", async () => {
  for (const callback of [angry, async () => angry()]) {
    const { client } = start({ onError: callback, onDrop: callback });
    client.identify(ada("angry"));
    client.track({ userId: "nobody", event: "e" });
    client.track(undefined as never);
    client.track({ userId: "angry", event: "stored" });
    expect(await client.close()).toBe(true);
    client.track({ userId: "angry", event: "too_late" });
  }
  expect((await eventsOf("angry")).map(({ event }) => event)).toEqual(["stored", "stored"]);
});

test("without callbacks there is a warning on the console, once a minute", async () => {
  const warn = spyOn(console, "warn").mockImplementation(() => {});
  try {
    const client = new Rekindle({ token: bench.token, host: gate.url, timeoutMs: patienceMs });
    client.track(undefined as never);
    client.track({ userId: "nobody", event: "e" });
    await client.close(patienceMs);
    client.track({ userId: "nobody", event: "e" });
    expect(warn.mock.calls.map(([text]) => String(text).slice(0, 24))).toEqual(["rekindle: invalid_item: "]);
  } finally {
    warn.mockRestore();
  }
});

test("flush and close of a client without items are true at once, however often", async () => {
  const { client } = start();
  const answers = await Promise.all([client.flush(), client.close(), client.close(), client.flush()]);
  expect(answers).toEqual([true, true, true, true]);
});

test("options that are missing or no numbers leave the defaults", async () => {
  const { client, failures } = start({
    maxBatchItems: Number.NaN,
    maxQueueItems: undefined,
    maxQueueBytes: null,
  });
  const before = gate.seen.length;
  for (let n = 0; n < 600; n += 1) client.identify(ada(`many-${n}`));
  expect(await client.flush(Number.POSITIVE_INFINITY)).toBe(true);
  expect(failures).toEqual([]);
  expect(gate.seen.slice(before).map(({ items }) => items.length)).toEqual([500, 100]);
});
