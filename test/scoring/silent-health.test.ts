import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ChurnModel } from "../../server/scoring/churn/churn-model.ts";
import { columnsOf, type Design } from "../../server/scoring/churn/design.ts";
import { explain } from "../../server/scoring/scores/explain.ts";
import { defaultHealthWeights } from "../../server/scoring/scores/health.ts";
import { riskScaleOf } from "../../server/scoring/scores/risk-scale.ts";
import { engagementScale } from "./engagement-scale.ts";
import { featuresOf } from "./features.ts";

const bgbb = { alpha: 1, beta: 1.5, gamma: 0.5, delta: 3 };
const design: Design = {
  hasMembers: true,
  traits: [],
  hasBilling: true,
  hasKeyEvents: true,
  events: ["save"],
};
const firstDay = 20_000;
const part = fc.integer({ min: 0, max: 100 });

const history = fc.record({
  /** Days between active ones. */
  gaps: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 40 }),
  silentDays: fc.integer({ min: 30, max: 300 }),
  horizonDays: fc.constantFrom(7, 14, 28, 56, 84),
  by: fc.constantFrom("event" as const, "subscription" as const),
  weights: fc.record({ engagement: part, outlook: part, momentum: part, adoption: part }),
  /** Of the model's columns: whatever they are, a risk may fall while an account is silent. */
  columns: fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: 60, maxLength: 60 }),
  hasModel: fc.boolean(),
  periodDays: fc.constantFrom(30, 365),
});

test("no history of an account makes its health rise while it is not used", () => {
  let compared = 0;
  fc.assert(
    fc.property(history, ({ gaps, silentDays, horizonDays, by, columns, hasModel, periodDays, ...of }) => {
      const target =
        by === "subscription" ? ({ by } as const) : ({ by, event: "left", undoneBy: null } as const);
      let last = firstDay;
      const days = gaps.map((gap) => (last += gap));
      const log = days.map((day) => ({ day, event: day % 3 === 0 ? "save" : "open", count: 1 + (day % 4) }));
      const fitted = columnsOf(design).map(({ name }, at) => ({
        name,
        mean: 1,
        standardDeviation: 1,
        weight: columns[at] ?? 0,
      }));
      const model: ChurnModel = {
        rung: 3,
        horizonDays,
        bgbb,
        isByDay: true,
        referenceLogOdds: -2,
        design,
        ridge: { intercept: -2, columns: fitted, isConverged: true },
      };
      const healthOn = (day: number) => {
        const facts = {
          hasLeft: false,
          traits: {},
          numbers: {},
          planIdleDays: null,
          account: null,
          members: {
            active28: days.some((each) => each >= day - 28) ? 1 : 0,
            topShare: 1,
            meanRiskLogOdds: null,
            activePrevious28: days.some((each) => each < day - 28 && each >= day - 56) ? 1 : 0,
            active90: days.some((each) => each >= day - 90) ? 1 : 0,
          },
          billing: {
            mrr: 50,
            ageDays: day - firstDay,
            daysToPeriodEnd: periodDays - ((day - firstDay) % periodDays),
            endsAtMs: null,
            isYearly: periodDays > 31,
            hasFailedPayment: false,
            isTrialEnding: false,
            isDown: false,
            isPastDue: false,
            isPaying: true,
          },
        };
        const features = featuresOf(log, day, { target, keyEvents: ["save"] }, facts);
        if (features === null) throw new Error("there is no history");
        const serving = {
          horizonDays,
          target,
          healthWeights: of.weights,
          riskScale: riskScaleOf(0.05),
          scale: engagementScale([], []),
          model: hasModel ? model : null,
        };
        const { health, engagement } = explain({ features, meanEngagement: 60 }, serving);
        if (features.idleDays >= horizonDays) expect(engagement?.score).toBe(0);
        return health.score;
      };
      let before: number | null = null;
      for (let day = last + horizonDays; day <= last + horizonDays + silentDays; day += 3) {
        const now = healthOn(day);
        if (before !== null && now !== null) {
          expect(now).toBeLessThanOrEqual(before + 1e-9);
          compared += 1;
        }
        if (Object.values(of.weights).some((weight) => weight > 0)) expect(now).not.toBeNull();
        before = now;
      }
    }),
    { numRuns: 60 },
  );
  expect(compared).toBeGreaterThan(500);
});

test("by scales of before an account without use for 90 days had no engagement, and more health", () => {
  const { isZeroUnused: _, ...before } = engagementScale([], []);
  const members = { active28: 0, activePrevious28: 0, active90: 0, topShare: 0, meanRiskLogOdds: null };
  const features = featuresOf([{ day: firstDay, event: "save", count: 1 }], firstDay + 120);
  if (features === null) throw new Error("there is no history");
  const of = (scale: typeof before) =>
    explain(
      { features: { ...features, members } },
      {
        horizonDays: 28,
        target: { by: "subscription" },
        healthWeights: defaultHealthWeights,
        scale,
        riskScale: riskScaleOf(0.05),
        model: null,
      },
    );
  expect([of(before).engagement, of(before).health.score]).toEqual([null, 50]);
  expect([of(engagementScale([], [])).engagement?.score, of(engagementScale([], [])).health.score]).toEqual([
    0, 0,
  ]);
});
