import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { silence } from "../../contract/api/churn-targets.ts";
import { columnsOf } from "../../server/scoring/churn/design.ts";
import type { BillingFeatures } from "../../server/scoring/scores/billing.ts";
import { accountEngagementOf, engagementOf } from "../../server/scoring/scores/engagement.ts";
import { explain, type Serving } from "../../server/scoring/scores/explain.ts";
import type { Features } from "../../server/scoring/scores/features.ts";
import { defaultHealthWeights, type HealthInput, healthOf } from "../../server/scoring/scores/health.ts";
import { momentumOf } from "../../server/scoring/scores/momentum.ts";
import { absoluteRiskScale, riskScaleOf } from "../../server/scoring/scores/risk-scale.ts";
import { engagementScale } from "./engagement-scale.ts";
import { quiet } from "./support.ts";

const scale = {
  activeDays: 10,
  volume: 100,
  eventNames: 5,
  halfLifeDays: 4,
  leastSeenDays: 14,
  isZeroUnused: true,
} as const;
const horizonDays = 28;
const of = (changes: Partial<Features>): Features => ({ ...quiet, ...changes });
const count = (max: number) => fc.integer({ min: 0, max });
const features = fc
  .record({
    idleDays: fc.integer({ min: 1, max: 400 }),
    tenureDays: fc.integer({ min: 1, max: 2_000 }),
    activeDays28: count(28),
    activeDaysPrevious28: count(28),
    volume28: fc.double({ min: 0, max: 1e6, noNaN: true }),
    eventNames28: count(300),
  })
  .map(of);

