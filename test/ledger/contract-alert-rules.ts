/** The part of the contract about alert rules, their decisions, and alerts. */
import { describe, expect, test } from "bun:test";
import type { AlertQuestion } from "../../server/features/alerts/store/alerts.ts";
import type { DrawnChunk } from "../../server/features/alerts/store/decisions.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import type { RuleEntity } from "../../server/ledger/stores/entity-rows.ts";
import { alertRule, decision, firedAlert, renderDue } from "./alert-decision.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, user, writePeople } from "./writes.ts";

const day = 20_000;
const ada: RuleEntity = { kind: "user", number: 1 };
const bob: RuleEntity = { kind: "user", number: 2 };
const webhook = {
  kind: "webhook" as const,
  notices: [],
  name: "hook",
  address: "https://example.com/",
  secrets: ["whsec_a"],
};

/** An organization with two users and a rule that sends to a webhook. */
export async function ground(subject: LedgerUnderTest, settings: Partial<typeof alertRule> = {}) {
  const { ledger, nowMs } = subject;
  const { id } = await subject.organization();
  await writePeople(ledger, {
    accounts: [account(id, "engines")],
    users: [
      user(id, "ada", { number: 1, account: 1, traits: { name: "Ada" } }),
      user(id, "bob", { number: 2 }),
    ],
  });
  const hook = await ledger.destinations.add(id, webhook, by, nowMs);
  const rule = await ledger.alertRules.add(
    id,
    { ...alertRule, destinations: [hook.id], ...settings },
    by,
    nowMs,
  );
  const list = async (question: Partial<AlertQuestion> = {}) =>
    (await ledger.alerts.list(id, { state: "all", today: day, limit: 9, offset: 0, ...question })).alerts;
  const commit = (chunk: DrawnChunk) => ledger.ruleDecisions.commitDecision(chunk, nowMs);
  const first = decision({ organization: id, rule: rule.id, entity: ada, day, messages: [hook.id] });
  const mark = async () => (await ledger.ruleDecisions.toDecide(id))[0]?.watermark;
  const states = () => ledger.ruleDecisions.states(id, rule.id, -1, 9);
  return { id, ledger, nowMs, rule, hook, list, commit, first, mark, states };
}

/** Declares the tests of alert rules. */
export function alertRulesContract(subject: LedgerUnderTest): void {
  describe("alert rules", () => {
    rules(subject);
    chunks(subject);
    told(subject);
    effects(subject);
    controls(subject);
    work(subject);
    erased(subject);
  });
}

