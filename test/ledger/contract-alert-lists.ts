/** The part of the contract about lists of many alerts: their order, pages, filters, and reading all of
 * them. */
import { describe, expect, test } from "bun:test";
import {
  type AlertFilter,
  type AlertQuestion,
  compareWeights,
} from "../../server/features/alerts/store/alerts.ts";
import type { DrawnAlert } from "../../server/features/alerts/store/decisions.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import { alertRule, decision, firedAlert } from "./alert-decision.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { user, writePeople } from "./writes.ts";

const day = 20_000;
const perChunk = 100;
const chunks = 12;
const all: AlertFilter = { state: "all", today: day };

/** Values repeat, and some are missing, so that each step of the order decides somewhere. */
function moment(number: number): DrawnAlert {
  return firedAlert({ kind: "user", number: 1 + (number % 3) }, day, {
    eventId: `event ${number}`,
    expectedLoss: number % 4 === 0 ? null : (number * 7) % 11,
    risk: number % 5 === 0 ? null : ((number * 3) % 7) / 10,
    ...(number % 50 === 0 && { arm: "control" as const, controlUntil: day + 27 }),
  });
}

/** An organization with a rule of 1,200 alerts, another rule with one, and an alert of another
 * organization. */
async function ground(subject: LedgerUnderTest) {
  const { ledger, nowMs } = subject;
  const added = async (name: string, rules: readonly string[]) => {
    const { id } = await subject.organization(name);
    const users = ["ada", "bob", "eve"].map((userId, index) => user(id, userId, { number: index + 1 }));
    await writePeople(ledger, { users });
    const ids: number[] = [];
    for (const rule of rules) {
      ids.push((await ledger.alertRules.add(id, { ...alertRule, name: rule }, by, nowMs)).id);
    }
    return { id, rules: ids };
  };
  const { id, rules } = await added("ours", ["many", "one"]);
  const other = await added("theirs", ["other"]);
  const [many = 0, one = 0] = rules;
  const [theirs = 0] = other.rules;
  const first = (organization: number, rule: number) =>
    decision({ organization, rule, entity: { kind: "user", number: 1 }, day });
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const fired = Array.from({ length: perChunk }, (_, index) => moment(chunk * perChunk + index));
    const next = { ...first(id, many), after: chunk + 1, states: [], fired };
    await ledger.ruleDecisions.commitDecision(next, nowMs);
  }
  await ledger.ruleDecisions.commitDecision(first(id, one), nowMs);
  await ledger.ruleDecisions.commitDecision(first(other.id, theirs), nowMs);
  const list = (question: Partial<AlertQuestion> = {}) =>
    ledger.alerts.list(id, { ...all, limit: 5_000, offset: 0, ...question });
  return { id, ledger, nowMs, one, many, list };
}

/** Declares the tests of lists of alerts. */
export function alertListsContract(subject: LedgerUnderTest): void {
  describe("lists of many alerts", () => {
    pages(subject);
    filters(subject);
    deleted(subject);
  });
}

function deleted(subject: LedgerUnderTest): void {
  test("all alerts of a deleted rule are deleted, and no other", async () => {
    const { id, ledger, nowMs, one, many, list } = await ground(subject);
    await ledger.alertRules.remove(id, many, by, nowMs);
    const left = await list({ today: day + 28 });
    expect(left).toMatchObject({ total: 1, alerts: [{ rule: { id: one } }] });
    await ledger.tidy(nowMs);
    expect(await list({ today: day + 28 })).toEqual(left);
    const beside = await subject.beside();
    const { alerts = [], alert_rules: rules = [] } = await beside.rows();
    await beside.close();
    expect([alerts.length, rules.length]).toEqual([2, 2]);
  });
}

