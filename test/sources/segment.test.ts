/** The translation of Segment's calls, message by message. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { SourcedItem } from "../../server/intake/admission/sourced.ts";
import { type SegmentCall, senderOf, translateSegment } from "../../server/sources/segment.ts";
import { anyJson, seeded } from "../pure/support.ts";

const receivedAtMs = Date.UTC(2026, 4, 17, 12);

/** The items of one message, in their order. */
function itemsOf(call: SegmentCall, message: object): readonly SourcedItem[] {
  const [only] = translateSegment(message, { receivedAtMs }, call);
  if (only === undefined || !("items" in only.translated)) throw new Error(JSON.stringify(only?.translated));
  return only.translated.items;
}

function whyNot(call: SegmentCall, message: unknown): unknown {
  return translateSegment(message, { receivedAtMs }, call)[0]?.translated;
}

const at = { atMs: receivedAtMs, messageId: null };

describe("identify", () => {
  test("names the user, whose traits keep their names and fill ours", () => {
    const traits = {
      email: " ada@example.com ",
      firstName: "Ada",
      lastName: "Lovelace",
      createdAt: "2026-01-01",
      plan: 3,
      employees: 250,
      acquisition_channel: "search",
      avatar: "https://example.com/a.png",
    };
    const message = { userId: 42, anonymousId: "v", traits, messageId: "m-1" };
    expect(itemsOf("identify", message)).toEqual([
      {
        type: "identify",
        userId: "42",
        anonymousId: "v",
        ...at,
        messageId: "m-1",
        email: "ada@example.com",
        isAccountOwner: undefined,
        traits: {
          firstName: "Ada",
          lastName: "Lovelace",
          name: "Ada Lovelace",
          createdAt: "2026-01-01",
          plan: 3,
          employees: 250,
          companySize: 250,
          avatar: "https://example.com/a.png",
          acquisition_channel: "search",
          acquisitionChannel: "search",
        },
      },
    ]);
  });

  test("takes the user's id for the e-mail address when it is one and no other is sent", () => {
    expect(itemsOf("identify", { userId: "ada@example.com" })[0]).toMatchObject({ email: "ada@example.com" });
    const sent = { userId: "ada@example.com", traits: { email: "lovelace@example.com" } };
    expect(itemsOf("identify", sent)[0]).toMatchObject({ email: "lovelace@example.com" });
    expect(itemsOf("identify", { userId: "ada" })[0]).toMatchObject({ email: undefined });
  });

  test("says what it cannot judge as it was sent, and no picture where none is", () => {
    const [item] = itemsOf("identify", { userId: "u", traits: { email: "n/a", avatar: "", name: null } });
    expect(item).toMatchObject({ email: "n/a", traits: { name: null } });
    expect(item).not.toHaveProperty("traits.avatar");
    expect(itemsOf("identify", { userId: "u@example.com", traits: { email: null } })).toMatchObject([
      { email: "u@example.com" },
    ]);
  });

  test("joins the account of context.groupId, else of the trait company", () => {
    const traits = { company: { id: 7, name: "Engines", plan: "pro", size: 12 }, isAccountOwner: true };
    expect(itemsOf("identify", { userId: "u", traits })[0]).toMatchObject({
      account: { id: "7", name: "Engines", properties: { plan: "pro", size: 12 } },
      isAccountOwner: true,
      traits: { plan: "pro", companySize: 12 },
    });
    const both = { userId: "u", traits, context: { groupId: "g" } };
    expect(itemsOf("identify", both)[0]).toMatchObject({ account: { id: "g" } });
    expect(itemsOf("identify", { userId: "u", traits: { company: "Engines" } })[0]).not.toHaveProperty(
      "account",
    );
  });

  test("takes context.traits too, over which traits win", () => {
    const message = {
      userId: "u",
      traits: { plan: "pro" },
      context: { traits: { plan: "free", city: "Ulm" } },
    };
    expect(itemsOf("identify", message)).toMatchObject([{ traits: { plan: "pro", city: "Ulm" } }]);
  });
});

