/** Names of the models of churn risk, as the API and the command line give them. Records have the rungs'
 * numbers. */
import { type JudgedModel, type RiskModel, riskModels } from "../../../contract/api/model-names.ts";
import type { ModelName } from "./backtest.ts";
import type { Rung } from "./churn-model.ts";

const names: Readonly<Record<ModelName, JudgedModel>> = {
  "rung 0": "prior",
  "rung 1": "bgbb",
  "rung 2": "bgbb-platt",
  "rung 3": "logistic",
  recency: "recency",
  hiatus: "hiatus",
  "period end": "period-end",
  "base rate": "base-rate",
};

/** The name of a model of the back-test. */
export function nameOfModel(model: ModelName): JudgedModel {
  return names[model];
}

/** Whether a model of the back-test may serve. The prior and the hiatus rule are only compared with. */
export function canServe(model: ModelName): boolean {
  return model !== "hiatus" && model !== "rung 0";
}

/** The name of the model on a rung; null for none. */
export function nameOfRung(rung: Rung | null): RiskModel | null {
  return rung === null ? null : riskModels[rung];
}
