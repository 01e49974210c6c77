/** The part of the contract about messages that are rendered when they are due, and about users who are
 * excluded, erased or controls by then. */
import { describe, expect, test } from "bun:test";
import { keyOfAlert } from "../../server/features/alerts/store/decisions.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import type { RuleEntity } from "../../server/ledger/stores/entity-rows.ts";
import { firedAlert, renderDue } from "./alert-decision.ts";
import { ground } from "./contract-alert-rules.ts";
import { delivered, failed } from "./destination-calls.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const day = 20_000;
const ada: RuleEntity = { kind: "user", number: 1 };
const bob: RuleEntity = { kind: "user", number: 2 };
const room = { most: 9, perDestination: 9, failing: 9 };

/** A message to Slack about both users waits. @param total the number of alerts of its run */
async function waiting(subject: LedgerUnderTest, total = 5) {
  const all = await ground(subject);
  const { id, ledger, nowMs, first, commit } = all;
  const slack = { kind: "slack", name: "channel", address: "https://example.com/", notices: [] } as const;
  const channel = await ledger.destinations.add(id, { ...slack, secrets: [] }, by, nowMs);
  const fired = [firedAlert(ada, day), firedAlert(bob, day)];
  const message = { messageId: "of a run", type: "alert.fired" } as const;
  const about = { alerts: fired.map(keyOfAlert), total, cap: 20, dueAtMs: nowMs, isGathered: false };
  await commit({ ...first, fired, messages: [{ ...about, message, destination: channel.id }] });
  const render = (excluded: readonly RuleEntity[] = []) =>
    renderDue(ledger, nowMs, { organization: id, today: day, excluded });
  const delivery = async () => {
    const [found] = await ledger.deliveries.list(id, { limit: 1 });
    if (found === undefined) throw new Error("There is no message.");
    return found;
  };
  const said = async () => {
    const { state, body } = await delivery();
    const { text, rows } = JSON.parse(body).data as { text: string; rows: readonly { name: string }[] };
    return [state, text, ...rows.map(({ name }) => name)];
  };
  const claim = async (atMs = nowMs) =>
    (await ledger.deliveries.claim(room, atMs)).map((one) => one.delivery);
  return { ...all, channel, render, delivery, said, claim };
}

const both = [
  "pending",
  "High risk: 5 alerts fired. The 2 most important are below, 3 more are in the inbox.",
  "Ada",
  "bob",
];
const ofBob = [
  "pending",
  "High risk: 4 alerts fired. The most important is below, 3 more are in the inbox.",
  "bob",
];

/** Declares the tests of messages that wait. */
export function waitingMessagesContract(subject: LedgerUnderTest): void {
  describe("a message that waits", () => {
    rendered(subject);
    leftOut(subject);
    erased(subject);
    older(subject);
  });
}

function rendered(subject: LedgerUnderTest): void {
  test("is rendered once when it is due, and has the same body in each attempt", async () => {
    const { ledger, nowMs, render, said, claim } = await waiting(subject);
    expect(await claim()).toEqual([]);
    await render();
    expect(await said()).toEqual(both);
    const [one] = await claim();
    await ledger.deliveries.tried([{ id: one?.id ?? 0, ...failed(5_000) }], nowMs);
    await render([ada]);
    const [again] = await claim(nowMs + 5_000);
    expect([again?.messageId, again?.body]).toEqual(["of a run", one?.body ?? ""]);
  });

  test("is rendered when its destination works again", async () => {
    const { id, ledger, nowMs, channel, render, delivery, said } = await waiting(subject);
    await ledger.destinations.change(id, channel.id, { state: "paused" }, by, nowMs);
    await render();
    expect(await delivery()).toMatchObject({ state: "held", body: "" });
    await ledger.destinations.change(id, channel.id, { state: "active" }, by, nowMs);
    await ledger.deliveries.settleHeld(id, channel.id, "send", by, nowMs);
    await render([ada]);
    expect(await said()).toEqual(ofBob);
  });
}