describe("track", () => {
  test("is an event with its name as it was sent", () => {
    const message = { userId: "u", event: "Order Completed", properties: { total: 5 }, messageId: "m" };
    expect(itemsOf("track", message)).toEqual([
      {
        type: "track",
        userId: "u",
        anonymousId: undefined,
        ...at,
        messageId: "m",
        event: "Order Completed",
        properties: { total: 5 },
        isActivity: true,
      },
    ]);
  });

  test("tells of the account and of what is no activity by its context", () => {
    const message = { anonymousId: "v", event: "e", context: { groupId: 9, active: false } };
    expect(itemsOf("track", message)).toMatchObject([
      { account: { id: "9" }, isActivity: false, properties: {} },
    ]);
  });

  test("says its context's traits of a user, and not of a visitor", () => {
    const context = { traits: { plan: "pro", email: "ada@example.com" } };
    expect(itemsOf("track", { userId: "u", event: "e", context, messageId: "m" })).toMatchObject([
      { type: "identify", messageId: null, email: "ada@example.com", traits: { plan: "pro" } },
      { type: "track", messageId: "m" },
    ]);
    expect(itemsOf("track", { anonymousId: "v", event: "e", context })).toMatchObject([{ type: "track" }]);
  });

  const refused: readonly (readonly [string, object])[] = [
    ["userId and anonymousId are missing", { event: "e" }],
    ["userId and anonymousId are missing", { event: "e", userId: "", anonymousId: null }],
    ["userId and anonymousId are missing", { event: "e", anonymousId: "undefined" }],
    ["event is missing", { userId: "u" }],
    ["event is missing", { userId: "u", event: "" }],
    ["userId is not valid", { userId: { id: 1 }, event: "e" }],
    ["userId is not valid", { userId: 2 ** 53, event: "e" }],
    ["properties is not a JSON object", { userId: "u", event: "e", properties: ["a"] }],
    ["context is not a JSON object", { userId: "u", event: "e", context: "web" }],
    ["timestamp is not a time", { userId: "u", event: "e", timestamp: "soon" }],
    ["messageId is not valid", { userId: "u", event: "e", messageId: "m".repeat(300) }],
    ["context.groupId is not valid", { userId: "u", event: "e", context: { groupId: true } }],
  ];
  test.each(refused)("is refused because %s: %j", (problem, message) => {
    expect(whyNot("track", message)).toEqual({
      invalid: expect.stringMatching(new RegExp(`^${problem}.*: send `)),
    });
  });
});

describe("page and screen", () => {
  test("are events of one name, with what was viewed as properties", () => {
    const page = { url: "https://example.com/a?b", path: "/a", title: "A", referrer: "", search: "?b" };
    const message = {
      userId: "u",
      name: "Home",
      category: "Site",
      properties: { title: "Own" },
      context: { page },
    };
    expect(itemsOf("page", message)).toMatchObject([
      { event: "page_viewed", properties: { ...page, title: "Own", name: "Home", category: "Site" } },
    ]);
    expect(itemsOf("screen", { userId: "u", name: "Home", context: { page } })).toMatchObject([
      { event: "screen_viewed", properties: { name: "Home" } },
    ]);
    expect(itemsOf("page", { anonymousId: "v" })).toMatchObject([{ event: "page_viewed", properties: {} }]);
  });
});

describe("group", () => {
  test("joins the user to the account, whose traits become its attributes", () => {
    const traits = {
      name: "Initech",
      avatar: "https://a.example/i.png",
      industry: "Tech",
      employees: 329,
      plan: "pro",
    };
    expect(itemsOf("group", { userId: "u", groupId: 8, traits })).toMatchObject([
      {
        type: "identify",
        userId: "u",
        account: {
          id: "8",
          name: "Initech",
          avatar: "https://a.example/i.png",
          properties: { industry: "Tech", employees: 329, plan: "pro" },
        },
        traits: { plan: "pro", companySize: 329 },
      },
    ]);
    const [item] = itemsOf("group", { userId: "u", groupId: 8, traits });
    expect(item).not.toHaveProperty("email");
    expect(Object.keys(item && "traits" in item ? item.traits : {})).toEqual(["plan", "companySize"]);
  });

  test("needs an account, and may name it in its context", () => {
    expect(whyNot("group", { userId: "u" })).toEqual({
      invalid: expect.stringContaining("groupId is missing"),
    });
    expect(itemsOf("group", { anonymousId: "v", context: { groupId: "g" } })).toMatchObject([
      { anonymousId: "v", account: { id: "g" } },
    ]);
  });
});

describe("alias", () => {
  test("says that two ids are one person", () => {
    const alias = { type: "alias", previousId: "v", userId: "u" };
    expect(itemsOf("alias", { previousId: "v", userId: "u" })).toMatchObject([alias]);
    expect(itemsOf("alias", { from: "v", to: "u" })).toMatchObject([alias]);
    expect(itemsOf("alias", { anonymousId: "v", userId: "u" })).toMatchObject([alias]);
    expect(whyNot("alias", { userId: "u" })).toEqual({
      invalid: expect.stringContaining("previousId is missing"),
    });
    expect(whyNot("alias", { previousId: "u", userId: "u" })).toHaveProperty("ignored");
    expect(whyNot("alias", { previousId: "v", anonymousId: "v" })).toHaveProperty("invalid");
  });
});

