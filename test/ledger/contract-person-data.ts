/** The part of the contract about what rules and messages say of one user: for a copy of everything about a
 * person. */
import { describe, expect, test } from "bun:test";
import type { RuleEntity } from "../../server/ledger/stores/entity-rows.ts";
import { alertRule, firedAlert, renderDue } from "./alert-decision.ts";
import { ground } from "./contract-alert-rules.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const day = 20_000;
const ada: RuleEntity = { kind: "user", number: 1 };
const bob: RuleEntity = { kind: "user", number: 2 };
const engines: RuleEntity = { kind: "account", number: 1 };
const body = JSON.stringify({ type: "digest", data: { text: "a\0b 'c' 😀" } });

/** A rule with a hold-out has fired for Ada by her account, and a digest names Ada, Bob and the account. */
async function fired(subject: LedgerUnderTest) {
  const all = await ground(subject, { holdOutShare: 0.2 });
  const { id, ledger, nowMs, rule, hook, first, commit } = all;
  await ledger.ruleDecisions.holdOut(id, rule.id, 28, nowMs);
  const treated = firedAlert(ada, day, { arm: "treated", account: 1 });
  const control = firedAlert(bob, day, { arm: "control", controlUntil: day + 27 });
  await commit({ ...first, fired: [treated, control] });
  await renderDue(ledger, nowMs, { organization: id, today: day });
  const digest = { messageId: "of a digest", type: "digest", body } as const;
  await ledger.deliveries.add(id, hook.id, digest, nowMs, [ada, bob, engines]);
  return { ...all, data: ledger.alertsAboutUser };
}

/** Declares the tests of data about one user. */
export function personDataContract(subject: LedgerUnderTest): void {
  describe("data of one person", () => {
    ofRules(subject);
    ofMessages(subject);
  });
}

function ofRules(subject: LedgerUnderTest): void {
  test("states of rules and entries into hold-outs are those of the user alone", async () => {
    const { id, rule, data } = await fired(subject);
    const of = { ruleId: rule.id, rule: alertRule.name };
    expect(await data.states(id, 1)).toEqual([
      { ...of, hasLeft: false, daysOut: 0, restsUntil: day + 7, firedOn: day, value: 0.6 },
    ]);
    const entry = { ...of, experiment: 1, enteredDay: day, outcome: null };
    expect(await data.entries(id, 1)).toEqual([{ ...entry, accountId: "engines", arm: "treated" }]);
    expect(await data.entries(id, 2)).toEqual([{ ...entry, accountId: null, arm: "control" }]);
    expect([await data.states(id, 2), await data.entries(id, 0)]).toEqual([[], []]);
    const { id: other } = await subject.organization("other");
    expect([await data.states(other, 1), await data.entries(other, 1)]).toEqual([[], []]);
  });

  test("the entry of an erased account stays without the account, and a deleted rule leaves neither", async () => {
    const { id, ledger, nowMs, rule, data } = await fired(subject);
    const by = { person: null, by: "command line" };
    await ledger.erasures.beginAccount(id, "engines", { by });
    expect(await data.entries(id, 1)).toMatchObject([{ accountId: null, arm: "treated" }]);
    await ledger.alertRules.remove(id, rule.id, by, nowMs);
    expect([await data.states(id, 1), await data.entries(id, 1)]).toEqual([[], []]);
  });
}

function ofMessages(subject: LedgerUnderTest): void {
  test("messages are those that name the user, with their destination, a page at a time", async () => {
    const { id, ledger, nowMs, hook } = await fired(subject);
    const all = await ledger.deliveries.ofUser(id, 1, 0, 9);
    expect(all.map(({ messageId }) => messageId)).toEqual([`msg_${day}`, "of a digest"]);
    expect(all[1]).toEqual({
      id: all[1]?.id ?? 0,
      destination: hook.name,
      destinationKind: hook.kind,
      type: "digest",
      messageId: "of a digest",
      body,
      state: "pending",
      attempts: 0,
      dueAtMs: nowMs,
      attemptedAtMs: null,
      status: null,
      createdAtMs: nowMs,
    });
    const first = all[0]?.id ?? 0;
    expect(await ledger.deliveries.ofUser(id, 1, 0, 1)).toEqual(all.slice(0, 1));
    expect(await ledger.deliveries.ofUser(id, 1, first, 1)).toEqual(all.slice(1));
    expect((await ledger.deliveries.ofUser(id, 2, 0, 9)).map(({ messageId }) => messageId)).toEqual([
      "of a digest",
    ]);
    const { id: other } = await subject.organization("other");
    expect([
      await ledger.deliveries.ofUser(id, 0, 0, 9),
      await ledger.deliveries.ofUser(other, 1, 0, 9),
    ]).toEqual([[], []]);
    // The body of a message that names several users is deleted when one of them is erased.
    await ledger.erasures.begin(id, "bob");
    expect(await ledger.deliveries.ofUser(id, 1, first, 9)).toMatchObject([{ body: "", state: "canceled" }]);
    expect(await ledger.deliveries.ofUser(id, 2, 0, 9)).toEqual([]);
  });
}
