/** The part of the contract about the deletion of alert rules: at once for all readers, and of the rows in
 * parts. */
import { describe, expect, test } from "bun:test";
import { ruleLimits } from "../../contract/alerts/rules.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import { alertRule, firedAlert } from "./alert-decision.ts";
import { ground as oneAlert } from "./contract-alert-rules.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const day = 20_000;
const ada = { kind: "user", id: "ada" } as const;

/** A rule with a hold-out whose exemption names a segment. It has an open alert, a control, a state, and a
 * count of the day. */
async function ground(subject: LedgerUnderTest) {
  const of = await oneAlert(subject, { holdOutShare: 0.5 });
  const { id, ledger, nowMs, rule, first, commit } = of;
  const control = { arm: "control", account: 1, controlUntil: day + 27, isSent: false } as const;
  const fired = [...first.fired, firedAlert({ kind: "user", number: 2 }, day, control)];
  const committed = await commit({ ...first, fired, insideBySettings: 5 });
  const { segment } = await ledger.segments.add(
    id,
    { kind: "users", name: "Paying", content: { ids: ["ada"] } },
    by,
    nowMs,
  );
  await ledger.alertRules.change(id, rule.id, { exemptions: { segment: segment.id } }, by, nowMs);
  return { ...of, segment, next: { ...first, after: committed.sequence + 1 } };
}

/** Rows of rules and of what belongs to them. */
async function rowsOfRules(subject: LedgerUnderTest) {
  const beside = await subject.beside();
  const rows = await beside.rows();
  await beside.close();
  const tables = ["alert_rules", "alert_rule_versions", "alert_rule_days", "alert_states", "alerts"];
  return tables.map((table) => rows[table]?.length ?? 0);
}

/** Declares the tests of deletions of alert rules. */
export function ruleDeletionsContract(subject: LedgerUnderTest): void {
  describe("the deletion of an alert rule", () => {
    atOnce(subject);
    later(subject);
  });
}

/** Answers of every reader of rules and alerts. */
async function read({ id, ledger, nowMs, rule, hook }: Awaited<ReturnType<typeof ground>>) {
  const today = day + 28;
  const { alerts, alertRules, ruleDecisions } = ledger;
  const asked = { state: "all", today, rule: rule.id } as const;
  const days = { fromDay: day, toDay: day, today, limit: 9 };
  return {
    rules: await alertRules.list(id, today),
    rule: await alertRules.find(id, rule.id, today),
    listed: await alerts.list(id, { ...asked, limit: 9, offset: 0 }),
    open: (await alerts.list(id, { state: "open", today, limit: 9, offset: 0 })).total,
    ofAda: (await alerts.list(id, { state: "all", today, entity: ada, limit: 9, offset: 0 })).total,
    weights: await alerts.weights(id, asked, 0, 9),
    ofEntity: await alerts.ofEntity(id, ada, 0, 9),
    all: await alerts.all(id, today, 0, 9),
    fired: await alerts.fired(id, days),
    firedByDay: await alerts.firedByDay(id, day, day),
    controls: await alerts.controls(id, day),
    timeline: await ledger.workTimeline.entries(id, ada, { limit: 9, today }),
    deciding: await ruleDecisions.deciding(),
    toDecide: await ruleDecisions.toDecide(id),
    inside: await ruleDecisions.insideBySettings(id, 0, nowMs + 1),
    rulesOfHook: (await ledger.alertRules.list(id, today)).filter((one) =>
      one.destinations.includes(hook.id),
    ),
  };
}

function atOnce(subject: LedgerUnderTest): void {
  test("is seen by every reader before its rows are gone, and frees its name and its segment", async () => {
    const of = await ground(subject);
    const { id, ledger, nowMs, rule, segment, next, commit } = of;
    const before = await read(of);
    const missing = Object.entries(before).filter(
      ([, found]) => !found || (Array.isArray(found) && found.length === 0),
    );
    expect(missing).toEqual([]);
    const [weight] = before.weights;
    expect(await ledger.alertRules.remove(id, rule.id, by, nowMs)).toBe(true);
    expect(await rowsOfRules(subject)).toEqual([1, 1, 0, 1, 2]);
    expect(await read(of)).toEqual({
      rules: [],
      rule: undefined,
      listed: { total: 0, alerts: [] },
      open: 0,
      ofAda: 0,
      weights: [],
      ofEntity: [],
      all: [],
      fired: [],
      firedByDay: [],
      controls: [],
      timeline: [],
      deciding: [],
      toDecide: [],
      inside: 0,
      rulesOfHook: [],
    });
    const { alerts, alertRules, ruleDecisions } = ledger;
    const alert = weight?.id ?? 0;
    expect(await alerts.withIds(id, [alert], { state: "all", today: day })).toEqual([]);
    expect(await alerts.change(id, alert, { verdict: "handled" }, by, day, nowMs)).toBeUndefined();
    expect(await alertRules.change(id, rule.id, { cap: 3 }, by, nowMs)).toBeUndefined();
    expect(await alertRules.remove(id, rule.id, by, nowMs)).toBe(false);
    for (const after of [next.after, next.after + 1]) {
      await expect(commit({ ...next, after })).rejects.toThrow("decided or changed meanwhile");
    }
    await expect(ruleDecisions.holdOut(id, rule.id, 28, nowMs)).rejects.toThrow("changed meanwhile");
    expect(await ledger.segments.remove(id, segment.id, by, nowMs)).toBe(true);
    const again = await alertRules.add(id, alertRule, by, nowMs);
    expect((await alertRules.list(id, day)).map(({ id, name }) => [id, name])).toEqual([
      [again.id, rule.name],
    ]);
  });
}

function later(subject: LedgerUnderTest): void {
  test("deletes the rows in parts, and goes on after a restart", async () => {
    const { id, ledger, nowMs, rule } = await ground(subject);
    const others: number[] = [];
    while (others.length < ruleLimits.perOrganization - 1) {
      others.push(
        (await ledger.alertRules.add(id, { ...alertRule, name: `${others.length}` }, by, nowMs)).id,
      );
    }
    const kept = others.pop() ?? 0;
    for (const other of [...others, rule.id]) await ledger.alertRules.remove(id, other, by, nowMs);
    // Deleted rules do not count for the limit.
    await ledger.alertRules.add(id, { ...alertRule, name: "new" }, by, nowMs);
    await ledger.tidy(nowMs);
    const [left = 0] = await rowsOfRules(subject);
    expect(left).toBeGreaterThan(2);
    expect(left).toBeLessThan(ruleLimits.perOrganization);
    await subject.reopen();
    for (let look = 0; look < 9; look += 1) await subject.ledger.tidy(nowMs);
    expect(await rowsOfRules(subject)).toEqual([2, 2, 0, 0, 0]);
    const names = (await subject.ledger.alertRules.list(id, day)).map((one) => one.id === kept);
    expect(names.toSorted()).toEqual([false, true]);
  });
}
