/** The client during failures: every item is stored once, or the application gets the reason. */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  mock,
  setSystemTime,
  test,
} from "bun:test";
import type { Failure } from "../../client/rekindle.ts";
import { until } from "../until.ts";
import { Gate, type Mischief } from "./gate.ts";
import { ada, ClientBench, countAttempts, limitsOfAnswers } from "./support.ts";

let bench: ClientBench;
let gate: Gate;
beforeAll(async () => {
  bench = await ClientBench.start("Failures");
});
beforeEach(async () => {
  await bench.renewGate();
  gate = bench.gate;
});
// The mocks that a test has put in the place of the runtime's own functions.
afterEach(() => mock.restore());
afterAll(() => bench.stop());

const start = (options?: object) => bench.client(options);
const eventsOf = async (userId: string) => (await bench.eventsOf(userId)).map(({ event }) => event);

const json = { "Content-Type": "application/json" };
const refusal = (name: string, status: number, headers: Record<string, string> = {}) => ({
  status,
  headers: { ...json, ...headers },
  body: JSON.stringify({ name, message: `${name}.`, statusCode: status }),
});

type Name = Failure["name"];
const passing: readonly (readonly [string, Mischief, Name])[] = [
  ["a connection that is refused", "refuse", "unreachable"],
  ["an answer that is lost after the commit", "cut", "unreachable"],
  ["an answer that never comes", "hang", "unreachable"],
  ["an answer that is too late", { delayMs: 400 }, "unreachable"],
  ["an error of the service", refusal("application_error", 500), "application_error"],
  ["a proxy without a service", { status: 502, body: "<h1>Bad gateway</h1>" }, "unexpected_answer"],
  ["a proxy's timeout", { status: 408 }, "unexpected_answer"],
  ["a success that is badly formed", { status: 201, body: '{"success":true,"rejected":7}' }, "unreachable"],
];

test.each(passing)(
  "%s is reported and survived: everything is stored once, in order",
  async (name, mischief, told) => {
    const limits = limitsOfAnswers();
    const { client, failures, drops } = start({ timeoutMs: limits.ms });
    gate.next = [mischief, mischief];
    client.identify(ada(name));
    for (const event of ["one", "two", "three"]) client.track({ userId: name, event, timestamp: null });
    const flushed = client.flush();
    const isLate = mischief === "hang" || (typeof mischief === "object" && "delayMs" in mischief);
    for (let request = 1; isLate && request <= 2; request += 1) {
      await until(
        "a request that is not answered",
        () => gate.seen,
        ({ length }) => length === request,
      );
      limits.pass();
    }
    expect(await flushed).toBe(true);
    expect(failures.map(({ name, willRetry, item }) => [name, willRetry, item])).toEqual([
      [told, true, undefined],
      [told, true, undefined],
    ]);
    expect(drops).toEqual([]);
    expect((await eventsOf(name)).sort()).toEqual(["one", "three", "two"]);
    expect(gate.messageIds).toHaveLength(4);
  },
);

test("attempts come at growing intervals, with jitter", async () => {
  const { client } = start();
  gate.next = Array.from({ length: 4 }, () => refusal("application_error", 500));
  client.identify(ada("backoff"));
  expect(await client.flush()).toBe(true);
  const times = gate.seen.map(({ atMs }) => atMs);
  const waitsMs = times.slice(1).map((atMs, n) => atMs - (times[n] ?? 0));
  expect(waitsMs).toHaveLength(4);
  // Timers may be late on a busy machine, and never early by more than a rounded millisecond.
  for (const [n, waitMs] of waitsMs.entries()) expect(waitMs).toBeGreaterThanOrEqual(125 * 2 ** n - 2);
});

let dateMs = 0;
/** The refusal of a moment, which names a date of two seconds later. */
const untilDate = {
  ...refusal("rate_limit_exceeded", 429),
  get headers() {
    dateMs = Math.floor(Date.now() / 1_000 + 2) * 1_000;
    return { ...json, "Retry-After": new Date(dateMs).toUTCString() };
  },
};
const aSecondLater = (firstMs: number) => firstMs + 1_000;

const waits: readonly (readonly [string, Mischief, Name, (firstMs: number) => number])[] = [
  ["429", refusal("rate_limit_exceeded", 429, { "Retry-After": "1" }), "rate_limit_exceeded", aSecondLater],
  ["503 of a proxy", { status: 503, headers: { "Retry-After": "1" } }, "unexpected_answer", aSecondLater],
  ["429 until a date", untilDate, "rate_limit_exceeded", () => dateMs],
];