function rules(subject: LedgerUnderTest): void {
  test("a change of condition or scope makes a version, and name, cap and destinations make none", async () => {
    const { id, ledger, nowMs, rule, first, commit, mark } = await ground(subject);
    expect(rule).toMatchObject({ version: 1, experiment: 1, decidedThrough: null, openAlerts: 0 });
    await commit(first);
    const change = (fields: Partial<typeof alertRule>) =>
      ledger.alertRules.change(id, rule.id, fields, by, nowMs);
    const kept = await change({ name: "Other", cap: 3, destinations: [] });
    expect(kept).toMatchObject({ name: "Other", version: 1, experiment: 1, decidedThrough: day });
    expect(await change({ holdOutShare: 0.5 })).toMatchObject({ version: 1, experiment: 2 });
    const next = await change({ condition: { kind: "healthBelow", below: 40 }, includeCurrent: false });
    expect(next).toMatchObject({ version: 2, experiment: 3, decidedThrough: null });
    expect(await mark()).toMatchObject({ version: 2, takesOver: true, decidedThrough: null, cursor: null });
    const [alert] = (await ledger.alerts.list(id, { state: "open", today: day, limit: 9, offset: 0 })).alerts;
    expect(alert).toMatchObject({ version: 1, closedDay: null });
    expect(await change({ name: "Other" })).toEqual(next);
  });

  test.each<[what: string, change: Partial<typeof alertRule>, isClosed: boolean]>([
    ["another threshold", { condition: { kind: "riskBand", band: "medium" } }, false],
    ["another condition of scores", { condition: { kind: "healthBelow", below: 40 } }, false],
    ["accounts instead of users", { scope: { kind: "accounts" } }, true],
    ["a moment", { condition: { kind: "paymentFailed" } }, true],
    ["a source", { condition: { kind: "sourceSilent" } }, true],
  ])(
    "a change to %s keeps the open alerts of a state, or closes them with its states",
    async (_, change, isClosed) => {
      const { id, ledger, nowMs, rule, first, commit, list, states } = await ground(subject);
      const moment = firedAlert(bob, day, { eventId: "event 1" });
      await commit({ ...first, fired: [...first.fired, moment], messages: [] });
      await ledger.alertRules.change(id, rule.id, change, by, nowMs);
      const why = (alerts: Awaited<ReturnType<typeof list>>, who: string) =>
        alerts.find(({ entity }) => entity.kind === "user" && entity.id === who)?.closedWhy;
      const alerts = await list();
      expect([why(alerts, "ada"), why(alerts, "bob")]).toEqual([isClosed ? "ruleChanged" : null, null]);
      expect(await states()).toHaveLength(isClosed ? 0 : 1);
    },
  );

  test("a paused rule is not decided, and a resumed one takes the present state over", async () => {
    const { id, ledger, nowMs, rule, first, commit, mark } = await ground(subject);
    await ledger.alertRules.change(id, rule.id, { isPaused: true }, by, nowMs);
    expect([await mark(), await ledger.ruleDecisions.deciding()]).toEqual([undefined, []]);
    await expect(commit({ ...first, after: 2 })).rejects.toThrow("decided or changed meanwhile");
    await ledger.alertRules.change(id, rule.id, { isPaused: false }, by, nowMs);
    expect(await mark()).toMatchObject({ sequence: 3, takesOver: true });
    expect(await ledger.ruleDecisions.deciding()).toEqual([id]);
    expect(await commit({ ...first, after: 3 })).toMatchObject({ sequence: 4, takesOver: false });
  });

  test("names are unique, and destinations have to be there", async () => {
    const { id, ledger, nowMs, rule } = await ground(subject);
    const add = (fields: Partial<typeof alertRule>) =>
      ledger.alertRules.add(id, { ...alertRule, ...fields }, by, nowMs);
    await expect(add({})).rejects.toThrow("name is taken");
    await expect(add({ name: "b", destinations: [99] })).rejects.toThrow("there is no destination 99");
    expect(await ledger.alertRules.remove(id, rule.id, by, nowMs)).toBe(true);
    expect(await ledger.alertRules.find(id, rule.id, day)).toBeUndefined();
  });
}

function chunks(subject: LedgerUnderTest): void {
  test("a chunk keeps states, alerts, messages and the watermark, and comes once", async () => {
    const { id, ledger, first, commit, list, mark, states, hook } = await ground(subject);
    const after = await commit(first);
    expect(after).toEqual({
      sequence: 2,
      version: 1,
      decidedThrough: day,
      part: null,
      takesOver: false,
      cursor: { of: "\\0" },
    });
    await expect(commit(first)).rejects.toThrow("decided or changed meanwhile");
    expect(await mark()).toEqual(after);
    expect(await states()).toEqual([...first.states]);
    expect(await list()).toMatchObject([
      {
        entity: { kind: "user", id: "ada", label: "Ada" },
        firedDay: day,
        before: 0.2,
        after: 0.6,
        risk: 0.6,
        expectedLoss: 12_000.5,
        reasons: [{ text: "Silent \\0 for 9 days" }],
        eventId: null,
        isSent: true,
      },
    ]);
    const deliveries = await ledger.deliveries.list(id, { destination: hook.id, limit: 9 });
    expect(deliveries).toMatchObject([{ type: "alert.fired", dueAtMs: 5, body: "" }]);
    const { rule } = first;
    expect(await ledger.ruleDecisions.sentOn(id, rule, { day })).toBe(1);
    expect(await ledger.ruleDecisions.named(id, [ada, bob])).toMatchObject({
      "user 1": { id: "ada", label: "Ada" },
      "user 2": { id: "bob", label: "bob" },
    });
  });

  test("a day is decided in parts, and more than 100 alerts are refused", async () => {
    const { id, ledger, first, commit, mark } = await ground(subject, { includeCurrent: false });
    const part = { day, uptoNumber: 1 };
    const unsent = [firedAlert(ada, day, { isSent: false })];
    await commit({ ...first, fired: unsent, next: { decidedThrough: null, part, cursor: null } });
    expect(await mark()).toMatchObject({ part, decidedThrough: null, takesOver: true });
    const { ruleDecisions } = ledger;
    expect(await ruleDecisions.unsent(id, first.rule, { day })).toMatchObject([
      {
        entity: ada,
        day,
        eventId: null,
        reasons: [{ text: "Silent \\0 for 9 days" }],
        expectedLoss: 12_000.5,
      },
    ]);
    const end = { decidedThrough: day, part: null, cursor: null };
    const many = Array.from({ length: 101 }, () => firedAlert(bob, day));
    await expect(commit({ ...first, after: 2, next: end, fired: many })).rejects.toThrow("more than 100");
    await commit({ ...first, after: 2, next: end, fired: [firedAlert(bob, day)], earlier: unsent });
    expect(await mark()).toMatchObject({ part: null, decidedThrough: day, takesOver: false });
    expect([
      await ruleDecisions.unsent(id, first.rule, { day }),
      await ruleDecisions.sentOn(id, first.rule, { day }),
    ]).toEqual([[], 2]);
  });
}

