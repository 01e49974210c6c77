import { describe, expect, test } from "bun:test";
import type { BgbbParameters } from "../../server/scoring/bgbb.ts";
import { fitBgbb, fitSegment } from "../../server/scoring/bgbb-fit.ts";
import { bestSegmentation } from "../../server/scoring/segments.ts";
import { simulateCells } from "./support.ts";

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
    expect(bestSegmentation(traits, pooled)?.trait).toBe("plan");
    expect(bestSegmentation(new Map([["colour", idle]]), pooled)).toBeNull();
  });
});
