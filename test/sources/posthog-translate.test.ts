/** The translation of PostHog's messages into our identifies, events and aliases. */
import { expect, test } from "bun:test";
import { isInvalid } from "../../server/intake/admission/json.ts";
import { translatePosthog } from "../../server/sources/posthog.ts";
import { posthogToken } from "../../server/sources/posthog-envelope.ts";
import type { Translated } from "../../server/sources/source.ts";
import { recorded } from "./posthog-support.ts";

const receivedAtMs = Date.parse("2026-11-21T12:00:00Z");

function translate(body: unknown, sentAt?: string): Translated[] {
  const translated = translatePosthog(body, { receivedAtMs }, sentAt);
  if (isInvalid(translated)) throw new Error(translated.invalid);
  return translated.map((item) => item.translated);
}

/** The items of one event. */
function itemsOf(event: Record<string, unknown>): readonly object[] {
  const [translated] = translate({ token: "t", event: "done", distinct_id: "u-1", ...event });
  if (translated === undefined || !("items" in translated)) throw new Error(JSON.stringify(translated));
  return translated.items;
}

function whyNot(event: Record<string, unknown>): Translated | undefined {
  return translate({ event: "done", distinct_id: "u-1", ...event })[0];
}

test("recorded requests of posthog-node become identify, event, alias and account", async () => {
  const [request] = await recorded("rk-t", (client) => {
    client.identify({
      distinctId: "u-1",
      properties: { email: "ada@example.com", name: "Ada", plan: "pro", $anon_distinct_id: "visitor" },
    });
    client.capture({
      distinctId: "u-1",
      event: "Order Completed",
      properties: { price: 3 },
      groups: { company: "acme" },
    });
    client.alias({ distinctId: "u-1", alias: "old" });
    client.groupIdentify({
      groupType: "company",
      groupKey: "acme",
      properties: { name: "Acme" },
      distinctId: "u-1",
    });
    client.unsetPersonProperties({ distinctId: "u-1", properties: ["plan"] });
  });
  expect(request?.path).toBe("/batch/");
  expect(posthogToken(request?.body)).toBe("rk-t");
  const items = translate(request?.body).map((item) => ("items" in item ? item.items : item));
  const said = { messageId: expect.stringMatching(/^[0-9a-f-]{36}$/), atMs: expect.any(Number) };
  expect(items).toEqual([
    [
      {
        type: "identify",
        userId: "u-1",
        anonymousId: "visitor",
        email: "ada@example.com",
        traits: { name: "Ada", plan: "pro" },
        account: undefined,
        ...said,
      },
    ],
    [
      {
        type: "track",
        userId: "u-1",
        event: "Order Completed",
        properties: { price: 3 },
        isActivity: true,
        account: { id: "acme" },
        ...said,
      },
    ],
    [{ type: "alias", previousId: "old", userId: "u-1", ...said }],
    [{ type: "identify", userId: "u-1", traits: {}, account: { id: "acme", name: "Acme" }, ...said }],
    [
      {
        type: "identify",
        userId: "u-1",
        email: undefined,
        traits: { plan: null },
        account: undefined,
        ...said,
      },
    ],
  ]);
});

test("a browser's own id is a visitor's, and any other a user's", () => {
  const visitor = { anonymousId: "v" };
  expect(itemsOf({ distinct_id: "v", properties: { $device_id: "v" } })).toMatchObject([visitor]);
  expect(itemsOf({ distinct_id: "v", properties: { $is_identified: false } })).toMatchObject([visitor]);
  const user = { userId: "u-1" };
  expect(itemsOf({ properties: { $device_id: "v", $is_identified: true } })).toMatchObject([user]);
  expect(itemsOf({ properties: { $process_person_profile: false } })).toMatchObject([user]);
});

test("the distinct id may be a number, and among the properties", () => {
  expect(itemsOf({ distinct_id: 23 })).toMatchObject([{ userId: "23" }]);
  expect(itemsOf({ distinct_id: undefined, $distinct_id: "a" })).toMatchObject([{ userId: "a" }]);
  expect(itemsOf({ distinct_id: undefined, properties: { distinct_id: "b" } })).toMatchObject([
    { userId: "b" },
  ]);
});

