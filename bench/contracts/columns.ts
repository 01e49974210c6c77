/** The columns of the model of contracts, by group: the product's own, and those of the mix and of billing. */
import { bgbbColumn, columnsOf, type Design, type DesignInput } from "../../server/scoring/churn/design.ts";
import type { Column, ReasonGroup } from "../../server/scoring/statistics/logistic.ts";
import { clamp } from "../../server/scoring/statistics/vectors.ts";
import type { BillingFeatures } from "./lives.ts";

/** The groups of features, in the order of their table. */
export const featureGroups = [
  "silence, frequency",
  "trend",
  "mix",
  "breadth, volume",
  "tenure",
  "BG/BB",
  "traits",
  "members",
  "billing",
] as const;
export type FeatureGroup = (typeof featureGroups)[number];

export interface ContractInput extends DesignInput {
  readonly counts28: ReadonlyMap<string, number>;
  readonly billing: BillingFeatures;
}

export interface ContractColumn extends Column {
  readonly featureGroup: FeatureGroup;
  readonly of: (input: ContractInput) => number;
}

const groupOfReason: Readonly<Record<ReasonGroup, FeatureGroup>> = {
  silence: "silence, frequency",
  frequency: "silence, frequency",
  trend: "trend",
  breadth: "breadth, volume",
  tenure: "tenure",
  traits: "traits",
  calibration: "BG/BB",
};

const volumeColumn: ContractColumn = {
  name: "volume in 28",
  group: "breadth",
  featureGroup: "breadth, volume",
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
  const ofUsers = new Set(columnsOf({ hasMembers: false, traits: design.traits }).map(({ name }) => name));
  const product = columnsOf(design).map((column): ContractColumn => {
    const isOfMembers = !ofUsers.has(column.name);
    const own = column.name === bgbbColumn ? "BG/BB" : groupOfReason[column.group];
    return { ...column, featureGroup: isOfMembers ? "members" : own };
  });
  return [...product, volumeColumn, ...mix.map(mixColumn), ...billingColumns];
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
