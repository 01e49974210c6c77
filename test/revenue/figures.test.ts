/** MRR, rates, movements and retention: cases by hand, and rules that hold for any history. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sumOfMovements } from "../../server/revenue/movements.ts";
import { expectedLossOfPayer, payerNow } from "../../server/revenue/payer-now.ts";
import { conversionAt } from "../../server/revenue/rates.ts";
import { type Balances, balancesOf, type MrrChange } from "./balances.ts";
import { movementsOf, retentionBetween } from "./movements.ts";
import { billing, dayMs, told } from "./support.ts";

const inDollars = conversionAt({ reporting: "USD", rates: {} });
/** First instants of months 0 to 6. */
const edges = Array.from({ length: 7 }, (_, month) => dayMs(30 * month));

/** MRR of a payer's one subscription from a day on. */
const mrrFrom = (payer: string, day: number, mrr: number, more: Partial<MrrChange> = {}): MrrChange => ({
  payer,
  subscription: payer,
  fromMs: dayMs(day),
  mrr,
  currency: "USD",
  isInvoluntary: false,
  ...more,
});
const reported = (changes: readonly MrrChange[]) => balancesOf(changes, edges, inDollars).reported;

describe("a payer now", () => {
  const renewsOn = (...days: readonly number[]) => {
    const states = days.map((day) => ({
      status: "active" as const,
      wasPaid: true,
      plan: "Team",
      mrr: 100,
      currency: "USD",
      laterMrr: 100,
      laterCurrency: "USD",
      periodEndMs: dayMs(day),
      endsAtMs: null,
    }));
    const { renewsAtMs } = payerNow(states, { convert: inDollars, isUnrated: false, nowMs: dayMs(100) });
    return renewsAtMs;
  };

  test("renews at the next end of a period, which no stale one hides, or else at the last", () => {
    expect(renewsOn(40, 120, 105)).toBe(dayMs(105));
    expect(renewsOn(40, 100)).toBe(dayMs(100));
    expect(renewsOn(40, 60)).toBe(dayMs(60));
    expect(renewsOn()).toBeNull();
  });

  test("may lose what ends as scheduled, also while the churn risk is unknown", () => {
    const loss = (scheduledMrr: number, risk: number | null) =>
      expectedLossOfPayer({ mrr: 100, scheduledMrr }, risk);
    expect([loss(0, 0.5), loss(20, 0.5), loss(100, null)]).toEqual([50, 60, 100]);
    expect([loss(20, null), loss(0, null)]).toEqual([20, null]);
  });
});

describe("the MRR of a subscription is", () => {
  test.each<[number, string, number]>([
    [100, "day", 3_042],
    [100, "week", 433],
    [4_900, "month", 4_900],
    [12_000, "year", 1_000],
    [100, "30 days", 101],
    [1_000, "2 weeks", 2_167],
    [10_000, "3 months", 3_333],
    [10_000, "2 years", 417],
    // Halves go to the even number.
    [1, "2 months", 0],
    [3, "2 months", 2],
    [5, "2 months", 2],
    [6, "year", 0],
    [18, "year", 2],
    [30, "year", 2],
    [0, "month", 0],
    // Beyond what fractions of floating point represent.
    [99_999_999_999_999, "day", 3_041_666_666_666_636],
    [100_000_000_000_000, "week", 433_333_333_333_333],
  ])("of %p for a %s: %p", (amount, interval, mrr) => {
    expect(told(billing(0, "subscription_started", { amount, currency: "USD", interval }))).toEqual([
      `0 active ${mrr}`,
    ]);
  });
});

