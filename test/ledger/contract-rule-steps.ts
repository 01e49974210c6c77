/** The part of the contract about steps of rules: tasks and later messages while an alert is open. */
import { describe, expect, test } from "bun:test";
import type { RuleStep } from "../../contract/alerts/rules.ts";
import type { DrawnAlert } from "../../server/features/alerts/store/decisions.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import { alertRule, decision, firedAlert, renderDue } from "./alert-decision.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, writePeople } from "./writes.ts";

const day = 20_000;
const task = (afterDays: number, title: string, dueDays: number | null = null): RuleStep => ({
  kind: "task",
  afterDays,
  title,
  dueDays,
  assignee: null,
});
const message = (afterDays: number): RuleStep => ({
  kind: "message",
  afterDays,
  title: null,
  dueDays: null,
  assignee: null,
});

/** An organization with accounts, a webhook, a Slack channel, and a rule with steps. Its clock stands at the
 * start of a day, in UTC. */
async function ground(subject: LedgerUnderTest, steps: readonly RuleStep[], accounts = 3) {
  const { ledger } = subject;
  const { id: organization } = await subject.organization();
  const at = (days: number) => (day + days) * 86_400_000;
  const numbers = Array.from({ length: accounts }, (_, index) => index + 1);
  await writePeople(ledger, {
    accounts: numbers.map((number) =>
      account(organization, `a${number}`, { number, name: `Name ${number}` }),
    ),
  });
  const destinations: number[] = [];
  for (const kind of ["webhook", "slack"] as const) {
    const wanted = {
      kind,
      name: kind,
      address: `https://${kind}.example.com/`,
      secrets: [],
      notices: [],
    } as const;
    destinations.push((await ledger.destinations.add(organization, wanted, by, at(0))).id);
  }
  const settings = { ...alertRule, scope: { kind: "accounts" as const }, steps, destinations };
  const rule = await ledger.alertRules.add(organization, settings, by, at(0));
  const fire = async (fired: readonly DrawnAlert[], onDay = day) => {
    const [toDecide] = await ledger.ruleDecisions.toDecide(organization);
    const entity = { kind: "account", number: 1 } as const;
    const chunk = decision({ organization, rule: rule.id, entity, day: onDay });
    const after = toDecide?.watermark.sequence ?? 0;
    await ledger.ruleDecisions.commitDecision({ ...chunk, after, states: [], fired }, at(onDay - day));
  };
  const alert = (number: number, more: Partial<DrawnAlert> = {}) =>
    firedAlert({ kind: "account", number }, day, { account: number, ...more });
  /** Looks for steps on a day, as analysis does. @returns how many tasks there was no room for */
  const look = async (days: number) => {
    let refused = 0;
    for (const due of await ledger.ruleSteps.due(organization, day + days)) {
      for (let after: number | null = 0; after !== null; ) {
        const clock = { today: day + days, nowMs: at(days), nextMorningMs: at(days) + 5 };
        const ran = await ledger.ruleSteps.run(organization, due, after, clock);
        refused += ran.refusedTasks;
        after = ran.after;
      }
    }
    return refused;
  };
  const tasks = async () => {
    const question = { list: "open", today: day, limit: 999, offset: 0 } as const;
    const { tasks: all } = await ledger.tasks.list(organization, question);
    return all.map(({ entity, title, dueDay }) => [entity.id, title, dueDay]).sort();
  };
  const sent = async () => {
    const all = await ledger.deliveries.list(organization, { limit: 99 });
    return all
      .map(({ destination, body }) => [destinations.indexOf(destination), body] as const)
      .toReversed();
  };
  const list = async () =>
    (await ledger.alerts.list(organization, { state: "all", today: day, limit: 99, offset: 0 })).alerts;
  return { ledger, organization, rule, at, fire, alert, look, tasks, sent, list };
}