test("ids that stand for no user, and unreadable ids, are refused one by one", () => {
  for (const id of ["undefined", "null", "Anonymous", "0", "[object Object]", "", null, {}, 2 ** 60]) {
    expect(whyNot({ distinct_id: id })).toEqual({ invalid: expect.stringContaining("distinct_id") });
  }
  expect(translate({ batch: [{ event: "done", distinct_id: "a" }, 7, { distinct_id: "a" }] })).toEqual([
    { items: [expect.objectContaining({ userId: "a" })] },
    { invalid: expect.stringContaining("JSON object") },
    { invalid: expect.stringContaining("event") },
  ]);
});

test("an id that stands for no user, e.g. anonymous, makes no link", () => {
  const [item] = itemsOf({ event: "$identify", properties: { $anon_distinct_id: "anonymous" } });
  expect(item).toMatchObject({ userId: "u-1" });
  expect(item).not.toHaveProperty("anonymousId");
});

test("an id that a client made up was the user's before, of whichever kind it was said to be; one to be guessed is a visitor's", () => {
  const before = "0190a5d2-7a3c-7cc0-8f3b-3d1f5f0a4b11";
  expect(itemsOf({ event: "$identify", properties: { $anon_distinct_id: before } })).toMatchObject([
    { userId: "u-1", anonymousId: before, previousId: before },
  ]);
  const [guessed] = itemsOf({ event: "$identify", properties: { $anon_distinct_id: "42" } });
  expect(guessed).toMatchObject({ userId: "u-1", anonymousId: "42" });
  expect(guessed).not.toHaveProperty("previousId");
  // A browser that got the user's id at its start.
  expect(itemsOf({ event: "$identify", properties: { $device_id: "u-1" } })).toMatchObject([
    { userId: "u-1", anonymousId: "u-1" },
  ]);
});

test("an alias of a visitor is the user's id, otherwise the distinct id is", () => {
  const properties = { alias: "u-9", $device_id: "v" };
  expect(itemsOf({ event: "$create_alias", distinct_id: "v", properties })).toMatchObject([
    { type: "alias", previousId: "v", userId: "u-9" },
  ]);
  expect(itemsOf({ event: "$merge_dangerously", properties: { alias: "old" } })).toMatchObject([
    { type: "alias", previousId: "old", userId: "u-1" },
  ]);
});

test("person properties that come with an event are said before it", () => {
  const properties = { $set: { email: "ada@example.com", $browser: "X" }, $unset: ["plan"] };
  expect(itemsOf({ properties, $set: { seats: 4 } })).toMatchObject([
    { type: "identify", email: "ada@example.com", traits: { seats: 4, plan: null }, messageId: null },
    { type: "track", event: "done", properties: {} },
  ]);
  expect(itemsOf({ properties: { $set: { $browser: "X" } } })).toMatchObject([{ type: "track" }]);
});

test("a parameter that the page's address lacks is no trait and no property, and every other null is", () => {
  const absent = { gclid: null, _kx: null, utm_source: null };
  const properties = { ...absent, $set: { ...absent, utm_medium: "mail", plan: null }, $unset: ["fbclid"] };
  const sent = { properties: { ...properties, number: null }, $set_once: { ...absent, first: null } };
  const [item, event] = itemsOf(sent);
  expect(item).toHaveProperty("traits", { utm_medium: "mail", plan: null, fbclid: null });
  expect(item).toHaveProperty("traitsOnce", { first: null });
  expect(event).toHaveProperty("properties", { number: null });
});

test("an e-mail address as the distinct id is the user's e-mail", () => {
  expect(itemsOf({ event: "$identify", distinct_id: "ada@example.com" })).toMatchObject([
    { userId: "ada@example.com", email: "ada@example.com" },
  ]);
});

test("pages and screens are activity, clicks are kept and count for nothing, the browser's own are ignored", () => {
  const properties = { $current_url: "https://x.example/a", $lib: "web", token: "t", plan: "pro" };
  expect(itemsOf({ event: "$pageview", properties })).toMatchObject([
    { event: "page_viewed", isActivity: true, properties: { url: "https://x.example/a", plan: "pro" } },
  ]);
  expect(itemsOf({ event: "$screen" })).toMatchObject([{ event: "screen_viewed", isActivity: true }]);
  expect(itemsOf({ event: "$autocapture" })).toMatchObject([{ event: "clicked", isActivity: false }]);
  expect(itemsOf({ event: "$new_of_theirs" })).toMatchObject([
    { event: "$new_of_theirs", isActivity: false },
  ]);
  for (const event of ["$pageleave", "$web_vitals", "$feature_flag_called", "$$heatmap"]) {
    expect(whyNot({ event })).toEqual({ ignored: expect.stringContaining(event) });
  }
});