describe("a batch", () => {
  const track = { type: "track", userId: "u", event: "e" };

  test("is translated message by message, and a bad one costs nothing but itself", () => {
    const batch = [
      track,
      { type: "walk", userId: "u" },
      7,
      null,
      { ...track, type: "identify" },
      { userId: "u" },
    ];
    const items = translateSegment({ batch }, { receivedAtMs }, "batch");
    expect(items.map(({ translated }) => Object.keys(translated)[0])).toEqual([
      "items",
      "invalid",
      "invalid",
      "invalid",
      "items",
      "invalid",
    ]);
    expect(items.map(({ sent }) => sent)).toEqual(batch);
    expect(whyNot("batch", { message: track })).toHaveProperty("invalid");
  });

  test("says what its messages do not say themselves", () => {
    const dayMs = 86_400_000;
    const sentAt = new Date(receivedAtMs - dayMs).toISOString();
    const timestamp = new Date(receivedAtMs - dayMs - 1_000).toISOString();
    const context = { groupId: "of the batch", active: false };
    const own = { groupId: "own" };
    const batch = [
      { ...track, timestamp },
      { ...track, timestamp, context: own, sentAt: timestamp },
    ];
    const items = translateSegment({ batch, context, sentAt, timestamp: sentAt }, { receivedAtMs }, "batch");
    expect(items.map(({ translated }) => translated)).toMatchObject([
      { items: [{ atMs: receivedAtMs - 1_000, account: { id: "of the batch" }, isActivity: false }] },
      { items: [{ atMs: receivedAtMs, account: { id: "own" }, isActivity: false }] },
    ]);
  });

  test("is ignored where integrations says that others are meant", () => {
    const meant = (batch: object | undefined, own?: object) =>
      whyNot("batch", { batch: [{ ...track, integrations: own }], integrations: batch });
    expect(meant({ All: false })).toHaveProperty("ignored");
    expect(meant({ All: true }, { Rekindle: false })).toHaveProperty("ignored");
    expect(meant({ All: false }, { All: true })).toHaveProperty("items");
    expect(meant({ All: false, "Segment.io": true })).toHaveProperty("items");
    expect(meant({ All: false, Rekindle: {} })).toHaveProperty("items");
    expect(meant(undefined)).toHaveProperty("items");
  });
});

const senders: readonly (readonly [string, object, string | null])[] = [
  ["segment", { context: { library: { name: "@segment/analytics-node" } } }, "node"],
  ["segment", { context: { library: { name: "analytics-node" } } }, "analytics-node/6.2.0"],
  ["segment", { channel: "server", originalTimestamp: "2026", receivedAt: "2026" }, null],
  ["rudderstack", { context: { library: { name: "RudderLabs JavaScript SDK" } } }, "Mozilla"],
  ["rudderstack", { channel: "server", originalTimestamp: "2026" }, "analytics-node/3.0.13"],
  ["customerio", { context: { library: { name: "@customerio/cdp-analytics-node" } } }, null],
  ["customerio", {}, "cdp-analytics-node/latest"],
];

test.each(senders)("%s sends %j as %p", (sender, message, userAgent) => {
  expect(senderOf(message, userAgent)).toBe(sender as ReturnType<typeof senderOf>);
  expect(senderOf({ batch: [message] }, userAgent)).toBe(sender as ReturnType<typeof senderOf>);
});

test("whatever is sent, each message is said, refused with what to send, or ignored", () => {
  const calls = ["identify", "track", "page", "screen", "group", "alias", "batch"] as const;
  const message = fc.record(
    {
      type: fc.constantFrom(...calls),
      userId: anyJson(),
      anonymousId: anyJson(),
      event: anyJson(),
      traits: anyJson(),
      properties: anyJson(),
      context: anyJson(),
      groupId: anyJson(),
      timestamp: anyJson(),
      sentAt: anyJson(),
      messageId: anyJson(),
      previousId: anyJson(),
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(anyJson(), message, fc.record({ batch: fc.array(fc.oneof(message, anyJson())) }));
  fc.assert(
    fc.property(body, fc.constantFrom(...calls), (sent, call) => {
      for (const { translated } of translateSegment(sent, { receivedAtMs }, call)) {
        if ("invalid" in translated) expect(translated.invalid).toContain(": send ");
        else if ("items" in translated) expect(translated.items.length).toBeWithin(1, 3);
        else expect(translated.ignored).not.toBe("");
      }
    }),
    seeded("segment", 300),
  );
});