function told(subject: LedgerUnderTest): void {
  test("open alerts that were in a message are found by their entities and events, those of other entities are not", async () => {
    const { id, ledger, first, commit, rule } = await ground(subject);
    const source: RuleEntity = { kind: "source", source: "api" };
    const engines: RuleEntity = { kind: "account", number: 1 };
    const fired = [
      firedAlert(ada, day),
      firedAlert(bob, day, { isSent: false }),
      firedAlert(source, day),
      firedAlert(engines, day, { eventId: "e1" }),
      firedAlert(engines, day, { eventId: "e2" }),
    ];
    await commit({ ...first, fired });
    const toldOpen = async (entities: readonly RuleEntity[], of = rule.id) =>
      (await ledger.ruleDecisions.toldOpen(id, of, entities)).toSorted();
    expect(await toldOpen([ada, bob])).toEqual(["user 1"]);
    expect(await toldOpen([engines])).toEqual(["account 1 e1", "account 1 e2"]);
    expect(await toldOpen([source, bob])).toEqual(["source api"]);
    expect(await toldOpen([ada, source], rule.id + 1)).toEqual([]);
    const next = { ...first.next, decidedThrough: day + 1 };
    const closed = [{ entity: ada, firedOn: day, day: day + 1, why: "resolved" } as const];
    await commit({ ...first, after: 2, next, states: [], fired: [], messages: [], closed });
    expect(await toldOpen([ada, source])).toEqual(["source api"]);
  });
}

function effects(subject: LedgerUnderTest): void {
  test("entities that are inside only by settings are counted, by the time of the decision", async () => {
    const { id, ledger, nowMs, rule, first, commit } = await ground(subject);
    const part = { day, uptoNumber: 1 };
    const next = { decidedThrough: null, part, cursor: null };
    await commit({ ...first, next, insideBySettings: 3 });
    await commit({ ...first, after: 2, states: [], fired: [], messages: [], insideBySettings: 2 });
    await commit({ ...first, after: 3, states: [], fired: [], messages: [], insideBySettings: 0 });
    const inside = (fromMs: number, toMs: number) => ledger.ruleDecisions.insideBySettings(id, fromMs, toMs);
    expect([
      await inside(nowMs, nowMs + 1),
      await inside(nowMs + 1, nowMs + 9),
      await inside(0, nowMs),
    ]).toEqual([5, 0, 0]);
    await ledger.alertRules.remove(id, rule.id, by, nowMs);
    expect(await inside(0, nowMs + 1)).toBe(0);
  });

  test("an alert closes, a moment fires once, and a forgotten state has no row", async () => {
    const { first, commit, list, states } = await ground(subject);
    await commit(first);
    const left = { entity: ada, hasLeft: true, daysOut: 2, restsUntil: day + 1, firedOn: null, value: null };
    const next = { decidedThrough: day + 2, part: null, cursor: null };
    const closed = [{ entity: ada, firedOn: day, day: day + 2, why: "resolved" } as const];
    const moment = firedAlert(bob, day + 2, { eventId: "event \\0 1" });
    await commit({ ...first, after: 2, next, states: [left], fired: [moment], closed });
    await commit({
      ...first,
      after: 3,
      next,
      states: [],
      fired: [{ ...moment, day: day + 3 }],
      messages: [],
    });
    expect(await states()).toEqual([]);
    expect((await list()).map(({ closedWhy, eventId }) => [closedWhy, eventId]).toSorted()).toEqual([
      [null, "event \\0 1"],
      ["resolved", null],
    ]);
  });

  test("a message that names entities is not added when one of them is gone", async () => {
    const { id, ledger, nowMs, hook } = await ground(subject);
    const message = (messageId: string) => ({ messageId, type: "digest", body: "{}" }) as const;
    await ledger.deliveries.add(id, hook.id, message("msg_both"), nowMs, [ada, bob]);
    await ledger.deliveries.add(id, hook.id, message("msg_gone"), nowMs, [ada, { kind: "user", number: 99 }]);
    const deliveries = await ledger.deliveries.list(id, { limit: 9 });
    expect(deliveries.map(({ messageId }) => messageId)).toEqual(["msg_both"]);
  });

  test("a ledger at another place takes the present state over", async () => {
    const { ledger, nowMs, first, commit, mark } = await ground(subject);
    await commit(first);
    await ledger.copies.pauseElsewhere("another place", nowMs);
    expect(await mark()).toMatchObject({ sequence: 3, takesOver: true });
  });
}

