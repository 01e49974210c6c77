import type { RiskModel } from "../../contract/api/model-names.ts";

interface Name {
  readonly model: RiskModel;
  readonly name: string;
  readonly term: string;
  /** What the risk is learned from. @param those "users" or "accounts" */
  readonly from: (those: string) => string;
}

/** Models of churn risk, the simplest first, then the baselines: a plain name, and the term of statistics
 * beside it. */
export const modelNames: readonly Name[] = [
  {
    model: "prior",
    name: "A general assumption",
    term: "prior",
    from: (those) => `how ${those} come and go in general, because there is too little of your own data yet`,
  },
  {
    model: "bgbb",
    name: "Visit rhythm",
    term: "BG/BB",
    from: (those) => `how regularly your ${those} come back`,
  },
  {
    model: "bgbb-platt",
    name: "Visit rhythm, calibrated",
    term: "BG/BB with Platt calibration",
    from: (those) => `how regularly your ${those} come back, and how many of them left`,
  },
  { model: "logistic", name: "Similar users", term: "ridge regression", from: (those) => `similar ${those}` },
  {
    model: "recency",
    name: "Last visit",
    term: "logistic regression on idle days",
    from: () => "how long ago the last visit was, and how many left after as long",
  },
  {
    model: "period-end",
    name: "End of the period",
    term: "logistic regression on days to the end of the period",
    from: () => "how soon the paid period ends, and how many left at its end",
  },
  {
    model: "base-rate",
    name: "Base rate",
    term: "the share that churned",
    from: (those) => `how many ${those} left: no model tells them apart now`,
  },
];

/** Why there is no churn risk, and what takes its place. @param kind users or accounts */
export function tooLittleData(kind: "user" | "account"): string {
  return `Too little data for a churn risk: ${kind}s are ordered by activity.`;
}

/** A model's name with its term. @param model null when none was good enough */
export function namedModel(model: RiskModel | null): string {
  const named = modelNames.find((each) => each.model === model);
  return named === undefined ? "none" : `${named.name} (${named.term})`;
}
