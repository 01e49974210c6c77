/**
 * Requests made from the schemas of the OpenAPI document. Valid ones are taken, ones that are broken in exactly
 * one place are refused with a message that names the place, and every answer to either is as documented. A
 * failure prints its seed and the smallest request that fails.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Server } from "../server.ts";
import { type Broken, brokenFor, type Hints, validFor, waysToBreak } from "./arbitrary.ts";
import { OpenApi } from "./document.ts";

type Row = Readonly<Record<string, unknown>>;

let server: Server;
let token: string;
let api: OpenApi;

beforeAll(async () => {
  server = await Server.start();
  token = await server.organization("Generated");
  await server.command("organization", "set", "Generated", "--rate-limit", "1000000");
  api = await OpenApi.of(server);
}, 60_000);
afterAll(() => server.stop());

const paths = ["/identify", "/track"] as const;

/** Requests that are sent together, because each waits for the disk. */
const together = 50;
/** The search for the smallest failing request ends in time for its report. */
const runs = { numRuns: 60, interruptAfterTimeLimit: 30_000 };

const timeNames = ["timestamp", "time", "date", "datetime", "eventTime", "occurredAt", "createdAt"];
const instants = fc.date({
  min: new Date("1970-01-02"),
  max: new Date("2299-12-30"),
  noInvalidDate: true,
});
const times = fc.oneof(
  instants.map((instant) => instant.toISOString()),
  instants.map((instant) => instant.toISOString().slice(0, 10)),
  instants.map((instant) => instant.toISOString().replace(/\.\d+Z/, "-05:30")),
  fc.constant(null),
);
const noTimes = fc.constantFrom("", "now", "2026-02-30", "2026-05-17T09:30:00", "1969-12-31", "2300-01-01");

/** The document says in words, not in its schema, what a time looks like. */
const hints: Hints = Object.fromEntries(timeNames.map((name) => [name, { valid: times, broken: noTimes }]));

/** The names of the time mean one time, so all that are sent must say the same; the broken one stays. */
function withOneTime(body: unknown, broken?: string): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const fields = body as Row;
  const sent = timeNames.filter((name) => name in fields && name !== broken);
  return { ...fields, ...Object.fromEntries(sent.map((name) => [name, fields[sent[0] ?? ""]])) };
}

/** Sends a body; its answer must be documented. */
async function post(path: string, body: unknown): Promise<{ status: number; message: string }> {
  const response = await server.post(path, token, JSON.stringify(body));
  const answer = (await response.json()) as { message?: string; statusCode?: number };
  expect(api.whyUndocumented(path, response.status, answer)).toBeUndefined();
  if (response.status !== 201) expect(answer.statusCode).toBe(response.status);
  return { status: response.status, message: answer.message ?? "" };
}

/** Checks that all cases hold, many at once. */
async function holds<Case>(
  arbitrary: fc.Arbitrary<Case>,
  check: (one: Case) => Promise<void>,
): Promise<void> {
  const many = fc.array(arbitrary, { minLength: 1, maxLength: together, size: "max" });
  const property = fc.asyncProperty(many, async (cases) => {
    await Promise.all(cases.map(check));
  });
  await fc.assert(property, runs);
}

const valid = (path: string): fc.Arbitrary<Row> =>
  validFor(api.request(path), hints).map((body) => withOneTime(body) as Row);

test("valid requests are taken, and a track of a user who was not identified is not found", async () => {
  const cases = fc.record({ identify: valid("/identify"), track: valid("/track") });
  await holds(cases, async ({ identify, track }) => {
    expect(await post("/identify", identify)).toEqual({ status: 201, message: "" });
    expect(await post("/track", { ...track, userId: identify.userId })).toEqual({ status: 201, message: "" });
    const stranger = { ...track, userId: "nobody at all", messageId: null };
    expect((await post("/track", stranger)).status).toBe(404);
  });
});

/** The places of every body that must be broken in the course of the test. */
const places: Readonly<Record<(typeof paths)[number], readonly string[]>> = {
  "/identify": [
    "body: of another type",
    "userId: missing",
    "userId: too long",
    "email: against its format",
    "properties.avatar: against its format",
    "properties.acquisitionChannel: of another type",
    "isAccountOwner: of another type",
    "account.id: missing",
    "account.id: too short",
    "account.name: missing",
    "account.avatar: against its format",
    "messageId: too long",
  ],
  "/track": [
    "userId: too short",
    "event: missing",
    "event: against its pattern",
    "event: too long",
    "properties: of another type",
    ...timeNames.map((name) => `${name}: with a wrong value`),
  ],
};

describe.each(paths)("%s", (path) => {
  test("the ways to break a request are many, and the ones of the specification are among them", () => {
    expect(waysToBreak(api.request(path), hints)).toEqual(expect.arrayContaining([...places[path]]));
  });

  test("a request that is broken in one place is refused with a message that names it", async () => {
    const broken = brokenFor(api.request(path), hints).map((one) => {
      return { ...one, value: withOneTime(one.value, one.path) };
    });
    const seen = new Set<string>();
    await holds(broken, async ({ path: place, how, value }: Broken) => {
      const { status, message } = await post(path, value);
      expect([how, status, message.split(" ")[0]]).toEqual([how, 400, place]);
      expect(message).toContain("send");
      seen.add(`${place}: ${how}`);
    });
    expect([...seen].sort()).toEqual(waysToBreak(api.request(path), hints).sort());
  });

  test("whatever JSON is sent, the answer is a documented one and no failure of ours", async () => {
    const anything = fc.jsonValue({ maxDepth: 5, stringUnit: "binary" });
    const nearly = fc
      .tuple(
        valid(path),
        fc.dictionary(fc.constantFrom(...Object.keys(api.request(path).properties ?? {})), anything),
      )
      .map(([body, other]) => ({ ...body, ...other }));
    await holds(fc.oneof(anything, nearly), async (body) => {
      expect([201, 400, 404]).toContain((await post(path, body)).status);
    });
  });
});
