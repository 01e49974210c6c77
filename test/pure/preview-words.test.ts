/** A preview of settings in sentences: it claims nothing on few departures. */
import { expect, test } from "bun:test";
import {
  departuresText,
  movesText,
  pastHealthText,
  proofText,
  stateMovesText,
} from "../../dashboard/pages/settings/scores/preview-words.ts";
import { settingValue } from "../../dashboard/text/setting-names.ts";

test("moves between bands are told with their counts", () => {
  const moves = [
    { from: "watch", to: "at_risk", count: 1_200 },
    { from: "low", to: null, count: 3 },
  ];
  expect(movesText(moves)).toBe("1,200 from watch to at risk, 3 from low to no risk");
});

test("health is compared from 30 departures on, and small differences are none", () => {
  const past = {
    cutoffs: 6,
    count: 800,
    departures: 83,
    aucBefore: 0.854,
    aucAfter: 0.804,
    differenceLow: -0.08,
    differenceHigh: -0.02,
  };
  expect(pastHealthText(past)).toBe(
    "Health would have predicted churn worse: it ranks 80 of 100 pairs right, now 85 (of 83 departures).",
  );
  const better = { aucAfter: 0.9, differenceLow: 0.01, differenceHigh: 0.08 };
  expect(pastHealthText({ ...past, ...better })).toContain("churn better: it ranks 90 of 100");
  // 0.559 to 0.552 with 33 departures was called worse.
  const noise = {
    departures: 33,
    aucBefore: 0.559,
    aucAfter: 0.552,
    differenceLow: -0.06,
    differenceHigh: 0.04,
  };
  expect(pastHealthText({ ...past, ...noise })).toBe(
    "Health would have predicted churn about as well, of 33 departures.",
  );
  expect(pastHealthText({ ...past, differenceLow: null, differenceHigh: null })).toContain("about as well");
  expect(pastHealthText({ ...past, departures: 29 })).toContain("is not known: 29 of 30 departures");
  expect(pastHealthText({ ...past, aucBefore: null })).toContain("is not known");
});

test("a horizon says how many pairs it ranks right, from 30 departures on", () => {
  const proof = {
    horizonDays: 14,
    cutoffs: 3,
    count: 400,
    departures: 39,
    baseRate: 0.1,
    auc: 0.7294,
    logLoss: 0.295,
    skill: 0.0999,
  };
  expect(proofText(proof)).toBe("14 days: ranks 73 of 100 pairs right (39 departures).");
  expect(proofText({ ...proof, departures: 12 })).toBe("14 days: 12 of 30 departures, too few to compare.");
  expect(proofText({ ...proof, auc: null, logLoss: null, skill: null })).toBe(
    "14 days: no model is good enough.",
  );
});

test("another definition has the departures of a year and the states that change", () => {
  const states = [
    { from: "churned", to: "inactive", count: 40 },
    { from: "no_data", to: "churned", count: 1 },
  ] as const;
  const definition = { departuresBefore: 61, departuresAfter: 1, stateChanged: 41, states: [...states] };
  expect(departuresText(definition)).toBe("1 departure in the past year, now 61.");
  expect(departuresText({ ...definition, departuresBefore: 1 })).toBe(
    "1 departure in the past year, as now.",
  );
  expect(stateMovesText(definition.states)).toBe("40 from churned to inactive, 1 from no data to churned");
});

test("values of settings are words, not JSON", () => {
  expect(settingValue({ by: "silence" })).toBe("no activity for the churn horizon");
  expect(settingValue({ by: "subscription" })).toBe("the last subscription ended");
  expect(settingValue({ by: "event", event: "left", undoneBy: "came_back" })).toBe(
    "left, not undone by came_back",
  );
  expect(settingValue({ by: "trait", trait: "status", values: ["gone", "lost"] })).toBe(
    "status is gone or lost",
  );
  expect(settingValue({ kind: "riskBand", band: "high", tags: ["a"] })).toBe(
    "kind riskBand, band high, tags a",
  );
});
