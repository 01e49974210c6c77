/** The parts of a change: what somebody did, what time did, and what other rules did. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { changeOf, type Explanation, type Serving, type Subject } from "../../server/scoring/explain.ts";
import type { Features } from "../../server/scoring/features.ts";
import { defaultHealthWeights } from "../../server/scoring/health.ts";
import { quiet } from "./support.ts";

const bgbb = { alpha: 1, beta: 1.5, gamma: 0.5, delta: 3 };
const scale = { activeDays: 10, volume: 100, eventNames: 5, halfLifeDays: 4 };
const horizonOf = (horizonDays: number): Serving => ({
  ...{ horizonDays, scale, healthWeights: defaultHealthWeights },
  model: { rung: 1, horizonDays, bgbb, referenceLogOdds: 0 },
});
const riskOf = ({ risk }: Explanation) => risk;
const idle = (idleDays: number, more: Partial<Features> = {}): Subject => ({
  features: { ...quiet, idleDays, tenureDays: 200, cell: { x: 3, t: 12, n: 12 }, ...more },
});

describe("a change", () => {
  test("is no doing of one who did nothing, whatever the rules of now make of it", () => {
    // Silent for 40 days: churned by the horizon of then, so that only the one of now gives a risk.
    const change = changeOf(
      {
        before: { subject: idle(20), serving: horizonOf(28) },
        now: { subject: idle(40), serving: horizonOf(84) },
        untouched: idle(40),
      },
      riskOf,
    );
    expect(change).toMatchObject({ behaviour: 0, time: 0 });
    expect(change?.settings).toBe(change?.total ?? Number.NaN);
    expect(change?.total).not.toBe(0);
  });

  test("of one who came back after time would have taken the score is what they did", () => {
    const change = changeOf(
      {
        before: { subject: idle(20), serving: horizonOf(28) },
        now: { subject: idle(1, { cell: { x: 4, t: 15, n: 15 } }), serving: horizonOf(28) },
        untouched: idle(40),
      },
      riskOf,
    );
    expect(change).toMatchObject({ time: 0, settings: 0 });
    expect(change?.behaviour).toBeLessThan(0);
  });

  test("is its parts together", () => {
    const subject = fc
      .record({ idleDays: fc.integer({ min: 1, max: 60 }), volume28: fc.integer({ min: 0, max: 500 }) })
      .map(({ idleDays, volume28 }) => idle(idleDays, { volume28 }));
    const serving = fc.constantFrom(7, 14, 28, 56, 84).map(horizonOf);
    const side = fc.record({ subject, serving });
    fc.assert(
      fc.property(side, side, subject, subject, subject, (before, now, recounted, untouched, byOldRules) => {
        const input = { before, now, recounted, untouched, byOldRules };
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
