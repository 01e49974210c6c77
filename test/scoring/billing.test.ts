/** The standing of an entity by its subscriptions: a case for each rule. Times are days of 2026 in UTC. */
import { describe, expect, test } from "bun:test";
import type { BillingEventName } from "../../contract/billing/events.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { BillingEvent } from "../../server/revenue/billing-event.ts";
import { changesOf } from "../../server/revenue/changes.ts";
import type { ChurnModel } from "../../server/scoring/churn/churn-model.ts";
import { columnsOf } from "../../server/scoring/churn/design.ts";
import {
  type BillingFeatures,
  billingFacts,
  billingInstants,
  billingOf,
} from "../../server/scoring/scores/billing.ts";
import { explain } from "../../server/scoring/scores/explain.ts";
import { defaultHealthWeights } from "../../server/scoring/scores/health.ts";
import { absoluteRiskScale } from "../../server/scoring/scores/risk-scale.ts";
import { isScored, stateOf } from "../../server/scoring/scores/state.ts";
import { billing, dayMs, monthly, timeOf, utc } from "../revenue/support.ts";
import { type Standing, standingAt } from "./standing.ts";
import { quiet } from "./support.ts";

type Life = readonly BillingEvent[];

/** The standing on a day of 2026 of user 1, by the lives of subscriptions. */
function standing(day: number, ...lives: readonly Life[]): Standing {
  const logs = lives.map((life) => ({
    changes: changesOf(life),
    failedMs: life.filter(({ event }) => event === "payment_failed").map(({ atMs }) => atMs),
  }));
  const first = utc.dayOf(dayMs(0));
  return standingAt(
    logs,
    billingInstants(utc, first + day),
    ({ account, user }) => account === 0 && user === 1,
  );
}

const on = (day: number, event: BillingEventName, properties: JsonObject = {}) =>
  billing(day, event, properties);
const started = on(0, "subscription_started", monthly);
const trial = on(0, "trial_started", { ...monthly, trialEndsAt: timeOf(14) });
const end = on(30, "subscription_canceled");
const schedule = (day: number, endDay: number) =>
  on(day, "cancellation_scheduled", { endsAt: timeOf(endDay) });

const features = { ...quiet, cell: { x: 1, t: 2, n: 4 } };
const by = { by: "subscription" } as const;
const stateAt = (at: Standing, idleDays = 3) =>
  stateOf({ ...features, idleDays, tenureDays: 90, hasLeft: at.left !== null, billing: at.billing }, 28, by);
const isInPopulation = (at: Standing) =>
  isScored({ ...features, hasLeft: at.left !== null, billing: at.billing }, 28, by);

describe("an entity has left", () => {
  test("when its last subscription ended, from the next day on", () => {
    expect(standing(30, [started, end]).left).toBeNull();
    expect(standing(31, [started, end])).toEqual({
      left: { atMs: dayMs(30), isInvoluntary: false },
      billing: null,
    });
    expect(stateAt(standing(31, [started, end]))).toBe("churned");
    expect(isInPopulation(standing(31, [started, end]))).toBe(false);
  });

  test("and not while another subscription goes on, is paused or is tried", () => {
    const longTrial = on(0, "trial_started", { ...monthly, trialEndsAt: timeOf(50) });
    for (const other of [[started], [longTrial], [started, on(5, "subscription_paused")]]) {
      expect(standing(40, [started, end], other).left).toBeNull();
    }
  });

  test("until a subscription is opened again", () => {
    const again = on(50, "subscription_started", monthly);
    expect(standing(50, [started, end, again]).left).not.toBeNull();
    expect(standing(51, [started, end, again]).left).toBeNull();
  });

  test("never by a trial that ends unpaid, and on the day of the paid end after a later trial", () => {
    expect(standing(60, [trial, end])).toEqual({ left: null, billing: null });
    const later = [on(40, "trial_started", monthly), on(54, "subscription_canceled")];
    expect(standing(60, [started, end], later).left?.atMs).toBe(dayMs(30));
    expect(standing(60, [started, end, ...later]).left?.atMs).toBe(dayMs(30));
  });

  test("involuntarily when every subscription that ended last ended so", () => {
    const failed = [started, on(20, "payment_failed"), end];
    expect(standing(40, failed).left).toEqual({ atMs: dayMs(30), isInvoluntary: true });
    expect(standing(40, failed, [started, end]).left?.isInvoluntary).toBe(false);
    expect(standing(40, failed, [started, on(29, "subscription_canceled")]).left?.isInvoluntary).toBe(true);
  });
});

describe("the state", () => {
  test("is canceling while every subscription will end, with a churn risk", () => {
    const at = standing(11, [started, schedule(10, 30)]);
    expect([stateAt(at), isInPopulation(at), at.billing?.endsAtMs]).toEqual(["canceling", true, dayMs(30)]);
    expect(stateAt(standing(10, [started, schedule(10, 30)]))).toBe("active");
    expect(stateAt(standing(11, [started, schedule(10, 30)], [started]))).toBe("active");
    expect(stateAt(standing(31, [started, schedule(10, 30)]))).toBe("churned");
    const two = standing(11, [started, schedule(10, 30)], [started, schedule(9, 50)]);
    expect([stateAt(two), two.billing?.endsAtMs]).toEqual(["canceling", dayMs(50)]);
  });

  test("is that of the activity for trials and pauses, which are not in the population", () => {
    for (const life of [[trial], [started, on(2, "subscription_paused")], [trial, schedule(3, 30)]]) {
      const at = standing(10, life);
      expect([stateAt(at), stateAt(at, 40), isInPopulation(at)]).toEqual(["active", "inactive", false]);
    }
  });

  test("of a past due subscription is in the population", () => {
    expect(isInPopulation(standing(10, [started, on(5, "payment_failed")]))).toBe(true);
  });
});

