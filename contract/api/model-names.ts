/** Names of the models of churn risk. */

/** Models, the simplest first. `prior` served in version 0.1.0; now it is only back-tested. */
export const riskModels = ["prior", "bgbb", "bgbb-platt", "logistic"] as const;
export type RiskModel = (typeof riskModels)[number];

/** Models of the back-test, and the baselines that they are compared with. `period-end` is of subscriptions. */
export const judgedModels = [...riskModels, "recency", "hiatus", "period-end"] as const;
export type JudgedModel = (typeof judgedModels)[number];
