import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fitSbg, projectFrom, projectSbg } from "../../server/scoring/statistics/sbg.ts";
import { Random } from "../../simulation/random.ts";
import { numbers, table } from "./data.ts";

const curve = (column: string) => numbers("sbg_retention.csv").map((row) => row[column] ?? Number.NaN);

/** The share of the users of period k − 1 who are there in period k. */
const retentionRate = (shares: readonly number[], k: number) => (shares[k] ?? 0) / (shares[k - 1] ?? 0);

const published = { regular: { alpha: 0.704, beta: 1.182 }, high_end: { alpha: 0.668, beta: 3.806 } };

describe("shifted beta-geometric", () => {
  test.each(["regular", "high_end"] as const)(
    "gives the published fit and projection of the %s curve",
    (segment) => {
      const fit = fitSbg([curve(`${segment}_pct`).slice(0, 8)]);
      if (fit === null) throw new Error("eight years are enough");
      expect(fit.alpha).toBeCloseTo(published[segment].alpha, 3);
      expect(fit.beta).toBeCloseTo(published[segment].beta, 3);
      const projected = projectSbg(fit, 12);
      const rows = table("sbg_reference.csv").filter((row) => row.segment === segment);
      expect(rows).toHaveLength(13);
      for (const { year, sbg_pct_fit_on_years_1_7: percent, retention_rate: rate } of rows) {
        expect(100 * (projected[Number(year)] ?? 0)).toBeCloseTo(Number(percent), 3);
        if (rate !== "") expect(retentionRate(projected, Number(year))).toBeCloseTo(Number(rate), 4);
      }
    },
  );

  test("fits several cohorts of different ages together", () => {
    const truth = { alpha: 0.8, beta: 2 };
    const cohort = (size: number, periods: number) => projectSbg(truth, periods).map((share) => size * share);
    const fit = fitSbg([cohort(500, 9), cohort(2_000, 6), cohort(100, 2)]);
    expect(fit?.alpha).toBeCloseTo(truth.alpha, 3);
    expect(fit?.beta).toBeCloseTo(truth.beta, 3);
  });

  test("does not project from fewer than five complete periods, nor from an empty cohort", () => {
    expect(fitSbg([[100, 60, 50, 45, 42]])).toBeNull();
    expect(fitSbg([[0, 0, 0, 0, 0, 0]])).toBeNull();
    expect(fitSbg([])).toBeNull();
    expect(fitSbg([[100, 60, 50, 45, 42, 40]])).not.toBeNull();
  });

  test("stays finite and says so when no user leaves or all do", () => {
    for (const remaining of [
      [100, 100, 100, 100, 100, 100],
      [100, 0, 0, 0, 0, 0],
    ]) {
      const fit = fitSbg([remaining]);
      expect(fit?.isAtBound).toBe(true);
      if (fit !== null) expect(projectSbg(fit, 20).every(Number.isFinite)).toBe(true);
    }
  });

  test("gives the spread that fits of sampled cohorts have", () => {
    const truth = { alpha: 0.8, beta: 2 };
    const survival = projectSbg(truth, 12);
    const members = 1_000;
    const random = new Random(3);
    /** Members still there after each period, when every member leaves at a random time. */
    const sampled = () => {
      const remaining = survival.map(() => 0);
      for (let member = 0; member < members; member++) {
        const left = random.next();
        survival.forEach((share, k) => {
          if (share > left) remaining[k] = (remaining[k] ?? 0) + 1;
        });
      }
      return remaining;
    };
    const fits = Array.from({ length: 400 }, () => fitSbg([sampled()])).filter((fit) => fit !== null);
    const logs = fits.map(({ alpha, beta }) => [Math.log(alpha), Math.log(beta)] as const);
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const [ofAlpha, ofBeta] = [mean(logs.map(([alpha]) => alpha)), mean(logs.map(([, beta]) => beta))];
    const observed = {
      alpha: mean(logs.map(([alpha]) => (alpha - ofAlpha) ** 2)),
      beta: mean(logs.map(([, beta]) => (beta - ofBeta) ** 2)),
      both: mean(logs.map(([alpha, beta]) => (alpha - ofAlpha) * (beta - ofBeta))),
    };
    const exact = fitSbg([survival.map((share) => members * share)]);
    // 400 fits know a variance to 7 % (one standard error).
    for (const name of ["alpha", "beta", "both"] as const) {
      expect((exact?.covariance?.[name] ?? 0) / observed[name]).toBeWithin(0.75, 1.25);
    }
    // The interval of a projection from a share that is known exactly is the spread of these fits'
    // projections.
    const [from, to] = [5, 20];
    const declines = fits.map((fit) => {
      const shares = projectSbg(fit, to);
      return Math.log((shares[to] ?? 0) / (shares[from] ?? 1));
    });
    const spread = mean(declines.map((decline) => (decline - mean(declines)) ** 2));
    const share = survival[from] ?? Number.NaN;
    const last = exact && projectFrom(exact, { period: from, share, low: share, high: share }, to).at(-1);
    const width = last ? Math.log(last.high / last.low) / (2 * 1.96) : Number.NaN;
    expect(width ** 2 / spread).toBeWithin(0.75, 1.25);
  });

  test("begins a projection with the observed share and its interval", () => {
    const fit = fitSbg([curve("regular_pct").slice(0, 8)]);
    const observed = { period: 7, share: 0.24, low: 0.24 / 1.2, high: 0.24 * 1.2 };
    const [first] = fit === null ? [] : projectFrom(fit, observed, 9);
    expect(first?.period).toBe(7);
    for (const name of ["share", "low", "high"] as const)
      expect(first?.[name]).toBeCloseTo(observed[name], 9);
  });

  test("projects curves that fall, at rates that rise", () => {
    const shape = fc.double({ min: 0.01, max: 900, noNaN: true });
    fc.assert(
      fc.property(fc.record({ alpha: shape, beta: shape }), (of) => {
        const shares = projectSbg(of, 21);
        for (let k = 1; k <= 20; k++) {
          expect(shares[k]).toBeWithin(0, (shares[k - 1] ?? 0) + 1e-15);
          // The quotient of two rounded shares is right to some 1e-16.
          expect(retentionRate(shares, k + 1)).toBeGreaterThan(retentionRate(shares, k) - 1e-15);
        }
      }),
    );
  });
});