describe("an amount is converted", () => {
  const convert = conversionAt({
    reporting: "USD",
    rates: { EUR: 1.1, JPY: 0.0067, KWD: 3.25, SEK: 0.05, IDR: 6e-7, GBP: 1e21 },
  });

  test.each<[number, string, number]>([
    [4_900, "USD", 4_900],
    [4_900, "EUR", 5_390],
    [500, "JPY", 335],
    [1_000, "KWD", 325],
    [100_000_000, "IDR", 60],
    [1, "GBP", 1e21],
    // Halves go to the even number: 50, 70 and 130 öre are 2.5, 3.5 and 6.5 cents.
    [50, "SEK", 2],
    [70, "SEK", 4],
    [130, "SEK", 6],
  ])("from %p minor units of %s to %p cents", (amount, currency, cents) => {
    expect(convert(amount, currency)).toBe(cents);
  });

  test("to a currency without minor units, and with three digits", () => {
    expect(conversionAt({ reporting: "JPY", rates: { USD: 150 } })(199, "USD")).toBe(298);
    expect(conversionAt({ reporting: "KWD", rates: { USD: 0.31 } })(100, "USD")).toBe(310);
  });

  test("not without a rate, and not at a wrong one", () => {
    expect(convert(100, "CHF")).toBeUndefined();
    expect(convert(100, "constructor")).toBeUndefined();
    for (const rate of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => conversionAt({ reporting: "USD", rates: { EUR: rate } })).toThrow("above 0");
    }
  });
});

describe("a payer's movement in a month", () => {
  const name = (...changes: readonly MrrChange[]) =>
    movementsOf(reported(changes), edges).map((movements) => {
      const rises = ["new", "reactivated", "expansion", "transferredIn"] as const;
      const falls = ["contraction", "churned", "transferredOut"] as const;
      return [...rises, ...falls]
        .filter((one) => movements[one].mrr > 0)
        .map((one) => `${one} ${movements[one].mrr}`)
        .join();
    });

  test("is new, expansion, contraction, churned and reactivated, from start to end", () => {
    const days: readonly (readonly [number, number])[] = [
      [10, 100],
      [40, 150],
      [70, 80],
      [100, 0],
      [130, 60],
      [160, 60],
    ];
    expect(name(...days.map(([day, mrr]) => mrrFrom("a", day, mrr)))).toEqual([
      "new 100",
      "expansion 50",
      "contraction 70",
      "churned 80",
      "reactivated 60",
      "",
    ]);
  });

  test("is none when it begins and ends within the month; a later start is then a reactivation", () => {
    const changes = [mrrFrom("a", 10, 100), mrrFrom("a", 20, 0), mrrFrom("a", 70, 50)];
    expect(name(...changes).slice(0, 3)).toEqual(["", "", "reactivated 50"]);
  });

  test("is new when all earlier MRR was within the month itself", () => {
    expect(name(mrrFrom("a", 10, 100), mrrFrom("a", 12, 0), mrrFrom("a", 20, 50))[0]).toBe("new 50");
  });

  test("belongs to the month that begins when it happens at its first instant", () => {
    expect(name(mrrFrom("a", 30, 100), mrrFrom("a", 60, 0)).slice(0, 3)).toEqual([
      "",
      "new 100",
      "churned 100",
    ]);
  });

  test("is the sum of its subscriptions, and changes hands with one of them", () => {
    const [one, other] = [{ subscription: "one" }, { subscription: "other" }];
    const changes = [
      mrrFrom("a", 10, 100, one),
      mrrFrom("a", 40, 70, one),
      mrrFrom("a", 10, 20, other),
      mrrFrom("a", 40, 50, other),
      mrrFrom("b", 70, 50, other),
    ];
    expect(name(...changes).slice(0, 3)).toEqual(["new 120", "", "transferredIn 50,transferredOut 50"]);
  });

  const sub = (payer: string, day: number, mrr: number, subscription = "one") =>
    mrrFrom(payer, day, mrr, { subscription });
  test.each<[string, MrrChange[], string]>([
    ["no churn and no new payer", [sub("a", 10, 80), sub("b", 40, 80)], "transferredIn 80,transferredOut 80"],
    [
      "a rise of what passed an expansion",
      [sub("a", 10, 80), sub("b", 40, 100)],
      "expansion 20,transferredIn 80,transferredOut 80",
    ],
    [
      "what the new payer loses a churn",
      [sub("a", 10, 80), sub("b", 40, 80), sub("b", 50, 0)],
      "transferredIn 80,churned 80,transferredOut 80",
    ],
    [
      "what the old payer loses beside it a churn",
      [sub("a", 10, 80), sub("b", 40, 80), sub("a", 10, 20, "other"), sub("a", 50, 0, "other")],
      "transferredIn 80,churned 20,transferredOut 80",
    ],
    ["what ends as it passes a churn of the old payer", [sub("a", 10, 80), sub("b", 40, 0)], "churned 80"],
    ["a way back nothing", [sub("a", 10, 80), sub("b", 40, 80), sub("a", 50, 80)], ""],
    [
      "what begins and passes in one month new",
      [sub("a", 40, 80), sub("b", 50, 80)],
      "new 80,transferredIn 80,transferredOut 80",
    ],
  ])("has, when a subscription passes to another payer, %s", (_name, changes, moved) => {
    expect(name(...changes)[1]).toBe(moved);
    const [, month] = movementsOf(reported(changes), edges);
    const rises = ["new", "reactivated", "expansion", "transferredIn"] as const;
    const falls = ["contraction", "churned", "transferredOut"] as const;
    const net = (what: "mrr" | "payers", names: typeof rises | typeof falls) =>
      names.reduce((sum, one) => sum + (month?.[one][what] ?? Number.NaN), 0);
    const [start = 0, end = 0] = [month?.startMrr, month?.endMrr];
    expect(start + net("mrr", rises) - net("mrr", falls)).toBe(end);
    const payersAt = (edge: number) => reported(changes).filter(({ mrrs }) => (mrrs[edge] ?? 0) > 0).length;
    const gained = [month?.new, month?.reactivated, month?.transferredIn];
    const lost = [month?.churned, month?.transferredOut];
    const payers = (all: typeof gained) => all.reduce((sum, one) => sum + (one?.payers ?? 0), 0);
    expect(payersAt(1) + payers(gained) - payers(lost)).toBe(payersAt(2));
  });
});