function pages(subject: LedgerUnderTest): void {
  test("a list has the highest expected loss first, then the highest risk, then the newest, on any page", async () => {
    const { id, ledger, list } = await ground(subject);
    const whole = await list();
    const ids = whole.alerts.map(({ id }) => id);
    // 24 of the 1,201 are controls.
    expect([whole.total, ids.length, new Set(ids).size]).toEqual([1_177, 1_177, 1_177]);
    const some = await ledger.alerts.weights(id, all, 0, 700);
    const weights = [...some, ...(await ledger.alerts.weights(id, all, some.at(-1)?.id ?? 0, 700))];
    const ascending = weights.map(({ id }) => id);
    expect(new Set(ascending).size).toBe(1_177);
    expect(ascending).toEqual(ascending.toSorted((a, b) => a - b));
    expect(weights.toSorted(compareWeights).map(({ id }) => id)).toEqual(ids);
    for (const [offset, limit] of [
      [0, 1],
      [3, 250],
      [900, 1_000],
      [1_176, 9],
      [1_177, 9],
      [10_000_000, 9],
    ] as const) {
      const page = await list({ offset, limit });
      expect(page).toEqual({ total: 1_177, alerts: whole.alerts.slice(offset, offset + limit) });
    }
    const asked = [ids[400], ids[3], 999_999, ids[1_000], ids[7]].map((one) => one ?? 0);
    const found = await ledger.alerts.withIds(id, asked, all);
    expect(found).toEqual([400, 3, 1_000, 7].flatMap((at) => whole.alerts[at] ?? []));
    expect(await ledger.alerts.withIds(id + 1, asked, all)).toEqual([]);
  });
}

function filters(subject: LedgerUnderTest): void {
  test("every filter counts what its pages have", async () => {
    const { id, ledger, nowMs, one, list } = await ground(subject);
    const [top, second, third] = (await list({ limit: 3 })).alerts.map((alert) => alert.id);
    const change = (alert = 0, to: Parameters<typeof ledger.alerts.change>[2] = {}) =>
      ledger.alerts.change(id, alert, to, by, day, nowMs);
    await change(top, { verdict: "handled" });
    await change(second, { snoozedUntil: day + 2 });
    await change(third, { snoozedUntil: day });
    const entity = { kind: "user", id: "ada" } as const;
    for (const [filter, total] of [
      [{ state: "handled" }, 1],
      [{ state: "snoozed" }, 1],
      [{ state: "open" }, 1_175],
      [{ state: "open", today: day + 28 }, 1_200],
      [{ state: "closed" }, 0],
      [{ rule: one }, 1],
      [{ assignee: null }, 1_177],
      [{ assignee: 7 }, 0],
      [{ entity }, 393],
      [{ entity, rule: one }, 1],
    ] as const) {
      const { total: counted, alerts } = await list(filter);
      expect([filter, counted, alerts.length]).toEqual([filter, total, total]);
      const { today, ...asked } = { ...all, ...filter };
      const weights = await ledger.alerts.weights(id, { ...asked, today }, 0, 5_000);
      expect(weights.toSorted(compareWeights).map(({ id }) => id)).toEqual(alerts.map(({ id }) => id));
      expect(await ledger.alerts.withIds(id, [top ?? 0], { ...asked, today })).toEqual(
        alerts.filter((alert) => alert.id === top),
      );
    }
    const [rule] = await ledger.alertRules.list(id, day);
    expect(rule).toMatchObject({ name: "many", openAlerts: 1_175 });
    // Of three users one was judged and one is snoozed, by the alert with the highest expected loss and by
    // the next.
    const everybody = { users: [1, 2, 3], accounts: [1] };
    const worked = await ledger.alerts.workedOn(id, everybody, nowMs, day);
    expect(worked.map(({ verdictAtMs, snoozedUntil }) => [verdictAtMs, snoozedUntil]).sort()).toEqual([
      [null, day + 2],
      [nowMs, null],
    ]);
    expect(await ledger.alerts.workedOn(id, everybody, nowMs + 1, day + 2)).toEqual([]);
    expect(await ledger.alerts.workedOn(id + 1, everybody, 0, day)).toEqual([]);
  });
}
