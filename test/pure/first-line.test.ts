/** The first line of a page about a user or an account. */
import { expect, test } from "bun:test";
import { type Done, firstLine, membersText } from "../../dashboard/pages/entity/first-line-words.ts";
import type { Score } from "../../dashboard/pages/entity/score-text.ts";

const limits = { medium: 0.1, high: 0.3, cap: 0.5, byBaseRate: { medium: 0.1, high: 0.3 } };
const day = (name: string, health: number, risk: number | null = 0.05) => ({
  day: name,
  state: "active" as const,
  health,
  risk,
  engagement: 50,
  momentum: 50,
  healthBand: health >= 70 ? ("healthy" as const) : health >= 40 ? ("watch" as const) : ("at_risk" as const),
});
const reason = (group: string, points: number, text: string) => ({ group, points, text });
const risk = {
  probability: 0.4,
  riskBand: "high" as const,
  ratioToBaseRate: 5,
  referenceRisk: 0.05,
  reasons: [
    reason("tenure", 3, "first seen 400 days ago: +3 points"),
    reason("use", 24, "use fell by 69%; 1 of 4 members stopped: +24 points"),
    reason("other", 40, "everything else: +40 points"),
  ],
};

const score = (changes: object) =>
  ({
    state: "active",
    verdict: "healthy",
    endsAt: null,
    risk: null,
    change: null,
    churnedDay: null,
    churnCause: null,
    health: { capReasons: [] },
    model: { riskLimits: limits, churnMeans: "it ended" },
    ...changes,
  }) as unknown as Score;

const line = (changes: object, days: readonly ReturnType<typeof day>[] = [], done: readonly Done[] = []) =>
  firstLine({ score: score(changes), days, done, timezone: "UTC", what: "account" });

test.each([
  [
    "a high risk, with its main reason and since when",
    { verdict: "high_risk", risk },
    [day("2026-10-01", 80, 0.05), day("2026-11-01", 60, 0.31), day("2026-11-02", 50, 0.4)],
    "High churn risk since 1 Nov 2026: use fell by 69%; 1 of 4 members stopped",
  ],
  [
    "a fall of health without a risk",
    {
      verdict: "at_risk",
      change: { text: "Down 13: active on 1 day of 28, was 6; silent for 24 days.", health: { total: -13 } },
    },
    [day("2026-10-30", 20), day("2026-11-02", 20)],
    "At risk since 30 Oct 2026 or longer: active on 1 day of 28, was 6; silent for 24 days",
  ],
  [
    "a silence where nothing changed any more",
    {
      verdict: "at_risk",
      change: {
        text: "No change: active on 0 days of 28, as before; silent for 66 days.",
        health: { total: 0 },
      },
    },
    [day("2026-10-30", 60), day("2026-11-02", 20)],
    "At risk since 2 Nov 2026: silent for 66 days",
  ],
  [
    "a scheduled end before the rest",
    { verdict: "watch", state: "canceling", endsAt: "2027-01-01T00:00:00Z" },
    [day("2026-10-30", 80), day("2026-11-02", 50)],
    "Cancels on 1 Jan 2027. Watch since 2 Nov 2026",
  ],
  [
    "an overdue payment of a customer who is well otherwise",
    { health: { capReasons: ["payment_failed"] } },
    [],
    "A payment is overdue",
  ],
  ["that nothing is wrong", {}, [day("2026-11-02", 90)], "Nothing is wrong"],
  ["a new one", { verdict: "new" }, [], "New: too little is known of this account"],
  [
    "a departure",
    { verdict: "churned", state: "churned", churnedDay: "2026-11-06", churnCause: { event: null } },
    [],
    "Churned on 6 Nov 2026 (it ended)",
  ],
])("says %s", (_, changes, days, wrong) => {
  expect(line(changes, days).wrong).toBe(wrong);
});

test("says nothing of scores that are not there, and what was done last", () => {
  expect(line({ verdict: "no_score" })).toEqual({ wrong: null, isBad: false, done: "Nothing was done yet" });
  const done = [
    { what: "note", at: "2026-11-01T10:00:00Z", by: "Mara Okonkwo" },
    { what: "call", at: "2026-11-20T10:00:00Z", by: "Ada" },
    { what: "task “Renew”", at: "2026-11-03T10:00:00Z", by: null },
  ];
  expect(line({}, [], done).done).toBe("Last done: call on 20 Nov 2026 by Ada");
  expect(line({}, [], done.slice(2)).done).toBe("Last done: task “Renew” on 3 Nov 2026");
});

test("is in red only where something is wrong", () => {
  expect([line({}).isBad, line({ verdict: "new" }).isBad]).toEqual([false, false]);
  expect([line({ verdict: "at_risk" }).isBad, line({ state: "canceling" }).isBad]).toEqual([true, true]);
});

test("members are counted among those active in 90 days, everywhere", () => {
  expect(membersText({ active28: 3, active90: 4 })).toBe("3 of 4");
});
