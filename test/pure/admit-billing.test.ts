/** Admission of billing events: what is refused, in words that help, and what stays an ordinary event. */
import { describe, expect, test } from "bun:test";
import { billingEventNames, cardEventNames } from "../../contract/billing/events.ts";
import { admitSourced } from "../../server/intake/admission/admit-sourced.ts";
import { admitItem } from "../../server/intake/admission/batch.ts";
import { isInvalid, parseBody } from "../../server/intake/admission/json.ts";
import { admitTrack } from "../../server/intake/track.ts";
import { arrivalIn } from "./support.ts";

const arrival = arrivalIn("Europe/Paris");
const price = { subscriptionId: "sub_1", plan: "Team", amount: 4_900, currency: "eur", interval: "month" };

function track(event: string, properties: object, isBrowser = false) {
  const parsed = parseBody(Buffer.from(JSON.stringify({ type: "track", userId: "ada", event, properties })));
  if (isInvalid(parsed)) throw new Error(parsed.invalid);
  const at = { ...arrival, isBrowser };
  const admitted = admitTrack(parsed, at);
  expect(admitItem(parsed, at)).toEqual(admitted);
  return admitted;
}

function sourced(event: string, properties: Record<string, unknown>, more: object = {}, isBrowser = false) {
  const item = {
    type: "track",
    userId: "ada",
    event,
    properties,
    isActivity: true,
    atMs: arrival.receivedAtMs,
    messageId: null,
  };
  return admitSourced(
    { ...item, ...more } as Parameters<typeof admitSourced>[0],
    { ...arrival, isBrowser },
    () => undefined,
  );
}

describe("a billing event", () => {
  test("is no activity, and names its payer", () => {
    expect(track("subscription_started", price)).toMatchObject({ isActivity: false, account: undefined });
    expect(track("subscription_started", { ...price, accountId: "acme" })).toMatchObject({
      isActivity: false,
      account: { accountId: "acme", name: undefined, avatar: undefined },
    });
    expect(track("payment_failed", { amount: 1, currency: "USD", accountId: 7 })).toMatchObject({
      isActivity: false,
      account: { accountId: "7" },
    });
  });

  test.each([
    ["amount", { amount: 49.5 }],
    ["amount", { amount: "4900" }],
    ["amount", { amount: -1 }],
    ["amount", { amount: 1e15 }],
    ["currency", { currency: "euro" }],
    ["currency", { currency: null }],
    ["interval", { interval: "fortnight" }],
    ["interval", { interval: null }],
    ["quantity", { quantity: 1.5 }],
    ["subscriptionId", { subscriptionId: "" }],
    ["subscriptionId", { subscriptionId: ["sub_1"] }],
    ["accountId", { accountId: "x".repeat(257) }],
    ["currentPeriodEnd", { currentPeriodEnd: "soon" }],
    ["currentPeriodEnd", { currentPeriodEnd: 1_779_010_200 }],
    ["plan", { plan: { name: "Team" } }],
  ])("with a wrong %s is refused: %j", (field, wrong) => {
    const problem = {
      invalid: expect.stringMatching(new RegExp(`^properties\\.${field} is .*(send|from 0 to).*\\.$`)),
    };
    expect(track("subscription_started", { ...price, ...wrong })).toEqual(problem);
    expect(sourced("subscription_started", { ...price, ...wrong })).toEqual(problem);
  });

  test.each([...billingEventNames])("%s is refused from a browser token", (name) => {
    const properties = { subscriptionId: "sub_1" };
    const problem = {
      invalid: expect.stringMatching(/^event is a billing event.*browser token.*: send it from your server/),
    };
    expect(track(name, properties, true)).toEqual(problem);
    expect(sourced(name, properties, {}, true)).toEqual(problem);
    expect(track(name, properties)).toMatchObject({ isActivity: false });
  });

  test.each([...cardEventNames])("%s is refused from a browser token, and names its payer", (name) => {
    const properties = { cardExpires: "2026-11", accountId: "acme" };
    expect(track(name, properties, true)).toMatchObject({
      invalid: expect.stringContaining("browser token"),
    });
    expect(track(name, properties)).toMatchObject({ isActivity: false, account: { accountId: "acme" } });
    expect(sourced(name, properties)).toMatchObject({ content: { isActivity: false } });
    expect(track(name, { cardExpires: "soon" })).toEqual({
      invalid: "properties.cardExpires is not a month: send the last month of the card, such as 2026-11.",
    });
  });
});

describe("an ordinary event", () => {
  test.each([
    ["subscription_started", { plan: "Team", amount: "49.00 €" }],
    ["subscription_started", { subscriptionId: null, accountId: "acme" }],
    ["payment_failed", { currency: "euro" }],
    ["subscription_upgraded", price],
    ["report_created", { ...price, amount: "many", accountId: "acme" }],
  ])("is %s with %j, also from a browser token", (name, properties) => {
    for (const isBrowser of [false, true]) {
      const admitted = track(name, properties, isBrowser);
      expect(admitted).not.toHaveProperty("isActivity");
      expect(admitted).not.toHaveProperty("account");
      expect(sourced(name, properties, {}, isBrowser)).toMatchObject({
        content: { isActivity: true, account: undefined },
      });
    }
  });
});

describe("a source's billing event", () => {
  const account = { id: "acme" };
  test.each([
    ["only in its properties", { accountId: "acme" }, {}, "acme", true],
    ["in both", { accountId: "acme" }, { account }, "acme", undefined],
    ["otherwise than its own account", { accountId: "payer" }, { account }, "payer", true],
    ["nowhere", {}, { account }, "acme", undefined],
  ])("names its payer %s", (_name, properties, more, accountId, isPayer) => {
    const admitted = sourced("subscription_started", { ...price, ...properties }, more);
    expect(admitted).toMatchObject({ content: { isActivity: false, account: { accountId } } });
    expect(
      "content" in admitted && "isPayer" in admitted.content ? admitted.content.isPayer : undefined,
    ).toBe(isPayer);
  });
});
