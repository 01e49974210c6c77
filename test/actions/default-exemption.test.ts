/** The default exemption of a hold-out while analysis gives no answer: the rule is not saved, and the caller
 * may try again. */
import { expect, test } from "bun:test";
import { alertRuleHandlers } from "../../server/features/alerts/rule-handlers.ts";
import { analysisStarting, refused, unexpected } from "../../server/http/port/answers.ts";
import { type Peer, Unreachable } from "../../server/process/control.ts";

const body = {
  name: "drawn",
  scope: { kind: "accounts" },
  condition: { kind: "paymentFailed" },
  holdOutShare: 0.2,
} as const;

/** Adds a rule. @returns the answer of a refusal, undefined when the rule was saved, and what was saved */
async function added(fetch: Peer["fetch"], fields: object = {}) {
  const saved: unknown[] = [];
  const add = async (_: number, settings: object) => {
    saved.push(settings);
    return settings;
  };
  const context = {
    analysis: { fetch },
    ledger: { alertRules: { add } },
    body: { ...body, ...fields },
    nowMs: 0,
    place: { organization: { id: 1, timezone: "UTC" }, actor: { by: "olga", person: null } },
  };
  const failure = await alertRuleHandlers["POST /api/alert-rules"](context as never).catch(refused);
  return { failure: failure instanceof Response ? failure : undefined, saved };
}

test.each([
  ["is gone", () => Promise.reject(new Unreachable("gone"))],
  ["is starting", async () => analysisStarting()],
  ["fails", async () => unexpected()],
])("a rule that needs it is refused while analysis %s, and says when to try again", async (_, fetch) => {
  const { failure, saved } = await added(fetch);
  expect(saved).toEqual([]);
  expect([failure?.status, failure?.headers.get("Retry-After")]).toEqual([500, "2"]);
  expect(await failure?.json()).toMatchObject({
    name: "application_error",
    message: expect.stringContaining("or send exemptions.mrrAbove"),
  });
});

test("a rule that names its exemption, or has no hold-out, is saved without analysis", async () => {
  const absent = () => Promise.reject(new Unreachable("gone"));
  for (const fields of [
    { exemptions: { mrrAbove: 70 } },
    { exemptions: { mrrAbove: null } },
    { holdOutShare: 0 },
    { condition: { kind: "sourceSilent" } },
  ]) {
    expect((await added(absent, fields)).saved).toHaveLength(1);
  }
});
