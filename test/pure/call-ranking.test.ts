/** Whom to call first: which class holds, in which order rows come, and what a row says. */
import { describe, expect, test } from "bun:test";
import type { callClasses } from "../../contract/call-list.ts";
import {
  type CallFacts,
  type CallGround,
  callOf,
  callReason,
  compareCalls,
  isWorseSince,
} from "../../server/analytics/ranking.ts";

const dayMs = 86_400_000;
const day = (date: string) => Date.parse(`${date}T12:00:00Z`);
const nowMs = day("2026-11-29");
const ground: CallGround = {
  nowMs,
  horizonDays: 28,
  highRisk: 0.3,
  isSilence: false,
  hasLoss: true,
};
const quiet: CallFacts = {
  entity: 1,
  isPayer: true,
  mrr: 10_000,
  scheduledMrr: 0,
  firstEndMs: null,
  endSetMs: null,
  pastDueMs: null,
  hadMrr: true,
  state: "active",
  risk: 0.05,
  change: 0,
  idleDays: 1,
  volume28: 100,
  volumeBefore: 100,
  activeMembers: 4,
  membersBefore: 4,
  members90: 4,
};
const end = { firstEndMs: day("2027-01-01"), endSetMs: day("2026-11-20"), scheduledMrr: 10_000 };

const of = (changes: Partial<CallFacts>, more: Partial<CallGround> = {}) =>
  callOf("account", { ...quiet, ...changes }, { ...ground, ...more });

describe("the class", () => {
  test.each<[string, Partial<CallFacts>, (typeof callClasses)[number] | undefined]>([
    ["nothing is wrong", {}, undefined],
    ["an end within 90 days", end, "end_scheduled"],
    ["an end later", { ...end, scheduledMrr: 0 }, undefined],
    ["an end of a currency without a rate", { ...end, scheduledMrr: 0, mrr: null }, "end_scheduled"],
    ["an end and a failed payment", { ...end, pastDueMs: nowMs }, "end_scheduled"],
    ["a failed payment and a high risk", { pastDueMs: nowMs, risk: 0.9 }, "payment_overdue"],
    ["a high risk", { risk: 0.3 }, "high_risk"],
    ["a risk just below", { risk: 0.2999 }, undefined],
    ["a high risk of one that churned", { risk: 0.9, state: "churned" }, undefined],
    ["pays and is silent for the horizon", { idleDays: 28 }, "unused"],
    ["pays and was never active", { idleDays: null, state: "", risk: null }, "unused"],
    ["began to pay within the horizon", { idleDays: null, hadMrr: false }, undefined],
    ["pays nothing and is silent", { idleDays: 40, isPayer: false, mrr: 0 }, undefined],
    ["use fell by half", { volume28: 10, volumeBefore: 20 }, "falling"],
    ["use fell from little", { volume28: 0, volumeBefore: 19 }, undefined],
    ["use fell by less", { volume28: 51 }, undefined],
    ["health fell by 15 points", { change: -15 }, "falling"],
    ["health fell by less", { change: -14.9 }, undefined],
  ])("%s", (_, changes, callClass) => {
    expect(of(changes)?.callClass).toBe(callClass as never);
  });
});

test("the order: what can be turned, then the money that may be lost, then class and MRR", () => {
  const rows = [
    of({ entity: 1, ...end, mrr: 5_000, scheduledMrr: 5_000 }),
    of({ entity: 2, risk: 0.5, mrr: 20_000 }),
    of({ entity: 3, ...end, mrr: 30_000, scheduledMrr: 4_000, risk: 0.1 }),
    of({ entity: 4, idleDays: null, risk: null, mrr: 90_000, state: "" }),
    of({ entity: 5, pastDueMs: nowMs, risk: null, mrr: 1_000 }),
    of({ entity: 6, risk: null, pastDueMs: nowMs, mrr: 2_000 }),
    of({ entity: 7, isPayer: false, mrr: 0, change: -20, risk: null }),
    of({ entity: 8, risk: 0.9, mrr: 99_000, idleDays: 21 }, { isSilence: true }),
    of({ entity: 9, risk: 0.9, mrr: 500, idleDays: 20 }, { isSilence: true }),
  ].flatMap((call) => call ?? []);
  const sorted = rows.toReversed().toSorted(compareCalls);
  expect(sorted.map(({ facts, rankValue }) => [facts.entity, rankValue])).toEqual([
    [2, 10_000],
    [3, 6_600],
    [1, 5_000],
    [9, 450],
    ...[6, 5, 4, 7].map((entity): [number, null] => [entity, null]),
    [8, 89_100],
  ]);
});

