/** The part of the contract about users and accounts that leave messages which wait. */
import { expect, test } from "bun:test";
import { commandLine as by } from "../../server/ledger/audit.ts";
import { keyOfEntity, type RuleEntity } from "../../server/ledger/ports/actions/rule-entities.ts";
import { runText } from "../../server/ledger/ports/actions/run-messages.ts";
import { ground } from "./contract-alert-rules.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const day = 20_000;
const ada: RuleEntity = { kind: "user", number: 1 };
const bob: RuleEntity = { kind: "user", number: 2 };

/** The message of a run about users, as it waits for the morning. */
function runMessage(users: readonly RuleEntity[], total = 5) {
  const rows = users.map((entity) => ({ name: `Name of ${keyOfEntity(entity)}`, of: keyOfEntity(entity) }));
  const data = { text: runText("High risk", total, rows.length), rule: { name: "High risk" }, total, rows };
  return { messageId: "of a run", type: "alert.fired", body: JSON.stringify({ data }) } as const;
}

const about = { entities: [ada, bob], dueAtMs: 500, message: runMessage([ada, bob]) };

/** Commits a message about both users. */
async function waiting(subject: LedgerUnderTest) {
  const all = await ground(subject);
  const { id, ledger, hook, first, commit } = all;
  await commit({ ...first, messages: [{ ...about, destination: hook.id }] });
  const message = async () => (await ledger.deliveries.list(id, { limit: 9 }))[0];
  const named = async (untilMs: number) =>
    (await ledger.ruleDecisions.namedInMessages(untilMs)).filter(({ organization }) => organization === id);
  return { ...all, message, named };
}

/** Declares the tests of messages that wait while their users are excluded or erased. */
export function waitingMessagesContract(subject: LedgerUnderTest): void {
  const ofBob = {
    data: {
      text: "High risk: 4 alerts fired. The most important is below, 3 more are in the inbox.",
      rule: { name: "High risk" },
      total: 4,
      rows: [{ name: "Name of user 2", of: "user 2" }],
    },
  };

  test("an excluded user leaves a message that waits", async () => {
    const { id, ledger, message, named } = await waiting(subject);
    expect([(await named(499)).length, (await named(500)).map(({ entity }) => entity)]).toEqual([
      0,
      [ada, bob],
    ]);
    await ledger.ruleDecisions.leaveOut(id, [ada]);
    const left = await message();
    expect([left?.state, JSON.parse(left?.body ?? "")]).toEqual(["pending", ofBob]);
    expect((await named(500)).map(({ entity }) => entity)).toEqual([bob]);
  });

  test("an excluded user leaves a message that is held, also when the alert closes", async () => {
    const { id, ledger, nowMs, hook, first, commit, message, named } = await waiting(subject);
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
    const { id, ledger, hook, first, commit, message } = await waiting(subject);
    await ledger.erasures.begin(id, "ada", { by });
    const left = await message();
    expect([left?.state, JSON.parse(left?.body ?? "")]).toEqual(["pending", ofBob]);
    const messages = [{ ...about, destination: hook.id, message: { ...about.message, messageId: "later" } }];
    const next = { ...first.next, decidedThrough: day + 1 };
    await commit({ ...first, after: 2, next, states: [], fired: [], messages });
    const later = await message();
    expect([later?.messageId, JSON.parse(later?.body ?? "")]).toEqual(["later", ofBob]);
  });

  test("a message that is under way when its user is erased is canceled, and what it said is deleted", async () => {
    const { id, ledger, nowMs, message } = await waiting(subject);
    await ledger.deliveries.claim({ most: 9, perDestination: 9, failing: 9 }, nowMs + 500);
    await ledger.erasures.begin(id, "ada", { by });
    expect(await message()).toMatchObject({ state: "canceled", body: "", said: null });
  });

  messagesWithoutRows(subject);
}

function messagesWithoutRows(subject: LedgerUnderTest): void {
  test("a message without rows has the number of alerts that the cap left out, and without those it is canceled", async () => {
    const { id, ledger, hook, first, commit, message, named } = await waiting(subject);
    await ledger.ruleDecisions.leaveOut(id, [ada, bob]);
    const rest = await message();
    expect([rest?.state, JSON.parse(rest?.body ?? "").data]).toEqual([
      "pending",
      {
        text: "High risk: 3 alerts fired. All are in the inbox.",
        rule: { name: "High risk" },
        total: 3,
        rows: [],
      },
    ]);
    expect(await named(500)).toEqual([]);
    const last = { ...about, entities: [ada], message: { ...runMessage([ada], 1), messageId: "last" } };
    const next = { ...first.next, decidedThrough: day + 1 };
    const messages = [{ ...last, destination: hook.id }];
    await commit({ ...first, after: 2, next, states: [], fired: [], messages });
    await ledger.ruleDecisions.leaveOut(id, [ada]);
    expect(await message()).toMatchObject({ messageId: "last", state: "canceled" });
  });
}
