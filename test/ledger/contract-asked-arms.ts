/** The part of the contract about arms that are asked for: one entry and one arm, whoever comes first. */
import { describe, expect, test } from "bun:test";
import type {
  ArmQuestion,
  AskedArm,
  ListedUnit,
} from "../../server/features/alerts/control-groups/asked-arms.ts";
import { drawOf } from "../../server/features/alerts/control-groups/draw.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import type { RuleEntity } from "../../server/ledger/stores/entity-rows.ts";
import { alertRule, decision, firedAlert } from "./alert-decision.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, user, writePeople } from "./writes.ts";

const day = 20_000;
const horizonDays = 28;
const people = 40;

/** A rule about users that holds back half of them. Users 1 and 2 are in one account, the others in none. */
async function ground(subject: LedgerUnderTest, settings: Partial<typeof alertRule> = {}) {
  const { ledger, nowMs } = subject;
  const { id: organization } = await subject.organization();
  await writePeople(ledger, {
    accounts: [account(organization, "engines")],
    users: Array.from({ length: people }, (_, index) => {
      const number = index + 1;
      return user(organization, `u${number}`, { number, ...(number <= 2 && { account: 1 }) });
    }),
  });
  const condition = { kind: "event", event: "cancel_flow_opened" } as const;
  const about = { ...alertRule, condition, holdOutShare: 0.5, includeCurrent: false, ...settings };
  const { id: rule } = await ledger.alertRules.add(organization, about, by, nowMs);
  const list = (units: readonly ListedUnit[] = [], atMs = nowMs) =>
    ledger.askedArms.list(organization, { rule, day, atMs }, units);
  const of = (number: number): ArmQuestion => ({ rule, entity: { kind: "user", id: `u${number}` } });
  const ask = (numbers: readonly number[], today = day, horizon = horizonDays) =>
    ledger.askedArms.ask(organization, numbers.map(of), { today, horizonDays: horizon, nowMs });
  const one = async (number: number, today = day) => (await ask([number], today))[0] as AskedArm;
  const change = (fields: Partial<typeof alertRule>) =>
    ledger.alertRules.change(organization, rule, fields, by, nowMs);
  const entries = async () => {
    const experiments = await ledger.alertRules.experiments(organization);
    return experiments.map((each) => each.entries.reduce((sum, { entries: own }) => sum + own, 0));
  };
  return { ledger, nowMs, organization, rule, list, ask, one, change, entries, of };
}

const all = Array.from({ length: people }, (_, index) => index + 1);
const notCounted = { arm: "treated", counted: false, until: null } as const;

/** Declares the tests of arms that are asked for. */
export function askedArmsContract(subject: LedgerUnderTest): void {
  describe("arms that are asked for", () => {
    draws(subject);
    meets(subject);
    leavesOut(subject);
    outlives(subject);
  });
}

function draws(subject: LedgerUnderTest): void {
  test("are those of the draw, and the same each time; users of an account have one arm and one entry", async () => {
    const { ledger, nowMs, organization, rule, list, ask, one, entries } = await ground(subject);
    await list();
    const arms = (await ask(all)) as readonly AskedArm[];
    const { secret } = await ledger.ruleDecisions.holdOut(organization, rule, horizonDays, nowMs);
    for (const [index, { arm, counted, experiment, until }] of arms.entries()) {
      const unit = index < 2 ? "account 1" : `user ${index + 1}`;
      const isControl = drawOf(secret, `rule ${rule}, 1`, unit) < 0.5;
      expect({ arm, counted, experiment, until }).toEqual({
        arm: isControl ? "control" : "treated",
        counted: true,
        experiment: 1,
        until: isControl ? day + horizonDays - 1 : null,
      });
    }
    expect(new Set(arms.map(({ arm }) => arm)).size).toBe(2);
    expect(await ask(all, day + 3)).toEqual([...arms]);
    expect(await entries()).toEqual([people - 1]);
    // A horizon later a control that asks again is held again, and is no new entry.
    const control = arms.findIndex(({ arm }, index) => arm === "control" && index > 1) + 1;
    expect(await one(control, day + horizonDays)).toMatchObject({
      arm: "control",
      counted: true,
      until: day + 2 * horizonDays - 1,
    });
    expect(await entries()).toEqual([people - 1]);
    const controls = await ledger.alerts.controls(organization, day + horizonDays);
    expect(controls).toEqual([{ kind: "user", number: control, untilDay: day + 2 * horizonDays - 1 }]);
  });

  test("drawn at once for the same unit are one entry", async () => {
    const { list, ask, entries } = await ground(subject);
    await list();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask([3, 4, 5])));
    for (const answer of answers) expect(answer).toEqual(answers[0] ?? []);
    expect(await entries()).toEqual([3]);
  });

  test("of another condition, share or horizon are drawn again", async () => {
    const { list, ask, change, entries, nowMs } = await ground(subject);
    await list();
    await ask([3]);
    expect(await ask([3], day, 14)).toMatchObject([{ counted: true, experiment: 1 }]);
    expect(await ask([4], day, 14)).toMatchObject([{ counted: true, experiment: 2 }]);
    await change({ holdOutShare: 0.3 });
    await list([], nowMs + 1);
    expect(await ask([5], day, 14)).toMatchObject([{ counted: true, experiment: 3 }]);
    expect(await entries()).toEqual([1, 1, 1]);
  });
}

