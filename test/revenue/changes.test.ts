/** A case for each rule of a subscription's history. Times are days of 2026. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../contract/json.ts";
import type { BillingEvent } from "../../server/revenue/billing-event.ts";
import {
  changesOf,
  isUnconfirmed,
  type Payer,
  type SubscriptionChange,
} from "../../server/revenue/changes.ts";
import { billing, dayMs, monthly, timeOf, told } from "./support.ts";

const started = billing(0, "subscription_started", monthly);

describe("an event", () => {
  test("that starts a subscription makes it active", () => {
    expect(told(started)).toEqual(["0 active 4900"]);
    expect(changesOf([started])[0]).toMatchObject({
      plan: "pro",
      currency: "USD",
      payer: { user: 1, account: 0 },
    });
  });

  test("that changes it keeps the fields that it omits, by time and not by arrival", () => {
    const seats = billing(10, "subscription_changed", { quantity: 5 });
    const price = billing(20, "subscription_changed", { amount: 9_900, currency: "usd" });
    const yearly = billing(30, "subscription_changed", { interval: "year" });
    for (const events of [
      [started, seats, price, yearly],
      [yearly, price, seats, started],
    ]) {
      expect(told(...events)).toEqual(["0 active 4900", "10 active 4900", "20 active 9900", "30 active 825"]);
      expect(changesOf(events).map(({ quantity }) => quantity)).toEqual([undefined, 5, 5, 5]);
    }
  });

  test("that cancels it ends it", () => {
    expect(told(started, billing(30, "subscription_canceled"))).toEqual(["0 active 4900", "30 canceled 0"]);
  });

  test("that pauses it counts 0 until it is resumed", () => {
    expect(told(started, billing(10, "subscription_paused"), billing(40, "subscription_resumed"))).toEqual([
      "0 active 4900",
      "10 paused 0",
      "40 active 4900",
    ]);
  });

  test("that starts it again after its end reopens it, without its failed payments", () => {
    const failed = billing(20, "payment_failed");
    const again = billing(60, "subscription_started", { amount: 5_900, currency: "usd" });
    expect(told(started, failed, billing(30, "subscription_canceled"), again)).toEqual([
      "0 active 4900",
      "20 past_due 4900",
      "30 canceled 0",
      "60 active 5900",
    ]);
  });

  test("that starts a trial after its end reopens it, too", () => {
    const again = billing(60, "trial_started");
    expect(
      told(started, billing(30, "subscription_canceled"), again, billing(70, "trial_converted")),
    ).toEqual(["0 active 4900", "30 canceled 0", "60 trialing 0", "70 active 4900"]);
  });

  test("other than a start opens no subscription that has ended", () => {
    const late = [
      billing(40, "subscription_resumed"),
      billing(41, "payment_succeeded", { amount: 4_900 }),
      billing(42, "subscription_changed", monthly),
      billing(43, "trial_converted"),
    ];
    expect(told(started, billing(30, "subscription_canceled"), ...late)).toEqual([
      "0 active 4900",
      "30 canceled 0",
    ]);
  });

  test("of a subscription whose start is unknown shows that it exists", () => {
    expect(told(billing(5, "subscription_changed", monthly))).toEqual(["5 active 4900"]);
    expect(told(billing(5, "trial_ending", monthly))).toEqual(["5 trialing 0"]);
    expect(told(billing(5, "subscription_paused", monthly))).toEqual(["5 paused 0"]);
    expect(told(billing(5, "subscription_canceled", monthly))).toEqual(["5 canceled 0"]);
  });

  test("of a payment opens none, and a payment's amount is no price", () => {
    const payment = { amount: 100, currency: "eur" };
    expect(told(billing(0, "payment_succeeded", payment))).toEqual([]);
    const [change] = changesOf([started, billing(1, "payment_succeeded", payment)]);
    expect(change).toMatchObject({ mrr: 4_900, currency: "USD" });
  });

  test("without a price counts 0", () => {
    for (const field of ["amount", "currency", "interval"]) {
      expect(told(billing(0, "subscription_started", { ...monthly, [field]: null }))).toEqual(["0 active 0"]);
    }
  });
});

describe("events of one time apply in the order of their ranks", () => {
  test("start, trial, change, pause, resumption, end", () => {
    const all = [
      billing(0, "subscription_canceled"),
      billing(0, "subscription_resumed"),
      billing(0, "subscription_paused"),
      billing(0, "subscription_changed", { amount: 100, currency: "usd" }),
      billing(0, "trial_started"),
      started,
    ];
    const told0 = (from: number) => told(...all.slice(from));
    expect([0, 1, 2, 3, 4, 5].map(told0)).toEqual([
      ["0 canceled 0"],
      ["0 trialing 0"],
      ["0 paused 0"],
      ["0 trialing 0"],
      ["0 trialing 0"],
      ["0 active 4900"],
    ]);
  });

  test("a scheduled end, then its withdrawal", () => {
    const scheduled = billing(5, "cancellation_scheduled", { endsAt: timeOf(30) });
    expect(told(billing(5, "cancellation_withdrawn"), scheduled, started)).toEqual(["0 active 4900"]);
  });

  test("a scheduled end, then a state without one, in any order", () => {
    const scheduled = billing(5, "cancellation_scheduled", { endsAt: timeOf(30) });
    const goesOn = billing(6, "subscription_changed", { endsAt: null });
    for (const events of [
      [started, scheduled, goesOn],
      [goesOn, scheduled, started],
    ]) {
      expect(changesOf(events).map(({ endsAtMs }) => endsAtMs)).toEqual([undefined, dayMs(30), undefined]);
    }
    const silent = billing(6, "subscription_changed");
    expect(told(started, scheduled, silent).at(-1)).toBe("30 canceled 0");
    const paid = billing(6, "payment_succeeded", { endsAt: null });
    expect(told(started, scheduled, paid).at(-1)).toBe("30 canceled 0");
  });

  test("a failed payment, then one that succeeded", () => {
    expect(told(billing(5, "payment_succeeded"), billing(5, "payment_failed"), started)).toEqual([
      "0 active 4900",
    ]);
  });

  test("and those of one rank in the order of their message ids", () => {
    const to = (amount: number, tieBreak: string) =>
      billing(5, "subscription_changed", { amount, currency: "usd" }, { tieBreak });
    expect(told(started, to(200, "b"), to(100, "a"))).toEqual(["0 active 4900", "5 active 200"]);
    expect(told(started, to(200, "a"), to(100, "b"))).toEqual(["0 active 4900", "5 active 100"]);
  });

  test("but in that of the tool's versions where it sends them", () => {
    const at = (event: BillingEvent["event"], resourceVersion: number | undefined, amount: number) =>
      billing(5, event, { amount, currency: "usd", resourceVersion }, { tieBreak: `${9 - amount}` });
    const [first, second] = [at("subscription_changed", 1, 1), at("subscription_changed", 2, 2)];
    for (const events of [
      [first, second],
      [second, first],
    ])
      expect(told(started, ...events)).toEqual(["0 active 4900", "5 active 2"]);
    const [ended, again] = [at("subscription_canceled", 3, 3), at("subscription_started", 4, 4)];
    expect(told(again, ended, started)).toEqual(["0 active 4900", "5 active 4"]);
    // An older version a second later is a state of before; one of another minute is a numbering that began
    // anew.
    const after = (ms: number) => ({ ...at("subscription_changed", 1, 7), atMs: dayMs(5) + ms });
    expect(told(started, second, after(1_000)).at(-1)).toBe("5 active 2");
    expect(told(started, second, after(61_000)).at(-1)).toContain("active 7");
    // Without a version an event is the first of its time.
    expect(told(started, at("subscription_changed", undefined, 5), first).at(-1)).toBe("5 active 1");
  });
});

describe("a trial", () => {
  const trial = billing(0, "trial_started", { ...monthly, trialEndsAt: timeOf(14) });

  test("counts 0 until it is converted, and is lost when its end passes without that", () => {
    expect(told(trial)).toEqual(["0 trialing 0", "14 canceled 0"]);
    expect(told(billing(0, "trial_started", monthly))).toEqual(["0 trialing 0"]);
    expect(changesOf([trial]).at(-1)).toMatchObject({ isInvoluntary: false, endsAtMs: undefined });
  });

  test.each<[string, BillingEvent]>([
    ["a conversion", billing(15, "trial_converted")],
    ["a payment", billing(15, "payment_succeeded", { amount: 4_900, currency: "usd" })],
    ["a start", billing(15, "subscription_started")],
    ["the tool's status", billing(15, "subscription_changed", { status: "active" })],
  ])(
    "that has just ended was never lost when %s comes, and goes on again when it comes late",
    (_name, event) => {
      expect(told(trial, event)).toEqual(["0 trialing 0", "15 active 4900"]);
      const late: BillingEvent = { ...event, atMs: dayMs(18) };
      expect(told(trial, late)).toEqual(["0 trialing 0", "14 canceled 0", "18 active 4900"]);
    },
  );

  test("is lost at its later end when it is extended, by any news of that", () => {
    const extended = (day: number, properties: JsonObject = {}) =>
      billing(day, "subscription_changed", { trialEndsAt: timeOf(30), ...properties });
    expect(told(trial, extended(10))).toEqual(["0 trialing 0", "10 trialing 0", "30 canceled 0"]);
    expect(told(trial, extended(16, { status: "trialing" }))).toEqual([
      "0 trialing 0",
      "16 trialing 0",
      "30 canceled 0",
    ]);
  });

  test("is not lost by a change that says neither, and not while it is paused", () => {
    expect(told(trial, billing(15, "subscription_changed", { quantity: 2 }))[1]).toBe("14 canceled 0");
    expect(told(trial, billing(10, "subscription_paused"))).toEqual(["0 trialing 0", "10 paused 0"]);
  });

  test("begins with a start whose trial ends later, and with no other", () => {
    const start = (trialEndsAt: string) => billing(0, "subscription_started", { ...monthly, trialEndsAt });
    expect(told(start(timeOf(14)))[0]).toBe("0 trialing 0");
    expect(told(start(timeOf(0)))).toEqual(["0 active 4900"]);
  });

  test("is converted by the first payment above 0, at the last amount", () => {
    const change = billing(5, "subscription_changed", { amount: 9_900, currency: "usd" });
    const paid = (day: number, amount: number) =>
      billing(day, "payment_succeeded", { amount, currency: "usd" });
    expect(told(trial, change, paid(6, 0))).toEqual(["0 trialing 0", "14 canceled 0"]);
    expect(told(trial, change, paid(6, 0), paid(14, 9_900))).toEqual(["0 trialing 0", "14 active 9900"]);
  });

  test("is ended by a start without a trial", () => {
    expect(told(trial, billing(14, "subscription_started"))).toEqual(["0 trialing 0", "14 active 4900"]);
  });

  test("stays one when its payment fails, and its end is no involuntary one", () => {
    const events = [trial, billing(14, "payment_failed"), billing(20, "subscription_canceled")];
    expect(told(...events)).toEqual(["0 trialing 0", "14 canceled 0"]);
    expect(changesOf(events).at(-1)?.isInvoluntary).toBe(false);
  });
});

describe("a failed payment", () => {
  test("makes a subscription past due until a payment succeeds, and it counts", () => {
    expect(told(started, billing(30, "payment_failed"), billing(33, "payment_succeeded"))).toEqual([
      "0 active 4900",
      "30 past_due 4900",
      "33 active 4900",
    ]);
  });

  test("is not undone by refunds and disputes", () => {
    const others = [billing(31, "payment_refunded"), billing(32, "payment_disputed")];
    expect(told(started, billing(30, "payment_failed"), ...others)).toEqual([
      "0 active 4900",
      "30 past_due 4900",
    ]);
  });

  test.each([
    [60, true],
    [61, false],
  ])("%p days before the end makes the end involuntary: %p", (days, isInvoluntary) => {
    const events = [started, billing(10, "payment_failed"), billing(10 + days, "subscription_canceled")];
    expect(changesOf(events).at(-1)).toMatchObject({ status: "canceled", isInvoluntary });
  });

  test("that was followed by a payment leaves the end voluntary", () => {
    const paid = [billing(10, "payment_failed"), billing(11, "payment_succeeded")];
    const events = [started, ...paid, billing(20, "subscription_canceled")];
    expect(changesOf(events).at(-1)?.isInvoluntary).toBe(false);
  });

  test("as the reason of an end makes it involuntary without a failed payment", () => {
    const end = (reason: string) => billing(20, "subscription_canceled", { reason });
    expect(changesOf([started, end("payment_failed")]).at(-1)?.isInvoluntary).toBe(true);
    expect(changesOf([started, end("cancellation_requested")]).at(-1)?.isInvoluntary).toBe(false);
  });
});

describe("the tool's own status", () => {
  const says = (day: number, status: string, more: JsonObject = {}) =>
    billing(day, "subscription_changed", { status, ...more });

  test.each<[string, BillingEvent[], string[]]>([
    ["makes it past due without a failed charge", [says(10, "past_due")], ["10 past_due 4900"]],
    ["ends that again", [says(10, "past_due"), says(20, "active")], ["10 past_due 4900", "20 active 4900"]],
    [
      "ends a failed payment's",
      [billing(10, "payment_failed"), says(20, "active")],
      ["10 past_due 4900", "20 active 4900"],
    ],
    [
      "is not ended by a payment of another invoice",
      [says(10, "past_due"), billing(12, "payment_succeeded", { amount: 1 })],
      ["10 past_due 4900"],
    ],
    ["pauses it", [says(10, "paused"), says(20, "ACTIVE")], ["10 paused 0", "20 active 4900"]],
    [
      "makes it a trial",
      [says(10, "trialing", { trialEndsAt: timeOf(40) }), says(40, "active")],
      ["10 trialing 0", "40 active 4900"],
    ],
    ["ends it", [says(10, "canceled")], ["10 canceled 0"]],
    [
      "reopens nothing that has ended",
      [billing(10, "subscription_canceled"), says(20, "active")],
      ["10 canceled 0"],
    ],
  ])("%s", (_name, events, then) => {
    expect(told(started, ...events)).toEqual(["0 active 4900", ...then]);
    expect(told(...events.toReversed(), started)).toEqual(["0 active 4900", ...then]);
  });

  test("of a payment is none, and one that is none is left out", () => {
    expect(told(started, billing(10, "payment_succeeded", { status: "canceled" }))).toEqual([
      "0 active 4900",
    ]);
    expect(told(started, says(10, "in good standing"))).toEqual(["0 active 4900"]);
  });

  test.each([
    [60, undefined, true],
    [61, undefined, false],
    [20, "payment_failed", true],
    [20, "switched to a rival", false],
  ])(
    "past due for %p days before an end with the reason %p: involuntary %p",
    (days, reason, isInvoluntary) => {
      const end = billing(10 + days, "subscription_canceled", { reason });
      for (const cause of [says(10, "past_due"), billing(10, "payment_failed")]) {
        expect(changesOf([started, cause, end]).at(-1)).toMatchObject({ status: "canceled", isInvoluntary });
      }
    },
  );
});

describe("a price that only invoices tell", () => {
  const tiered = billing(0, "subscription_started", {
    plan: "pro",
    currency: "usd",
    isPricedByInvoice: true,
  });
  const paid = (day: number, recurringAmount: number, recurringInterval = "month") =>
    billing(day, "payment_succeeded", { amount: 1, currency: "usd", recurringAmount, recurringInterval });

  test("is unknown until one is paid, and follows the newest", () => {
    expect(told(tiered, paid(1, 6_000), paid(31, 7_000))).toEqual([
      "0 active 0",
      "1 active 6000",
      "31 active 7000",
    ]);
    expect(told(tiered, paid(1, 12_000, "year")).at(-1)).toBe("1 active 1000");
  });

  test("is known from an earlier invoice, and gone with an amount of its own", () => {
    expect(told(paid(0, 6_000), { ...tiered, atMs: dayMs(1) })).toEqual(["1 active 6000"]);
    const own = billing(5, "subscription_changed", monthly);
    expect(told(tiered, paid(1, 6_000), own, paid(31, 7_000)).at(-1)).toBe("5 active 4900");
    expect(told(started, paid(1, 6_000))).toEqual(["0 active 4900"]);
  });
});

describe("a payment at the end of the period or after it", () => {
  const begins = (interval: string, currentPeriodEnd: string) => ({ ...monthly, interval, currentPeriodEnd });
  const paid = (time: string, amount = 4_900) =>
    billing((Date.parse(time) - dayMs(0)) / (dayMs(1) - dayMs(0)), "payment_succeeded", { amount });
  const endsOf = (...events: readonly BillingEvent[]) =>
    changesOf(events).map(({ periodEndMs }) =>
      new Date(periodEndMs ?? Number.NaN).toISOString().slice(0, 16),
    );

  test.each([
    ["a month, on its days", "month", "2026-02-01", ["2026-02-01", "2026-03-01"], "2026-04-01T00:00"],
    ["a year, on the day", "year", "2026-06-01", ["2026-06-01"], "2027-06-01T00:00"],
    ["a year, an hour later", "year", "2026-06-01", ["2026-06-01T01:00Z"], "2027-06-01T00:00"],
    [
      "a month of 31 days, and the day comes back",
      "month",
      "2026-01-31",
      ["2026-02-01", "2026-03-01"],
      "2026-03-31T00:00",
    ],
    ["29 February", "year", "2028-02-29", ["2028-02-29", "2029-02-28"], "2030-02-28T00:00"],
    ["three months", "3 months", "2026-02-01", ["2026-02-03"], "2026-05-01T00:00"],
    [
      "two weeks, after one that no payment was reported of",
      "2 weeks",
      "2026-02-02T09:30:00Z",
      ["2026-02-20"],
      "2026-03-02T09:30",
    ],
    ["30 days", "30 days", "2026-02-01", ["2026-02-01"], "2026-03-03T00:00"],
    ["a month, before its end", "month", "2026-02-01", ["2026-01-31T23:59:59.999Z"], "2026-02-01T00:00"],
  ])("moves it on by the interval: %s", (_, interval, periodEnd, payments, expected) => {
    const start = billing(0, "subscription_started", begins(interval, periodEnd));
    expect(endsOf(start, ...payments.map((time) => paid(time))).at(-1)).toBe(expected);
  });

  const start = billing(0, "subscription_started", begins("month", "2026-02-01"));

  test("confirms the subscription, and changes no MRR and no status", () => {
    const renewed = changesOf([start, paid("2026-02-01"), paid("2026-03-01")]);
    expect(renewed.map(({ status, mrr }) => [status, mrr])).toEqual(renewed.map(() => ["active", 4_900]));
    const now = renewed.at(-1);
    expect(now && isUnconfirmed(now, Date.UTC(2026, 3, 30))).toBe(false);
    expect(now && isUnconfirmed(now, Date.UTC(2026, 4, 1))).toBe(true);
  });

  test("gives way to an end that is reported, before or after it", () => {
    const reported = billing(31, "subscription_changed", { currentPeriodEnd: "2026-02-28" });
    expect(endsOf(start, reported, paid("2026-02-01")).at(-1)).toBe("2026-02-28T00:00");
    const later = billing(32, "subscription_changed", { currentPeriodEnd: "2026-02-28" });
    expect(endsOf(start, paid("2026-02-01"), later).at(-1)).toBe("2026-02-28T00:00");
  });

  test("of nothing, after an end, or without an interval moves it by nothing", () => {
    expect(endsOf(start, paid("2026-02-01", 0))).toEqual(["2026-02-01T00:00"]);
    const ended = billing(31, "subscription_canceled");
    expect(endsOf(start, ended, paid("2026-02-02")).at(-1)).toBe("2026-02-01T00:00");
    const { interval: _, ...price } = begins("month", "2026-02-01");
    const known = billing(0, "subscription_changed", price);
    expect(endsOf(known, paid("2026-02-01")).at(-1)).toBe("2026-02-01T00:00");
  });
});

describe("a scheduled end", () => {
  const scheduled = billing(10, "cancellation_scheduled", { endsAt: timeOf(30) });

  test("takes effect without another event", () => {
    expect(told(started, scheduled)).toEqual(["0 active 4900", "10 active 4900", "30 canceled 0"]);
    expect(changesOf([started, scheduled]).map(({ endsAtMs }) => endsAtMs)).toEqual([
      undefined,
      dayMs(30),
      undefined,
    ]);
  });

  test("is not moved by an end that is reported later", () => {
    expect(told(started, scheduled, billing(31, "subscription_canceled"))).toEqual([
      "0 active 4900",
      "10 active 4900",
      "30 canceled 0",
    ]);
  });

  test("gives way to an earlier end", () => {
    expect(told(started, scheduled, billing(20, "subscription_canceled"))).toEqual([
      "0 active 4900",
      "10 active 4900",
      "20 canceled 0",
    ]);
  });

  test("is withdrawn, also at the very time, and not afterwards", () => {
    const withdrawn = (day: number) =>
      told(started, scheduled, billing(day, "cancellation_withdrawn")).at(-1);
    expect([20, 30, 31].map(withdrawn)).toEqual(["20 active 4900", "30 active 4900", "30 canceled 0"]);
  });

  test("is moved by another one", () => {
    const later = billing(20, "cancellation_scheduled", { endsAt: timeOf(60) });
    expect(told(started, scheduled, later).at(-1)).toBe("60 canceled 0");
  });

  test("is also said by any change of a tool that reports all of it", () => {
    const change = billing(10, "subscription_changed", { endsAt: timeOf(30) });
    expect(told(started, change)).toEqual(["0 active 4900", "10 active 4900", "30 canceled 0"]);
    const why = billing(9, "cancellation_scheduled", { endsAt: timeOf(30), reason: "payment_failed" });
    expect(changesOf([started, why, change]).at(-1)?.isInvoluntary).toBe(true);
  });

  test("in the past is at once", () => {
    const past = billing(10, "cancellation_scheduled", { endsAt: timeOf(5) });
    expect(told(started, past)).toEqual(["0 active 4900", "10 canceled 0"]);
  });

  test("without a date is at the end of the period, and without a period at no time", () => {
    const open = billing(10, "cancellation_scheduled");
    const paid = billing(0, "subscription_started", { ...monthly, currentPeriodEnd: timeOf(31) });
    expect(told(paid, open).at(-1)).toBe("31 canceled 0");
    expect(told(started, open)).toEqual(["0 active 4900"]);
  });

  test("is followed by a start at its very time", () => {
    expect(told(started, scheduled, billing(30, "subscription_started"))).toEqual([
      "0 active 4900",
      "10 active 4900",
      "30 active 4900",
    ]);
  });

  test("for a failed payment is involuntary", () => {
    const failed = billing(10, "cancellation_scheduled", { endsAt: timeOf(30), reason: "payment_failed" });
    expect(changesOf([started, failed]).map(({ isInvoluntary }) => isInvoluntary)).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe("a discount of limited time", () => {
  const discounted = billing(0, "subscription_started", {
    ...monthly,
    amount: 2_900,
    discountEndsAt: timeOf(90),
    amountAfterDiscount: 4_900,
  });

  test("ends on its date without an event", () => {
    expect(told(discounted)).toEqual(["0 active 2900", "90 active 4900"]);
    expect(told(discounted, billing(90, "payment_failed"))).toEqual(["0 active 2900", "90 past_due 4900"]);
  });

  test("is gone with the next amount", () => {
    const change = billing(30, "subscription_changed", { amount: 9_900, currency: "usd" });
    expect(told(discounted, change)).toEqual(["0 active 2900", "30 active 9900"]);
  });

  test("of a subscription that ends before has no effect", () => {
    const end = billing(30, "cancellation_scheduled", { endsAt: timeOf(60) });
    expect(told(discounted, end)).toEqual(["0 active 2900", "30 active 2900", "60 canceled 0"]);
  });
});

describe("the payer", () => {
  const payers = (...events: readonly BillingEvent[]): Payer[] => changesOf(events).map(({ payer }) => payer);

  test("is the account of the first event, and stays it when the user moves", () => {
    const first = { ...started, account: 7 };
    const moved = billing(10, "subscription_changed", { amount: 1, currency: "usd" }, { account: 8 });
    expect(payers(first, moved)).toEqual([
      { account: 7, user: 1 },
      { account: 7, user: 1 },
    ]);
  });

  test("is the user without an account, also when the user joins one", () => {
    expect(payers(started, billing(10, "subscription_paused", {}, { account: 8 }))).toEqual([
      { account: 0, user: 1 },
      { account: 0, user: 1 },
    ]);
  });

  const of = (user: number, account: number, more: object = {}): Partial<BillingEvent> => ({
    user,
    account,
    ...more,
  });
  test.each<
    [string, Partial<BillingEvent>, BillingEvent["event"], JsonObject, Partial<BillingEvent>, Payer | null]
  >([
    ["another user of a user's", of(1, 0), "subscription_changed", {}, of(2, 0), { account: 0, user: 2 }],
    ["another user's account", of(1, 0), "subscription_started", {}, of(2, 8), { account: 8, user: 2 }],
    [
      "another user of another account",
      of(1, 7),
      "subscription_changed",
      {},
      of(2, 8),
      { account: 8, user: 2 },
    ],
    ["nobody else by a user of its account", of(1, 7), "subscription_changed", {}, of(2, 7), null],
    ["nobody else by a user without an account", of(1, 7), "subscription_changed", {}, of(2, 0), null],
    [
      "who takes over from an account",
      of(1, 7),
      "subscription_changed",
      { isTransfer: true },
      of(2, 0),
      { account: 0, user: 2 },
    ],
    ["nobody else by who pays a bill", of(1, 0), "payment_succeeded", { amount: 1 }, of(2, 8), null],
    ["nobody else by its own user in another account", of(1, 7), "subscription_started", {}, of(1, 8), null],
    [
      "the account that is named, whose ever the user is",
      of(1, 7),
      "subscription_changed",
      {},
      of(2, 8, { account: 9, isAccountNamed: true }),
      { account: 9, user: 2 },
    ],
  ])("becomes %s", (_name, first, event, properties, who, payer) => {
    const later = billing(10, event, properties, who);
    const opened = { ...started, ...first };
    for (const events of [
      [opened, later],
      [later, opened],
    ]) {
      expect(changesOf(events).at(-1)?.payer).toEqual(
        payer ?? changesOf([opened])[0]?.payer ?? { account: -1, user: -1 },
      );
    }
  });

  test("becomes the account that an event names", () => {
    const named = { account: 9, user: 2, isAccountNamed: true };
    expect(payers({ ...started, account: 7 }, billing(10, "payment_succeeded", {}, named))).toEqual([
      { account: 7, user: 1 },
      { account: 9, user: 2 },
    ]);
  });
});

describe("a subscription is unconfirmed", () => {
  const paid = billing(0, "subscription_started", { ...monthly, currentPeriodEnd: timeOf(31) });
  const is = (day: number, ...events: readonly BillingEvent[]) => {
    const last: SubscriptionChange | undefined = changesOf(events).findLast(
      ({ fromMs }) => fromMs <= dayMs(day),
    );
    return last !== undefined && isUnconfirmed(last, dayMs(day));
  };

  test("30 days after the end of its period, and still counts", () => {
    expect([60, 61, 300].map((day) => is(day, paid))).toEqual([false, true, true]);
    expect(told(paid)).toEqual(["0 active 4900"]);
  });

  test("unless an event came since, or it has no period or has ended", () => {
    expect([61, 69, 70].map((day) => is(day, paid, billing(40, "payment_succeeded")))).toEqual([
      false,
      false,
      true,
    ]);
    expect(is(300, started)).toBe(false);
    expect(is(300, paid, billing(31, "subscription_canceled"))).toBe(false);
  });
});