describe("engagement", () => {
  test("is the formula, by hand", () => {
    const { score, contributions } = engagementOf(
      of({ activeDays28: 5, tenureDays: 14, volume28: 9, eventNames28: 2, idleDays: 4 }),
      scale,
      horizonDays,
    );
    // Five active days in 14 count as ten in 28.
    expect(contributions.frequency).toBeCloseTo(40, 12);
    expect(contributions.volume).toBeCloseTo((20 * Math.log(10)) / Math.log(101), 12);
    expect(contributions.breadth).toBeCloseTo(8, 12);
    expect(contributions.recency).toBeCloseTo(10, 12);
    expect(score).toBeCloseTo(58 + (20 * Math.log(10)) / Math.log(101), 12);
  });

  test("contributions add up, each within its limits", () => {
    fc.assert(
      fc.property(features, (one) => {
        const { score, contributions } = engagementOf(one, scale, horizonDays);
        const sum = Object.values(contributions).reduce((total, part) => total + part, 0);
        expect(Math.abs(sum - score)).toBeLessThan(1e-9);
        expect(score).toBeWithin(0, 100 + 1e-9);
        for (const part of Object.values(contributions)) expect(part).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test("never rises with silence and never falls with use", () => {
    fc.assert(
      fc.property(features, count(60), (one, more) => {
        const { score } = engagementOf(one, scale, horizonDays);
        const scoreOf = (changes: Partial<Features>) =>
          engagementOf({ ...one, ...changes }, scale, horizonDays).score;
        expect(scoreOf({ idleDays: one.idleDays + more })).toBeLessThanOrEqual(score + 1e-9);
        expect(scoreOf({ activeDays28: one.activeDays28 + more })).toBeGreaterThanOrEqual(score - 1e-9);
        expect(scoreOf({ volume28: one.volume28 + more })).toBeGreaterThanOrEqual(score - 1e-9);
        expect(scoreOf({ eventNames28: one.eventNames28 + more })).toBeGreaterThanOrEqual(score - 1e-9);
      }),
    );
  });

  test.each([
    [1, 1, 8],
    [7, 7, 40],
    [14, 2, 16],
    [28, 2, 8],
  ])("after %i days with %i active ones has %f points of frequency", (tenureDays, activeDays28, points) => {
    const { contributions } = engagementOf(of({ tenureDays, activeDays28 }), scale, horizonDays);
    expect(contributions.frequency).toBeCloseTo(points, 12);
  });

  test("has low confidence in the first week", () => {
    expect(engagementOf(of({ tenureDays: 6 }), scale, horizonDays).confidence).toBe("low");
    expect(engagementOf(of({ tenureDays: 7 }), scale, horizonDays).confidence).toBe("normal");
  });

  test("full marks are the 90th percentile of the active, and never cheap", () => {
    const entities = Array.from({ length: 11 }, (_, i) =>
      of({ activeDays28: i + 10, volume28: i, eventNames28: i }),
    );
    expect(engagementScale([...entities, of({ activeDays28: 0 })], [1, 3, 200])).toEqual({
      activeDays: 19,
      volume: 10,
      eventNames: 9,
      halfLifeDays: 3,
      leastSeenDays: 14,
      isZeroUnused: true,
    });
    expect(engagementScale([], [])).toEqual({
      activeDays: 4,
      volume: 10,
      eventNames: 3,
      halfLifeDays: 7,
      leastSeenDays: 14,
      isZeroUnused: true,
    });
    expect(engagementScale([], [90, 90]).halfLifeDays).toBe(14);
  });

  test("of an account is .6 of its active members' mean and .4 of its active share", () => {
    expect(accountEngagementOf({ meanEngagement: 60, active28: 2, active90: 4, isUnused: false })).toEqual({
      score: 56,
      contributions: { members: 36, activeShare: 20 },
    });
    expect(accountEngagementOf({ meanEngagement: 0, active28: 0, active90: 4, isUnused: false })?.score).toBe(
      0,
    );
    expect(accountEngagementOf({ meanEngagement: 0, active28: 0, active90: 0, isUnused: false })).toBeNull();
  });

  test("is 0 without use for a churn horizon, and never missing", () => {
    const none = { meanEngagement: 40, active28: 1, active90: 0, isUnused: true };
    expect(accountEngagementOf(none)).toEqual({ score: 0, contributions: { members: 0, activeShare: 0 } });
    const [busy, horizon] = [of({ idleDays: 14, activeDays28: 9, volume28: 50 }), 14];
    expect(engagementOf(busy, scale, horizon).score).toBe(0);
    expect(engagementOf({ ...busy, idleDays: 13 }, scale, horizon).score).toBeGreaterThan(40);
    const { isZeroUnused: _, ...before } = scale;
    expect(engagementOf(busy, before, horizon).score).toBeGreaterThan(40);
  });
});

describe("momentum", () => {
  test("is 50 when nothing changes, and null under 56 days", () => {
    expect(momentumOf(of({ tenureDays: 56, activeDays28: 7, activeDaysPrevious28: 7 }))).toBe(50);
    expect(momentumOf(of({ tenureDays: 56, activeDays28: 8, activeDaysPrevious28: 4 }))).toBe(62.5);
    expect(momentumOf(of({ tenureDays: 55 }))).toBeNull();
  });

  test("lies within 0 and 100, and mirrors", () => {
    fc.assert(
      fc.property(count(28), count(28), (now, before) => {
        const momentum = (a: number, b: number) =>
          momentumOf(of({ tenureDays: 90, activeDays28: a, activeDaysPrevious28: b })) ?? Number.NaN;
        expect(momentum(now, before)).toBeWithin(0, 100);
        expect(momentum(now, before) + momentum(before, now)).toBeCloseTo(100, 9);
      }),
    );
  });
});

describe("health", () => {
  const whole: HealthInput = { state: "active", engagement: 80, risk: 0.1, momentum: 50, adoption: 0.5 };
  const share = fc.option(fc.double({ min: 0, max: 1, noNaN: true }));
  const input = fc.record({
    state: fc.constantFrom("active", "new", "churned", "no_data"),
    engagement: share.map((value) => (value === null ? null : 100 * value)),
    risk: share,
    momentum: share.map((value) => (value === null ? null : 100 * value)),
    adoption: share,
  });

  test("is the weighted mean of its parts", () => {
    const { score, healthBand, cap } = healthOf(whole);
    expect(score).toBeCloseTo(0.35 * 80 + 0.35 * 90 + 0.2 * 50 + 0.1 * 50, 12);
    expect([healthBand, cap]).toEqual(["healthy", 0]);
  });

  test("without a part shares its weight among the others", () => {
    const { score, contributions } = healthOf({ ...whole, momentum: null, adoption: null });
    expect(score).toBeCloseTo((80 + 90) / 2, 12);
    expect(Object.keys(contributions)).toEqual(["engagement", "outlook"]);
  });

  test("is capped at 39 while the risk is .7 or more, and says so", () => {
    const busy = { ...whole, engagement: 100, momentum: 100, adoption: 1 };
    const capped = healthOf({ ...busy, risk: 0.7 });
    expect(capped).toMatchObject({ score: 39, healthBand: "at_risk" });
    expect(capped.cap).toBeLessThan(0);
    expect(healthOf({ ...busy, risk: 0.69 }).cap).toBe(0);
  });

  test("is capped at 39 while the end of every subscription is scheduled, or one is past due, and says why", () => {
    const paying: BillingFeatures = {
      isPaying: true,
      mrr: 4_900,
      isYearly: false,
      ageDays: 90,
      daysToPeriodEnd: 10,
      endsAtMs: null,
      hasFailedPayment: true,
      isTrialEnding: false,
      isDown: false,
      isPastDue: false,
    };
    const of = (billing: Partial<BillingFeatures>, risk = 0.1) =>
      healthOf({ ...whole, risk, billing: { ...paying, ...billing } });
    expect(of({})).toMatchObject({ cap: 0, capReasons: [] });
    expect(of({ endsAtMs: 9 })).toMatchObject({
      score: 39,
      healthBand: "at_risk",
      capReasons: ["end_scheduled"],
    });
    // Of a trial alone, an end that is scheduled loses no payment.
    expect(of({ endsAtMs: 9, isPaying: false })).toMatchObject({ cap: 0, capReasons: [] });
    expect(of({ isPastDue: true })).toMatchObject({ score: 39, capReasons: ["payment_failed"] });
    expect(of({ isPastDue: true, endsAtMs: 9 }, 0.9).capReasons).toEqual([
      "high_risk",
      "end_scheduled",
      "payment_failed",
    ] as const);
  });

  test("is judged by the odds of the base rate", () => {
    const rare = riskScaleOf(0.02);
    const busy = { ...whole, engagement: 100, momentum: 100, adoption: 1 };
    const of = (risk: number) => healthOf({ ...busy, risk }, defaultHealthWeights, rare);
    expect(of(0.02).contributions.outlook).toBeCloseTo((0.35 * 200) / 3, 12);
    expect(of(0.125)).toMatchObject({ score: 39, healthBand: "at_risk" });
    expect(of(0.124).cap).toBe(0);
  });

  test("contributions and the cap add up to the score", () => {
    fc.assert(
      fc.property(input, (one) => {
        const { score, contributions, cap } = healthOf(one);
        const sum = Object.values(contributions).reduce((total, part) => total + part, cap);
        expect(Math.abs(sum - (score ?? 0))).toBeLessThan(1e-9);
        if (score !== null) expect(score).toBeWithin(0, 100 + 1e-9);
      }),
    );
  });

  test("never rises with the risk", () => {
    const baseRate = fc.option(fc.double({ min: 0.001, max: 0.99, noNaN: true }));
    fc.assert(
      fc.property(input, fc.double({ min: 0, max: 1, noNaN: true }), baseRate, (one, risk, rate) => {
        if (one.risk === null) return;
        const [calm, worried] = [Math.min(risk, one.risk), Math.max(risk, one.risk)];
        const score = (of: number) =>
          healthOf({ ...one, risk: of }, defaultHealthWeights, riskScaleOf(rate)).score ?? 0;
        expect(score(worried)).toBeLessThanOrEqual(score(calm) + 1e-9);
      }),
    );
  });

  test("is green from 70, yellow from 40, grey for the new, 0 for the churned, nothing without data", () => {
    const only = (engagement: number) =>
      healthOf({ state: "active", engagement, risk: null, momentum: null, adoption: null }).healthBand;
    expect([only(70), only(69.9), only(40), only(39.9)]).toEqual(["healthy", "watch", "watch", "at_risk"]);
    expect(healthOf({ ...whole, state: "new" }).healthBand).toBe("onboarding");
    expect(healthOf({ ...whole, state: "churned" })).toMatchObject({ score: 0, healthBand: "churned" });
    expect(healthOf({ ...whole, state: "no_data" })).toMatchObject({ score: null, healthBand: "none" });
    expect(
      healthOf(whole, { ...defaultHealthWeights, engagement: 0 }).contributions.engagement,
    ).toBeUndefined();
  });
});

test("a return has a probability after a horizon of silence, and not with a declared churn target", () => {
  const bgbb = { alpha: 1, beta: 1.5, gamma: 0.5, delta: 3 };
  const model = { rung: 1, horizonDays: 28, bgbb, referenceLogOdds: 0 } as const;
  const returnOf = (changes: Partial<Features>, serving: Partial<Serving> = {}) =>
    explain(
      { features: of({ idleDays: 28, tenureDays: 100, ...changes }) },
      {
        horizonDays: 28,
        target: silence,
        healthWeights: defaultHealthWeights,
        riskScale: absoluteRiskScale,
        scale,
        model,
        ...serving,
      },
    ).returnProbability;
  expect(returnOf({})).toBeGreaterThan(0);
  expect([returnOf({ idleDays: 27 }), returnOf({ cell: null })]).toEqual([null, null]);
  const target = { by: "event", event: "bye", undoneBy: null } as const;
  expect([returnOf({}, { target }), returnOf({ hasLeft: true }, { target })]).toEqual([null, null]);
  expect(returnOf({}, { model: null })).toBeNull();
});

test.each([
  ["an event that is missing", { report: 0, save: 9 }, 4, "report not used in 28 days: +"],
  ["an event that is often done", { report: 40, save: 9 }, 4, "report 40 times in 28 days: −"],
  ["a single use", { report: 12, save: 1 }, 4, "save once in 28 days: +"],
  ["the last key event", { report: 12, save: 9 }, 150, "last key event 150 days ago: +"],
  ["no key event", { report: 12, save: 9 }, null, "no key event in 26 weeks: +"],
])("the reason of the mix of events names %s", (_, eventCounts28, keyEventIdleDays, sentence) => {
  const design = { hasMembers: false, traits: [], events: ["report", "save"], hasKeyEvents: true };
  // About the mean of each column nothing is special.
  const weights: Readonly<Record<string, readonly [mean: number, weight: number]>> = {
    "event report": [Math.log(13), -1],
    "event save": [Math.log(10), -1],
    "days since the last key event": [Math.log(5), 1],
    "days since the last key event, unknown": [0, 3],
  };
  const columns = columnsOf(design).map(({ name }) => {
    const [mean, weight] = weights[name] ?? [0, 0];
    return { name, mean, standardDeviation: 1, weight };
  });
  const ridge = { intercept: -1, columns, isConverged: true };
  const bgbb = { alpha: 1, beta: 1.5, gamma: 0.5, delta: 3 };
  const { reasons } = explain(
    { features: of({ tenureDays: 100, eventCounts28, keyEventIdleDays }) },
    {
      horizonDays: 28,
      target: silence,
      healthWeights: defaultHealthWeights,
      scale,
      riskScale: absoluteRiskScale,
      model: { rung: 3, horizonDays: 28, bgbb, referenceLogOdds: -1, design, ridge },
    },
  );
  expect(reasons?.reasons.map(({ group }) => group)).toEqual(["mix"]);
  expect(reasons?.reasons[0]?.text).toStartWith(sentence);
});
