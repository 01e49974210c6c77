/** Whether the model finds ends of contracts that no silence announces. bench/contracts.ts has the figures of
 * ten seeds. */
import { expect, test } from "bun:test";
import {
  contractData,
  departuresIn,
  evaluate,
  trainContracts,
  trainIdleOnly,
  trueProbability,
  withoutCanceling,
} from "../../bench/contracts/experiment.ts";

const { training, test: later } = contractData({ seed: 11, accounts: 2_400 }, true);
const rows = withoutCanceling(later);
const excess = (risk: Parameters<typeof evaluate>[0]) => evaluate(risk, rows).auc - 0.5;
const model = trainContracts(training);

test("training and evaluation have 300 departures each, without those whose end was scheduled", () => {
  expect(departuresIn(withoutCanceling(training))).toBeGreaterThanOrEqual(300);
  expect(departuresIn(rows)).toBeGreaterThanOrEqual(300);
});

test("the model reaches two fifths of what the truth reaches, and idle days less than half of it", () => {
  expect(excess(model)).toBeGreaterThan(0.4 * excess(trueProbability));
  expect(excess(trainIdleOnly(training))).toBeLessThan(excess(model) / 2);
});

test("the mix of use is what it learns from", () => {
  expect(excess(trainContracts(training, "mix"))).toBeLessThan(0.85 * excess(model));
});

test("its probabilities are calibrated", () => {
  const { ece, eceFloor } = evaluate(model, rows);
  expect(ece).toBeLessThan(eceFloor + 0.02);
});

test("seats and pulses help where they tell of ends, each by itself", () => {
  const judged = contractData({ seed: 12, accounts: 2_400, isJudged: true }, true);
  const later = withoutCanceling(judged.test);
  const whole = evaluate(trainContracts(judged.training), later);
  for (const group of ["seats", "pulse"] as const) {
    const without = evaluate(trainContracts(judged.training, group), later);
    expect([group, without.auc < whole.auc - 0.005]).toEqual([group, true]);
    expect([group, without.logLoss > whole.logLoss]).toEqual([group, true]);
  }
});