test.each(waits)("after a %s it waits as long as it is asked", async (_name, mischief, told, soonestMs) => {
  const { client, failures } = start();
  gate.next = [mischief];
  client.identify(ada("patient"));
  expect(await client.flush(200)).toBe(false);
  expect(await client.flush()).toBe(true);
  expect(failures.map(({ name }) => name)).toEqual([told]);
  const [first = 0, second = 0] = gate.seen.map(({ atMs }) => atMs);
  // Timers may be late, and early by a rounded millisecond.
  expect(second).toBeGreaterThanOrEqual(soonestMs(first) - 2);
});

test("a limit of items a second below the batch's size is got through, because batches are halved", async () => {
  const slow = await bench.server.organization("Slow items");
  await bench.server.command("organization", "set", "Slow items", "--item-rate-limit", "40");
  const { client, failures } = start({ token: slow });
  for (let n = 0; n < 100; n += 1) client.identify(ada(`slow-${n}`));
  expect(await client.flush()).toBe(true);
  expect(new Set(failures.map(({ name }) => name))).toEqual(new Set(["rate_limit_exceeded"]));
  expect(await bench.server.exported("users", "Slow items")).toHaveLength(100);
});

test("a proxy that takes only small bodies gets small ones, and an item it never takes blocks no other", async () => {
  const small = await Gate.before(() => gate.url);
  const { client, failures } = start({ host: small.url });
  client.identify(ada("small"));
  client.track({ userId: "small", event: "before" });
  client.track({ userId: "small", event: "large" });
  client.track({ userId: "small", event: "after" });
  // 4 items fail, then 2 pass. Then the other 2 fail, and each is sent by itself.
  small.next = [{ status: 413 }, "pass", { status: 413 }, { status: 413 }];
  expect(await client.flush()).toBe(true);
  expect(small.seen.map(({ items }) => items.length)).toEqual([4, 2, 2, 1, 1]);
  expect(failures.map(({ willRetry, item }) => [willRetry, item?.type === "track" && item.event])).toEqual([
    [true, false],
    [true, false],
    [false, "large"],
  ]);
  small.close();
  expect((await eventsOf("small")).sort()).toEqual(["after", "before"]);
});

describe("faults that people have to repair", () => {
  /** Long for an answer, and shorter than nothing is sent then: the client can know that it cannot be sent in
   * this time. */
  const lessThanAMinuteMs = 55_000;
  const setups: readonly (readonly [string, Mischief, Name, number])[] = [
    ["a page instead of the service", { status: 200, body: "<h1>Welcome</h1>" }, "unexpected_answer", 200],
    ["a success that is not ours", { status: 201, headers: json, body: "{}" }, "unexpected_answer", 201],
    ["a redirect", { status: 301, headers: { Location: "/" } }, "unexpected_answer", 301],
    ["another service", { status: 404, body: "Not found" }, "unexpected_answer", 404],
    ["a proxy that refuses", { status: 400, body: "Bad request" }, "unexpected_answer", 400],
  ];

  test.each(setups)(
    "%s is reported, the items are kept, and nothing is sent for a minute",
    async (_name, mischief, name, statusCode) => {
      const { client, failures, drops } = start();
      gate.always = mischief;
      client.identify(ada());
      expect(await client.flush(lessThanAMinuteMs)).toBe(false);
      client.identify(ada());
      expect(await client.flush(0)).toBe(false);
      expect(failures).toMatchObject([{ name, statusCode, willRetry: true, item: undefined }]);
      expect([gate.seen.length, drops.length]).toEqual([1, 0]);
      expect(await client.close(lessThanAMinuteMs)).toBe(false);
      expect(gate.seen).toHaveLength(2);
      expect(drops.map(({ reason }) => reason)).toEqual(["closed", "closed"]);
    },
  );

  test("a wrong token, too; when it is right in the end, what was kept is sent", async () => {
    const { client, failures, drops } = start({ token: "rk-wrong" });
    client.identify(ada("kept"));
    expect(await client.flush(lessThanAMinuteMs)).toBe(false);
    expect(failures).toMatchObject([{ name: "invalid_write_key", statusCode: 401, willRetry: true }]);
    gate.next = [
      { status: 201, headers: json, body: '{"success":true,"accepted":1,"duplicates":0,"rejected":[]}' },
    ];
    // Closing does not wait for the minute to pass.
    expect(await client.close()).toBe(true);
    expect(drops).toEqual([]);
  });

  test.each([
    ["an address that is none", "nonsense"],
    ["no address", undefined],
    ["a port where nobody listens", "http://127.0.0.1:1"],
  ])("%s is told", async (_name, host) => {
    const { client, failures, drops } = start({ host });
    client.identify(ada());
    await until(
      "an attempt",
      () => failures,
      ({ length }) => length > 0,
    );
    expect(failures[0]).toMatchObject({ name: "unreachable", statusCode: 0, willRetry: true });
    expect(await client.close(0)).toBe(false);
    expect(drops).toHaveLength(1);
  });
});

