/** Settings of an organization, by HTTP and by command: what is taken, what is refused and why, and the
 * history. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { Compile } from "typebox/compile";
import { Server } from "../server.ts";
import { chunked, expectError } from "./support.ts";

const initially = {
  churnHorizonDays: 28,
  healthWeights: { engagement: 35, outlook: 35, momentum: 20, adoption: 10 },
  healthTraits: [],
  riskBands: { user: null, account: null },
  eventWeights: {},
  passiveEvents: [],
  keyEvents: [],
  churnTargets: { user: { by: "silence" }, account: { by: "silence" } },
  ordinaryEvents: [],
  weekStart: 1,
  reportingCurrency: null,
  currencyRates: {},
};

let server: Server;
let token: string;

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization("Settings");
  await server.ready();
});
afterAll(() => server.stop());

async function newKey(organization: string, ...options: string[]): Promise<string> {
  return (await server.command("key", "create", "--organization", organization, ...options)).trim();
}

/** An organization of its own, and a key that may change its settings. */
async function organizationOf(name: string): Promise<string> {
  await server.command("organization", "create", name);
  return newKey(name, "--right", "manage");
}

function get(path: string, key: string): Promise<Response> {
  return fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
}

/** Sends a change. A value that is no text is sent as JSON. */
function patch(key: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}/api/settings`, {
    method: "PATCH",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", ...headers },
    body:
      typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream
        ? body
        : JSON.stringify(body),
  });
}

interface Answer {
  readonly version: number;
  readonly changedBy: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
}

async function answered(response: Response): Promise<Answer> {
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    expect.stringMatching(/^application\/json/),
  ]);
  return (await response.json()) as Answer;
}

describe("over HTTP", () => {
  test("settings are shown, changed by a merge patch, and listed in the history", async () => {
    const key = await organizationOf("Settings changed");
    const never = { version: 0, changedAt: null, changedBy: null };
    expect(await answered(await get("/api/settings", key))).toEqual({ ...never, settings: initially });
    const beforeMs = Date.now();
    await answered(await patch(key, { churnHorizonDays: 14, eventWeights: { opened: 3, __proto: 2 } }));
    const body = '{"eventWeights":{"__proto__":0.5,"opened":null},"keyEvents":["b","a"],"weekStart":7}';
    const after = await answered(await patch(key, body));
    expect(JSON.stringify(after.settings.eventWeights)).toBe('{"__proto":2,"__proto__":0.5}');
    const by = after.changedBy ?? "";
    expect([after.version, by]).toEqual([2, expect.stringMatching(/^read key \d+$/)]);
    expect(after.settings).toMatchObject({ churnHorizonDays: 14, keyEvents: ["a", "b"], weekStart: 7 });
    expect(await answered(await get("/api/settings", key))).toEqual(after);

    const { versions } = (await (await get("/api/settings/history", key)).json()) as {
      versions: { version: number; changedAt: string; changedBy: string; changes: object[] }[];
    };
    expect(versions.map(({ version, changedBy }) => [version, changedBy])).toEqual([
      [2, by],
      [1, by],
    ]);
    expect(versions[1]?.changes).toEqual([
      { setting: "churnHorizonDays", from: 28, to: 14 },
      { setting: "eventWeights.__proto", from: null, to: 2 },
      { setting: "eventWeights.opened", from: null, to: 3 },
    ]);
    for (const { changedAt } of versions) expect(Date.parse(changedAt)).toBeWithin(beforeMs, Date.now() + 1);
    const csv = await (await get("/api/settings/history?limit=1&before=2&format=csv", key)).text();
    const [header, first, ...rest] = csv.split("\r\n");
    expect([header, rest]).toEqual(["version,changedAt,changedBy,changes,restoring", [""]]);
    expect(first).toStartWith(`1,${versions[1]?.changedAt},${by},`);
  });

  test("a body may be a merge patch by its type, be compressed, or come in chunks", async () => {
    const key = await organizationOf("Settings sent otherwise");
    const ways: readonly (readonly [unknown, Record<string, string>])[] = [
      ['{"churnHorizonDays":7}', { "Content-Type": "application/merge-patch+json; charset=utf-8" }],
      [gzipSync('{"churnHorizonDays":14}'), { "Content-Encoding": "gzip" }],
      [chunked(Buffer.from('{"churnHorizonDays":56}')), { "Content-Type": "Application/JSON" }],
    ];
    for (const [index, [body, headers]] of ways.entries()) {
      const { version, settings } = await answered(await patch(key, body, headers));
      expect([version, settings.churnHorizonDays]).toEqual([index + 1, [7, 14, 56][index]]);
    }
  });

  test("a right to read is no right to change, and no key changes another organization's settings", async () => {
    const key = await organizationOf("Settings of one");
    const other = await organizationOf("Settings of another");
    const reading = await newKey("Settings of one");
    await expectError(await patch(reading, { weekStart: 7 }), "forbidden", "right to manage");
    await expectError(await patch(token, { weekStart: 7 }), "invalid_write_key");
    const forged = { "rekindle-organization": "1", "rekindle-rights": "manage", "rekindle-read-key": "99" };
    await expectError(await patch(reading, { weekStart: 7 }, forged), "forbidden");
    const { changedBy } = await answered(await patch(other, { weekStart: 7 }, forged));
    expect(changedBy).not.toBe("read key 99");
    expect(await answered(await get("/api/settings", reading))).toMatchObject({ version: 0 });
    expect(await answered(await get("/api/settings", key))).toMatchObject({ settings: initially });
    expect(await (await get("/api/settings/history", key)).json()).toEqual({
      versions: [],
      restoringDefaults: [],
    });
  });

  test("a change based on another version than the current one is answered 409 with the current one", async () => {
    const key = await organizationOf("Settings by version");
    const first = await answered(await patch(key, { version: 0, churnHorizonDays: 7 }));
    expect(first).toMatchObject({ version: 1, settings: { churnHorizonDays: 7 } });
    for (const version of [0, 2]) {
      const late = await patch(key, { version, weekStart: 7 });
      expect([late.status, await late.json()]).toEqual([
        409,
        { message: expect.stringContaining("changed"), statusCode: 409, name: "conflict", version: 1 },
      ]);
    }
    await expectError(await patch(key, { version: "1", weekStart: 7 }), "validation_error", "version");
    const second = await answered(await patch(key, { version: 1, weekStart: 7 }));
    expect(second).toMatchObject({ version: 2, settings: { churnHorizonDays: 7, weekStart: 7 } });
    // Without a version, the change is based on whatever is current.
    expect(await answered(await patch(key, { weekStart: 1 }))).toMatchObject({ version: 3 });
  });

  test("changes that come at once all count, one after another", async () => {
    const key = await organizationOf("Settings at once");
    const names = Array.from({ length: 20 }, (_, index) => `e${index}`);
    const versions = await Promise.all(
      names.map(async (name) => (await answered(await patch(key, { eventWeights: { [name]: 2 } }))).version),
    );
    expect(versions.sort((a, b) => a - b)).toEqual(names.map((_, index) => index + 1));
    const { settings } = await answered(await get("/api/settings", key));
    expect(Object.keys(settings.eventWeights ?? {}).sort()).toEqual(names.sort());
  });
});

const eventNames = (count: number) => Array.from({ length: count }, (_, index) => `e${index}`);
const nameText = "send a name of 1 to 256 characters without spaces";

const target = (kind: "user" | "account", sent: object) => ({ churnTargets: { [kind]: sent } });

/** Bodies that are refused, and what the message begins with. */
const refused: readonly (readonly [unknown, string])[] = [
  ["", "body is not valid JSON"],
  ["{", "body is not valid JSON"],
  ["[]", "body is not a JSON object"],
  ["null", "body is not a JSON object"],
  [new Uint8Array([0x7b, 0xff, 0x7d]), "body is not valid UTF-8"],
  [{}, "body is empty: send a JSON object with at least one of churnHorizonDays,"],
  [{ settings: {} }, "settings is not known: leave it out."],
  ['{"__proto__":{"weekStart":7}}', "__proto__ is not known: leave it out."],
  [{ constructor: 1 }, "constructor is not known: leave it out."],
  [{ ["x".repeat(5_000)]: 1 }, `${"x".repeat(200)}… is not known`],
  [{ churnHorizonDays: 30 }, "churnHorizonDays is not valid: send 7, 14, 28, 56 or 84."],
  [{ churnHorizonDays: "28" }, "churnHorizonDays is not valid"],
  ['{"churnHorizonDays":1e999}', "churnHorizonDays is out of range"],
  [{ healthWeights: 1 }, "healthWeights is not valid: send an object with engagement,"],
  [
    { healthWeights: { engagement: 101 } },
    "healthWeights.engagement is not valid: send a percentage from 0 to 100.",
  ],
  [
    { healthTraits: [{ trait: "nps", zeroAt: 0, hundredAt: "10", weight: 10 }] },
    "healthTraits.0.hundredAt is not valid: send a number.",
  ],
  [
    { riskBands: { user: { medium: 0.1, high: 1 } } },
    "riskBands.user.high is not valid: send a churn risk between 0 and 1.",
  ],
  [
    { healthWeights: { engagement: null } },
    "healthWeights.engagement is missing: send a percentage from 0 to 100.",
  ],
  [{ healthWeights: { risk: 1 } }, "healthWeights.risk is not known: leave it out."],
  [
    { healthWeights: { engagement: 0, outlook: 0, momentum: 0, adoption: 0 } },
    "healthWeights add up to 0: send percentages that add up to 100.",
  ],
  [{ eventWeights: ["a"] }, "eventWeights is not valid: send an object of at most 500 event names"],
  [{ eventWeights: { a: -1 } }, "eventWeights.a is not valid: send a number from 0 to 1000."],
  [{ eventWeights: { a: 1_000.5 } }, "eventWeights.a is not valid: send a number from 0 to 1000."],
  [{ eventWeights: { a: "3" } }, "eventWeights.a is not valid"],
  [{ eventWeights: { "a b": 3 } }, `eventWeights.a b is not valid: ${nameText}`],
  [{ eventWeights: { "": 3 } }, `eventWeights. is empty: ${nameText}`],
  [{ eventWeights: { ["x".repeat(257)]: 3 } }, `eventWeights.${"x".repeat(187)}… is too long: ${nameText}`],
  [
    { eventWeights: Object.fromEntries(eventNames(501).map((name) => [name, 2])) },
    "eventWeights has too many keys: send an object of at most 500",
  ],
  [
    { eventWeights: Object.fromEntries(eventNames(1_001).map((name) => [name, 2])) },
    "body has more than 1000 keys",
  ],
  [{ passiveEvents: "mail_sent" }, "passiveEvents is not valid: send an array of at most 500 event names"],
  [{ passiveEvents: eventNames(501) }, "passiveEvents has too many items"],
  [{ passiveEvents: ["a", "b", "a"] }, "passiveEvents has an item twice"],
  [{ keyEvents: eventNames(101) }, "keyEvents has too many items: send an array of at most 100 event names"],
  [{ keyEvents: ["a", 5] }, `keyEvents.1 is not valid: ${nameText}`],
  [{ keyEvents: [null] }, `keyEvents.0 is missing: ${nameText}`],
  ['{"keyEvents":["\\ud800"]}', "keyEvents.0 has half of a surrogate pair"],
  [{ passiveEvents: ["a"], keyEvents: ["a"] }, "keyEvents has a, which is passive"],
  [{ churnEvent: "a" }, "churnEvent is not known: leave it out."],
  [{ churnTargets: "silence" }, "churnTargets is not valid: send an object with user, account or both,"],
  [{ churnTargets: { group: null } }, "churnTargets.group is not known: leave it out."],
  [{ churnTargets: { user: "silence" } }, "churnTargets.user is not valid: send an object with by,"],
  [{ churnTargets: { user: {} } }, "churnTargets.user.by is missing: send silence, event, trait"],
  [
    { churnTargets: { user: { by: "idle" } } },
    "churnTargets.user.by is not valid: send silence, event, trait",
  ],
  [{ churnTargets: { user: { by: "event" } } }, `churnTargets.user.event is missing: ${nameText}`],
  [target("account", { by: "event", event: "" }), `churnTargets.account.event is empty: ${nameText}`],
  [target("user", { by: "event", event: ["a"] }), `churnTargets.user.event is not valid: ${nameText}`],
  [
    target("user", { by: "event", event: "a", undoneBy: "a" }),
    "churnTargets.user.undoneBy is the event itself",
  ],
  [
    target("user", { by: "event", event: "a", trait: "b" }),
    "churnTargets.user.trait is no part of the target event",
  ],
  [target("user", { by: "silence", event: "a" }), "churnTargets.user.event is no part of the target silence"],
  [
    target("user", { by: "trait", trait: "a" }),
    "churnTargets.user.values is missing: send an array of 1 to 50",
  ],
  [
    target("user", { by: "trait", values: ["a"] }),
    "churnTargets.user.trait is missing: send the name of a trait",
  ],
  [
    target("user", { by: "trait", trait: "a", values: [] }),
    "churnTargets.user.values is not valid: send an array",
  ],
  [
    target("user", { by: "trait", trait: "a", values: ["b", "b"] }),
    "churnTargets.user.values has an item twice",
  ],
  [
    target("user", { by: "trait", trait: "a", values: [5] }),
    "churnTargets.user.values.0 is not valid: send a text",
  ],
  [{ weekStart: 0 }, "weekStart is not valid: send 1 for Monday or 7 for Sunday."],
  [{ weekStart: "monday" }, "weekStart is not valid"],
  [`{"weekStart":7,"x":"${"x".repeat(256 * 1024)}"}`, "body is larger than 262144 bytes: send less."],
  [gzipSync(Buffer.alloc(10_000_000)), "body is not valid"],
];

describe("what is refused over HTTP", () => {
  let key: string;
  beforeAll(() => server.command("organization", "create", "Settings refused"));
  // A read key has a fixed rate limit, and all cases together are more requests than that.
  beforeEach(async () => {
    key = await newKey("Settings refused", "--right", "manage");
  });

  test.each(refused.map(([body, message]) => [message, body] as const))("%s", async (message, body) => {
    const response = await patch(key, body);
    expect((await expectError(response, "validation_error")).slice(0, message.length)).toBe(message);
    expect(await answered(await get("/api/settings", key))).toMatchObject({ version: 0 });
  });

  test("a body that inflates to more than 256 KiB", async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    const response = await patch(key, bomb, { "Content-Encoding": "gzip" });
    await expectError(response, "validation_error", "body inflates to more than 262144 bytes");
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])(
    "a body of the type %j",
    async (type) => {
      const response = await patch(key, Buffer.from('{"weekStart":7}'), { "Content-Type": type });
      await expectError(response, "validation_error", "Content-Type is not valid: send application/json.");
    },
  );

  test.each(["PUT", "POST", "DELETE"])("%s", async (method) => {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const response = await fetch(`${server.url}/api/settings`, { method, headers, body: '{"weekStart":7}' });
    await expectError(response, "not_found");
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["before=0", "before"],
    ["before=x", "before"],
    ["after=1", "after"],
  ])("a history with %s", async (query, name) => {
    await expectError(await get(`/api/settings/history?${query}`, key), "validation_error", `${name} is`);
  });
});

test("the document has the body and the answers as they are", async () => {
  const key = await organizationOf("Settings documented");
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const { get: showing, patch: changing } = paths["/api/settings"] ?? {};
  expect(showing?.requestBody).toBeUndefined();
  expect(changing?.requestBody?.required).toBe(true);
  const types = ["application/json", "application/merge-patch+json"];
  expect(Object.keys(changing?.requestBody?.content ?? {})).toEqual(types);
  const body = Compile(changing?.requestBody?.content["application/json"]?.schema ?? {});
  expect(
    body.Check({ eventWeights: { a: null, b: 2 }, churnTargets: { user: { by: "event", event: "gone" } } }),
  ).toBe(true);
  for (const sent of [{}, { weekStart: 2 }, { weekstart: 1 }, { eventWeights: { "a b": 1 } }]) {
    expect([sent, body.Check(sent)]).toEqual([sent, false]);
  }
  const answer = await (await patch(key, { keyEvents: ["a"] })).json();
  const schemaOf = (operation: Operation | undefined) =>
    operation?.responses[200].content["application/json"]?.schema ?? {};
  expect(Compile(schemaOf(changing)).Check(answer)).toBe(true);
  const told = await (await get("/api/settings/history", key)).json();
  expect(Compile(schemaOf(paths["/api/settings/history"]?.get)).Check(told)).toBe(true);
});

type Content = Readonly<Record<string, { readonly schema: object }>>;

interface Operation {
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: { readonly 200: { readonly content: Content } };
}
