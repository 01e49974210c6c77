/** A preview of settings in sentences: it claims nothing on few departures. */
import { expect, test } from "bun:test";
import { movesText, pastHealthText, proofText } from "../../dashboard/pages/settings/scores/preview-words.ts";

test("moves between bands are told with their counts", () => {
  const moves = [
    { from: "watch", to: "at_risk", count: 1_200 },
    { from: "low", to: null, count: 3 },
  ];
  expect(movesText(moves)).toBe("1,200 from watch to at risk, 3 from low to no risk");
});

test("health is compared from 30 departures on, and small differences are none", () => {
  const past = { cutoffs: 6, count: 800, departures: 83, aucBefore: 0.854, aucAfter: 0.844 };
  expect(pastHealthText(past)).toBe(
    "Health would have predicted churn worse: AUC 0.844, now 0.854 (83 departures at 6 cut-off dates).",
  );
  expect(pastHealthText({ ...past, aucAfter: 0.9 })).toContain("churn better: AUC 0.900");
  expect(pastHealthText({ ...past, aucAfter: 0.857 })).toContain("churn about as well");
  expect(pastHealthText({ ...past, departures: 29 })).toContain("is not known: 29 of 30 departures");
  expect(pastHealthText({ ...past, aucBefore: null })).toContain("is not known");
});

test("a horizon has its AUC and its gain over the base rate, from 30 departures on", () => {
  const proof = {
    ...{ horizonDays: 14, cutoffs: 3, count: 400, departures: 39, baseRate: 0.1 },
    ...{ auc: 0.7294, logLoss: 0.295, skill: 0.0999 },
  };
  expect(proofText(proof)).toBe(
    "14 days: AUC 0.729, log loss 10% below that of the base rate (39 departures at 3 cut-off dates).",
  );
  expect(proofText({ ...proof, skill: -0.02 })).toContain("log loss 2% above that of the base rate");
  expect(proofText({ ...proof, departures: 12 })).toBe("14 days: 12 of 30 departures, too few to compare.");
  expect(proofText({ ...proof, auc: null, logLoss: null, skill: null })).toBe(
    "14 days: no model is good enough.",
  );
});