/** Declares the tests of steps. */
export function ruleStepsContract(subject: LedgerUnderTest): void {
  describe("steps of a rule", () => {
    test("run once each, on their days, and only while the alert is open and no control", async () => {
      const steps = [task(0, "Call", 2), task(0, "Look"), task(3, "Call again")];
      const { ledger, organization, at, fire, alert, look, tasks, list } = await ground(subject, steps, 4);
      await fire([alert(1), alert(2), alert(3), alert(4, { arm: "control", controlUntil: day + 27 })]);
      await look(0);
      const first = ["a1", "a2", "a3"].flatMap((id) => [
        [id, "Call", day + 2],
        [id, "Look", null],
      ]);
      expect(await tasks()).toEqual(first);
      // Nothing new is due: it is not even looked for.
      expect(await ledger.ruleSteps.due(organization, day)).toEqual([]);
      await look(0);
      await look(2);
      expect(await tasks()).toEqual(first);
      const of = (id: string) => async () =>
        (await list()).find(({ entity }) => entity.kind === "account" && entity.id === id)?.id ?? 0;
      await ledger.alerts.change(organization, await of("a2")(), { verdict: "handled" }, by, day + 2, at(2));
      await look(3);
      await look(3);
      expect(await tasks()).toEqual(
        [...first, ["a1", "Call again", null], ["a3", "Call again", null]].sort(),
      );
      const { entries } = { entries: await ledger.audit.list(organization, { limit: 99 }) };
      expect(entries.filter(({ action }) => action === "task.created")).toHaveLength(8);
    });

    test("are of more alerts than one commit has", async () => {
      const { fire, alert, look, tasks } = await ground(subject, [task(0, "Call")], 205);
      const all = Array.from({ length: 205 }, (_, index) => alert(index + 1));
      for (let from = 0; from < all.length; from += 100) await fire(all.slice(from, from + 100));
      await look(0);
      expect(await tasks()).toHaveLength(205);
    });

    test("go to the assignee of the alert, or to a member; who has left gets none", async () => {
      const own = { ...task(0, "Own"), assignee: 999 };
      const { ledger, organization, rule, at } = await ground(subject, []);
      const changed = ledger.alertRules.change(organization, rule.id, { steps: [own] }, by, at(0));
      await expect(changed).rejects.toThrow("assignee is not valid");
    });

    test("that are added later do not make up for the past, and keep their day when they change", async () => {
      const { ledger, organization, rule, at, fire, alert, look, tasks } = await ground(subject, [
        task(5, "Late"),
      ]);
      await fire([alert(1)]);
      const steps = [task(2, "Never"), task(5, "Late, renamed"), task(6, "New")];
      await ledger.alertRules.change(organization, rule.id, { steps }, by, at(4));
      for (const days of [4, 5, 6]) await look(days);
      expect(await tasks()).toEqual([
        ["a1", "Late, renamed", null],
        ["a1", "New", null],
      ]);
      const [shown] = await ledger.alertRules.list(organization, day);
      expect(shown?.steps).toEqual(steps);
    });

    test("send one more message, which leaves out who closed meanwhile, and count as touches", async () => {
      const { ledger, organization, at, fire, alert, look, sent, list } = await ground(subject, [message(7)]);
      await fire([alert(1, { expectedLoss: 1 }), alert(2, { expectedLoss: 2 })]);
      await look(6);
      expect(await sent()).toEqual([]);
      await look(7);
      await look(7);
      expect((await sent()).map(([destination]) => destination).toSorted()).toEqual([0, 0, 1]);
      const closed = {
        entity: { kind: "account", number: 2 } as const,
        firedOn: day,
        day: day + 7,
        why: "resolved",
      } as const;
      const [toDecide] = await ledger.ruleDecisions.toDecide(organization);
      const chunk = decision({
        organization,
        rule: toDecide?.version.rule ?? 0,
        entity: closed.entity,
        day: day + 7,
      });
      const after = toDecide?.watermark.sequence ?? 0;
      await ledger.ruleDecisions.commitDecision(
        { ...chunk, after, states: [], fired: [], closed: [{ ...closed, eventId: "" }] },
        at(7),
      );
      await renderDue(ledger, at(7) + 10, { organization, today: day + 7 });
      const bodies = (await sent()).flatMap(([, body]) => (body === "" ? [] : [JSON.parse(body).data]));
      // One message a destination, in no order.
      const texts = bodies.map(({ text }) => String(text)).toSorted();
      expect(texts).toEqual([
        "High risk: 1 alert is still open after 7 days.",
        expect.stringContaining("Name 1"),
      ]);
      expect(bodies.find(({ text }) => text === texts[1])).toMatchObject({ openForDays: 7 });
      expect(await ledger.ruleSteps.messagesSince(organization, at(7), 0, 9)).toMatchObject(
        (await list()).map(() => ({ rule: { name: "High risk" }, atMs: at(7) })),
      );
    });

    test("of a paused or deleted rule do not run", async () => {
      const { ledger, organization, rule, at, fire, alert, look, tasks } = await ground(subject, [
        task(1, "Call"),
      ]);
      await fire([alert(1)]);
      await ledger.alertRules.change(organization, rule.id, { isPaused: true }, by, at(0));
      await look(1);
      expect(await tasks()).toEqual([]);
      await ledger.alertRules.remove(organization, rule.id, by, at(1));
      await look(2);
      expect(await tasks()).toEqual([]);
    });
  });

  describe("verdicts", () => {
    test("are kept each time, with who said them, and go with the user or account", async () => {
      const { ledger, organization, at, fire, alert, list } = await ground(subject, []);
      await fire([alert(1)]);
      const [first] = await list();
      const say = (change: Parameters<typeof ledger.alerts.change>[2], days: number) =>
        ledger.alerts.change(organization, first?.id ?? 0, change, by, day, at(days));
      expect(await say({ outcome: "saved", note: "They stay." }, 1)).toMatchObject({
        verdict: "handled",
        outcome: "saved",
      });
      await say({ outcome: "lost" }, 2);
      await expect(say({ verdict: "notUseful", outcome: "saved" }, 2)).rejects.toThrow("outcome");
      expect(await say({ verdict: "notUseful" }, 3)).toMatchObject({ verdict: "notUseful", outcome: null });
      const call = { kind: "account", id: "a2" } as const;
      await ledger.alerts.setCallAside(organization, call, { verdict: "handled" }, by, at(4));
      // Handled once more, it is another call.
      await ledger.alerts.setCallAside(organization, call, { verdict: "handled" }, by, at(40));
      const said = async () =>
        (await ledger.alerts.verdicts(organization, at(0), 0, 99)).map(
          ({ account: of, verdict, outcome, by: who, rule }) => [of, verdict, outcome, who, rule?.name],
        );
      expect(await said()).toEqual([
        [1, "handled", "saved", "command line", "High risk"],
        [1, "handled", "lost", "command line", "High risk"],
        [1, "notUseful", null, "command line", "High risk"],
        [2, "handled", null, "command line", undefined],
        [2, "handled", null, "command line", undefined],
      ]);
      await ledger.erasures.beginAccount(organization, "a1");
      expect((await said()).map(([of]) => of)).toEqual([2, 2]);
    });
  });
}
