/** Messages of Jitsu's, OpenPanel's and Mixpanel's clients, case by case. */
import { describe, expect, test } from "bun:test";
import { translateJitsu } from "../../server/sources/jitsu.ts";
import { type MixpanelCall, mixpanelToken, translateMixpanel } from "../../server/sources/mixpanel.ts";
import { translateOpenpanel } from "../../server/sources/openpanel.ts";

const receivedAtMs = Date.UTC(2026, 4, 17, 12);
const delivery = { receivedAtMs };

describe("Jitsu's", () => {
  test("account beside the context is that of the event, and a group's call names its own", () => {
    const track = { type: "track", userId: "ada", event: "done", groupId: "engines", messageId: "m1" };
    expect(translateJitsu(track, delivery, "track")).toMatchObject([
      { sent: track, translated: { items: [{ type: "track", userId: "ada", account: { id: "engines" } }] } },
    ]);
    const group = { type: "group", userId: "ada", groupId: "acme", traits: { name: "Acme", tier: "gold" } };
    expect(translateJitsu(group, delivery, "group")).toMatchObject([
      { translated: { items: [{ account: { id: "acme", name: "Acme", properties: { tier: "gold" } } }] } },
    ]);
    expect(translateJitsu({ ...track, groupId: null }, delivery, "track")).toMatchObject([
      { translated: { items: [{ type: "track", event: "done" }] } },
    ]);
  });
});

describe("OpenPanel's", () => {
  const openpanel = (type: unknown, payload: object = {}) =>
    translateOpenpanel({ type, payload }, delivery)[0]?.translated;

  test("events have the user, the first group, the time of the queue and no properties of the client", () => {
    const properties = {
      number: 1,
      __timestamp: "2026-05-17T11:00:00Z",
      __messageId: "m1",
      __path: "",
      __referrer: "",
    };
    const payload = { name: "Order Completed", profileId: 42, groups: ["engines", "acme"], properties };
    expect(openpanel("track", payload)).toEqual({
      items: [
        {
          type: "track",
          userId: "42",
          anonymousId: undefined,
          atMs: receivedAtMs - 3_600_000,
          messageId: "m1",
          event: "Order Completed",
          properties: { number: 1 },
          isActivity: true,
          account: { id: "engines" },
        },
      ],
    });
    const __path = "https://shop.example/cart?x=1";
    expect(
      openpanel("track", { name: "screen_view", profileId: "u", properties: { __path, __title: "Cart" } }),
    ).toMatchObject({
      items: [{ event: "page_viewed", properties: { url: __path, path: "/cart", title: "Cart" } }],
    });
  });

  test("profiles and groups are users and accounts", () => {
    const profile = {
      profileId: "u",
      email: "ada@example.com",
      firstName: "Ada",
      properties: { plan: "pro", __referrer: "" },
    };
    expect(openpanel("identify", profile)).toMatchObject({
      items: [
        { type: "identify", userId: "u", email: "ada@example.com", traits: { plan: "pro", name: "Ada" } },
      ],
    });
    expect(openpanel("assign_group", { profileId: "u", groupIds: ["engines"] })).toMatchObject({
      items: [{ type: "identify", userId: "u", account: { id: "engines" } }],
    });
    expect(
      openpanel("group", { id: "engines", type: "company", name: "AE", properties: { tier: "gold" } }),
    ).toMatchObject({
      items: [{ type: "account", account: { id: "engines", name: "AE", properties: { tier: "gold" } } }],
    });
  });

  test("other messages say why they are not stored", () => {
    expect(openpanel("track", { name: "done" })).toEqual({
      invalid: expect.stringContaining("waitForProfile"),
    });
    expect(openpanel("increment", { profileId: "u" })).toEqual({ ignored: expect.any(String) });
    for (const type of [undefined, 1, "constructor"]) {
      expect(openpanel(type)).toEqual({ invalid: expect.stringContaining("type is not known") });
    }
    expect(translateOpenpanel(null, delivery)).toMatchObject([
      { translated: { invalid: expect.any(String) } },
    ]);
  });
});

describe("Mixpanel's", () => {
  const mixpanel = (call: MixpanelCall, message: unknown) => {
    const translated = translateMixpanel(message, delivery, call);
    return "invalid" in translated ? translated : translated[0]?.translated;
  };

  test("events have the time of arrival where they say none, and the account of a group's key", () => {
    const properties = { distinct_id: "ada", token: "t", $insert_id: "m1", number: 1, company: ["engines"] };
    expect(mixpanel("track", { event: "done", properties })).toMatchObject({
      items: [
        {
          type: "track",
          userId: "ada",
          event: "done",
          atMs: receivedAtMs,
          messageId: "m1:done",
          properties: { number: 1 },
          account: { id: "engines" },
        },
      ],
    });
    const named = mixpanel("track", {
      event: "done",
      properties: { ...properties, company: "Engines Inc", time: 1_779_000_000 },
    });
    expect(named).toMatchObject({ items: [{ atMs: 1_779_000_000_000 }] });
    expect(named).not.toHaveProperty("items.0.account");
  });

  test("people are users, with what is set, set once and unset", () => {
    const person = { $token: "t", $distinct_id: "ada" };
    const set = {
      ...person,
      $device_id: "d1",
      $set: { $email: "ada@example.com", $os: "Linux", plan: "pro" },
    };
    expect(mixpanel("engage", { ...set, $set_once: { source: "ad" }, $unset: ["seats"] })).toEqual({
      items: [
        {
          type: "identify",
          userId: "ada",
          anonymousId: "d1",
          atMs: receivedAtMs,
          messageId: null,
          email: "ada@example.com",
          traits: { plan: "pro", seats: null },
          isAccountOwner: undefined,
          traitsOnce: { source: "ad" },
        },
      ],
    });
    expect(mixpanel("engage", { ...person, $union: { company: ["engines"], tags: ["a"] } })).toMatchObject({
      items: [{ userId: "ada", account: { id: "engines" } }],
    });
    for (const kept of [
      { $add: { seats: 1 } },
      { $append: { a: 1 } },
      { $union: { tags: ["a"] } },
      { $delete: "" },
    ]) {
      expect(mixpanel("engage", { ...person, ...kept })).toEqual({ ignored: expect.any(String) });
    }
  });

  test("groups of accounts are accounts", () => {
    const group = {
      $token: "t",
      $group_key: "company",
      $group_id: "engines",
      $set: { $name: "AE", tier: "gold" },
    };
    expect(mixpanel("groups", group)).toEqual({
      items: [
        {
          type: "account",
          atMs: receivedAtMs,
          messageId: null,
          account: { id: "engines", name: "AE", properties: { tier: "gold" } },
        },
      ],
    });
    expect(mixpanel("groups", { ...group, $group_key: "project" })).toEqual({ ignored: expect.any(String) });
    expect(mixpanel("groups", { ...group, $group_id: "" })).toEqual({ invalid: expect.any(String) });
  });

  test("token is that of all messages, and two tokens are none", () => {
    const event = { event: "done", properties: { token: "a" } };
    expect(mixpanelToken(event)).toBe("a");
    expect(mixpanelToken({ batch: [event, { $token: "a" }] })).toBe("a");
    for (const body of [
      { batch: [event, { $token: "b" }] },
      { batch: [event, {}] },
      { batch: [] },
      null,
      "x",
    ]) {
      expect(mixpanelToken(body)).toBeUndefined();
    }
    for (const body of [null, 7]) expect(mixpanel("track", body)).toEqual({ invalid: expect.any(String) });
    expect(mixpanel("track", { batch: [7] })).toEqual({ invalid: expect.any(String) });
  });
});
