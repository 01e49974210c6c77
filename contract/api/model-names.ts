/** Names of the models of churn risk. */

/** Models, the simplest first, and then the baselines that serve while no model beats them. `prior` served in
 * version 0.1.0; now it is only back-tested. `period-end` is of subscriptions. */
export const riskModels = [
  "prior",
  "bgbb",
  "bgbb-platt",
  "logistic",
  "recency",
  "period-end",
  "base-rate",
] as const;
export type RiskModel = (typeof riskModels)[number];

/** Models of the back-test, and all baselines that they are compared with. */
export const judgedModels = [...riskModels, "hiatus"] as const;
export type JudgedModel = (typeof judgedModels)[number];
