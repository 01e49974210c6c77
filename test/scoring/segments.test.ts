import { describe, expect, test } from "bun:test";
import type { BgbbParameters } from "../../server/scoring/bgbb.ts";
import { fitBgbb, fitSegment } from "../../server/scoring/bgbb-fit.ts";
import { riskScorer } from "../../server/scoring/churn-model.ts";
import { reasonGroups } from "../../server/scoring/logistic.ts";
import { bestSegmentation, fitSegments } from "../../server/scoring/segments.ts";
import { logistic } from "../../server/scoring/special.ts";
import { atOnce } from "../../server/scoring/steps.ts";
import { quiet, simulateCells } from "./support.ts";

describe("segments", () => {
  const busy = { alpha: 4, beta: 1, gamma: 0.5, delta: 8 };
  const lazy = { alpha: 1, beta: 5, gamma: 0.8, delta: 3 };
  const pooled = fitBgbb([...simulateCells(2_000, busy, 1), ...simulateCells(2_000, lazy, 2)]).parameters;
  const meanActive = ({ alpha, beta }: BgbbParameters) => alpha / (alpha + beta);

  test("with few users stay near the pooled parameters, with many go their own way", () => {
    const few = fitSegment(simulateCells(5, busy, 3), pooled).parameters;
    const many = fitSegment(simulateCells(5_000, busy, 4), pooled).parameters;
    const distance = (one: BgbbParameters) => Math.abs(meanActive(one) - meanActive(busy));
    expect(distance(many)).toBeLessThan(distance(pooled) / 2);
    expect(distance(many)).toBeLessThan(distance(few));
    expect(fitSegment([], pooled).parameters.alpha).toBeCloseTo(pooled.alpha, 4);
  });

  test("are made of the trait that explains users it has not seen", () => {
    const halves = (value: string, of: BgbbParameters, seed: number) => ({
      value,
      training: simulateCells(300, of, seed),
      heldOut: simulateCells(300, of, seed + 1),
    });
    const telling = [halves("pro", busy, 10), halves("free", lazy, 20)];
    const mixed = telling.flatMap(({ training }) => training);
    const idle = [{ value: "any", training: mixed, heldOut: [] }];
    const traits = new Map([
      ["colour", idle],
      ["plan", telling],
    ]);
    expect(atOnce(bestSegmentation(traits, pooled))?.trait).toBe("plan");
    expect(atOnce(bestSegmentation(new Map([["colour", idle]]), pooled))).toBeNull();
  });

  const halves = (value: string, of: BgbbParameters, seed: number) => ({
    value,
    training: simulateCells(300, of, seed),
    heldOut: simulateCells(300, of, seed + 1),
  });
  const plans = [halves("pro", busy, 10), halves("free", lazy, 20)];
  const pooledTraining = plans.flatMap(({ training }) => training);

  test("are fitted to both halves, and are none where no trait tells", () => {
    const segments = atOnce(fitSegments({ pooledTraining, traits: new Map([["plan", plans]]) }, pooled));
    expect(segments?.trait).toBe("plan");
    const [pro, free] = segments?.values ?? [];
    expect([pro?.value, free?.value]).toEqual(["pro", "free"]);
    expect(meanActive(pro?.parameters ?? pooled)).toBeGreaterThan(
      meanActive(free?.parameters ?? pooled) + 0.3,
    );
    const both = fitSegment([...(plans[0]?.training ?? []), ...(plans[0]?.heldOut ?? [])], pooled);
    expect(pro?.parameters).toEqual(both.parameters);
    const alike = [halves("a", busy, 30), halves("b", busy, 30)];
    const ofAlike = fitBgbb(alike.flatMap(({ training, heldOut }) => [...training, ...heldOut])).parameters;
    const coin = {
      pooledTraining: alike.flatMap((each) => each.training),
      traits: new Map([["coin", alike]]),
    };
    const found = atOnce(fitSegments(coin, ofAlike));
    for (const { parameters } of found?.values ?? []) {
      expect(meanActive(parameters)).toBeCloseTo(meanActive(ofAlike), 1);
    }
    expect(atOnce(fitSegments({ pooledTraining, traits: new Map() }, pooled))).toBeNull();
  });

  test("speak of those who are in one, and the pooled fit of all others", () => {
    const values = [{ value: "pro", parameters: busy }];
    const common = { rung: 1, horizonDays: 28, bgbb: lazy, referenceLogOdds: 0.3 } as const;
    const [bySegment, byAll] = [
      riskScorer({ ...common, segments: { trait: "plan", values } }),
      riskScorer(common),
    ];
    const who = { ...quiet, cell: { x: 3, t: 5, n: 7 } };
    const pro = { ...who, traits: { plan: "pro" } };
    expect(bySegment(pro).risk).toBe(riskScorer({ ...common, bgbb: busy })(who).risk);
    for (const traits of [{}, { plan: "free" }, { colour: "pro" }]) {
      expect(bySegment({ ...who, traits })).toEqual(byAll(who));
    }
    const { contributions, risk } = bySegment(pro);
    const sum = reasonGroups.reduce((total, group) => total + contributions[group], 0.3);
    expect(logistic(sum)).toBeCloseTo(risk, 12);
    expect(contributions.frequency).toBe(byAll(who).contributions.frequency);
    expect(contributions.traits).not.toBe(0);
    // Without silence, none of the risk is silence's.
    expect(bySegment({ ...pro, cell: { x: 3, t: 7, n: 7 } }).contributions.silence).toBe(0);
  });
});