function meets(subject: LedgerUnderTest): void {
  const fire = async (
    { ledger, nowMs, organization, rule }: Awaited<ReturnType<typeof ground>>,
    entity: RuleEntity,
    arm: "treated" | "control" | "exempt",
    isEntry: boolean,
  ) => {
    const [toDecide] = await ledger.ruleDecisions.toDecide(organization);
    const { sequence: after = 0, version = 0 } = toDecide?.watermark ?? {};
    const controlUntil = arm === "control" ? day + horizonDays - 1 : null;
    const fired = firedAlert(entity, day, { arm, controlUntil, isEntry, eventId: "e1" });
    const chunk = decision({ organization, rule, entity, day });
    await ledger.ruleDecisions.commitDecision(
      { ...chunk, after, version, states: [], fired: [fired] },
      nowMs,
    );
  };

  for (const arm of ["treated", "control"] as const) {
    test(`after the event are those of its alert: ${arm}`, async () => {
      const parts = await ground(subject);
      await parts.list();
      await parts.ledger.ruleDecisions.holdOut(parts.organization, parts.rule, horizonDays, parts.nowMs);
      await fire(parts, { kind: "user", number: 3 }, arm, true);
      const until = arm === "control" ? day + horizonDays - 1 : null;
      expect(await parts.one(3)).toEqual({ arm, counted: true, experiment: 1, until });
      expect(await parts.entries()).toEqual([1]);
    });
  }

  test("before the event are known to its draw, with the hold", async () => {
    const parts = await ground(subject);
    const { ledger, organization, rule } = parts;
    await parts.list();
    const arms = (await parts.ask(all)) as readonly AskedArm[];
    const users = all.slice(2);
    const known = await ledger.ruleDecisions.knownArms(
      organization,
      { rule, experiment: 1, day },
      { users, accounts: [] },
    );
    const ofUsers = new Map(known.entries.map(({ user: number, arm }) => [number, arm]));
    for (const number of users) expect(ofUsers.get(number)).toBe(arms[number - 1]?.arm as "treated");
    const held = users.filter((number) => arms[number - 1]?.arm === "control");
    expect(known.controls.map(({ user: number }) => number).toSorted((a, b) => a - b)).toEqual(held);
  });

  test("of a unit that was exempt at its event are not counted", async () => {
    const parts = await ground(subject);
    await parts.list();
    await fire(parts, { kind: "user", number: 3 }, "exempt", false);
    expect(await parts.one(3)).toMatchObject(notCounted);
    expect(await parts.entries()).toEqual([0]);
  });
}

