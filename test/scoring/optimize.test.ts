import { describe, expect, test } from "bun:test";
import { minimize } from "../../server/scoring/statistics/optimize.ts";
import { dot } from "../../server/scoring/statistics/vectors.ts";
import { randomFrom } from "./random.ts";

const wide = { low: -100, high: 100 };
const [x, y] = [(p: Float64Array) => p[0] ?? Number.NaN, (p: Float64Array) => p[1] ?? Number.NaN];
const rosenbrock = (p: Float64Array) => (1 - x(p)) ** 2 + 100 * (y(p) - x(p) ** 2) ** 2;

describe("minimizing", () => {
  test("follows a bent valley to its end", () => {
    const { point, isConverged } = minimize(rosenbrock, Float64Array.of(-1.2, 1), [wide, wide]);
    expect(isConverged).toBe(true);
    expect(x(point)).toBeCloseTo(1, 4);
    expect(y(point)).toBeCloseTo(1, 4);
  });

  test("stops at a bound and goes on along it", () => {
    const { point, isConverged } = minimize(rosenbrock, Float64Array.of(-1, 0), [
      { low: -2, high: 0.5 },
      wide,
    ]);
    expect(isConverged).toBe(true);
    expect(x(point)).toBe(0.5);
    expect(y(point)).toBeCloseTo(0.25, 5);
  });

  test("ends in a box where no free parameter has anything left to win", () => {
    const random = randomFrom(8);
    for (let run = 0; run < 200; run++) {
      const mix = Array.from({ length: 4 }, () => Float64Array.from({ length: 4 }, () => 2 * random() - 1));
      const center = Float64Array.from({ length: 4 }, () => 6 * random() - 3);
      const box = { low: -1, high: 1 };
      const objective = (p: Float64Array) => {
        const away = p.map((value, i) => value - (center[i] ?? 0));
        return mix.reduce((sum, row) => sum + dot(row, away) ** 2, dot(away, away) / 100);
      };
      const { point, isConverged } = minimize(objective, new Float64Array(4), [box, box, box, box]);
      expect(isConverged).toBe(true);
      for (const [i, value] of point.entries()) {
        const [up, down] = [Math.min(box.high, value + 1e-3), Math.max(box.low, value - 1e-3)];
        expect(objective(point.with(i, up))).toBeGreaterThanOrEqual(objective(point) - 1e-12);
        expect(objective(point.with(i, down))).toBeGreaterThanOrEqual(objective(point) - 1e-12);
      }
    }
  });

  test("moves a start outside of the bounds into them", () => {
    const { point } = minimize((p) => x(p) ** 2, Float64Array.of(50), [{ low: 3, high: 8 }]);
    expect(x(point)).toBe(3);
  });

  test("turns back where the objective is no number", () => {
    const { point } = minimize((p) => x(p) - Math.log(x(p)), Float64Array.of(30), [wide]);
    expect(x(point)).toBeCloseTo(1, 4);
  });

  test("finds the floor of four dimensions on different scales", () => {
    const objective = (p: Float64Array) => p.reduce((sum, value, i) => sum + 10 ** i * (value - i) ** 2, 1);
    const { point, value } = minimize(objective, new Float64Array(4), [wide, wide, wide, wide]);
    expect(value).toBeCloseTo(1, 9);
    for (const [i, coordinate] of point.entries()) expect(coordinate).toBeCloseTo(i, 4);
  });

  test("says so when it runs out of iterations", () => {
    // Without a floor there is always something left to win.
    expect(
      minimize((p) => -Math.exp(x(p) / 1_000), Float64Array.of(0), [{ low: -1e9, high: 1e9 }]).isConverged,
    ).toBe(false);
  });
});
