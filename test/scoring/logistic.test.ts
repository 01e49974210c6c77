import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { pointsOf } from "../../server/scoring/scores/reasons.ts";
import { type LogisticProblem, solveLogistic } from "../../server/scoring/statistics/irls.ts";
import {
  type Column,
  fitRidge,
  noContributions,
  type ReasonGroup,
  reasonGroups,
  ridgeContributions,
  ridgeLogOdds,
} from "../../server/scoring/statistics/logistic.ts";
import { calibrate, fitPlatt } from "../../server/scoring/statistics/platt.ts";
import { logistic } from "../../server/scoring/statistics/special.ts";
import { dot } from "../../server/scoring/statistics/vectors.ts";
import { randomFrom } from "./random.ts";

const random = randomFrom(4);
const sample = (count: number, logOdds: (x: number) => number) => {
  const xs = Array.from({ length: count }, () => 6 * random() - 3);
  return { xs, labels: xs.map((x) => random() < logistic(logOdds(x))) };
};

describe("logistic regression", () => {
  test("gets the coefficients back that labels were drawn by", () => {
    const { xs, labels } = sample(20_000, (x) => 0.5 - 1.2 * x);
    const { weights, isConverged } = solveLogistic({
      rows: xs.map((x) => Float64Array.of(1, x)),
      targets: labels.map(Number),
      penalties: [0, 0],
    });
    expect(isConverged).toBe(true);
    expect(Math.abs((weights[0] ?? 0) - 0.5)).toBeLessThan(0.1);
    expect(Math.abs((weights[1] ?? 0) + 1.2)).toBeLessThan(0.1);
  });

  /** The gradient of the penalized log-likelihood at a solution: zero at the optimum and nowhere else. */
  function gradientAtSolution(problem: LogisticProblem): number[] {
    const { weights } = solveLogistic(problem);
    return problem.penalties.map((penalty, j) =>
      problem.rows.reduce(
        (sum, row, i) => sum + (logistic(dot(row, weights)) - (problem.targets[i] ?? 0)) * (row[j] ?? 0),
        penalty * (weights[j] ?? 0),
      ),
    );
  }

  test("ends where the penalized gradient is zero", () => {
    const { xs, labels } = sample(300, (x) => x);
    const rows = xs.map((x, i) => Float64Array.of(1, x, Math.sin(i)));
    const gradient = gradientAtSolution({ rows, targets: labels.map(Number), penalties: [0, 10, 10] });
    for (const slope of gradient) expect(Math.abs(slope)).toBeLessThan(1e-4);
  });

  test("finds the optimum of nearly separated classes, where full steps overshoot for ever", () => {
    const xs = [...Array<number>(9_990).fill(0), ...Array<number>(10).fill(10), 0.5];
    const rows = xs.map((x) => Float64Array.of(1, x));
    const targets = xs.map((x) => Number(x > 0));
    for (const penalty of [1e-6, 1, 10]) {
      const gradient = gradientAtSolution({ rows, targets, penalties: [0, penalty] });
      for (const slope of gradient) expect(Math.abs(slope)).toBeLessThan(1e-4);
    }
  });

  test("of separated classes is finite, with a penalty and without", () => {
    for (const penalty of [0, 10]) {
      const { weights } = solveLogistic({
        rows: [-2, -1, 1, 2].map((x) => Float64Array.of(1, x)),
        targets: [0, 0, 1, 1],
        penalties: [0, penalty],
      });
      expect(weights.every(Number.isFinite)).toBe(true);
      expect(weights[1]).toBeGreaterThan(0);
    }
  });

  test("of no rows, of one class and of columns that never vary is finite", () => {
    expect(solveLogistic({ rows: [], targets: [], penalties: [0, 1] }).weights).toEqual(new Float64Array(2));
    const columns: readonly Column[] = [
      { name: "constant", group: "tenure" },
      { name: "twin", group: "use" },
    ];
    const rows = [1, 2, 3].map(() => Float64Array.of(0.1, 7));
    const model = fitRidge(columns, rows, [true, true, true]);
    expect(ridgeLogOdds(model, Float64Array.of(5, 5))).toBe(model.intercept);
    expect(Number.isFinite(model.intercept)).toBe(true);
  });
});