describe("the facts", () => {
  const factsOf = (...of: Parameters<typeof standing>): Partial<BillingFeatures> | null =>
    standing(...of).billing;

  test("of a subscription are those of before the day", () => {
    const priced = on(0, "subscription_started", { ...monthly, currentPeriodEnd: timeOf(31), quantity: 3 });
    const yearly = on(20, "subscription_changed", { amount: 120_000, currency: "usd", interval: "year" });
    expect(factsOf(20, [priced, yearly])).toEqual({
      isPaying: true,
      mrr: 4_900,
      isYearly: false,
      ageDays: 20,
      daysToPeriodEnd: 11,
      endsAtMs: null,
      hasFailedPayment: false,
      isTrialEnding: false,
      isDown: false,
      isPastDue: false,
    });
    expect(factsOf(21, [priced, yearly])).toMatchObject({ mrr: 10_000, isYearly: true, daysToPeriodEnd: 10 });
    expect(factsOf(40, [priced])).toMatchObject({ daysToPeriodEnd: 0 });
    expect(factsOf(40, [started])).toMatchObject({ daysToPeriodEnd: null });
  });

  test("of an age are of the oldest subscription since it was opened", () => {
    const again = on(50, "subscription_started", monthly);
    expect(factsOf(60, [started, end, again])).toMatchObject({ ageDays: 10 });
    expect(factsOf(60, [started, end, again], [on(20, "subscription_started", monthly)])).toMatchObject({
      ageDays: 40,
      mrr: 9_800,
    });
  });

  test("of failed payments are of 28 days", () => {
    const failing = [started, on(5, "payment_failed"), on(6, "payment_succeeded", { amount: 4_900 })];
    expect([5, 6, 33, 34].map((day) => factsOf(day, failing)?.hasFailedPayment)).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect([5, 6, 7].map((day) => factsOf(day, failing)?.isPastDue)).toEqual([false, true, false]);
  });

  test("of a trial say that it ends within 14 days", () => {
    const long = on(0, "trial_started", { ...monthly, trialEndsAt: timeOf(30) });
    expect([10, 15, 16, 30, 31].map((day) => factsOf(day, [long])?.isTrialEnding)).toEqual([
      false,
      false,
      true,
      true,
      undefined,
    ]);
    // A trial that is over is lost, and has no facts any more.
    expect(standing(31, [long])).toEqual({ left: null, billing: null });
  });

  test("of fewer seats or less MRR are of 84 days", () => {
    const seats = [
      on(0, "subscription_started", { ...monthly, quantity: 5 }),
      on(50, "subscription_changed", { quantity: 4 }),
    ];
    expect([50, 84, 85, 135].map((day) => factsOf(day, seats)?.isDown)).toEqual([false, false, true, false]);
    expect(factsOf(100, [started], [started, on(90, "subscription_canceled")])?.isDown).toBe(true);
  });

  test("are stored in their order", () => {
    const facts: BillingFeatures = {
      isPaying: true,
      mrr: 7,
      isYearly: true,
      ageDays: 2.5,
      daysToPeriodEnd: null,
      endsAtMs: 9,
      hasFailedPayment: false,
      isTrialEnding: true,
      isDown: false,
      isPastDue: true,
    };
    const stored = billingFacts.map((fact) => (facts[fact] === null ? null : Number(facts[fact])));
    expect(billingOf(stored)).toEqual(facts);
    expect(billingOf([])).toBeNull();
  });
});

test("the reason of a churn risk names the facts", () => {
  const design = { hasMembers: false, traits: [], hasBilling: true };
  const columns = columnsOf(design).map(({ name }) => ({
    name,
    mean: 0,
    standardDeviation: 1,
    weight: name === "payment failed" ? 1.5 : 0,
  }));
  const model: ChurnModel = {
    rung: 3,
    horizonDays: 28,
    bgbb: { alpha: 1, beta: 1, gamma: 1, delta: 4 },
    referenceLogOdds: -3,
    design,
    ridge: { intercept: -3, columns, isConverged: true },
  };
  const reasonsOf = (...life: Life) =>
    explain(
      { features: { ...features, billing: standing(10, life).billing } },
      {
        horizonDays: 28,
        target: by,
        healthWeights: defaultHealthWeights,
        riskScale: absoluteRiskScale,
        model,
        scale: { activeDays: 8, volume: 40, eventNames: 3, halfLifeDays: 2, leastSeenDays: 14 },
      },
    ).reasons?.reasons.map(({ text }) => text);
  expect(reasonsOf(started, on(5, "payment_failed"))).toEqual([
    "a payment failed within 28 days: +13 points",
  ]);
  expect(reasonsOf(started)).toEqual([]);
  expect(reasonsOf(trial)).toBeUndefined();
});
