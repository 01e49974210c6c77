/** Names of the models of churn risk. */

/** Models that can serve, the simplest first. */
export const riskModels = ["prior", "bgbb", "bgbb-platt", "logistic"] as const;
export type RiskModel = (typeof riskModels)[number];

/** Models of the back-test: those that can serve, and the two baselines that they are compared with. */
export const judgedModels = [...riskModels, "recency", "hiatus"] as const;
export type JudgedModel = (typeof judgedModels)[number];
