/** A digest for tests, and what it is about. */

import { alertsOfWeek, type Digest } from "../../server/features/digest/digest.ts";
import { totalsOf } from "../../server/features/results/totals.ts";

/** A Monday, in days since 1970-01-01. */
export const monday = 20_787;
/** An account that a digest names. */
export const ada = {
  kind: "account" as const,
  number: 7,
  id: "ada & co",
  label: "Ada & Co",
  risk: 0.62,
  riskBefore: 0.3,
  state: "active",
  expectedLoss: 120_050,
};
/** The same account on the call list. */
export const adaToCall = {
  kind: "account" as const,
  number: 7,
  id: "ada & co",
  label: "Ada & Co",
  class: "high_risk" as const,
  mrr: 193_600,
  plan: "Team",
  reason: "Use fell 69%",
  rankValue: 120_050,
  expectedLoss: 120_050,
  owner: "Olga",
};
/** A digest that says nothing. */
export const quiet: Digest = {
  period: "daily" as const,
  day: monday,
  kind: "account" as const,
  scoredDay: monday,
  sinceDay: monday - 1,
  hasModel: true,
  lacksData: false,
  currency: "EUR",
  entered: { total: 0, named: [] },
  left: { total: 0, named: [] },
  movedBySettings: 0,
  insideBySettings: 0,
  top: [],
  alerts: alertsOfWeek([]),
  done: totalsOf([]),
  changes: [],
  precision: { mature: 0, churned: 0, rate: null, interval: null },
  data: { silent: [], stoppedSince: null, rejectedEvents: 0 },
};
