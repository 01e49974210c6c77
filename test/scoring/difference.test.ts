/** Comparing groups, against published figures. */
import { describe, expect, test } from "bun:test";
import {
  differenceProbability,
  effectiveSample,
  holm,
  newcombe,
  twoSided,
} from "../../server/scoring/statistics/difference.ts";
import { type Lifetimes, logRank } from "../../server/scoring/statistics/log-rank.ts";
import { studentProbability, studentT975 } from "../../server/scoring/statistics/student.ts";
import { Random } from "../../simulation/random.ts";

const of = (hits: number, count: number) => ({ hits, count });

describe("the interval of a difference", () => {
  // Newcombe (1998), table II, method 10.
  test.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ])("of %d/%d and %d/%d is the published one", (a, m, b, n, low, high) => {
    const interval = newcombe(of(a, m), of(b, n));
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  test("of an empty group and one miss is as wide as their two intervals", () => {
    // By hand: an empty group has 0 in 0 to 1, and one miss has 0 in 0 to 0.7935.
    const interval = newcombe(of(0, 0), of(0, 1));
    expect(interval.low).toBeCloseTo(-0.7935, 3);
    expect(interval.high).toBeCloseTo(1, 10);
  });

  test("of one hit and one miss is wide, and not beyond 1", () => {
    // By hand: Wilson's interval of 1 of 1 begins at 1 / (1 + 1.96²) = 0.2065.
    const interval = newcombe(of(1, 1), of(0, 1));
    expect(interval.low).toBeCloseTo(1 - Math.SQRT2 * (1 - 0.2065), 3);
    expect(interval.high).toBeCloseTo(1, 10);
  });

  test("has the p-value of Pearson's test", () => {
    // 74.5 % of 411 and 65.1 % of 249: z = 2.58.
    expect(differenceProbability(of(306, 411), of(162, 249))).toBeCloseTo(0.01, 3);
    expect(differenceProbability(of(0, 10), of(0, 20))).toBe(1);
  });

  test.each([
    [0, 1],
    [1, 0.3173105078629141],
    [1.959963984540054, 0.05],
    [2.8, 0.005110260660855],
    [3, 0.0026997960632601866],
    [5, 5.733031437583866e-7],
    [8, 1.24419211485436e-15],
  ])("a normal value of %d has its two-sided probability", (z, p) => {
    expect(Math.abs(twoSided(z) / p - 1)).toBeLessThan(1e-9);
    expect(twoSided(-z)).toBe(twoSided(z));
  });
});

describe("users of one account", () => {
  // Weil (1970), pups of 16 litters each that lived for 21 days, as Rao and Scott (1992) analyse them.
  const control = "13/13 12/12 9/9 9/9 8/8 8/8 12/13 11/12 9/10 9/10 8/9 11/13 4/5 5/7 7/10 7/10";
  const treated = "12/12 11/11 10/10 9/9 10/11 9/10 9/10 8/9 8/9 4/5 7/9 4/7 5/10 3/6 3/10 0/7";
  const litters = (text: string) =>
    text.split(" ").map((pair) => {
      const [hits = 0, count = 0] = pair.split("/").map(Number);
      return { hits, count, clusters: 1 };
    });

  test("are worth fewer independent ones, by the variance over accounts", () => {
    const [a, b] = [effectiveSample(litters(control)), effectiveSample(litters(treated))];
    // 142 of 158 and 112 of 145. The effects are those of the R package PF, 1.232495 and 3.952861.
    expect(a.count * a.designEffect).toBeCloseTo(158, 9);
    expect(b.hits * b.designEffect).toBeCloseTo(112, 9);
    expect(a.designEffect).toBeCloseTo(1.232495, 6);
    expect(b.designEffect).toBeCloseTo(3.952861, 6);
    const p = differenceProbability(a, b);
    expect(differenceProbability(of(142, 158), of(112, 145))).toBeLessThan(0.005);
    expect(p).toBeGreaterThan(0.04);
    expect(p).toBeLessThan(0.12);
  });

  test("users of an account who all do the same count as one, and independent users count fully", () => {
    const alike = effectiveSample([
      { hits: 5, count: 5, clusters: 40 },
      { hits: 0, count: 5, clusters: 40 },
    ]);
    expect(alike.count).toBeCloseTo(80, -1);
    const alone = effectiveSample([
      { hits: 1, count: 1, clusters: 300 },
      { hits: 0, count: 1, clusters: 100 },
    ]);
    expect(alone.count).toBeCloseTo(400, -1);
  });

  test("clusters whose users all returned, or none, count as one user each", () => {
    const threeAccounts = effectiveSample([{ hits: 40, count: 40, clusters: 3 }]);
    expect(threeAccounts).toEqual({ ...of(3, 3), designEffect: 40, degrees: 2 });
    expect(effectiveSample([{ hits: 0, count: 40, clusters: 3 }])).toMatchObject({ ...of(0, 3) });
    expect(effectiveSample([{ hits: 1, count: 1, clusters: 5 }])).toEqual({ ...of(5, 5), designEffect: 1 });
    expect(effectiveSample([])).toEqual({ ...of(0, 0), designEffect: 1 });
  });

  test("of a single account prove nothing against sixty users, neither at a week nor over the curve", () => {
    const account = effectiveSample([{ hits: 60, count: 60, clusters: 1 }]);
    const alone = effectiveSample([
      { hits: 1, count: 1, clusters: 30 },
      { hits: 0, count: 1, clusters: 30 },
    ]);
    expect(account).toEqual({ ...of(1, 1), designEffect: 60, degrees: 1 });
    expect(differenceProbability(account, alone)).toBeGreaterThan(0.3);
    const { low, high } = newcombe(account, alone);
    expect([low < 0, high > 0.5]).toEqual([true, true]);
    const staying = [{ cluster: 1, period: 4, hasLeft: false, count: 60 }];
    const leaving = [
      { cluster: null, period: 4, hasLeft: false, count: 30 },
      { cluster: null, period: 1, hasLeft: true, count: 30 },
    ];
    expect(logRank(staying, leaving).probability).toBeGreaterThan(0.05);
  });

  test.each([
    [1, 12.7062],
    [2, 4.3027],
    [3, 3.1824],
    [5, 2.5706],
    [8, 2.306],
  ])("in few accounts are compared by Student's t, of %d degrees at %d", (degrees, quantile) => {
    expect(studentT975(degrees)).toBeCloseTo(quantile, 4);
    expect(studentProbability(-quantile, degrees)).toBeCloseTo(0.05, 5);
    expect(studentProbability(0, degrees)).toBe(1);
    const accounts = (hits: number) => [{ hits, count: 20, clusters: 1 }];
    const sample = effectiveSample(Array.from({ length: degrees + 1 }, (_, n) => accounts(n)).flat());
    expect(sample.degrees).toBe(degrees);
    const other = of(20, 40);
    const errors = 2;
    expect(differenceProbability(sample, other)).toBeGreaterThan(
      differenceProbability(of(sample.hits, sample.count), other),
    );
    expect(studentProbability(errors, degrees)).toBeGreaterThan(twoSided(errors));
  });
});

