/** The columns of the model of contracts, by group: the product's own, and those of billing. */
import { type DesignColumn, type DesignInput, featureGroups } from "../../server/scoring/churn/columns.ts";
import { columnsOf, type Design } from "../../server/scoring/churn/design.ts";
import type { BillingFeatures } from "./lives.ts";

/** The groups of features: the product's, and one that it does not have yet. */
export const contractGroups = [...featureGroups, "billing"] as const;
export type ContractGroup = (typeof contractGroups)[number];

export interface ContractInput extends DesignInput {
  readonly billing: BillingFeatures;
}

export interface ContractColumn extends Omit<DesignColumn, "featureGroup" | "of" | "sql"> {
  readonly featureGroup: ContractGroup;
  readonly of: (input: ContractInput) => number | null;
}

const billing = (name: string, of: (billing: BillingFeatures) => number): ContractColumn => ({
  name,
  group: "traits",
  featureGroup: "billing",
  of: (input) => of(input.billing),
});

const billingColumns: readonly ContractColumn[] = [
  billing("MRR", ({ mrr }) => Math.log1p(mrr)),
  billing("yearly", ({ isYearly }) => Number(isYearly)),
  billing("age of the subscription", ({ ageDays }) => Math.log1p(ageDays)),
  billing("days to the end of the period", ({ daysToPeriodEnd }) => Math.log1p(daysToPeriodEnd)),
  billing("end scheduled", ({ isEndScheduled }) => Number(isEndScheduled)),
  billing("payment failed", ({ hasFailedPayment }) => Number(hasFailedPayment)),
  billing("MRR down", ({ isDown }) => Number(isDown)),
];

/** All columns. */
export function contractColumns(design: Design): ContractColumn[] {
  return [...columnsOf(design), ...billingColumns];
}
