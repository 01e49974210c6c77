/** The part of the contract about users and accounts that leave messages which wait. */
import { expect, test } from "bun:test";
import { keyOfEntity, type RuleEntity } from "../../server/ledger/ports/actions/rule-entities.ts";
import { runText } from "../../server/ledger/ports/actions/run-messages.ts";
import { commandLine as by } from "../../server/ledger/ports/audit.ts";
import { ground } from "./contract-alert-rules.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const day = 20_000;
const ada: RuleEntity = { kind: "user", number: 1 };
const bob: RuleEntity = { kind: "user", number: 2 };

/** The message of a run about users, as it waits for the morning. */
function runMessage(users: readonly RuleEntity[]) {
  const rows = users.map((entity) => ({ name: `Name of ${keyOfEntity(entity)}`, of: keyOfEntity(entity) }));
  const data = { text: runText("High risk", 5, rows.length), rule: { name: "High risk" }, total: 5, rows };
  return { messageId: "of a run", type: "alert.fired", body: JSON.stringify({ data }) } as const;
}

/** Declares the tests of messages that wait while their users are excluded or erased. */
export function waitingMessagesContract(subject: LedgerUnderTest): void {
  const one = { entities: [ada, bob], dueAtMs: 500, message: runMessage([ada, bob]) };
  /** Commits a message about both users. */
  const waiting = async () => {
    const all = await ground(subject);
    const { id, ledger, hook, first, commit } = all;
    await commit({ ...first, messages: [{ ...one, destination: hook.id }] });
    const message = async () => (await ledger.deliveries.list(id, { limit: 9 }))[0];
    const named = async (untilMs: number) =>
      (await ledger.ruleDecisions.namedInMessages(untilMs)).filter(({ organization }) => organization === id);
    return { ...all, message, named };
  };
  const ofBob = {
    data: {
      ...{ text: "High risk: 4 alerts fired. The most important is below, 3 more are in the inbox." },
      ...{ rule: { name: "High risk" }, total: 4, rows: [{ name: "Name of user 2", of: "user 2" }] },
    },
  };

  test("an excluded user leaves a message that waits, and a message about no other one is canceled", async () => {
    const { id, ledger, message, named } = await waiting();
    expect([(await named(499)).length, (await named(500)).map(({ entity }) => entity)]).toEqual([
      0,
      [ada, bob],
    ]);
    await ledger.ruleDecisions.leaveOut(id, [ada]);
    const left = await message();
    expect([left?.state, JSON.parse(left?.body ?? "")]).toEqual(["pending", ofBob]);
    expect((await named(500)).map(({ entity }) => entity)).toEqual([bob]);
    await ledger.ruleDecisions.leaveOut(id, [ada, bob]);
    expect([(await message())?.state, await named(500)]).toEqual(["canceled", []]);
  });

  test("an excluded user leaves a message that is held, also when the alert closes", async () => {
    const { id, ledger, nowMs, hook, first, commit, message, named } = await waiting();
    await ledger.destinations.change(id, hook.id, { state: "paused" }, by, nowMs);
    expect(await named(1_000)).toHaveLength(0);
    await ledger.destinations.change(id, hook.id, { state: "active" }, by, nowMs);
    expect(await named(0)).toHaveLength(2);
    const next = { ...first.next, decidedThrough: day + 1 };
    const closed = [{ entity: ada, firedOn: day, day: day + 1, why: "excluded" } as const];
    await commit({ ...first, after: 2, next, states: [], fired: [], messages: [], closed });
    const left = await message();
    expect([left?.state, JSON.parse(left?.body ?? "")]).toEqual(["held", ofBob]);
  });

  test("an erased user leaves a message that waits, and that of a decision that was computed before", async () => {
    const { id, ledger, hook, first, commit, message } = await waiting();
    await ledger.erasures.begin(id, "ada", { by });
    const left = await message();
    expect([left?.state, JSON.parse(left?.body ?? "")]).toEqual(["pending", ofBob]);
    const messages = [{ ...one, destination: hook.id, message: { ...one.message, messageId: "later" } }];
    const next = { ...first.next, decidedThrough: day + 1 };
    await commit({ ...first, after: 2, next, states: [], fired: [], messages });
    const later = await message();
    expect([later?.messageId, JSON.parse(later?.body ?? "")]).toEqual(["later", ofBob]);
  });

  test("a message that is under way when its user is erased is canceled, and what it said is deleted", async () => {
    const { id, ledger, nowMs, message } = await waiting();
    await ledger.deliveries.claim({ most: 9, perDestination: 9, failing: 9 }, nowMs + 500);
    await ledger.erasures.begin(id, "ada", { by });
    expect(await message()).toMatchObject({ state: "canceled", body: "", said: null });
  });
}