describe("Holm's correction", () => {
  test("holds for all tests together", () => {
    const adjusted = holm([0.01, 0.04, 0.03, 0.005]);
    for (const [index, p] of [0.03, 0.06, 0.06, 0.02].entries()) expect(adjusted[index]).toBeCloseTo(p, 12);
    expect(holm([0.7, 0.9])).toEqual([1, 1]);
    expect(holm([0.02])).toEqual([0.02]);
  });
});

describe("the log-rank test", () => {
  // Freireich et al. (1963), weeks of remission. A time with + is censored.
  const drug = "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+";
  const placebo = "1 1 2 2 3 4 4 5 5 8 8 8 8 11 11 12 12 15 17 22 23";
  const lifetimes = (text: string, copies = 1): Lifetimes[] =>
    text.split(" ").map((time, index) => ({
      cluster: copies === 1 ? null : index + (text === drug ? 0 : 1_000),
      period: Number.parseInt(time, 10),
      hasLeft: !time.endsWith("+"),
      count: copies,
    }));

  test("of the remissions of leukaemia gives the published figures", () => {
    const { excess, variance, probability } = logRank(lifetimes(drug), lifetimes(placebo));
    // 9 relapses where 19.25 were expected, χ² = 16.79.
    expect(excess).toBeCloseTo(9 - 19.25, 2);
    expect(excess ** 2 / variance).toBeCloseTo(16.79, 2);
    expect(probability).toBeLessThan(1e-4);
    expect(logRank(lifetimes(placebo), lifetimes(drug)).excess).toBeCloseTo(-excess, 9);
  });

  test("is not moved by copies of members who share an account", () => {
    const alone = logRank(lifetimes(drug), lifetimes(placebo));
    const tripled = logRank(lifetimes(drug, 3), lifetimes(placebo, 3));
    expect(tripled.excess).toBeCloseTo(3 * alone.excess, 9);
    expect(tripled.clusteredVariance).toBeCloseTo(9 * alone.clusteredVariance, 9);
    expect(tripled.excess ** 2 / tripled.variance).toBeGreaterThan(2.5 * 16.79);
  });

  test("of equal groups of accounts finds a difference in one of twenty", () => {
    const random = new Random(20_261_122);
    const group = (offset: number): Lifetimes[] =>
      Array.from({ length: 60 }, (_, account) => {
        // Accounts leave as a whole, most of the time.
        const leaving = 1 + Math.floor(Math.log(1 - random.next()) / Math.log(0.9));
        return Array.from({ length: 5 }, (): Lifetimes => {
          const own = random.chance(0.8) ? leaving : 1 + Math.floor(random.next() * 20);
          return { cluster: offset + account, period: Math.min(own, 20), hasLeft: own <= 20, count: 1 };
        });
      }).flat();
    const found = { naive: 0, clustered: 0 };
    for (let n = 0; n < 400; n += 1) {
      const { excess, variance, probability } = logRank(group(0), group(1_000));
      if (twoSided(excess / Math.sqrt(variance)) < 0.05) found.naive += 1;
      if (probability < 0.05) found.clustered += 1;
    }
    expect(found.clustered).toBeLessThan(0.08 * 400);
    expect(found.naive).toBeGreaterThan(0.15 * 400);
  });

  test("of two accounts has the variance that is reckoned by hand", () => {
    const first = [{ cluster: 1, period: 1, hasLeft: true, count: 1 }];
    const second = [{ cluster: 2, period: 1, hasLeft: false, count: 1 }];
    // Both scores are 1/4: (1/16 + 1/16) · 2 / (2 − 1). Of one departure of two users it is 1/2 · 1/2.
    expect(logRank(first, second)).toMatchObject({ excess: 0.5, variance: 0.25, clusteredVariance: 0.25 });
  });

  test("of empty groups, or of groups without leavers, finds nothing", () => {
    const staying = [{ cluster: null, period: 9, hasLeft: false, count: 50 }];
    expect(logRank([], []).probability).toBe(1);
    // A single account has no variance over accounts.
    const account = [{ cluster: 1, period: 2, hasLeft: true, count: 3 }];
    expect(logRank(account, [])).toMatchObject({ clusteredVariance: 0, probability: 1 });
    expect(logRank(staying, staying)).toMatchObject({ excess: 0, probability: 1 });
  });
});