describe("the churn of a payer is involuntary", () => {
  const [one, other] = [{ subscription: "one" }, { subscription: "other" }];
  const involuntary = (...changes: readonly MrrChange[]) =>
    retentionBetween(reported(changes), 1, 2).leftInvoluntarily;
  const both = [mrrFrom("a", 10, 100, one), mrrFrom("a", 10, 100, other)];
  const end = (day: number, subscription: { subscription: string }, isInvoluntary: boolean) =>
    mrrFrom("a", day, 0, { ...subscription, isInvoluntary });

  test("if the last subscription ended so", () => {
    expect(involuntary(...both, end(40, one, false), end(50, other, true))).toBe(1);
    expect(involuntary(...both, end(40, one, true), end(50, other, false))).toBe(0);
  });

  test("if all that ended last ended so", () => {
    expect(involuntary(...both, end(50, one, true), end(50, other, true))).toBe(1);
    expect(involuntary(...both, end(50, one, true), end(50, other, false))).toBe(0);
    expect(involuntary(...both, end(50, one, false), end(50, other, true))).toBe(0);
  });

  test("not if the payer pays at the end", () => {
    expect(involuntary(...both, end(50, one, true))).toBe(0);
  });
});

describe("retention", () => {
  test("is per payer: 5,000 became 6,000, and half of the payers left", () => {
    const stayed = ["a", "b", "c", "d", "e"].map((payer) => mrrFrom(payer, 0, 500));
    const left = ["f", "g", "h", "i", "j"].flatMap((payer) => [
      mrrFrom(payer, 0, 500),
      mrrFrom(payer, 45, 0),
    ]);
    const fresh = ["k", "l"].map((payer) => mrrFrom(payer, 50, 1_750));
    const balances = reported([...stayed, ...left, ...fresh]);
    const [, month] = movementsOf(balances, edges);
    expect(month).toMatchObject({ startMrr: 5_000, endMrr: 6_000, churned: { mrr: 2_500, payers: 5 } });
    expect(retentionBetween(balances, 1, 2)).toMatchObject({
      startMrr: 5_000,
      endMrr: 2_500,
      nrr: 0.5,
      grr: 0.5,
      churn: 0.5,
      payers: 10,
      left: 5,
    });
  });

  test("counts growth in NRR and not in GRR", () => {
    const changes = [mrrFrom("a", 0, 100), mrrFrom("a", 40, 300), mrrFrom("b", 0, 100), mrrFrom("b", 40, 50)];
    expect(retentionBetween(reported(changes), 1, 2)).toMatchObject({ nrr: 1.75, grr: 0.75, churn: 0 });
    const one = { subscription: "one" };
    const passed = [mrrFrom("a", 10, 80, one), mrrFrom("b", 40, 80, one)];
    expect(retentionBetween(reported(passed), 1, 2)).toMatchObject({ nrr: 1, grr: 1, left: 0, payers: 1 });
    const lost = reported([...passed, mrrFrom("b", 50, 0, one)]);
    expect(retentionBetween(lost, 1, 2)).toMatchObject({ nrr: 0, grr: 0, left: 1, payers: 1 });
  });

  test("has reactivated payers in neither sum, and keeps payers that came back in between", () => {
    const changes = [mrrFrom("a", 0, 100), mrrFrom("a", 20, 0), mrrFrom("a", 40, 900)];
    const kept = [mrrFrom("b", 0, 100), mrrFrom("b", 40, 0), mrrFrom("b", 70, 100)];
    const balances = reported([...changes, ...kept]);
    expect(retentionBetween(balances, 1, 2)).toMatchObject({ nrr: 0, grr: 0, payers: 1 });
    expect(retentionBetween(balances, 1, 3)).toMatchObject({ nrr: 1, grr: 1, payers: 1, left: 0 });
  });

  test("is unknown without payers at the start", () => {
    const ratios = { nrr: null, grr: null, churn: null, voluntaryChurn: null, involuntaryChurn: null };
    expect(retentionBetween(reported([mrrFrom("a", 40, 100)]), 0, 2)).toMatchObject({ ...ratios, payers: 0 });
  });
});

