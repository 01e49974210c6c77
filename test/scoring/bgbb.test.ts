import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Bgbb, type BgbbParameters, type Cell, priorParameters } from "../../server/scoring/churn/bgbb.ts";
import { type CountedCell, fitBgbb, totalLogLikelihood } from "../../server/scoring/churn/bgbb-fit.ts";
import { minimize } from "../../server/scoring/statistics/optimize.ts";
import { logRisingFactorials } from "../../server/scoring/statistics/special.ts";
import { numbers, readDonations } from "./data.ts";
import { simulateCells } from "./support.ts";

const published: BgbbParameters = { alpha: 1.203523, beta: 0.749716, gamma: 0.656718, delta: 2.783442 };

/** The same to twelve digits. */
const optimum: BgbbParameters = {
  alpha: 1.20352216622,
  beta: 0.749716591858,
  gamma: 0.656718348803,
  delta: 2.7834408082,
};

/** At the ends of what a fit may return. */
const extreme: BgbbParameters = { alpha: 0.01, beta: 900, gamma: 400, delta: 0.05 };

/** Histories with these x, t and n: the last active period is given, the others lie anywhere before it. */
function histories({ x, t }: Cell): number {
  if (x === 0) return 1;
  let ways = 1;
  for (let chosen = 1; chosen < x; chosen++) ways *= (t - x + chosen) / chosen;
  return Math.round(ways);
}

const longest = 100;

/** The rising factorials of a model, from which its published figures follow. */
function factorialsOf({ parameters: { alpha, beta, gamma, delta } }: Bgbb) {
  const table = (a: number) => {
    const logs = logRisingFactorials(a, longest);
    return (j: number) => logs[j] ?? Number.NaN;
  };
  const [ofAlpha, ofBeta, ofBoth] = [table(alpha), table(beta), table(alpha + beta)];
  const [ofDelta, ofGammaDelta] = [table(delta), table(gamma + delta)];
  return {
    active: (x: number, k: number) => ofAlpha(x) + ofBeta(k - x) - ofBoth(k),
    stay: (k: number) => ofDelta(k) - ofGammaDelta(k),
  };
}

/** The probability that the entity has not left by period n + k. */
function aliveProbability(model: Bgbb, cell: Cell, k = 0): number {
  const { active, stay } = factorialsOf(model);
  return Math.min(1, Math.exp(active(cell.x, cell.n) + stay(cell.n + k) - model.logLikelihood(cell)));
}

/** The expected number of active periods among the next m. It is the sum over them of the probability of
 * being there and active. The paper's closed form breaks at γ = 1, and the sum does not. */
function expectedActivePeriods(model: Bgbb, cell: Cell, m: number): number {
  const { active, stay } = factorialsOf(model);
  const log = active(cell.x + 1, cell.n + 1) - model.logLikelihood(cell);
  let sum = 0;
  for (let k = 1; k <= m; k++) sum += Math.exp(log + stay(cell.n + k));
  return sum;
}

function cellsUpTo(n: number): Cell[] {
  const active = Array.from({ length: n }, (_, i) => i + 1);
  return [
    { x: 0, t: 0, n },
    ...active.flatMap((t) => active.filter((x) => x <= t).map((x) => ({ x, t, n }))),
  ];
}

const shape = fc.double({ min: 0.05, max: 30, noNaN: true });
const parameters = fc.record({ alpha: shape, beta: shape, gamma: shape, delta: shape });
const cell = fc
  .integer({ min: 0, max: 26 })
  .chain((n) => fc.tuple(fc.constant(n), fc.integer({ min: 0, max: n })))
  .chain(([n, t]) =>
    fc.record({ x: fc.integer({ min: Math.min(1, t), max: t }), t: fc.constant(t), n: fc.constant(n) }),
  );