test("without a churn risk of losing subscriptions nothing is multiplied", () => {
  const calls = [of({ ...end }, { hasLoss: false }), of({ risk: 0.9, mrr: 99_000 }, { hasLoss: false })];
  expect(calls.map((call) => call?.rankValue)).toEqual([null, null]);
  const [first] = calls.flatMap((call) => call ?? []).toSorted(compareCalls);
  expect(first?.callClass).toBe("end_scheduled");
});

test("without money the churn risk × active members decides within a class", () => {
  const users = [
    of({ entity: 1, mrr: 0, isPayer: false, risk: 0.4, members90: 2 }),
    of({ entity: 2, mrr: 0, isPayer: false, risk: 0.3, members90: 3 }),
    of({ entity: 3, mrr: 0, isPayer: false, change: -30, risk: null, members90: 90 }),
  ].flatMap((call) => call ?? []);
  expect(users.toSorted(compareCalls).map(({ facts }) => facts.entity)).toEqual([2, 1, 3]);
});

test.each<[string, Partial<CallFacts>, string, string]>([
  ["end", end, "too_expensive", "Cancels on 1 Jan: too expensive"],
  ["end without a reason", end, "", "Cancels on 1 Jan"],
  ["end of a part", { ...end, scheduledMrr: 1 }, "We moved\n on", "Cancels a part on 1 Jan: We moved on"],
  ["payment", { pastDueMs: day("2026-11-03") }, "unused", "Payment failed on 3 Nov"],
  [
    "risk",
    { risk: 0.5, volume28: 58, volumeBefore: 188, activeMembers: 3 },
    "",
    "Use fell 69%, 1 of 4 members stopped",
  ],
  ["risk and silence", { risk: 0.5, idleDays: 9 }, "", "Not active for 9 days"],
  ["risk alone", { risk: 0.439 }, "", "High churn risk: 43%"],
  ["unused", { idleDays: 165 }, "", "Pays, and was not active for 165 days"],
  ["never used", { idleDays: null }, "", "Pays, and was not active in the last 26 weeks"],
  ["health", { change: -18.2 }, "", "Health fell 18 points in a week"],
  ["use and health", { volume28: 50, change: -20 }, "", "Use fell 50%, health fell 20 points in a week"],
])("why: %s", (_, changes, cancelReason, text) => {
  const call = of(changes);
  const dayOf = (ms: number) => Math.floor(ms / dayMs);
  expect(call && callReason(call, ground, { cancelReason, dayOf })).toBe(text);
});

test("who has been silent for three quarters of the horizon is probably too late, and says so", () => {
  const late = of({ risk: 0.98, idleDays: 25 }, { isSilence: true });
  const dayOf = (ms: number) => Math.floor(ms / dayMs);
  expect(late && callReason(late, ground, { cancelReason: "", dayOf })).toBe(
    "Probably too late: not active for 25 of the 28 days that count as churn",
  );
  expect(of({ risk: 0.98, idleDays: 25 })?.isLate).toBe(false);
});

test.each<[string, Partial<CallFacts>, number | null, boolean]>([
  ["an end that was scheduled since", end, 0.05, true],
  ["an end that was known", { ...end, endSetMs: day("2026-11-01") }, 0.05, false],
  ["a payment that failed since", { pastDueMs: day("2026-11-25") }, 0.9, true],
  ["a risk that became high", { risk: 0.5 }, 0.1, true],
  ["a risk that was high", { risk: 0.5 }, 0.4, false],
  ["silence for a horizon since", { idleDays: 30 }, 0.1, true],
  ["silence after a high risk", { idleDays: 30 }, 0.4, false],
  ["silence that was there", { idleDays: 60 }, 0.1, false],
  ["another fall", { change: -20 }, null, false],
])("handled ten days ago and worse now: %s", (_, changes, riskThen, isWorse) => {
  const call = of(changes);
  expect(call && isWorseSince(call, ground, nowMs - 10 * dayMs, riskThen)).toBe(isWorse);
});