describe("a queue that is full", () => {
  test("refuses what comes, keeps what it has, and tells which", async () => {
    const { client, drops } = start({ maxQueueItems: 3 });
    gate.always = "refuse";
    client.identify(ada("full"));
    for (let n = 0; n < 4; n += 1) client.track({ userId: "full", event: `e${n}` });
    await until(
      "an attempt",
      () => gate.seen,
      ({ length }) => length > 0,
    );
    client.track({ userId: "full", event: "e4" });
    expect(drops.map(({ item, reason }) => [item.type === "track" && item.event, reason])).toEqual([
      ["e2", "full"],
      ["e3", "full"],
      ["e4", "full"],
    ]);
    gate.always = "pass";
    expect(await client.flush()).toBe(true);
    client.track({ userId: "full", event: "e5" });
    expect(await client.close()).toBe(true);
    expect((await eventsOf("full")).sort()).toEqual(["e0", "e1", "e5"]);
    expect(drops).toHaveLength(3);
  });

  test("by bytes: of UTF-8, not of characters", async () => {
    const { client, drops } = start({ maxQueueBytes: 2_000 });
    client.identify({ ...ada("wide"), properties: { name: "é".repeat(500) } });
    client.identify({ ...ada("wide"), properties: { name: "é".repeat(500) } });
    client.identify(ada("wide"));
    expect(drops.map(({ reason }) => reason)).toEqual(["full"]);
    expect(await client.close()).toBe(true);
  });
});

describe("closing", () => {
  test.each<Mischief>(["refuse", "hang"])(
    "while the service is away (%s) ends in time, and gives back what is left, in order",
    async (mischief) => {
      const { client, drops } = start();
      const attempts = countAttempts(gate);
      gate.always = mischief;
      for (let n = 0; n < 3; n += 1) client.identify(ada(`left-${n}`));
      await until(
        "an attempt",
        () => gate.seen,
        ({ length }) => length > 0,
      );
      // A request may take as long as this test: it is not waited for.
      const [isSent, isFlushed] = await Promise.all([client.close(300), client.flush()]);
      expect([isSent, isFlushed]).toEqual([false, false]);
      expect(drops.map(({ item, reason }) => [item.userId, reason])).toEqual(
        ["left-0", "left-1", "left-2"].map((userId) => [userId, "closed"]),
      );
      const before = attempts();
      gate.always = "pass";
      client.identify(ada("late"));
      // Longer than the client waits after its second failure, 500 ms.
      await Bun.sleep(700);
      expect(drops.at(-1)).toMatchObject({ item: { userId: "late" }, reason: "closed" });
      expect(attempts()).toBe(before);
    },
  );

  test("tries once more at once, however long the next attempt is away", async () => {
    const { client, drops } = start();
    gate.next = [refusal("rate_limit_exceeded", 429, { "Retry-After": "3600" })];
    client.identify(ada("last-chance"));
    client.track({ userId: "last-chance", event: "saved" });
    expect(await client.flush()).toBe(false);
    expect(await client.close()).toBe(true);
    expect(drops).toEqual([]);
    expect(await eventsOf("last-chance")).toEqual(["saved"]);
  });
});

test("after 23 hours items that may be stored are not sent again, and items that were never sent are", async () => {
  const { client, drops, failures } = start({ maxBatchItems: 2 });
  const attempts = countAttempts(gate);
  gate.next = ["cut"];
  gate.always = refusal("application_error", 500);
  client.identify(ada("old"));
  client.track({ userId: "old", event: "sent_and_lost", timestamp: "2026-01-01" });
  client.track({ userId: "old", event: "never_sent" });
  // None is on its way then, which would be older than the time that is set.
  await until("a second attempt", () => failures.length >= 2 && failures.length === attempts());
  try {
    setSystemTime(new Date(Date.now() + 23.5 * 3_600_000));
    gate.always = "pass";
    expect(await client.flush()).toBe(true);
  } finally {
    setSystemTime();
  }
  expect(drops.map(({ item, reason }) => [item.messageId, reason])).toEqual(
    gate.messageIds.slice(0, 2).map((id) => [id, "expired"]),
  );
  expect((await eventsOf("old")).sort()).toEqual(["never_sent", "sent_and_lost"]);
});
