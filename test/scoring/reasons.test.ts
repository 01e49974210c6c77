import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { factsOf } from "../../server/scoring/scores/reason-words.ts";
import { reasonsOf } from "../../server/scoring/scores/reasons.ts";
import { noContributions, reasonGroups } from "../../server/scoring/statistics/logistic.ts";
import { logistic } from "../../server/scoring/statistics/special.ts";
import { quiet } from "./support.ts";

const members = { active28: 4, activePrevious28: 4, active90: 4, topShare: 0.5, meanRiskLogOdds: null };
const busy = {
  ...quiet,
  idleDays: 1,
  tenureDays: 400,
  activeDays28: 20,
  activeDaysPrevious28: 20,
  volume28: 100,
  meanGapDays: 2,
  hasSingleActiveDay: false,
};
const fell = { ...busy, activeDays28: 10, activeDaysPrevious28: 25, volume28: 58 };

test.each([
  ["a fall of volume", fell, 188, "use fell by 69%", "worse"],
  ["a fall of active days", fell, undefined, "active on 10 days, after 25 in the 28 days before", "worse"],
  [
    "members who stopped",
    { ...fell, members: { ...members, active28: 3 } },
    188,
    "use fell by 69%; 1 of 4 members stopped",
    "worse",
  ],
  ["a silence", { ...busy, idleDays: 12 }, 100, "silent for 12 days, usually active every 2 days", "worse"],
  [
    "no use at all",
    { ...busy, idleDays: 30, activeDays28: 0, volume28: 0 },
    10,
    /^no use in 28 days;/,
    "worse",
  ],
  ["a rise", { ...busy, volume28: 150 }, 100, "use rose by 50%", "better"],
  ["use as before", busy, 110, "active on 20 of the last 28 days", null],
  ["the first weeks", { ...fell, tenureDays: 40 }, 188, "active on 10 of the last 28 days", null],
  ["a single day", quiet, undefined, "active on one day only, 20 days ago", "worse"],
] as const)("the words about use tell %s", (_, features, previous, text, means) => {
  const { use } = factsOf(features, null, previous);
  expect(use.means).toBe(means);
  expect(use.text).toMatch(typeof text === "string" ? new RegExp(`^${text}$`) : text);
});

test.each([
  [3, 20, "uses 3 of 20 seats", "worse"],
  [14, 20, "uses 14 of 20 seats", null],
  [19, 20, "uses 19 of 20 seats", "better"],
  [2, 1, "uses 2 of 1 seat", "better"],
  [3, null, "seats are unknown", null],
] as const)("%i active members and %p seats read so", (active28, seats, text, means) => {
  expect(factsOf({ ...busy, members: { ...members, active28 }, seats }, null).seats).toEqual({ text, means });
});

test.each([
  [2, "pulse 2 of 5", "worse"],
  [3, "pulse 3 of 5", null],
  [4, "pulse 4 of 5", "better"],
  [null, "no pulse", null],
] as const)("a pulse of %p reads so", (pulse, text, means) => {
  expect(factsOf({ ...busy, pulse }, null).pulse).toEqual({ text, means });
});

describe("reasons", () => {
  test("of a fall that the model takes for good are no reasons: their points are in everything else", () => {
    const contributions = { ...noContributions, use: -0.5, tenure: 0.2 };
    const { reasons } = reasonsOf(fell, { contributions, decisiveEvent: null }, -2, 188);
    expect(reasons.map(({ group }) => group)).toEqual(["tenure", "other"]);
    expect(reasons.map(({ text }) => text).join()).not.toContain("fell");
    const [, other] = reasons;
    expect(other?.points).toBeLessThan(0);
  });

  test("say the words first, and the points after", () => {
    const said = { contributions: { ...noContributions, use: 1 }, decisiveEvent: null };
    const { reasons } = reasonsOf({ ...fell, members: { ...members, active28: 3 } }, said, -2, 188);
    expect(reasons[0]?.text).toBe("use fell by 69%; 1 of 4 members stopped: +15 points");
  });

  test("of anything add up, one an idea, and a fall never lowers a risk", () => {
    const logOdds = fc.double({ min: -8, max: 8, noNaN: true });
    const days = fc.integer({ min: 0, max: 28 });
    const case_ = fc.record({
      contributions: fc.record({
        use: logOdds,
        mix: logOdds,
        billing: logOdds,
        traits: logOdds,
        seats: logOdds,
        pulse: logOdds,
        tenure: logOdds,
        other: logOdds,
      }),
      reference: logOdds,
      now: days,
      before: days,
      idleDays: fc.integer({ min: 1, max: 200 }),
      active28: fc.integer({ min: 0, max: 5 }),
      keyEventIdleDays: fc.option(fc.integer({ min: 1, max: 180 })),
      hasFailedPayment: fc.boolean(),
    });
    fc.assert(
      fc.property(case_, ({ contributions, reference, now, before, idleDays, active28, ...facts }) => {
        const { keyEventIdleDays, hasFailedPayment } = facts;
        const features = {
          ...busy,
          activeDays28: now,
          activeDaysPrevious28: before,
          idleDays,
          keyEventIdleDays,
          members: { ...members, active28 },
          billing: {
            mrr: 10,
            ageDays: 30,
            daysToPeriodEnd: 3,
            endsAtMs: null,
            isYearly: false,
            isDown: false,
            hasFailedPayment,
            isTrialEnding: false,
            isPastDue: false,
            isPaying: true,
          },
        };
        const { referenceRisk, reasons } = reasonsOf(
          features,
          { contributions, decisiveEvent: null },
          reference,
        );
        const sum = reasonGroups.reduce((total, group) => total + contributions[group], reference);
        const points = reasons.reduce((total, reason) => total + reason.points, 0);
        expect(points).toBeCloseTo(100 * (logistic(sum) - referenceRisk), 9);
        expect(new Set(reasons.map(({ group }) => group)).size).toBe(reasons.length);
        const of = (group: string) => reasons.find((reason) => reason.group === group)?.points ?? 0;
        if (now <= 0.8 * before && before > 0) expect(of("use")).toBeGreaterThanOrEqual(0);
        if (hasFailedPayment) expect(of("billing")).toBeGreaterThanOrEqual(0);
        if (keyEventIdleDays === null) expect(of("mix")).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
