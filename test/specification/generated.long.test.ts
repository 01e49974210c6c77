/**
 * Requests made from the schemas of the OpenAPI document. Valid ones are taken. Ones that are broken in
 * exactly one place are refused with a message that names the place. Every answer to either is as documented.
 * A failure prints its seed and the smallest request that fails.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isPlaceholderId } from "../../server/intake/admission/placeholder-ids.ts";
import { Server } from "../server.ts";
import { type Broken, brokenFor, type Hints, validFor, waysToBreak } from "./arbitrary.ts";
import { OpenApi, type Schema } from "./document.ts";

type Row = Readonly<Record<string, unknown>>;

let server: Server;
let token: string;
let api: OpenApi;

beforeAll(async () => {
  server = await Server.start();
  token = await server.organization("Generated");
  await server.command("organization", "set", "Generated", "--rate-limit", "1000000");
  await server.command("organization", "set", "Generated", "--item-rate-limit", "1000000");
  api = await OpenApi.of(server);
});
afterAll(() => server.stop());

/** Requests that are sent together, because each waits for the disk. */
const together = 50;
/** The search for the smallest failing request ends in time for its report. */
const interruptAfterTimeLimit = 50_000;
const runs = 20;
/** 1,100 requests, give or take 100: each of thirty ways to break one comes up. */
const runsForEveryWay = 50;

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

/** The ids of users and accounts that mean no id are refused, unless one is stored, which no schema can
 * say. */
const noIds = fc.constantFrom(" ", "\t", "undefined", "null", "None", "NaN", "[object Object]");
const texts = fc.string({ unit: "binary", minLength: 1, maxLength: 100 });
const ids = fc.oneof(
  texts.filter((text) => !isPlaceholderId(text)),
  fc.maxSafeInteger(),
);
const idNames = ["userId", "id"];

/** The document says in words, not in its schema, what a time and an id look like. */
const hints: Hints = Object.fromEntries([
  ...timeNames.map((name) => [name, { valid: times, broken: noTimes }]),
  ...idNames.map((name) => [name, { valid: ids, broken: noIds }]),
]);

/** All names of the time mean one time, so all that are sent must have the same value. The broken one
 * stays. */
function withOneTime(body: unknown, broken?: string): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const fields = body as Row;
  const sent = timeNames.filter((name) => name in fields && name !== broken);
  return { ...fields, ...Object.fromEntries(sent.map((name) => [name, fields[sent[0] ?? ""]])) };
}

interface Answer {
  readonly status: number;
  readonly message: string;
  readonly accepted?: number;
  readonly duplicates?: number;
  readonly rejected?: readonly {
    readonly index: number;
    readonly message: string;
    readonly statusCode: number;
  }[];
}

/** Sends a body. Its answer must be documented. */
async function post(path: string, body: unknown): Promise<Answer> {
  const response = await server.post(path, token, JSON.stringify(body));
  const answer = (await response.json()) as Partial<Answer> & { readonly statusCode?: number };
  expect(api.whyUndocumented(path, response.status, answer)).toBeUndefined();
  if (response.status !== 201) expect(answer.statusCode).toBe(response.status);
  return { ...answer, status: response.status, message: answer.message ?? "" };
}

/** Checks that all cases hold, many at once. */
async function holds<Case>(
  arbitrary: fc.Arbitrary<Case>,
  check: (one: Case) => Promise<void>,
  numRuns = runs,
): Promise<void> {
  const many = fc.array(arbitrary, { minLength: 1, maxLength: together, size: "max" });
  const property = fc.asyncProperty(many, async (cases) => {
    await Promise.all(cases.map(check));
  });
  await fc.assert(property, { numRuns, interruptAfterTimeLimit });
}

/** Valid bodies of a schema. */
const validOf = (schema: Schema): fc.Arbitrary<Row> =>
  validFor(schema, hints).map((body) => withOneTime(body) as Row);

let messages = 0;

/** The body with a message id of its own, if it has one, so that it is no duplicate. */
function asNews(body: Row): Row {
  if (typeof body.messageId !== "string") return body;
  messages += 1;
  const messageId = [...`${messages} ${body.messageId}`].slice(0, 256).join("");
  return { ...body, messageId };
}

/** Bodies of a schema that are broken in one place. */
const brokenOf = (schema: Schema): fc.Arbitrary<Broken> =>
  brokenFor(schema, hints).map((one) => ({ ...one, value: withOneTime(one.value, one.path) }));

const valid = (path: string) => validOf(api.request(path));