function leavesOut(subject: LedgerUnderTest): void {
  test("are not counted before who may enter is listed, and of those who may not", async () => {
    const { list, ask, one, entries, nowMs } = await ground(subject);
    expect(await one(3)).toMatchObject(notCounted);
    await list([
      { user: 3, account: 0, mayEnter: false },
      { user: 0, account: 1, mayEnter: false },
    ]);
    expect(await ask([1, 2, 3])).toMatchObject([notCounted, notCounted, notCounted]);
    expect(await one(4)).toMatchObject({ counted: true });
    // The next list takes the place of this one.
    await list([{ user: 5, account: 0, mayEnter: false }], nowMs + 1);
    expect(await ask([3, 5])).toMatchObject([{ counted: true }, notCounted]);
    expect(await entries()).toEqual([2]);
  });

  test("of a rule about a segment are counted for its members", async () => {
    const { ledger, organization, rule, list, ask, nowMs } = await ground(subject);
    const content = { ids: ["u1", "u3"] };
    const { segment } = await ledger.segments.add(
      organization,
      { kind: "users", name: "Paying", content },
      by,
      nowMs,
    );
    const scope = { kind: "users" as const, segment: segment.id };
    await ledger.alertRules.change(organization, rule, { scope }, by, nowMs);
    await list(
      [
        { user: 1, account: 0, mayEnter: true },
        { user: 3, account: 0, mayEnter: true },
        { user: 0, account: 1, mayEnter: false },
      ],
      nowMs + 1,
    );
    expect(await ask([1, 3, 4])).toMatchObject([notCounted, { counted: true }, notCounted]);
  });

  test("of a paused rule or one without a control group are kept where they are known", async () => {
    const { list, ask, one, change, nowMs } = await ground(subject);
    await list();
    const before = await one(3);
    await change({ isPaused: true });
    await list([], nowMs + 1);
    expect(await ask([3, 4])).toMatchObject([before, notCounted]);
    await change({ isPaused: false, holdOutShare: 0 });
    await list([], nowMs + 2);
    expect(await one(4)).toMatchObject(notCounted);
  });

  test("say what is not there, and what no rule of this kind has", async () => {
    const { ledger, organization, nowMs, of, ask, list } = await ground(subject);
    await list();
    const named = { ...alertRule, name: "About risk", holdOutShare: 0.5 };
    const risk = await ledger.alertRules.add(organization, named, by, nowMs);
    const clock = { today: day, horizonDays, nowMs };
    const questions: readonly ArmQuestion[] = [
      { ...of(3), rule: 999_999 },
      { ...of(3), rule: risk.id },
      { ...of(3), entity: { kind: "user", id: "nobody" } },
      { ...of(3), entity: { kind: "account", id: "engines" } },
    ];
    expect(await ledger.askedArms.ask(organization, questions, clock)).toEqual([
      "noRule",
      "notAboutEvents",
      "noEntity",
      "aboutUsers",
    ]);
    expect(await ask([])).toEqual([]);
  });
}

function outlives(subject: LedgerUnderTest): void {
  test("of an erased user are counts, its account stays what it was, and no list names it", async () => {
    const { ledger, organization, list, ask, one, entries } = await ground(subject);
    await list([{ user: 9, account: 0, mayEnter: false }]);
    const [first] = (await ask([1])) as readonly AskedArm[];
    await ledger.erasures.begin(organization, "u1", { by });
    await ledger.erasures.begin(organization, "u9", { by });
    expect(await entries()).toEqual([1]);
    const second = await one(2);
    expect(second.arm).toBe(first?.arm === "control" ? "control" : second.arm);
    expect(await entries()).toEqual([1]);
  });

  test("and lists of a deleted rule are gone", async () => {
    const { ledger, organization, rule, list, ask, of, nowMs } = await ground(subject);
    await list([{ user: 9, account: 0, mayEnter: false }]);
    await ask([3]);
    await ledger.alertRules.remove(organization, rule, by, nowMs);
    const clock = { today: day, horizonDays, nowMs };
    expect(await ledger.askedArms.ask(organization, [of(3)], clock)).toEqual(["noRule"]);
  });

  test("of a rule that is deleted at the same moment are none, and those of other rules are drawn", async () => {
    const { ledger, organization, rule, list, of, entries, nowMs } = await ground(subject);
    await list();
    const condition = { kind: "event", event: "left" } as const;
    const about = { ...alertRule, name: "Other", condition, holdOutShare: 0.5, includeCurrent: false };
    const { id: other } = await ledger.alertRules.add(organization, about, by, nowMs);
    await ledger.askedArms.list(organization, { rule: other, day, atMs: nowMs }, []);
    const clock = { today: day, horizonDays, nowMs };
    const questions = [of(3), { ...of(3), rule: other }];
    const [[first, second]] = await Promise.all([
      ledger.askedArms.ask(organization, questions, clock),
      ledger.alertRules.remove(organization, rule, by, nowMs),
    ]);
    expect(first === "noRule" || typeof first === "object").toBe(true);
    expect(second).toMatchObject({ counted: true, experiment: 1 });
    expect((await entries()).at(-1)).toBe(1);
  });
}