function controls(subject: LedgerUnderTest): void {
  test("controls are known, with the account that was drawn, and no figure counts them before their horizon is over", async () => {
    const { id, ledger, commit, first } = await ground(subject);
    const control = firedAlert(ada, day, {
      arm: "control",
      account: 1,
      controlUntil: day + 27,
      isSent: false,
    });
    await commit({ ...first, fired: [control, firedAlert(bob, day)], messages: [] });
    expect(await ledger.alerts.controls(id, day + 27)).toEqual([
      { kind: "user", number: 1, untilDay: day + 27 },
      { kind: "account", number: 1, untilDay: day + 27 },
    ]);
    expect(await ledger.alerts.controls(id, day + 28)).toEqual([]);
    const fired = async (today: number, fromDay = day) =>
      ledger.alerts.fired(id, { fromDay, toDay: day + 1, today, limit: 9 });
    expect(await fired(day)).toMatchObject([
      { entity: bob, firedDay: day, verdict: null, verdictAtMs: null, closedWhy: null, taskAtMs: null },
    ]);
    // Counts of days have no names.
    expect(await ledger.alerts.firedByDay(id, day, day)).toEqual([{ rule: first.rule, day, alerts: 2 }]);
    expect(await ledger.alerts.firedByDay(id, day + 1, day + 9)).toEqual([]);
    const ofRule = { fromDay: day, toDay: day, today: day + 28, limit: 9 };
    expect(await ledger.alerts.fired(id, { ...ofRule, rule: first.rule })).toHaveLength(2);
    expect(await ledger.alerts.fired(id, { ...ofRule, rule: first.rule + 1 })).toEqual([]);
    expect((await fired(day + 28)).map(({ entity }) => entity)).toEqual([bob, ada]);
    expect(await fired(day + 28, day + 1)).toEqual([]);
  });

  test("controls are named by no list before their horizon is over", async () => {
    const { id, ledger, nowMs, first, commit, list } = await ground(subject);
    const control = firedAlert(ada, day, { arm: "control", controlUntil: day + 27, isSent: false });
    await commit({ ...first, fired: [control], messages: [] });
    expect(await list()).toEqual([]);
    expect(await list({ today: day + 28 })).toMatchObject([{ arm: "control" }]);
    const weights = (today: number) => ledger.alerts.weights(id, { state: "all", today }, 0, 9);
    expect(await weights(day + 27)).toEqual([]);
    const [weight] = await weights(day + 28);
    expect(weight).toMatchObject({ user: 1, account: 0 });
    const withId = (today: number) => ledger.alerts.withIds(id, [weight?.id ?? 0], { state: "all", today });
    expect(await withId(day + 27)).toEqual([]);
    expect(await withId(day + 28)).toHaveLength(1);
    expect(await ledger.alerts.all(id, day + 27, 0, 9)).toEqual([]);
    const all = await ledger.alerts.all(id, day + 28, 0, 9);
    expect(all).toMatchObject([{ arm: "control", entity: { id: "ada" } }]);
    expect(await ledger.alerts.all(id, day + 28, all[0]?.id ?? 0, 9)).toEqual([]);
    const [hidden] = await ledger.alerts.ofEntity(id, { kind: "user", id: "ada" }, 0, 9);
    const change = (today: number) =>
      ledger.alerts.change(id, hidden?.id ?? 0, { verdict: "handled" }, by, today, nowMs);
    expect(await change(day)).toBeUndefined();
    expect(await change(day + 28)).toMatchObject({ verdict: "handled" });
  });
}