describe("BG/BB on the donations", () => {
  test("gives the published parameters and log-likelihood", () => {
    const fit = fitBgbb(readDonations());
    for (const name of ["alpha", "beta", "gamma", "delta"] as const) {
      const wanted = { alpha: 1.2035, beta: 0.7497, gamma: 0.6567, delta: 2.7834 }[name];
      expect(Math.abs(fit.parameters[name] - wanted)).toBeLessThanOrEqual(0.005);
    }
    expect(Math.abs(fit.logLikelihood + 33_225.58)).toBeLessThanOrEqual(0.01);
    expect(fit).toMatchObject({ entities: 11_104, isConverged: true, isAtBound: false });
  });

  test("gives every figure of the 22 cells to 1e-6", () => {
    const model = new Bgbb(published, 11);
    // The table's log-likelihoods are of the optimum before it was rounded: six digits move (6,6,6) by
    // 1.6e-6.
    const unrounded = new Bgbb(optimum, 11);
    const rows = numbers("donations_bgbb_reference.csv");
    expect(rows).toHaveLength(22);
    for (const row of rows) {
      const { x = 0, t_x: t = 0, n = 0 } = row;
      const ours = {
        loglik_cell: unrounded.logLikelihood({ x, t, n }),
        p_alive_at_n: aliveProbability(model, { x, t, n }),
        p_alive_n_plus_1: aliveProbability(model, { x, t, n }, 1),
        exp_trans_next5: expectedActivePeriods(model, { x, t, n }, 5),
        p_active_next5: 1 - model.silentProbability({ x, t, n }, 5),
      };
      for (const [name, value] of Object.entries(ours)) {
        expect(Math.abs(value - (row[name] ?? Number.NaN))).toBeLessThanOrEqual(1e-6);
      }
    }
  });

  test("finds the optimum that the table's log-likelihoods are of when there is no prior", () => {
    const cells = readDonations();
    const objective = (point: Float64Array) => {
      const [alpha = 0, beta = 0, gamma = 0, delta = 0] = point.map(Math.exp);
      return -totalLogLikelihood(cells, { alpha, beta, gamma, delta });
    };
    const { point } = minimize(objective, new Float64Array(4), Array(4).fill({ low: -5, high: 5 }));
    const [alpha, beta, gamma, delta] = point.map(Math.exp);
    for (const [ours, wanted] of [
      [alpha, optimum.alpha],
      [beta, optimum.beta],
      [gamma, optimum.gamma],
      [delta, optimum.delta],
    ]) {
      expect(ours).toBeCloseTo(wanted ?? Number.NaN, 4);
    }
  });

  test("expects 12,884.2 gifts in the next five periods", () => {
    const model = new Bgbb(published, 11);
    const gifts = readDonations().reduce(
      (sum, one) => sum + one.count * expectedActivePeriods(model, one, 5),
      0,
    );
    expect(gifts).toBeCloseTo(12_884.2, 1);
  });

  test("expects of a new donor what was published", () => {
    const model = new Bgbb(published, 11);
    const expected = [0.4985, 0.9233, 1.2969, 1.6323, 1.9381, 2.2202, 2.4826, 2.7285, 2.9603, 3.1798, 3.3887];
    const ours = expected.map((_, i) => expectedActivePeriods(model, { x: 0, t: 0, n: 0 }, i + 1));
    for (const [i, value] of expected.entries())
      expect(Math.abs((ours[i] ?? 0) - value)).toBeLessThanOrEqual(5.1e-5);
  });
});

/** Computed with 40 digits from the sum of beta functions as it is published. */
const fortyDigits: readonly (readonly [BgbbParameters, Cell, number])[] = [
  [published, { x: 6, t: 6, n: 6 }, -2.1816723527109496],
  [published, { x: 0, t: 0, n: 26 }, -1.2404817048806258],
  [published, { x: 3, t: 5, n: 9 }, -6.626097668726256],
  [published, { x: 13, t: 20, n: 26 }, -18.741168335012112],
  [extreme, { x: 0, t: 0, n: 26 }, -1.3923502262011245e-9],
  [extreme, { x: 3, t: 5, n: 9 }, -54.0124442993006],
  [extreme, { x: 13, t: 20, n: 26 }, -156.9849909124136],
];