describe("ridge regression", () => {
  const columns = reasonGroups.map((group, i): Column => ({ name: `column ${i}`, group }));
  const rows = Array.from({ length: 400 }, () =>
    Float64Array.from(columns, () => random() * 10 ** (random() * 3)),
  );
  const model = fitRidge(
    columns,
    rows,
    rows.map((row) => (row[0] ?? 0) > (row[1] ?? 0)),
  );
  const row = fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), {
    minLength: columns.length,
    maxLength: columns.length,
  });

  test("is plain data that scores the same after a journey through JSON", () => {
    const copy: typeof model = JSON.parse(JSON.stringify(model));
    for (const one of rows) expect(ridgeLogOdds(copy, one)).toBe(ridgeLogOdds(model, one));
  });

  test("does not care in which units its features are", () => {
    const scaled = rows.map((one) => one.map((value, i) => (i === 0 ? 1_000 * value + 5 : value)));
    const other = fitRidge(
      columns,
      scaled,
      rows.map((one) => (one[0] ?? 0) > (one[1] ?? 0)),
    );
    for (const [i, one] of rows.entries()) {
      expect(ridgeLogOdds(other, scaled[i] ?? one)).toBeCloseTo(ridgeLogOdds(model, one), 6);
    }
  });

  test("contributions and points add up", () => {
    fc.assert(
      fc.property(row, (values) => {
        const one = Float64Array.from(values);
        const contributions = ridgeContributions(model, columns, one);
        const sum = reasonGroups.reduce((total, group) => total + contributions[group], model.intercept);
        expect(Math.abs(sum - ridgeLogOdds(model, one))).toBeLessThan(1e-9);
        const points = pointsOf(contributions, model.intercept);
        const pointSum = reasonGroups.reduce((total, group) => total + points[group], 0);
        expect(Math.abs(pointSum - (logistic(sum) - logistic(model.intercept)))).toBeLessThan(1e-9);
        for (const group of reasonGroups)
          expect(points[group] * contributions[group]).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test("points of any reasons are steps between probabilities that add up", () => {
    // Far beyond what any model says, so that steps begin and end where the curve is flat as well.
    const logOdds = fc.double({ min: -60, max: 60, noNaN: true });
    const each = fc.record(
      Object.fromEntries(reasonGroups.map((group) => [group, logOdds])) as Record<
        ReasonGroup,
        typeof logOdds
      >,
    );
    fc.assert(
      fc.property(each, logOdds, (contributions, reference) => {
        const points = pointsOf(contributions, reference);
        let sum = logistic(reference);
        for (const group of reasonGroups) {
          sum += points[group];
          expect(sum).toBeWithin(-1e-9, 1 + 1e-9);
        }
        const all = reasonGroups.reduce((total, group) => total + contributions[group], reference);
        expect(Math.abs(sum - logistic(all))).toBeLessThan(1e-9);
      }),
      { numRuns: 2_000 },
    );
  });

  test("points of reasons that nearly cancel stay what they are: no step is larger than 100 points", () => {
    const points = pointsOf({ ...noContributions, other: 12, use: -11.9 }, 0.2);
    expect(points.use).toBeCloseTo(logistic(-11.7) - logistic(0.2), 12);
    expect(points.other).toBeCloseTo(logistic(0.3) - logistic(-11.7), 12);
  });
});

test("a row of the ridge regression that counts for three is the same as three rows", () => {
  const columns: Column[] = [
    { name: "x", group: "use" },
    { name: "sometimes unknown", group: "use" },
  ];
  const { xs, labels } = sample(200, (x) => x);
  const rows = xs.map((x, index) => Float64Array.of(x, index % 4 === 0 ? Number.NaN : Math.cos(index) + x));
  const counts = rows.map((_, index) => 1 + (index % 3));
  const repeated = <Value>(values: readonly Value[]) =>
    values.flatMap((value, index) => Array.from({ length: counts[index] ?? 0 }, () => value));
  const [counted, each] = [
    fitRidge(columns, rows, labels, counts),
    fitRidge(columns, repeated(rows), repeated(labels)),
  ];
  expect(counted.intercept).toBeCloseTo(each.intercept, 9);
  for (const [index, { mean, standardDeviation, weight }] of counted.columns.entries()) {
    const other = each.columns[index];
    expect(mean).toBeCloseTo(other?.mean ?? Number.NaN, 9);
    expect(standardDeviation).toBeCloseTo(other?.standardDeviation ?? Number.NaN, 9);
    expect(weight).toBeCloseTo(other?.weight ?? Number.NaN, 9);
  }
});

describe("Platt calibration", () => {
  const fit = (logOdds: readonly number[], labels: readonly boolean[]) =>
    fitPlatt(
      logOdds.map((one, index) => ({
        logOdds: one,
        positives: Number(labels[index] === true),
        negatives: Number(labels[index] === false),
      })),
    );

  test("bends overconfident log-odds back", () => {
    const { xs, labels } = sample(20_000, (x) => 0.3 + 0.5 * x);
    const platt = fit(xs, labels);
    expect(Math.abs(calibrate(platt, 0) - 0.3)).toBeLessThan(0.1);
    expect(Math.abs(platt.slope - 0.5)).toBeLessThan(0.05);
  });

  test("is finite for separated classes and changes nothing with one class", () => {
    const { intercept, slope } = fit([-3, -2, 2, 3], [false, false, true, true]);
    expect([intercept, slope].every(Number.isFinite)).toBe(true);
    expect(slope).toBeWithin(0, 5);
    expect(fit([1, 2], [true, true])).toEqual({ intercept: 0, slope: 1 });
    expect(fit([], [])).toEqual({ intercept: 0, slope: 1 });
  });
});
