/** The words of the model page about the model that serves. */
import { expect, test } from "bun:test";
import {
  type Card,
  canBackTestDecide,
  departuresStoppedText,
  type Judged,
  outagesText,
  subscriptionEndsText,
  verdict,
} from "../../dashboard/pages/model/words.ts";

const judged: Judged = {
  model: "bgbb",
  cutoffs: 6,
  count: 2_000,
  departures: 300,
  involuntaryDepartures: 0,
  baseRate: 0.2,
  auc: 0.8,
  logLoss: 0.45,
  brier: 0.15,
  brierSkill: 0.2,
  calibrationError: 0.09,
  calibrationErrorOfPerfection: 0.02,
  calibrationSlope: 1,
  calibrationIntercept: 0,
  calibrationSlopeError: 0.05,
  biasError: 0.05,
  topDecileLift: 2,
  recencyLogLoss: 0.5,
  failures: ["its calibration error of 0.090 is above 0.070"],
};
const proof = { cutoffs: { have: 6, need: 4 }, rarerLabels: { have: 300, need: 30 } };
const card: Card = {
  outages: [],
  kind: "user",
  day: "2026-11-23",
  dataStoppedSince: null,
  isCurrent: true,
  model: "bgbb",
  isProven: false,
  isProvisional: false,
  why: "",
  lacksData: false,
  leadsWithRisk: false,
  observedBaseRate: null,
  noDeparturesSince: null,
  horizonDays: 28,
  churnTarget: { by: "silence" },
  churnMeans: "no activity for 28 days",
  advisedHorizonDays: null,
  trainedDay: "2026-11-23",
  baseRate: 0.2,
  scale: null,
  next: null,
  proof,
  trainedOn: null,
  parameters: null,
  isReturnCalibrated: false,
  isConverged: true,
  models: [judged],
  withCanceling: [],
  reliability: [],
  realised: [],
  freshness: {
    loadedUpto: null,
    rebuilding: null,
    excludedUsers: 0,
    timezone: "UTC",
    silentSources: [],
    earlierScores: null,
    loading: null,
    failures: [],
  },
};

test("a model that failed once is said to stay until the next training, and why it failed", () => {
  expect(verdict(card)).toEqual({
    title: "Failed the last back-test",
    text: "In the last back-test its calibration error of 0.090 is above 0.070. The model passed the one before, so it stays for now. It is withdrawn if it fails the next one.",
  });
});

test("before the first training risks are for ranking alone", () => {
  const first: Card = { ...card, trainedDay: null, models: [] };
  expect(verdict(first)).toEqual({
    title: "The first model is being trained",
    text: "It takes a few minutes. Until then the risks come from activity alone. Use them to rank users.",
  });
  expect(verdict({ ...first, model: null }).text).toContain("No churn risk is shown until then");
});

test("a back-test that is too small decides nothing, whatever its figures", () => {
  const small = { ...card, proof: { ...proof, rarerLabels: { have: 29, need: 30 } } };
  expect([canBackTestDecide(card), canBackTestDecide(small)]).toEqual([true, false]);
  expect(verdict(small)).toMatchObject({
    title: "Shown, but not proven yet",
    text: expect.stringContaining("too small to be proof"),
  });
});

test("a baseline that serves is said to be one, and what it looks at", () => {
  const recency: Card = {
    ...card,
    model: "recency",
    isProven: true,
    models: [{ ...judged, model: "recency" }],
  };
  expect(verdict(recency)).toEqual({
    title: "Proven on your own data",
    text: "The risks come from the time since the last visit alone, and in the back-test they came true often enough. No model was clearly better. The models are tested again every week.",
  });
  expect(verdict({ ...recency, model: "period-end", isProvisional: true })).toMatchObject({
    title: "Provisionally proven on your own data",
    text: expect.stringContaining("the days to the end of the paid period alone"),
  });
  expect(verdict({ ...card, model: null, models: [] }).text).toContain("the risks of no model came true");
});

test("the base rate is said to tell nobody apart", () => {
  const base: Card = { ...card, model: "base-rate", isProven: false, kind: "account", models: [judged] };
  expect(verdict(base)).toEqual({
    title: "The same risk for all accounts",
    text: expect.stringContaining("Every account has the share that left before."),
  });
});

test("a churn event that has stopped coming is named with its day", () => {
  const stopped = {
    ...card,
    noDeparturesSince: "2026-07-02",
    churnTarget: { by: "subscription" },
  } as const;
  expect(departuresStoppedText(stopped)).toStartWith("No subscription_canceled since");
  expect(departuresStoppedText(stopped)).toContain("left out of the back-test");
  expect(departuresStoppedText(card)).toBe("");
});

test("outages are listed with their days, and those that were declared are marked", () => {
  const text = outagesText([
    { from: "2026-11-03", to: "2026-11-07", isDeclared: true },
    { from: "2026-06-01", to: "2026-06-01", isDeclared: false },
  ]);
  expect(text.replace(/\d+ (\w+) 2026|(\w+) \d+, 2026/g, "DAY")).toBe(
    "DAY to DAY (declared), DAY. No count of days contains them.",
  );
});

test("scheduled ends are beside the figures, and ends by failed payments apart", () => {
  expect(subscriptionEndsText(card)).toEqual([]);
  const unpaid = { ...judged, involuntaryDepartures: 12 };
  const { cutoffs: _, recencyLogLoss: __, failures: ___, ...metrics } = judged;
  const all = { ...metrics, count: 2_040, departures: 331, auc: 0.85, logLoss: 0.4 };
  const paying: Card = { ...card, kind: "account", models: [unpaid], withCanceling: [all] };
  expect(subscriptionEndsText(paying)).toEqual([
    "40 more predictions were about accounts whose end was scheduled.",
    "With them 85 of 100 pairs are in the right order instead of 80, and the log loss is 0.400 instead of 0.450.",
    "A scheduled end is known and not predicted, so the figures above leave it out.",
    "Failed payments ended the subscriptions of 12 of the 300 accounts that churned in the back-test.",
  ]);
  expect(subscriptionEndsText({ ...paying, model: null })).toEqual([]);
});
