/** Ingestion warnings, from the request to the command line and the JSON API. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rekindleHere, Server } from "../server.ts";
import { withinLimit } from "../until.ts";
import { answer, ask, newKey } from "./operation-support.ts";
import { expectError, send, user } from "./support.ts";

interface Warning {
  readonly kind: string;
  readonly endpoint: string;
  readonly detail: string | null;
  readonly count: number;
  readonly message: string | null;
  readonly userId: string | null;
}

let server: Server;

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
});
afterAll(() => server.stop());

async function warningsOf(key: string): Promise<Warning[]> {
  const { warnings } = await answer<{ warnings: Warning[] }>(
    server,
    key,
    "/api/ingestion-warnings?limit=10000",
  );
  return warnings;
}

const brief = ({ kind, endpoint, detail, count, userId }: Warning) => [kind, endpoint, detail, count, userId];

describe("what is worth knowing is counted, with its latest example", () => {
  test("and what is as it should be is not", async () => {
    const token = await server.organization("Orderly");
    const key = await newKey(server, "Orderly");
    const account = { id: "a", name: "A" };
    const all = { properties: { any: 1 }, account, isAccountOwner: true, messageId: "m1" };
    await send(server, "/identify", token, user("u", all));
    const times = ["time", "date", "datetime", "eventTime", "occurredAt", "createdAt", "timestamp"];
    for (const field of times) {
      await send(server, "/track", token, { userId: "u", event: "e", [field]: "2026-05-17", properties: {} });
    }
    expect(await warningsOf(key)).toEqual([]);
  });

  test("unknown keys, events of tomorrow, duplicates, refusals and unknown users", async () => {
    const token = await server.organization("Careless");
    const key = await newKey(server, "Careless", "manage");
    await send(server, "/identify", token, user("u1", { plan: "pro", messageId: "m" }));
    await send(server, "/identify", token, user("u1", { messageId: "m" }));
    await send(server, "/identify", token, user(7, { plan: "free" }));
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    await send(server, "/track", token, { userId: "u1", event: "booked", timestamp: tomorrow });
    await server.post("/track", token, { userId: "nobody", event: "opened" });
    const refused = await server.post("/track", token, { userId: 7, event: "two words" });
    const message = await expectError(refused, "validation_error", "event");
    await server.post("/track", token, "{");
    const found = await warningsOf(key);
    expect(found.map(brief).sort()).toEqual([
      ["duplicate", "identify", null, 1, "u1"],
      ["event_in_future", "track", "booked", 1, "u1"],
      ["refused_unknown_user", "track", "opened", 1, "nobody"],
      ["refused_validation", "track", "body is not valid JSON: send a JSON object.", 1, null],
      ["refused_validation", "track", message, 1, "7"],
      ["unknown_key", "identify", "plan", 2, "7"],
    ]);
    const messages = new Map(found.map((warning) => [warning.detail, warning.message]));
    expect([messages.get(message), messages.get("plan")]).toEqual([message, null]);
    expect(messages.get("opened")).toContain("must first be identified");
  });

  test("an imported event of the future, which is in no figure until then", async () => {
    const token = await server.organization("Imports");
    const key = await newKey(server, "Imports", "manage");
    await send(server, "/identify", token, user("u1"));
    const folder = mkdtempSync(join(tmpdir(), "rekindle-future-"));
    const file = join(folder, "events.csv");
    await Bun.write(
      file,
      "userId,event,timestamp\nu1,booked,2131-01-01T00:00:00Z\nu1,opened,2026-01-01T00:00:00Z\n",
    );
    await server.command("import", file, "--organization", "Imports", "--type", "events");
    rmSync(folder, { recursive: true });
    expect((await warningsOf(key)).map(brief)).toEqual([["event_in_future", "import", "booked", 1, "u1"]]);
  });

  test("requests over the limit and bodies that are too large", async () => {
    const token = await server.organization("Hasty");
    const key = await newKey(server, "Hasty");
    await server.command("organization", "set", "Hasty", "--rate-limit", "1");
    let limited = 0;
    while (limited === 0) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => server.post("/track", token, {})));
      limited = answers.filter(({ status }) => status === 429).length;
    }
    const rate = (await warningsOf(key)).find(({ kind }) => kind === "rate_limited");
    expect(rate).toMatchObject({ endpoint: "track", count: limited });
    expect(rate?.message).toContain("Too many requests");
    await server.command("organization", "set", "Hasty", "--rate-limit", "100");
    // The bucket of the lower limit is empty, and fills up by the new one.
    const { status } = await withinLimit(() => server.post("/identify", token, "x".repeat(256 * 1024 + 1)));
    expect(status).toBe(400);
    expect(await warningsOf(key)).toContainEqual(
      expect.objectContaining({ kind: "refused_validation", endpoint: "identify", count: 1 }),
    );
  });
});

test("items of a batch are noted one by one, and an envelope that is wrong too", async () => {
  const token = await server.organization("Warned batches");
  const key = await newKey(server, "Warned batches");
  const response = await server.post("/batch", token, {
    batch: [
      { type: "identify", userId: "u", email: "u@example.com", timestamp: "2026-05-17", plan: "pro" },
      { type: "track", userId: "u", event: "e", messageId: "m" },
      { type: "track", userId: "u", event: "e", messageId: "m" },
      { type: "track", userId: "nobody", event: "e", foo: 1 },
      { type: "page", userId: "u" },
      7,
    ],
  });
  expect(response.status).toBe(201);
  await server.post("/batch", token, { batch: [] });
  expect((await warningsOf(key)).map(brief).sort()).toEqual([
    ["duplicate", "batch", null, 1, "u"],
    ["refused_unknown_user", "batch", "e", 1, "nobody"],
    ["refused_validation", "batch", expect.stringContaining("batch is empty"), 1, null],
    ["refused_validation", "batch", expect.stringContaining("item is not"), 1, null],
    ["refused_validation", "batch", expect.stringContaining("type is not valid"), 1, "u"],
    ["unknown_key", "batch", "foo", 1, "nobody"],
    ["unknown_key", "batch", "plan", 1, "u"],
  ]);
});

test("a sender of ever new keys fills its own thousand lines, and everything is still counted", async () => {
  const token = await server.organization("Noisy");
  const quietKey = await newKey(server, "Noisy");
  await send(server, "/identify", token, user("u"));
  const bodies = Array.from({ length: 130 }, (_, body) => ({
    userId: "u",
    event: "e",
    ...Object.fromEntries(Array.from({ length: 10 }, (_, key) => [`key ${body} ${key}`, 1])),
  }));
  for (const body of bodies) await send(server, "/track", token, body);
  // Written down, and then again: the table is bounded as memory is.
  expect(await warningsOf(quietKey)).toHaveLength(1_001);
  await send(server, "/track", token, { userId: "u", event: "e", "one more": 1 });
  const warnings = await warningsOf(quietKey);
  expect(warnings.reduce((sum, { count }) => sum + count, 0)).toBe(1_301);
  const others = warnings.find(({ detail }) => detail === null);
  expect(others?.count).toBe(301);
});

test("the command line shows them, no organization sees another's, and they outlive the server", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "rekindle-warnings-"));
  const own = await Server.start({ dataDir });
  const token = await own.organization("Acme");
  await own.command("organization", "create", "Other");
  await send(own, "/identify", token, user("u1", { "surprise \u001b[31m\nkey": 1 }));
  expect(await own.command("warnings", "--organization", "Acme")).toContain("unknown_key");
  await send(own, "/identify", token, user("u2", { later: 1 }));
  expect(await own.kill("SIGTERM")).toBe(0);
  const { stdout } = await rekindleHere(dataDir, "warnings", "--organization", "Acme");
  const [header, ...rows] = stdout.trim().split("\n");
  expect(header).toStartWith("DAY ");
  expect(rows).toHaveLength(2);
  expect(stdout).toMatch(/ unknown_key {2,}identify {2,}later {2,}1 {2,}\S+Z {2,}\S+Z {2,}u2\n/);
  expect(stdout).not.toContain("\u001b");
  const other = await rekindleHere(dataDir, "warnings", "--organization", "Other");
  expect(other.stdout.trim().split("\n")).toHaveLength(1);
  const nobody = await rekindleHere(dataDir, "warnings", "--organization", "Nobody");
  expect([nobody.exitCode, nobody.stderr.includes("Acme")]).toEqual([1, true]);
  rmSync(dataDir, { recursive: true });
});

test("a key of one organization reads its own warnings, as JSON and as CSV", async () => {
  const token = await server.organization("Left");
  const [left, right] = [await newKey(server, "Left"), await newKey(server, "Hasty")];
  await send(server, "/identify", token, user("u", { oops: 1 }));
  expect((await warningsOf(left)).map(({ detail }) => detail)).toEqual(["oops"]);
  expect((await warningsOf(right)).map(({ detail }) => detail)).not.toContain("oops");
  const csv = await (await ask(server, left, "/api/ingestion-warnings?format=csv")).text();
  expect(csv.split("\r\n")[0]).toBe("day,kind,endpoint,detail,count,firstSeen,lastSeen,message,userId");
  await expectError(await ask(server, left, "/api/ingestion-warnings?limit=0"), "validation_error", "limit");
});
