/** Bodies of any tool, read by a mapping of paths. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Compile } from "typebox/compile";
import { WebhookMapping } from "../../contract/source-settings.ts";
import { checkMapping, translateWebhook } from "../../server/sources/webhook.ts";
import { parsePath, readPath } from "../../server/sources/webhook-paths.ts";

const validator = Compile(WebhookMapping);
const receivedAtMs = Date.UTC(2026, 4, 17, 9, 30);
const takes = (path: string) => validator.Check({ userId: path });

function translated(body: unknown, mapping: WebhookMapping) {
  expect(validator.Check(mapping)).toBe(true);
  checkMapping(mapping);
  return translateWebhook(body, mapping, { receivedAtMs });
}

/** The result of each item: its items, or the reason for its rejection. */
function read(body: unknown, mapping: WebhookMapping): readonly unknown[] {
  const all = translated(body, mapping);
  if ("invalid" in all) throw new Error(all.invalid);
  return all.map(({ translated: one }) => ("items" in one ? one.items : one));
}

const at = (path: string, body: unknown, item: unknown = body) => {
  const parsed = parsePath(path);
  if (parsed === undefined) throw new Error(`${path} is no path`);
  return readPath(parsed, { body, item });
};

describe("a path", () => {
  const body = { data: { user: { id: 7 }, "a.b": [{ x: [1, 2] }], "": 3, $: 4, 0: 5 }, list: [[8]] };
  const paths: readonly (readonly [string, unknown])[] = [
    ["data.user.id", 7],
    ['data["a.b"][0].x[1]', 2],
    ['data[""]', 3],
    ["data.$", 4],
    ["data.0", 5],
    ["list[0][0]", 8],
    ["$.data.user.id", 7],
    ["$", body],
    ["data.user.name", undefined],
    ["data.user.id.more", undefined],
    ["list[9]", undefined],
    ["list.length", undefined],
    ["list.0", undefined],
    ["data[0]", undefined],
    ["data.user.constructor", undefined],
    ["data.__proto__", undefined],
  ];
  test.each(paths)("%s leads there", (path, value) => {
    expect(takes(path)).toBe(true);
    expect(at(path, body)).toEqual(value);
  });

  const wrong = [
    "",
    ".",
    ".a",
    "a.",
    "a..b",
    "a[",
    "a[]",
    "a[x]",
    "a[-1]",
    "[1]a",
    "a b",
    'a["]',
    "a.[0]",
    "$.",
    "a]",
  ];
  test.each(wrong)("%s is none, for the schema and for who reads it", (path) => {
    expect(takes(path)).toBe(false);
    expect(parsePath(path)).toBeUndefined();
  });

  test("with a dollar is of the whole body, and without one of the item", () => {
    const item = { id: "item" };
    expect(at("$.id", { id: "body" }, item)).toBe("body");
    expect(at("id", { id: "body" }, item)).toBe("item");
  });

  const steps = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.nat(9_999)), {
    minLength: 1,
    maxLength: 8,
  });
  /** JSON's own escapes of two characters. The others are too rare in keys to be in the schema. */
  const isPlain = (key: string) => !/\\u/.test(JSON.stringify(key));

  test("finds what lies there, however its keys are called", () => {
    fc.assert(
      fc.property(steps, (keys) => {
        const text = keys.map((key) => `[${JSON.stringify(key)}]`).join("");
        fc.pre(keys.every((key) => typeof key === "number" || isPlain(key)));
        const body = keys.reduceRight<unknown>((inner, key) => {
          return typeof key === "number"
            ? Object.assign([], { [key]: inner })
            : JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify("here")}}`, (_, value) =>
                value === "here" ? inner : value,
              );
        }, "here");
        expect(at(text, body)).toBe("here");
      }),
    );
  });

  test("is one for the schema only if it is one for who reads it, and reads anything without harm", () => {
    const texts = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[a$."[\]0-9\\ ]{0,12}$/),
      fc
        .array(fc.constantFrom("a", ".", "[0]", '["b c"]', "$", "[", "]", '"'), { maxLength: 8 })
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(texts, fc.jsonValue(), (text, body) => {
        const path = parsePath(text);
        if (takes(text)) expect(path).toBeDefined();
        if (path !== undefined) readPath(path, { body, item: body });
      }),
      { numRuns: 2_000 },
    );
  });

  test("of ten thousand characters is refused at once", () => {
    for (const text of [
      "[".repeat(10_000),
      "a.".repeat(5_000),
      '["\\'.repeat(3_000),
      `["${"\\\\".repeat(5_000)}`,
    ]) {
      expect(takes(text)).toBe(false);
      expect(parsePath(text)).toBeUndefined();
    }
  });
});