function work(subject: LedgerUnderTest): void {
  test("alerts are listed by expected loss, assigned, snoozed and judged", async () => {
    const { id, ledger, nowMs, first, commit, list } = await ground(subject);
    await commit({ ...first, fired: [firedAlert(ada, day), firedAlert(bob, day, { expectedLoss: 99_000 })] });
    const [top, second] = await list({ state: "open" });
    expect([top?.entity, second?.entity]).toMatchObject([{ id: "bob" }, { id: "ada" }]);
    const change = (fields: Parameters<typeof ledger.alerts.change>[2]) =>
      ledger.alerts.change(id, top?.id ?? 0, fields, by, day, nowMs + 1);
    await expect(change({ assignee: 99 })).rejects.toThrow("assignee is not valid");
    expect(await change({ snoozedUntil: day + 3, note: "a \\0 note" })).toMatchObject({ note: "a \\0 note" });
    expect(await list({ state: "open" })).toHaveLength(1);
    expect(await list({ state: "snoozed" })).toHaveLength(1);
    expect(await list({ state: "open", today: day + 3 })).toHaveLength(2);
    await change({ verdict: "notUseful" });
    expect(await list({ state: "handled" })).toMatchObject([
      { verdict: "notUseful", verdictAtMs: nowMs + 1 },
    ]);
    expect(await list({ entity: { kind: "user", id: "ada" } })).toHaveLength(1);
    expect(await list({ assignee: null, rule: first.rule })).toHaveLength(2);
    expect((await ledger.alertRules.list(id, day))[0]).toMatchObject({ openAlerts: 1 });
    const [entry] = await ledger.audit.list(id, { limit: 1 });
    expect(entry).toMatchObject({ action: "alert.changed", detail: { user: 2, fields: ["verdict"] } });
  });
}

function erased(subject: LedgerUnderTest): void {
  test("an erasure removes alerts and states, nothing that waits is about them, and what was sent is deleted", async () => {
    const { id, ledger, nowMs, hook, first, commit, list, states } = await ground(subject);
    await commit(first);
    const [waiting] = await ledger.deliveries.list(id, { limit: 9 });
    const message = { messageId: "sent", type: "alert.fired", body: "{}" } as const;
    await ledger.deliveries.add(id, hook.id, message, nowMs, [ada]);
    const sent = (await ledger.deliveries.list(id, { limit: 9 })).find(
      ({ messageId }) => messageId === "sent",
    );
    const answer = { status: 200, said: "thanks, Ada", verdict: { is: "delivered" } } as const;
    await ledger.deliveries.tried([{ id: sent?.id ?? 0, ...answer }], nowMs);
    await ledger.erasures.begin(id, "ada", { by });
    expect([await list(), await states()]).toEqual([[], []]);
    await renderDue(ledger, nowMs, { organization: id, today: day });
    const left = await ledger.deliveries.list(id, { limit: 9 });
    expect(left.find((one) => one.id === waiting?.id)).toMatchObject({
      state: "canceled",
      body: "",
      said: null,
    });
    expect(left.find((one) => one.id === sent?.id)).toMatchObject({
      state: "delivered",
      body: "",
      said: null,
    });
    await expect(ledger.deliveries.again(id, sent?.id ?? 0, by, nowMs)).rejects.toThrow(
      "The message is canceled",
    );
    // A decision that was computed before names nobody who is erased.
    await commit({ ...first, after: 2, next: { ...first.next, decidedThrough: day + 1 } });
    expect([await list(), await states()]).toEqual([[], []]);
    expect(await ledger.deliveries.list(id, { limit: 9 })).toHaveLength(2);
  });
}