describe("BG/BB", () => {
  test.each(fortyDigits)("has the log-likelihood that 40 digits give, %#", (of, one, value) => {
    expect(Math.abs(new Bgbb(of, 26).logLikelihood(one) - value)).toBeLessThanOrEqual(
      1e-12 + 1e-14 * Math.abs(value),
    );
  });

  test("gives all histories of a length probabilities that sum to one", () => {
    const check = (of: BgbbParameters, n: number) => {
      const model = new Bgbb(of, n);
      const sum = cellsUpTo(n).reduce(
        (total, one) => total + histories(one) * Math.exp(model.logLikelihood(one)),
        0,
      );
      expect(Math.abs(sum - 1)).toBeLessThanOrEqual(1e-12);
    };
    for (let n = 0; n <= 12; n++) check(published, n);
    fc.assert(fc.property(parameters, fc.integer({ min: 0, max: 12 }), check), { numRuns: 100 });
  });

  test("keeps probabilities within 0 and 1, and silence gets less likely the longer it has to last", () => {
    fc.assert(
      fc.property(parameters, cell, (of, one) => {
        const model = new Bgbb(of, 40);
        const silent = [0, 1, 2, 3.5, 4, 12].map((m) => model.silentProbability(one, m));
        expect(silent[0]).toBe(1);
        for (const [i, value] of silent.entries()) {
          expect(value).toBeGreaterThan(0);
          // Where silence is next to certain, rounding decides the sixteenth digit.
          expect(value).toBeLessThanOrEqual((silent[i - 1] ?? 1) + 1e-13);
        }
        const alive = aliveProbability(model, one);
        expect(alive).toBeWithin(0, 1 + 1e-12);
        expect(aliveProbability(model, one, 3)).toBeLessThanOrEqual(alive);
        expect(expectedActivePeriods(model, one, 5)).toBeWithin(0, 5);
      }),
    );
  });

  test("gives users who were active in the last period the highest chance to be alive", () => {
    fc.assert(
      fc.property(parameters, cell, (of, { x, t }) => {
        const model = new Bgbb(of, 60);
        const alive = Array.from({ length: 20 }, (_, more) => aliveProbability(model, { x, t, n: t + more }));
        expect(alive[0]).toBeCloseTo(1, 12);
        for (const [i, value] of alive.entries())
          expect(value).toBeLessThanOrEqual((alive[i - 1] ?? 1) + 1e-12);
      }),
    );
  });

  test("calls silence more likely the longer it has lasted", () => {
    fc.assert(
      fc.property(parameters, cell, (of, { x, t }) => {
        const model = new Bgbb(of, 60);
        const risks = Array.from({ length: 20 }, (_, more) =>
          model.silentProbability({ x, t, n: t + more }, 4),
        );
        for (const [i, value] of risks.entries())
          expect(value).toBeGreaterThanOrEqual((risks[i - 1] ?? 0) - 1e-12);
      }),
    );
  });

  test("interpolates the logarithm of the risk between whole periods", () => {
    const model = new Bgbb(published, 40);
    const one = { x: 3, t: 5, n: 6 };
    const [three, four] = [model.silentProbability(one, 3), model.silentProbability(one, 4)];
    expect(model.silentProbability(one, 3.25)).toBeCloseTo(three ** 0.75 * four ** 0.25, 12);
  });

  test("gets parameters back from users that live by them", () => {
    const truth = { alpha: 1.2, beta: 1.8, gamma: 0.6, delta: 4 };
    const cells = simulateCells(20_000, truth, 20_260_822);
    const startedMs = performance.now();
    const fit = fitBgbb(cells);
    console.log(
      `fit of ${cells.length} cells: ${(performance.now() - startedMs).toFixed(0)} ms, ${fit.evaluations} calls`,
    );
    expect(fit.isConverged).toBe(true);
    // Four standard deviations of the logarithms, as twelve other seeds gave them.
    const tolerated = { alpha: 0.12, beta: 0.08, gamma: 0.2, delta: 0.3 };
    for (const name of ["alpha", "beta", "gamma", "delta"] as const) {
      expect(Math.abs(Math.log(fit.parameters[name] / truth[name]))).toBeLessThan(tolerated[name]);
    }
    // The truth never fits a sample better than the sample's own optimum, and hardly worse.
    const loss = fit.logLikelihood - totalLogLikelihood(cells, truth);
    expect(loss).toBeWithin(-0.5, 12);
  });

  test("fits all 3,302 cells of 26 weeks", () => {
    const model = new Bgbb(priorParameters, 26);
    const cells = Array.from({ length: 26 }, (_, i) => cellsUpTo(i + 1))
      .flat()
      .map((one) => ({ ...one, count: 1_000 * histories(one) * Math.exp(model.logLikelihood(one)) }));
    expect(cells).toHaveLength(3_302);
    const startedMs = performance.now();
    const fit = fitBgbb(cells);
    console.log(
      `fit of 3,302 cells: ${(performance.now() - startedMs).toFixed(0)} ms, ${fit.evaluations} calls`,
    );
    expect(fit.isConverged).toBe(true);
    expect(fit.parameters.delta).toBeCloseTo(priorParameters.delta, 1);
  });
});

describe("BG/BB on degenerate data is finite and flagged", () => {
  const of = (n: number, x: number, count: number): CountedCell[] => [{ x, t: x === 0 ? 0 : n, n, count }];
  const cases: readonly (readonly [string, readonly CountedCell[]])[] = [
    ["nobody", []],
    ["one user", of(5, 2, 1)],
    ["five users", of(5, 2, 5)],
    ["one period", [...of(1, 0, 50), ...of(1, 1, 50)]],
    ["no full period", of(0, 0, 100)],
  ];
  test.each(cases)("%s", (_, cells) => {
    const fit = fitBgbb(cells);
    expect(Object.values(fit.parameters).every((value) => Number.isFinite(value) && value > 0)).toBe(true);
    expect(fit.entities).toBe(cells.reduce((sum, { count }) => sum + count, 0));
    expect(fit.isConverged).toBe(true);
    expect(new Bgbb(fit.parameters, 30).silentProbability({ x: 0, t: 0, n: 0 }, 4)).toBeWithin(0, 1);
  });

  test("everybody always active: silence is next to impossible", () => {
    const fit = fitBgbb(of(20, 20, 10_000));
    expect(new Bgbb(fit.parameters, 30).silentProbability({ x: 20, t: 20, n: 20 }, 4)).toBeWithin(0, 0.01);
    expect(Object.values(fit.parameters).every(Number.isFinite)).toBe(true);
  });

  test("everybody silent: silence is next to certain", () => {
    const fit = fitBgbb(of(20, 0, 10_000));
    expect(new Bgbb(fit.parameters, 30).silentProbability({ x: 0, t: 0, n: 20 }, 4)).toBeWithin(
      0.99,
      1 + 1e-12,
    );
    expect(Object.values(fit.parameters).every(Number.isFinite)).toBe(true);
  });
});