test("groups that are no accounts are ignored and say so, and one without a user is an account", () => {
  const project = { $group_type: "project", $group_key: "p" };
  expect(whyNot({ event: "$groupidentify", properties: project })).toEqual({ ignored: expect.any(String) });
  const company = { $group_type: "company", $group_key: "acme" };
  const named = { ...company, $group_set: { name: "Acme", seats: 3 } };
  expect(itemsOf({ event: "$groupidentify", distinct_id: "$company_acme", properties: named })).toEqual([
    {
      type: "account",
      messageId: null,
      atMs: receivedAtMs,
      account: { id: "acme", name: "Acme", properties: { seats: 3 } },
    },
  ]);
  expect(itemsOf({ properties: { $groups: { project: "p", Organization: 7 } } })).toMatchObject([
    { account: { id: "7" } },
  ]);
});

test("an event's time is its own, corrected for a clock that is wrong by more than five minutes", () => {
  const at = (event: object, sentAt?: string, historical?: boolean) => {
    const body = {
      batch: [{ event: "e", distinct_id: "a", ...event }],
      sent_at: sentAt,
      historical_migration: historical,
    };
    const [translated] = translate(body);
    const first = translated !== undefined && "items" in translated ? translated.items[0] : undefined;
    return first && new Date(first.atMs).toISOString();
  };
  const timestamp = "2026-11-21T11:00:00Z";
  expect(at({ timestamp }, "2026-11-21T11:56:00Z")).toBe("2026-11-21T11:00:00.000Z");
  expect(at({ timestamp }, "2026-11-21T13:00:00Z")).toBe("2026-11-21T10:00:00.000Z");
  expect(at({ timestamp, properties: { $ignore_sent_at: true } }, "2026-11-21T13:00:00Z")).toBe(
    "2026-11-21T11:00:00.000Z",
  );
  expect(at({ timestamp }, "2026-11-21T13:00:00Z", true)).toBe("2026-11-21T11:00:00.000Z");
  expect(at({ timestamp: "2026-11-21 11:00:00.5" })).toBe("2026-11-21T11:00:00.500Z");
  expect(at({ timestamp: "2026-11-21T11:00:00.123456+02:00" })).toBe("2026-11-21T09:00:00.123Z");
  expect(at({ offset: 3_000 })).toBe("2026-11-21T11:59:57.000Z");
  expect(at({})).toBe("2026-11-21T12:00:00.000Z");
  expect(whyNot({ timestamp: "yesterday" })).toEqual({ invalid: expect.stringContaining("timestamp") });
});

test("a browser says in the address when it sent", () => {
  const hourAhead = String(receivedAtMs + 3_600_000);
  const event = { event: "e", distinct_id: "a", timestamp: "2026-11-21T12:30:00Z" };
  expect(translate({ batch: [event] }, hourAhead)).toMatchObject([
    { items: [{ atMs: receivedAtMs - 30 * 60_000 }] },
  ]);
  expect(translate({ batch: [event] }, "now")).toMatchObject([
    { items: [{ atMs: receivedAtMs + 30 * 60_000 }] },
  ]);
});

test("the token is found wherever clients put it, and two tokens are none", () => {
  expect(posthogToken({ api_key: "a", batch: [] })).toBe("a");
  expect(posthogToken({ token: "a", event: "e" })).toBe("a");
  const events = [
    { event: "e", properties: { token: "a" } },
    { event: "e", token: "a" },
  ];
  expect(posthogToken({ batch: events })).toBe("a");
  expect(posthogToken({ batch: [{ token: "a" }, { token: "b" }] })).toBeUndefined();
  expect(posthogToken({ batch: [{ event: "e" }] })).toBeUndefined();
  expect(posthogToken("text")).toBeUndefined();
});

test("a body that is no event at all makes no sense", () => {
  for (const body of [7, "text", null, [], { batch: 3 }]) {
    expect(translatePosthog(body, { receivedAtMs })).toEqual({ invalid: expect.any(String) });
  }
});
