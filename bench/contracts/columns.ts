/** The columns of the model of contracts, by group: the product's own, and those of the mix and of billing. */
import {
  columnsOf,
  type Design,
  type DesignInput,
  featureGroups,
} from "../../server/scoring/churn/design.ts";
import type { Column } from "../../server/scoring/statistics/logistic.ts";
import { clamp } from "../../server/scoring/statistics/vectors.ts";
import type { BillingFeatures } from "./lives.ts";

/** The groups of features: the product's, and those that it does not have yet. */
export const contractGroups = [...featureGroups, "mix", "billing"] as const;
export type ContractGroup = (typeof contractGroups)[number];

export interface ContractInput extends DesignInput {
  readonly counts28: ReadonlyMap<string, number>;
  readonly billing: BillingFeatures;
}

export interface ContractColumn extends Column {
  readonly featureGroup: ContractGroup;
  readonly of: (input: ContractInput) => number;
}

const volumeColumn: ContractColumn = {
  name: "volume in 28",
  group: "breadth",
  featureGroup: "breadth-volume",
  of: ({ features }) => Math.log1p(features.volume28),
};

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

/** All columns. `mix`: the most frequent names of events. */
export function contractColumns(design: Design, mix: readonly string[]): ContractColumn[] {
  return [...columnsOf(design), volumeColumn, ...mix.map(mixColumn), ...billingColumns];
}

/** A feature of a short tenure counts as if its days were 28. */
function mixColumn(event: string): ContractColumn {
  return {
    name: `${event} in 28`,
    group: "breadth",
    featureGroup: "mix",
    of: ({ counts28, features }) => {
      const normalized = ((counts28.get(event) ?? 0) * 28) / clamp(features.tenureDays, 14, 28);
      return Math.log1p(normalized);
    },
  };
}
