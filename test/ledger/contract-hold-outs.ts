/** The part of the contract about experiments of hold-outs, and the counts that outlive users, rules and
 * alerts. */
import { describe, expect, test } from "bun:test";
import { ruleLimits } from "../../contract/alerts/rules.ts";
import { parseDay } from "../../server/calendar/days.ts";
import type { DrawnAlert, DrawnChunk } from "../../server/features/alerts/store/decisions.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import type { RuleEntity } from "../../server/ledger/stores/entity-rows.ts";
import { alertRule, decision, firedAlert } from "./alert-decision.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, user, writePeople } from "./writes.ts";

/** 2024-10-14. */
const day = dayOf("2024-10-14");
const october = dayOf("2024-10-01");
const condition = { kind: "healthBelow", below: 40 } as const;
const person = (number: number): RuleEntity => ({ kind: "user", number });

function dayOf(text: string): number {
  const found = parseDay(text);
  if (found === undefined) throw new Error(`${text} is no day`);
  return found;
}

/** A rule with a hold-out. Ada and Bob are in one account, Cleo is in none. */
async function ground(subject: LedgerUnderTest, settings: Partial<typeof alertRule> = {}) {
  const { ledger, nowMs } = subject;
  const { id } = await subject.organization();
  await writePeople(ledger, {
    accounts: [account(id, "engines")],
    users: [
      ...["ada", "bob"].map((userId, index) => user(id, userId, { number: index + 1, account: 1 })),
      user(id, "cleo", { number: 3 }),
    ],
  });
  const rule = await ledger.alertRules.add(id, { ...alertRule, holdOutShare: 0.2, ...settings }, by, nowMs);
  const change = (fields: Partial<typeof alertRule>) =>
    ledger.alertRules.change(id, rule.id, fields, by, nowMs);
  const draw = (horizonDays: number) => ledger.ruleDecisions.holdOut(id, rule.id, horizonDays, nowMs + 1);
  const commit = async (fired: readonly DrawnAlert[], more: Partial<DrawnChunk> = {}) => {
    const [toDecide] = await ledger.ruleDecisions.toDecide(id);
    const first = decision({ organization: id, rule: rule.id, entity: person(1), day });
    const { sequence: after = 0, version = 0 } = toDecide?.watermark ?? {};
    const next = { decidedThrough: fired[0]?.day ?? day, part: null, cursor: null };
    const chunk = { ...first, after, version, next, states: [], fired, ...more };
    return ledger.ruleDecisions.commitDecision(chunk, nowMs);
  };
  const experiments = () => ledger.alertRules.experiments(id);
  const entries = async () => (await experiments()).flatMap((one) => one.entries);
  return { id, ledger, nowMs, rule, change, draw, commit, experiments, entries };
}

const drawn = (entity: RuleEntity, arm: "treated" | "control" | "exempt", more: Partial<DrawnAlert> = {}) =>
  firedAlert(entity, day, { arm, controlUntil: arm === "control" ? day + 27 : null, ...more });
const counted = (arm: "treated" | "control", entries: number, more: object = {}) => ({
  arm,
  month: october,
  outcome: null,
  isForgotten: false,
  entries,
  ...more,
});

/** Declares the tests of hold-outs. */
export function holdOutsContract(subject: LedgerUnderTest): void {
  describe("hold-outs", () => {
    begins(subject);
    counts(subject);
    forgets(subject);
    outlives(subject);
  });
}

function begins(subject: LedgerUnderTest): void {
  test("another share, condition or churn horizon begins an experiment, and each keeps its own", async () => {
    const { rule, change, draw, experiments, nowMs } = await ground(subject);
    const [first] = [await draw(28)];
    expect(first).toMatchObject({ experiment: 1 });
    expect(first.secret).toHaveLength(64);
    expect(await draw(28)).toEqual(first);
    expect(await draw(60)).toEqual({ ...first, experiment: 2 });
    await change({ cap: 3, exemptions: { mrrAbove: 5 } });
    expect(await draw(60)).toEqual({ ...first, experiment: 2 });
    await change({ holdOutShare: 0.5 });
    await change({ condition });
    expect(await draw(60)).toEqual({ ...first, experiment: 4 });
    expect(await draw(28)).toEqual({ ...first, experiment: 5 });
    const { scope, condition: before } = alertRule;
    const of = { rule: rule.id, deletedRule: null, entries: [], scope, condition: before, beganAtMs: nowMs };
    expect(await experiments()).toEqual([
      { ...of, experiment: 1, version: 1, share: 0.2, horizonDays: 28 },
      { ...of, experiment: 2, version: 1, share: 0.2, horizonDays: 60, beganAtMs: nowMs + 1 },
      { ...of, experiment: 3, version: 1, share: 0.5, horizonDays: null },
      { ...of, experiment: 4, version: 2, share: 0.5, horizonDays: 60, condition },
      { ...of, experiment: 5, version: 2, share: 0.5, horizonDays: 28, condition, beganAtMs: nowMs + 1 },
    ]);
  });

  test("a rule without a share has no experiment and no draw", async () => {
    const { change, draw, experiments } = await ground(subject);
    await change({ holdOutShare: 0 });
    await expect(draw(28)).rejects.toThrow("decided or changed meanwhile");
    expect((await experiments()).map(({ share }) => share)).toEqual([0.2]);
  });
}