function leftOut(subject: LedgerUnderTest): void {
  test("leaves out who is excluded, and says how many the cap left out", async () => {
    const { render, said } = await waiting(subject);
    await render([ada, bob]);
    expect(await said()).toEqual(["pending", "High risk: 3 alerts fired. All are in the inbox."]);
  });

  test("is canceled when nobody is left whom it may name", async () => {
    const { render, delivery } = await waiting(subject, 2);
    await render([ada, bob]);
    expect(await delivery()).toMatchObject({ state: "canceled", body: "" });
  });

  test.each([
    [
      "whose alert an exclusion closed",
      { closed: [{ entity: ada, firedOn: day, day: day + 1, why: "excluded" } as const] },
    ],
    [
      "who became a control",
      { fired: [firedAlert(ada, day + 1, { arm: "control", controlUntil: day + 27, isSent: false })] },
    ],
  ])("leaves out a user %s", async (_, change) => {
    const { first, commit, render, said } = await waiting(subject);
    const next = { ...first.next, decidedThrough: day + 1 };
    await commit({ ...first, after: 2, next, states: [], fired: [], messages: [], ...change });
    await render();
    expect(await said()).toEqual(ofBob);
  });

  test("ends when its rule is deleted", async () => {
    const { id, ledger, nowMs, rule, render, delivery } = await waiting(subject);
    await ledger.alertRules.remove(id, rule.id, by, nowMs);
    await render();
    expect(await delivery()).toMatchObject({ state: "canceled", body: "" });
  });
}

function erased(subject: LedgerUnderTest): void {
  test("does not name who is erased before it is due", async () => {
    const { id, ledger, render, said } = await waiting(subject);
    await ledger.erasures.begin(id, "ada", { by });
    await render();
    expect(await said()).toEqual(ofBob);
  });

  test("loses its body when somebody whom it names is erased between two attempts, and is rendered again", async () => {
    const { id, ledger, nowMs, render, delivery, said, claim } = await waiting(subject);
    await render();
    const [one] = await claim();
    await ledger.deliveries.tried([{ id: one?.id ?? 0, ...failed(5_000) }], nowMs);
    await ledger.erasures.begin(id, "ada", { by });
    expect(await delivery()).toMatchObject({ state: "pending", body: "", said: null });
    expect(await claim(nowMs + 5_000)).toEqual([]);
    await renderDue(ledger, nowMs + 5_000, { organization: id, today: day });
    expect(await said()).toEqual(ofBob);
    expect((await claim(nowMs + 5_000)).map(({ messageId }) => messageId)).toEqual(["of a run"]);
    await ledger.erasures.begin(id, "bob", { by });
    expect(await delivery()).toMatchObject({ body: "" });
  });

  test.each([
    ["arrives", delivered, "delivered"],
    ["fails", failed(5_000), "pending"],
  ])("keeps no answer when somebody is erased during an attempt that %s", async (_, outcome, state) => {
    const { id, ledger, nowMs, render, delivery, claim } = await waiting(subject);
    await render();
    const [one] = await claim();
    await ledger.erasures.begin(id, "ada", { by });
    await ledger.deliveries.tried([{ id: one?.id ?? 0, ...outcome }], nowMs);
    expect(await delivery()).toMatchObject({ state, attempts: 1, body: "", said: null });
  });

  test("keeps no body that names somebody who was erased while it was rendered", async () => {
    const { id, ledger, nowMs, delivery, render, said } = await waiting(subject);
    const [due] = await ledger.deliveries.toRender(0, nowMs);
    await ledger.erasures.begin(id, "ada", { by });
    const { id: number = 0, about = { rule: 0, alerts: [], total: 0, cap: 0 } } = due ?? {};
    await ledger.deliveries.freeze(id, [{ id: number, about, body: "Ada", entities: [ada, bob] }]);
    expect(await delivery()).toMatchObject({ state: "pending", body: "" });
    await render();
    expect(await said()).toEqual(ofBob);
  });
}

/** Earlier versions stored the body of a message with its decision. */
function older(subject: LedgerUnderTest): void {
  test("that an earlier version stored with its body is sent as it is, once, and an erasure cancels it", async () => {
    const { id, ledger, nowMs, hook, render, delivery, claim } = await waiting(subject);
    const body = JSON.stringify({ type: "alert.fired", data: { text: "Ada", rows: [{ of: "user 1" }] } });
    const add = (messageId: string) =>
      ledger.deliveries.add(id, hook.id, { messageId, type: "alert.fired", body }, nowMs, [ada, bob]);
    await add("old");
    await render([ada]);
    const [old] = (await claim()).filter(({ messageId }) => messageId === "old");
    expect(old?.body).toBe(body);
    await ledger.deliveries.tried([{ id: old?.id ?? 0, ...delivered }], nowMs);
    await add("old");
    expect(await claim(nowMs + 61_000)).not.toContainEqual(expect.objectContaining({ messageId: "old" }));
    await add("older");
    await ledger.erasures.begin(id, "ada", { by });
    expect(await delivery()).toMatchObject({ messageId: "older", state: "canceled", body: "" });
  });
}