test("valid requests are taken, and a track of a user who was not identified is not found", async () => {
  const cases = fc.record({ identify: valid("/identify"), track: valid("/track") });
  await holds(cases, async ({ identify, track }) => {
    expect(await post("/identify", asNews(identify))).toMatchObject({ status: 201, success: true });
    const known = { ...asNews(track), userId: identify.userId };
    expect(await post("/track", known)).toMatchObject({ status: 201, success: true });
    const stranger = { ...track, userId: "nobody at all", messageId: null };
    expect((await post("/track", stranger)).status).toBe(404);
  });
});

/** Places and ways that every search has to come by, so that none of them can be lost in silence. */
const someWays: Readonly<Record<string, readonly string[]>> = {
  "/identify": [
    "body: of another type",
    "userId: missing",
    "userId: too long",
    "userId: with a wrong value",
    "email: against its format",
    "properties.avatar: against its format",
    "properties.acquisitionChannel: of another type",
    "isAccountOwner: of another type",
    "account.id: missing",
    "account.id: too short",
    "account.id: with a wrong value",
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
  "/batch": ["batch: missing", "batch: of another type", "batch: too short", "batch: too long"],
};

describe.each(Object.entries(someWays))("%s", (path, expected) => {
  test("refuses a request that is broken in one place with a message that names it", async () => {
    const ways = waysToBreak(api.request(path), hints);
    expect(ways).toEqual(expect.arrayContaining([...expected]));
    const seen = new Set<string>();
    await holds(
      brokenOf(api.request(path)),
      async ({ path: place, how, value }) => {
        const { status, message } = await post(path, value);
        expect([how, status, message.split(" ")[0]]).toEqual([how, 400, place]);
        expect(message).toContain("send");
        seen.add(`${place}: ${how}`);
      },
      runsForEveryWay,
    );
    expect([...seen].sort()).toEqual(ways.sort());
  });

  test("answers whatever JSON is sent as documented", async () => {
    const anything = fc.jsonValue({ maxDepth: 5, stringUnit: "binary" });
    const names = Object.keys(api.request(path).properties ?? {});
    const nearly = fc
      .tuple(valid(path), fc.dictionary(fc.constantFrom(...names), anything))
      .map(([body, other]) => ({ ...body, ...other }));
    await holds(fc.oneof(anything, nearly), async (body) => {
      expect([201, 400, 404]).toContain((await post(path, body)).status);
    });
  });
});

/** The schemas of a batch's items. */
function itemSchemas(): readonly Schema[] {
  const items = api.request("/batch").properties?.batch?.items?.anyOf ?? [];
  expect(items).toHaveLength(2);
  return items;
}

test("a batch stores its good items and rejects the broken ones, naming their fields", async () => {
  const good = fc.oneof(...itemSchemas().map(validOf)).map((item) => ({ item, broken: undefined }));
  const bad = fc.oneof(...itemSchemas().map(brokenOf)).map((broken) => ({ item: broken.value, broken }));
  const batches = fc.array(fc.oneof(good, bad), { minLength: 1, maxLength: 15 });
  await holds(batches, async (items) => {
    const users = items.map(({ item, broken }) => (broken === undefined ? (item as Row).userId : undefined));
    const identifies = users.filter((userId) => userId !== undefined);
    const known = identifies.map((userId) => ({ type: "identify", userId, email: "ada@example.com" }));
    if (known.length > 0) expect((await post("/batch", { batch: known })).accepted).toBe(known.length);

    const batch = items.map(({ item, broken }) => (broken === undefined ? asNews(item as Row) : item));
    const answer = await post("/batch", { batch });
    const broken = items.flatMap((one, index) =>
      one.broken === undefined ? [] : [{ ...one.broken, index }],
    );
    if (known.length === 0) {
      expect([answer.status, answer.message.includes("send")]).toEqual([400, true]);
      expect(answer.message).toStartWith(`batch.0: ${named(broken[0])} `);
      return;
    }
    expect(answer).toMatchObject({ status: 201, accepted: known.length, duplicates: 0 });
    const places = broken.map((one) => [one.how, one.index, 400, named(one)]);
    const rejected = (answer.rejected ?? []).map((one, at) => {
      return [broken[at]?.how, one.index, one.statusCode, one.message.split(" ", 1)[0]];
    });
    expect(rejected).toEqual(places);
  });
});

/** How a message names the place where an item is broken. */
function named(broken: Broken | undefined): string {
  return broken?.path === "body" ? "item" : `${broken?.path}`;
}
