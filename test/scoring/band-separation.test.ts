import { expect, test } from "bun:test";
import { bandFailures, bandsSeparate, riskLeads } from "../../server/scoring/scores/band-separation.ts";
import type { HealthBand } from "../../server/scoring/scores/health.ts";

const bands = (...rates: readonly (readonly [HealthBand, count: number, churned: number])[]) =>
  rates.map(([healthBand, count, churned]) => ({ healthBand, count, churned }));

const apart = bands(["healthy", 300, 9], ["watch", 300, 24], ["at_risk", 100, 30]);
/** As a review found them: 6.3% of watch, 8.9% of healthy. */
const turned = bands(["healthy", 180, 16], ["watch", 255, 16], ["at_risk", 60, 4]);

test.each([
  ["bands that are apart", apart, true],
  ["healthy ones that churn more", turned, false],
  ["bands that are alike", bands(["healthy", 300, 20], ["watch", 300, 20], ["at_risk", 300, 20]), false],
  ["under 30 departures", bands(["healthy", 300, 2], ["watch", 300, 20]), null],
  ["one band", bands(["healthy", 300, 40]), null],
  ["nobody who stayed", bands(["healthy", 20, 20], ["at_risk", 20, 20]), null],
  ["bands of new and churned ones beside them", [...apart, ...bands(["onboarding", 500, 400])], true],
])("the trend test of %s", (_, outcomes, separate) => {
  expect(bandsSeparate(outcomes)).toBe(separate);
});

test("chance alone passes once in ten times, and half a step of odds nine times in ten", () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const passed = (rates: readonly number[]) => {
    let count = 0;
    for (let run = 0; run < 1_000; run += 1) {
      const outcomes = (["healthy", "watch", "at_risk"] as const).map((healthBand, at) => ({
        healthBand,
        count: 300,
        churned: Array.from({ length: 300 }, random).filter((draw) => draw < (rates[at] ?? 0)).length,
      }));
      if (bandsSeparate(outcomes) === true) count += 1;
    }
    return count / 1_000;
  };
  expect(passed([0.08, 0.08, 0.08])).toBeWithin(0.06, 0.14);
  expect(passed([0.05, 0.08, 0.12])).toBeGreaterThan(0.9);
});

test("risk leads after two trainings running, and no longer once the bands separate", () => {
  expect([riskLeads(undefined), riskLeads(1), riskLeads(2)]).toEqual([false, false, true]);
  const after = (...trainings: readonly (typeof apart)[]) =>
    trainings.reduce((failures, outcomes) => bandFailures(outcomes, failures), 0);
  expect(after(turned)).toBe(1);
  expect(after(turned, turned)).toBe(2);
  // Too few departures decide nothing.
  expect(after(turned, bands(), turned)).toBe(2);
  expect(after(turned, turned, apart)).toBe(0);
});
