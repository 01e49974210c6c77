/** The parts of a change of a score: behaviour, time, and changed settings. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { silence } from "../../contract/api/churn-targets.ts";
import { changeOf, changeText } from "../../server/scoring/scores/change.ts";
import type { Explanation, Serving, Subject } from "../../server/scoring/scores/explain.ts";
import type { Features } from "../../server/scoring/scores/features.ts";
import { defaultHealthWeights } from "../../server/scoring/scores/health.ts";
import { absoluteRiskScale } from "../../server/scoring/scores/risk-scale.ts";
import { quiet } from "./support.ts";

const bgbb = { alpha: 1, beta: 1.5, gamma: 0.5, delta: 3 };
const scale = { activeDays: 10, volume: 100, eventNames: 5, halfLifeDays: 4, leastSeenDays: 14 };
const horizonOf = (horizonDays: number): Serving => ({
  horizonDays,
  target: silence,
  scale,
  healthWeights: defaultHealthWeights,
  riskScale: absoluteRiskScale,
  model: { rung: 1, horizonDays, bgbb, referenceLogOdds: 0 },
});
const riskOf = ({ risk }: Explanation) => risk;
const idle = (idleDays: number, more: Partial<Features> = {}): Subject => ({
  features: { ...quiet, idleDays, tenureDays: 200, cell: { x: 3, t: 12, n: 12 }, ...more },
});

const scores = {
  health: ({ health }: Explanation) => health.score,
  engagement: ({ engagement }: Explanation) => engagement?.score ?? null,
  risk: riskOf,
};

describe("a change", () => {
  test("by silence is behaviour in every score, though the horizon is over by now", () => {
    const before = idle(1, {
      activeDays28: 20,
      activeDays84: 60,
      volume28: 80,
      cell: { x: 12, t: 12, n: 12 },
    });
    const now = idle(25, { activeDays28: 3, activeDays84: 50, volume28: 9, cell: { x: 12, t: 12, n: 16 } });
    const serving = horizonOf(28);
    const input = { before: { subject: before, serving }, now: { subject: now, serving }, elapsedDays: 28 };
    for (const [name, score] of Object.entries(scores)) {
      const change = changeOf(input, score);
      expect([name, change?.time, change?.settings]).toEqual([name, 0, 0]);
      expect([name, Math.sign(change?.behaviour ?? 0)]).toEqual([name, name === "risk" ? 1 : -1]);
      expect(change?.total).toBe(change?.behaviour ?? Number.NaN);
    }
    const health = changeOf(input, scores.health);
    expect(health && changeText(input, health)).toBe(
      `Down ${Math.round(-(health?.total ?? 0))}: active on 3 days of 28, was 20; silent for 25 days.`,
    );
  });

  test("of an entity that goes on as before is time: its tenure grows", () => {
    const subject = (tenureDays: number) =>
      idle(1, { activeDays28: 20, activeDaysPrevious28: 0, tenureDays });
    const serving = horizonOf(28);
    const input = {
      before: { subject: subject(40), serving },
      now: { subject: subject(68), serving },
      elapsedDays: 28,
    };
    // From 56 days on momentum is a part of health.
    const change = changeOf(input, scores.health);
    expect(change).toMatchObject({ behaviour: 0, settings: 0 });
    expect(change?.time).not.toBe(0);
    expect(change && changeText(input, change)).toMatch(
      /^(Up|Down) \d+: active on 20 days of 28, as before\.$/,
    );
    expect(changeOf(input, riskOf)).toMatchObject({ behaviour: 0, time: 0, settings: 0 });
  });

  test("of an entity that only the rules of now give a score is by those rules: silence stays behaviour", () => {
    // Silent for 40 days: churned by the horizon of then, so that only the one of now gives a risk.
    const change = changeOf(
      {
        before: { subject: idle(20), serving: horizonOf(28) },
        now: { subject: idle(40, { cell: { x: 3, t: 12, n: 15 } }), serving: horizonOf(84) },
        elapsedDays: 20,
      },
      riskOf,
    );
    expect(change?.time).toBe(0);
    expect(change?.behaviour).toBeGreaterThan(0);
    expect(change?.settings).toBeLessThan(0);
  });

  test("is its parts together", () => {
    const subject = fc
      .record({ idleDays: fc.integer({ min: 1, max: 60 }), volume28: fc.integer({ min: 0, max: 500 }) })
      .map(({ idleDays, volume28 }) => idle(idleDays, { volume28 }));
    const serving = fc.constantFrom(7, 14, 28, 56, 84).map(horizonOf);
    const side = fc.record({ subject, serving });
    fc.assert(
      fc.property(side, side, subject, subject, (before, now, recounted, byOldRules) => {
        const input = { before, now, elapsedDays: 28, recounted, byOldRules };
        for (const score of [riskOf, ({ health }: Explanation) => health.score]) {
          const change = changeOf(input, score);
          if (change === null) continue;
          const { total, behaviour, time, settings } = change;
          expect(behaviour + time + settings).toBeCloseTo(total, 9);
          const most = score === riskOf ? 1 : 100;
          for (const part of [total, behaviour, time]) expect(Math.abs(part)).toBeLessThanOrEqual(most);
        }
      }),
    );
  });
});