function counts(subject: LedgerUnderTest): void {
  test("an account enters once, by its first user, and an exempt one does not", async () => {
    const { draw, commit, entries, experiments } = await ground(subject);
    await draw(28);
    await commit([
      drawn(person(1), "treated", { account: 1 }),
      drawn(person(2), "treated", { account: 1 }),
      drawn(person(3), "exempt"),
    ]);
    expect(await entries()).toEqual([counted("treated", 1)]);
    await commit([drawn(person(3), "control", { day: dayOf("2024-11-01") })]);
    await commit([drawn(person(1), "treated", { account: 1, day: dayOf("2024-11-20") })]);
    const november = { month: dayOf("2024-11-01") };
    expect(await entries()).toEqual([counted("treated", 1), counted("control", 1, november)]);
    // Entries under another horizon are those of the next experiment.
    await draw(14);
    await commit([drawn(person(3), "control", { day: dayOf("2024-12-31") })]);
    expect((await experiments()).map((one) => one.entries)).toEqual([
      [counted("treated", 1), counted("control", 1, november)],
      [counted("control", 1, { month: dayOf("2024-12-01") })],
    ]);
  });
}

function forgets(subject: LedgerUnderTest): void {
  test("an erased user stays as arm and month, and the account does not enter again", async () => {
    const { id, ledger, draw, commit, entries } = await ground(subject);
    await draw(28);
    await commit([drawn(person(1), "control", { account: 1 }), drawn(person(3), "treated")]);
    await ledger.erasures.begin(id, "ada", { by });
    await ledger.erasures.begin(id, "cleo", { by });
    const forgotten = [
      counted("control", 1, { isForgotten: true }),
      counted("treated", 1, { isForgotten: true }),
    ];
    expect(await entries()).toEqual(forgotten);
    await commit([drawn(person(2), "control", { account: 1, day: day + 1 })]);
    expect(await entries()).toEqual(forgotten);
    const rows = Object.values((await (await subject.beside()).rows()).hold_out_entries ?? []);
    expect(rows.filter((row) => JSON.parse(row).user_number !== 0)).toEqual([]);
    await ledger.erasures.beginAccount(id, "engines", { by });
    expect(await entries()).toEqual(forgotten);
  });

  test("a churn within the horizon is kept of an erased account, and its users stay", async () => {
    const { id, ledger, draw, commit, entries } = await ground(subject, { scope: { kind: "accounts" } });
    const engines: RuleEntity = { kind: "account", number: 1 };
    await draw(28);
    await commit([drawn(engines, "treated", { account: 1 }), drawn(person(3), "treated")]);
    const closed = [{ entity: engines, firedOn: day, day: day + 28, why: "churned" } as const];
    await commit([], { closed });
    expect(await entries()).toEqual([counted("treated", 2)]);
    await ledger.erasures.beginAccount(id, "engines", { by });
    expect(await entries()).toEqual([
      counted("treated", 1),
      counted("treated", 1, { outcome: "churned", isForgotten: true }),
    ]);
  });
}

function outlives(subject: LedgerUnderTest): void {
  test("counts stay when their rule is deleted, and when alerts are older than they are kept", async () => {
    const { id, ledger, nowMs, rule, draw, commit, experiments, entries } = await ground(subject);
    await draw(28);
    await commit([drawn(person(1), "control", { account: 1 }), drawn(person(3), "treated")]);
    const closed = [{ entity: person(3), firedOn: day, day: day + 29, why: "churned" } as const];
    await commit([], { closed });
    const forgotten = [
      counted("control", 1, { isForgotten: true }),
      counted("treated", 1, { isForgotten: true }),
    ];
    await ledger.tidy((day + ruleLimits.keptDays) * 86_400_000);
    expect(await entries()).toEqual([counted("control", 1), counted("treated", 1)]);
    await ledger.tidy((day + ruleLimits.keptDays + 1) * 86_400_000);
    expect(await entries()).toEqual(forgotten);
    await commit([drawn(person(3), "treated", { day: day + 800 })]);
    await ledger.alertRules.remove(id, rule.id, by, nowMs);
    expect(await experiments()).toMatchObject([{ deletedRule: alertRule.name, share: 0.2, horizonDays: 28 }]);
    const later = { month: dayOf("2026-12-01"), isForgotten: true };
    expect(await entries()).toEqual([...forgotten, counted("treated", 1, later)]);
    await ledger.tidy(nowMs);
    expect(await entries()).toEqual([...forgotten, counted("treated", 1, later)]);
  });

  test("entries of a deleted rule lose their numbers and keep a churn within the horizon", async () => {
    const { id, ledger, nowMs, rule, draw, commit, entries } = await ground(subject);
    await draw(28);
    await commit([drawn(person(1), "control", { account: 1 }), drawn(person(3), "treated")]);
    await commit([], { closed: [{ entity: person(3), firedOn: day, day: day + 9, why: "churned" }] });
    // The account of an erased user stays without an arm.
    await ledger.erasures.begin(id, "ada", { by });
    await ledger.alertRules.remove(id, rule.id, by, nowMs);
    await ledger.tidy(nowMs);
    expect(await entries()).toEqual([
      counted("control", 1, { isForgotten: true }),
      counted("treated", 1, { outcome: "churned", isForgotten: true }),
    ]);
    const { alerts = [], hold_out_entries: rows = [] } = await (await subject.beside()).rows();
    const numbers = rows.map((row) => JSON.parse(row)).map((row) => [row.user_number, row.account_number]);
    expect([alerts, numbers]).toEqual([
      [],
      [
        [0, 0],
        [0, 0],
      ],
    ]);
  });
}