test("a payer with a currency without a rate is in that currency only", () => {
  const convert = conversionAt({ reporting: "USD", rates: { EUR: 1.1 } });
  const changes = [
    mrrFrom("a", 0, 100, { currency: "EUR" }),
    mrrFrom("b", 0, 100, { subscription: "b1", currency: "SEK" }),
    mrrFrom("b", 0, 200, { subscription: "b2", currency: "EUR" }),
    mrrFrom("c", 0, 0, { currency: "SEK" }),
    mrrFrom("c", 40, 0, { currency: undefined }),
  ];
  const balances: Balances = balancesOf(changes, edges, convert);
  const shown = (list: Balances["reported"] | undefined) => list?.map(({ payer, mrrs }) => [payer, mrrs[1]]);
  expect(shown(balances.reported)).toEqual([["a", 110]]);
  expect(shown(balances.unreported.get("SEK"))).toEqual([["b", 100]]);
  expect(shown(balances.unreported.get("EUR"))).toEqual([["b", 200]]);
});

/** Histories of a few payers whose subscriptions change hands, amounts and currencies. */
const histories = fc
  .array(
    fc.record({
      subscription: fc.constantFrom("s", "t", "u", "v"),
      payer: fc.constantFrom("a", "b", "c"),
      fromMs: fc.integer({ min: -60, max: 200 }).map(dayMs),
      mrr: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1_000_000_000 })),
      currency: fc.constantFrom("USD", "EUR", "JPY"),
      isInvoluntary: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  .map((changes): MrrChange[] => changes.sort((a, b) => a.fromMs - b.fromMs));

test("movements add up exactly to the change of the total, in months and in their sums", () => {
  const convert = conversionAt({ reporting: "USD", rates: { EUR: 1.0842, JPY: 0.0067 } });
  fc.assert(
    fc.property(histories, (changes) => {
      const { reported: balances } = balancesOf(changes, edges, convert);
      const months = movementsOf(balances, edges);
      for (const period of [...months, sumOfMovements(months), sumOfMovements(months.slice(1, 4))]) {
        const rises = period.new.mrr + period.reactivated.mrr + period.expansion.mrr;
        expect(period.startMrr + rises - period.contraction.mrr - period.churned.mrr).toBe(period.endMrr);
        expect(period.churnedInvoluntarily.mrr).toBeLessThanOrEqual(period.churned.mrr);
      }
      for (const [index, edgeMs] of edges.entries()) {
        const current = new Map<string, MrrChange>();
        for (const change of changes) if (change.fromMs < edgeMs) current.set(change.subscription, change);
        const total = [...current.values()].reduce(
          (sum, { mrr, currency = "" }) => sum + (convert(mrr, currency) ?? 0),
          0,
        );
        expect(balances.reduce((sum, { mrrs }) => sum + (mrrs[index] ?? 0), 0)).toBe(total);
      }
    }),
    { numRuns: 500 },
  );
});