describe("a body", () => {
  const mapping: WebhookMapping = {
    items: "events",
    userId: "user.id",
    email: "user.email",
    event: { path: "type" },
    timestamp: "at",
    messageId: "id",
    account: { id: "$.team.id", name: "$.team.name" },
    traits: { plan: "user.plan" },
    properties: "data",
  };
  const item = {
    id: "m1",
    type: "Form sent",
    at: "2026-05-17T11:00:00+02:00",
    data: { form: "contact" },
    user: { id: 42, email: "ada@example.com", plan: "Gold" },
  };

  test("becomes identifies and events, in the account of the whole body", () => {
    const account = { id: "acme", name: "Acme" };
    const said = { userId: "42", anonymousId: undefined, atMs: Date.UTC(2026, 4, 17, 9), account };
    expect(read({ team: account, events: [item] }, mapping)).toEqual([
      [
        { ...said, type: "identify", messageId: null, email: "ada@example.com", traits: { plan: "Gold" } },
        {
          ...said,
          type: "track",
          messageId: "m1",
          event: "Form sent",
          isActivity: true,
          properties: { form: "contact" },
        },
      ],
    ]);
  });

  test("may be one item, an array, or have one or many where the mapping says", () => {
    const one = { userId: "user", event: { text: "called" }, isActivity: false } as const;
    const names = (body: unknown, more: object = {}) => read(body, { ...one, ...more }).length;
    expect(names({ user: "a" })).toBe(1);
    expect(names([{ user: "a" }, { user: "b" }])).toBe(2);
    expect(names({ in: { it: { user: "a" } } }, { items: "in.it" })).toBe(1);
    expect(names({ in: { it: [] } }, { items: "in.it" })).toBe(0);
    expect(translated({}, { ...one, items: "in.it" })).toEqual({
      invalid: "There is nothing at in.it, the path of the items.",
    });
    expect(translated(Array(10_001).fill({ user: "a" }), one)).toHaveProperty("invalid");
  });

  test("has good items beside bad ones", () => {
    const results = read(
      {
        events: [
          item,
          7,
          { ...item, user: {} },
          { ...item, type: {} },
          { ...item, at: "yesterday" },
          { ...item, data: 3 },
          { ...item, user: { id: 2 ** 60 } },
          { ...item, id: "x".repeat(257) },
          { ...item, type: "" },
        ],
      },
      mapping,
    );
    expect(
      results.map((one) => (Array.isArray(one) ? "items" : (one as { invalid: string }).invalid)),
    ).toEqual([
      "items",
      "The item is not an object.",
      "There is no id of a user at user.id.",
      "event at type is not a string.",
      expect.stringContaining("The time at at is not a time that can be read"),
      "properties at data is not an object.",
      expect.stringContaining("userId, at user.id, is not valid"),
      expect.stringContaining("messageId, at id, is not valid"),
      "There is no event's name at type.",
    ]);
  });

  test("without a time is of now, and without an event becomes an identify only", () => {
    const { timestamp, event, messageId, properties, ...rest } = mapping;
    const [items] = read({ events: item }, rest);
    expect(items).toEqual([
      expect.objectContaining({ type: "identify", atMs: receivedAtMs, messageId: null }),
    ]);
    expect([timestamp, event, messageId, properties].every((one) => one !== undefined)).toBe(true);
  });

  test("with an id such as null makes no visitor", () => {
    const visitors = { userId: "u", anonymousId: "v", event: { text: "called" } };
    const results = read([{ u: "42", v: "null" }, { v: " Undefined" }, { v: "v-1" }], visitors);
    expect(results).toEqual([
      [expect.objectContaining({ userId: "42", anonymousId: undefined })],
      { invalid: "There is no id of a user at u or v." },
      [expect.objectContaining({ userId: undefined, anonymousId: "v-1" })],
    ]);
  });

  test("with an address that is none keeps the person", () => {
    const [items] = read({ events: { ...item, user: { id: 42, email: "none", plan: null } } }, mapping);
    expect(items).toEqual([expect.objectContaining({ type: "track", userId: "42" })]);
  });

  test("of anything is read without harm, and translates alike each time", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        const once = translateWebhook(body, { ...mapping, items: "$" }, { receivedAtMs });
        expect(translateWebhook(body, { ...mapping, items: "$" }, { receivedAtMs })).toEqual(once);
      }),
    );
  });
});

describe("a mapping", () => {
  const wrong: readonly (readonly [WebhookMapping, string])[] = [
    [{ event: { text: "a" } }, "no user"],
    [{ userId: "id" }, "no data"],
    [{ userId: "id", traits: "t", properties: "p" }, "properties belong to an event"],
  ];
  test.each(wrong)("%j says too little", (mapping, why) => {
    expect(() => checkMapping(mapping)).toThrow(why);
  });

  test.each([
    { userId: "id", event: "name" },
    { userId: "id", event: { path: "a", text: "b" } },
    { userId: "id", event: { text: " " } },
    { userId: "id", traits: { a: "b c" } },
    { userId: "id", traits: Object.fromEntries(Array.from({ length: 51 }, (_, key) => [`k${key}`, "a"])) },
    { userId: "id", account: { name: "a" } },
    { userId: "a".repeat(201) },
    { userId: "id", more: "a" },
  ])("%j has not the form of one", (mapping) => {
    expect(validator.Check(mapping)).toBe(false);
  });
});
