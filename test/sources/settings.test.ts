/** An organization's settings of its sources. Its members see them, managers change them, and no answer
 * contains a secret. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { sourceSettingLimits } from "../../contract/source-settings.ts";
import { auditLog, company } from "../people/support.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { signingSecret } from "./stripe-objects.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ role: "intake" });
});
afterAll(() => server.stop());

interface Webhook {
  readonly id: number;
  readonly name: string;
  readonly mapping: object;
}

const mapping = { userId: "user.id", event: { path: "type" } };

test("a webhook is added, changed and deleted, seen by viewers, and each is in the audit log", async () => {
  const { owner, member, viewer, at } = await company(server, "Webhooks");
  const added = await member.json<Webhook>("POST", at("/api/webhooks"), { name: "forms", mapping }, 201);
  expect(added).toMatchObject({ name: "forms", mapping });
  await owner.json("POST", at("/api/webhooks"), { name: "calls", mapping }, 201);
  const { webhooks } = await viewer.json<{ webhooks: Webhook[] }>("GET", at("/api/webhooks"));
  expect(webhooks.map(({ name }) => name)).toEqual(["calls", "forms"]);
  const one = at(`/api/webhooks/${added.id}`);
  const changed = { ...mapping, messageId: "id" };
  expect(await owner.json<Webhook>("PATCH", one, { mapping: changed })).toMatchObject({
    id: added.id,
    mapping: changed,
  });
  await owner.json("PATCH", one, { mapping: changed });
  for (const [method, path, body] of [
    ["POST", at("/api/webhooks"), { name: "mine", mapping }],
    ["POST", at("/api/webhooks/try"), { mapping, payload: {} }],
    ["PATCH", one, { mapping }],
    ["DELETE", one, undefined],
    ["PATCH", at("/api/stripe"), { unknownCustomers: "wait" }],
  ] as const) {
    await expectError(await viewer.ask(method, path, body), "forbidden", "has no right to this");
  }
  await owner.done("DELETE", one);
  await expectError(await owner.ask("DELETE", one), "not_found", "There is no such webhook.");
  await expectError(await owner.ask("PATCH", one, { mapping }), "not_found", "There is no such webhook.");
  const log = await auditLog(owner);
  expect(log.slice(0, 4).map(({ action, summary, detail }) => [action, summary, detail])).toEqual([
    ["webhook.deleted", "Deleted the webhook forms", { name: "forms", mapping: changed }],
    [
      "webhook.changed",
      "Changed how the webhook forms is read",
      { name: "forms", from: mapping, to: changed },
    ],
    ["webhook.created", "Added the webhook calls", { name: "calls", mapping }],
    ["webhook.created", "Added the webhook forms", { name: "forms", mapping }],
  ]);
});

test("a mapping that nothing can come of is refused in words", async () => {
  const { owner, at } = await company(server, "Mappings");
  const wrong: readonly (readonly [object, string])[] = [
    [{ name: "Forms", mapping }, "name is not valid: send 1 to 40 small letters"],
    [{ name: "stripe", mapping }, "name is taken"],
    [{ name: "a" }, "mapping is missing: send an object of paths"],
    [{ name: "a", mapping: { ...mapping, email: "a b" } }, "mapping.email is not valid: send a path such as"],
    [{ name: "a", mapping: { ...mapping, other: "a" } }, "mapping.other is not known: leave it out"],
    [{ name: "a", mapping: { userId: "id" } }, "mapping has no data"],
    [{ name: "a", mapping: { event: { text: "a" } } }, "mapping has no user"],
  ];
  for (const [body, message] of wrong) {
    await expectError(await owner.ask("POST", at("/api/webhooks"), body), "validation_error", message);
  }
});

test("an organization has so many webhooks and no more, each name once", async () => {
  const { owner, at } = await company(server, "Many webhooks");
  const { webhooksPerOrganization: most } = sourceSettingLimits;
  for (let number = 1; number <= most; number++) {
    await owner.json("POST", at("/api/webhooks"), { name: `w${number}`, mapping }, 201);
  }
  const again = await owner.ask("POST", at("/api/webhooks"), { name: "w1", mapping });
  await expectError(again, "validation_error", "name is taken");
  const more = await owner.ask("POST", at("/api/webhooks"), { name: "more", mapping });
  await expectError(more, "validation_error", `There are ${most} webhooks already`);
});

test("a mapping is tried on a body, and nothing is stored", async () => {
  const { name, owner, at } = await company(server, "Tried");
  const payload = [{ user: { id: 7 }, type: "Form sent" }, { user: {} }];
  const tried = await owner.json("POST", at("/api/webhooks/try"), { mapping, payload });
  expect(tried).toEqual({
    invalid: null,
    items: [
      {
        sent: payload[0],
        invalid: null,
        ignored: null,
        items: [
          {
            type: "track",
            at: expect.any(String),
            messageId: null,
            userId: "7",
            anonymousId: null,
            email: null,
            event: "Form sent",
            isActivity: true,
            account: null,
            traits: null,
            properties: {},
          },
        ],
      },
      { sent: { user: {} }, invalid: "There is no id of a user at user.id.", ignored: null, items: [] },
    ],
  });
  const nowhere = { mapping: { ...mapping, items: "events" }, payload: {} };
  expect(await owner.json("POST", at("/api/webhooks/try"), nowhere)).toEqual({
    invalid: "There is nothing at events, the path of the items.",
    items: [],
  });
  const large = { mapping, payload: { text: "x".repeat(100_000) } };
  expect(await owner.json("POST", at("/api/webhooks/try"), large)).toMatchObject({ invalid: null });
  expect(await owner.json("GET", at("/api/webhooks"))).toEqual({ webhooks: [] });
  expect((await auditLog(owner)).some(({ action }) => action.startsWith("webhook."))).toBe(false);
  expect(name).toBe("Tried");
});

test("signing secrets are stored, and only their last four characters are shown", async () => {
  const { owner, viewer, at } = await company(server, "Secrets");
  expect(await viewer.json("GET", at("/api/stripe"))).toEqual({
    signingSecrets: [],
    unknownCustomers: "wait",
    testMode: "ignore",
    updatedAt: null,
  });
  const other = "whsec_anothersecretABCD";
  const changed = await owner.json("PATCH", at("/api/stripe"), { signingSecrets: [signingSecret, other] });
  expect(changed).toMatchObject({ signingSecrets: [{ lastFour: "ests" }, { lastFour: "ABCD" }] });
  await owner.json("PATCH", at("/api/stripe"), { unknownCustomers: "create" });
  const stripe = await viewer.json("GET", at("/api/stripe"));
  expect(stripe).toMatchObject({
    ...(changed as object),
    unknownCustomers: "create",
    updatedAt: expect.any(String),
  });
  const log = await auditLog(owner);
  expect(log.slice(0, 2).map(({ action, summary }) => [action, summary])).toEqual([
    ["stripe.changed", "Changed of Stripe: unknown customers"],
    ["stripe.changed", "Changed of Stripe: signing secrets"],
  ]);
  for (const text of [JSON.stringify(stripe), JSON.stringify(log), server.output()]) {
    expect(text).not.toContain("whsec_");
    expect(text).not.toContain(other.slice(6));
  }
  for (const wrong of [["sk_live_secret"], ["whsec_"], [signingSecret, other, "whsec_yetanother1"]]) {
    const response = await owner.ask("PATCH", at("/api/stripe"), { signingSecrets: wrong });
    const text = await response.clone().text();
    await expectError(response, "validation_error", "signing secret");
    for (const secret of wrong) expect(text.includes(secret) && secret.length > 6).toBe(false);
  }
  expect(await owner.json("PATCH", at("/api/stripe"), { signingSecrets: [] })).toMatchObject({
    signingSecrets: [],
  });
  const testMode = await owner.ask("PATCH", at("/api/stripe"), { testMode: "live" });
  await expectError(testMode, "validation_error", "testMode");
});
