/** The part of the contract about outcomes of control groups: what is due, and what the arms show. */
import { describe, expect, test } from "bun:test";
import type { DrawnAlert } from "../../server/features/alerts/store/decisions.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import { alertRule, decision, firedAlert } from "./alert-decision.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, writePeople } from "./writes.ts";

const day = 20_000;
const horizonDays = 28;

/** An organization with a rule that holds back half, and accounts that entered on one day: those with an even
 * number are controls. */
async function ground(subject: LedgerUnderTest) {
  const { ledger, nowMs } = subject;
  const { id: organization } = await subject.organization();
  const numbers = [1, 2, 3, 4, 5, 6];
  await writePeople(ledger, {
    accounts: numbers.map((number) =>
      account(organization, `a${number}`, { number, name: `Name ${number}` }),
    ),
  });
  const settings = { ...alertRule, scope: { kind: "accounts" as const }, holdOutShare: 0.5 };
  const { id: rule } = await ledger.alertRules.add(organization, settings, by, nowMs);
  await ledger.ruleDecisions.holdOut(organization, rule, horizonDays, nowMs);
  const fired = numbers.map((number): DrawnAlert => {
    const isControl = number % 2 === 0;
    return firedAlert({ kind: "account", number }, day, {
      account: number,
      arm: isControl ? "control" : "treated",
      controlUntil: isControl ? day + horizonDays - 1 : null,
    });
  });
  const chunk = decision({ organization, rule, entity: { kind: "account", number: 1 }, day });
  const [toDecide] = await ledger.ruleDecisions.toDecide(organization);
  const after = toDecide?.watermark.sequence ?? 0;
  await ledger.ruleDecisions.commitDecision({ ...chunk, after, states: [], fired }, nowMs);
  const results = ledger.holdOutResults;
  const open = async () => {
    const [experiment] = await results.open(organization);
    if (experiment === undefined) throw new Error("No experiment is open.");
    return experiment;
  };
  const due = async (today: number, after = 0) =>
    results.due(organization, await open(), { today, after, limit: 4 });
  return { ledger, organization, rule, results, open, due };
}

/** Declares the tests of results. */
export function holdOutResultsContract(subject: LedgerUnderTest): void {
  describe("what came of entries", () => {
    test("is due when the horizon is over, a page at a time, and may wait for longer", async () => {
      const { organization, results, due } = await ground(subject);
      expect(await due(day + horizonDays)).toEqual([]);
      const first = await due(day + horizonDays + 1);
      expect(first.map(({ account: number, arm }) => [number, arm])).toEqual([
        [1, "treated"],
        [2, "control"],
        [3, "treated"],
        [4, "control"],
      ]);
      expect(await due(day + horizonDays + 1, first.at(-1)?.id)).toHaveLength(2);
      const [one] = first;
      const waits = { id: one?.id ?? 0, outcome: null, dueDay: day + 40, isContaminated: false };
      await results.settle(organization, [waits]);
      expect((await due(day + 30)).map(({ account: number }) => number)).toEqual([2, 3, 4, 5]);
      expect((await due(day + 41)).map(({ account: number }) => number)).toEqual([1, 2, 3, 4]);
    });

    test("is counted by arm, and among the first entries of the plan; a plan and an outcome never change", async () => {
      const { organization, rule, results, open, due } = await ground(subject);
      const experiment = await open();
      expect(experiment).toMatchObject({ rule, horizonDays, primary: null, planned: null });
      const plan = { primary: "churned", base: 0.2, planned: 4 } as const;
      await results.plan(organization, experiment, plan);
      await results.plan(organization, experiment, { ...plan, planned: 99 });
      expect(await results.plans(organization)).toMatchObject([plan]);
      const all = [...(await due(day + 30)), ...(await due(day + 30, (await due(day + 30)).at(-1)?.id))];
      const outcomes = ["churned", "retained", "leftOut", "churned", "retained", null] as const;
      const settled = all.map(({ id }, index) => ({
        id,
        outcome: outcomes[index] ?? null,
        dueDay: null,
        isContaminated: index === 3,
      }));
      await results.settle(organization, settled);
      await results.settle(
        organization,
        settled.map((one) => ({ ...one, outcome: "retained" as const })).slice(0, 1),
      );
      // Account 3 is left out, so that the first four are 1, 2, 4 and 5.
      expect(await results.arms(organization)).toMatchObject([
        {
          arm: "control",
          entries: 3,
          mature: 2,
          left: 1,
          firstMature: 2,
          firstLeft: 1,
          firstOpen: 0,
          contaminated: 1,
        },
        { arm: "treated", entries: 2, mature: 2, left: 1, firstMature: 2, firstLeft: 1, firstOpen: 0 },
      ]);
    });

    test("stays of who is erased afterwards, and is none of who was erased before", async () => {
      const { ledger, organization, rule, results, due } = await ground(subject);
      const [first] = await due(day + 30);
      const known = { id: first?.id ?? 0, outcome: "churned", dueDay: null, isContaminated: false } as const;
      await results.settle(organization, [known]);
      for (const id of ["a1", "a2"]) await ledger.erasures.beginAccount(organization, id);
      expect(await results.arms(organization)).toMatchObject([
        { arm: "control", entries: 2, mature: 0 },
        { arm: "treated", entries: 3, mature: 1, left: 1 },
      ]);
      // Those who are still named can be followed up.
      const before = { day: day + 1, limit: 2 };
      const named = await results.enteredBefore(organization, { rule, experiment: 1 }, before);
      expect(named.map(({ account: number, arm }) => [number, arm])).toEqual([
        [3, "treated"],
        [4, "control"],
      ]);
      expect(await results.enteredBefore(organization, { rule, experiment: 1 }, { ...before, day })).toEqual(
        [],
      );
    });
  });
}
