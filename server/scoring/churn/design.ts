/** The columns of the ridge regression: how it sees an entity, and which reason each column belongs to. */

import type { ScoredFeatures } from "../scores/state.ts";
import type { Column } from "../statistics/logistic.ts";
import { logit } from "../statistics/special.ts";
import { clamp } from "../statistics/vectors.ts";

export interface DesignInput {
  readonly features: ScoredFeatures;
  /** BG/BB's churn risk, by the fit of the row's own cut-off. */
  readonly bgbbRisk: number;
}

export interface TraitValue {
  readonly trait: string;
  readonly value: string;
}

/** The columns beside the fixed ones; stored with the model. */
export interface Design {
  readonly hasMembers: boolean;
  readonly traits: readonly TraitValue[];
}

export interface DesignColumn extends Column {
  readonly of: (input: DesignInput) => number;
}

/** The column that carries BG/BB's verdict. */
export const bgbbColumn = "bgbb";

const leastEntitiesOfTrait = 30;
/** The most frequent values. Rarer ones matter little, and a fit's time grows with the square of the columns. */
const maxTraitColumns = 50;
export const riskClippedTo = 1e-4;

/** BG/BB's risk as log-odds, clipped so that a certainty of 1e-9 is no outlier among the features. */
export function clippedLogOdds(risk: number): number {
  return logit(clamp(risk, riskClippedTo, 1 - riskClippedTo));
}

const userColumns: readonly DesignColumn[] = [
  { name: "idle", group: "silence", of: ({ features }) => Math.log1p(features.idleDays) },
  { name: "active days in 28", group: "frequency", of: ({ features }) => Math.log1p(features.activeDays28) },
  { name: "active days in 84", group: "frequency", of: ({ features }) => Math.log1p(features.activeDays84) },
  {
    name: "active days against the 28 before",
    group: "trend",
    of: ({ features }) => Math.log((features.activeDays28 + 1) / (features.activeDaysPrevious28 + 1)),
  },
  { name: "event names in 28", group: "breadth", of: ({ features }) => Math.log1p(features.eventNames28) },
  { name: "tenure", group: "tenure", of: ({ features }) => Math.log1p(features.tenureDays) },
  { name: "mean gap", group: "frequency", of: ({ features }) => Math.log1p(features.meanGapDays) },
  {
    name: "idle against the mean gap",
    group: "silence",
    of: ({ features }) => Math.log((features.idleDays + 1) / (features.meanGapDays + 1)),
  },
  {
    name: "single active day",
    group: "frequency",
    of: ({ features }) => Number(features.hasSingleActiveDay),
  },
  { name: bgbbColumn, group: "silence", of: ({ bgbbRisk }) => clippedLogOdds(bgbbRisk) },
];

const memberColumns: readonly DesignColumn[] = [
  {
    name: "active members",
    group: "breadth",
    of: ({ features }) => Math.log1p(features.members?.active28 ?? 0),
  },
  {
    name: "active members against the 28 days before",
    group: "trend",
    of: ({ features: { members } }) =>
      Math.log(((members?.active28 ?? 0) + 1) / ((members?.activePrevious28 ?? 0) + 1)),
  },
  {
    name: "penetration",
    group: "breadth",
    of: ({ features: { members } }) => (members?.active28 ?? 0) / Math.max(1, members?.active90 ?? 0),
  },
  {
    name: "top member's share",
    group: "breadth",
    of: ({ features }) => features.members?.topShare ?? 0,
  },
  {
    name: "members' mean risk",
    group: "silence",
    of: ({ features }) => features.members?.meanRiskLogOdds ?? 0,
  },
];

/** The design that suits these entities: one row for each, as of one cut-off. */
export function designFor(entities: readonly ScoredFeatures[]): Design {
  const counts = new Map<string, TraitValue & { readonly count: number }>();
  for (const { traits } of entities) {
    for (const [trait, value] of Object.entries(traits)) {
      const key = JSON.stringify([trait, value]);
      counts.set(key, { trait, value, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  }
  const frequent = [...counts]
    .filter(([, { count }]) => count >= leastEntitiesOfTrait)
    .sort(([keyA, a], [keyB, b]) => b.count - a.count || (keyA < keyB ? -1 : 1));
  return {
    hasMembers: entities.some(({ members }) => members !== null),
    traits: frequent.slice(0, maxTraitColumns).map(([, { trait, value }]) => ({ trait, value })),
  };
}

/** The columns of a design, in their order. */
export function columnsOf({ hasMembers, traits }: Design): DesignColumn[] {
  const traitColumns = traits.map(
    ({ trait, value }): DesignColumn => ({
      name: `${trait} = ${value}`,
      group: "traits",
      of: ({ features }) => Number(features.traits[trait] === value),
    }),
  );
  return [...userColumns, ...(hasMembers ? memberColumns : []), ...traitColumns];
}

/** The values of a row. */
export function rowOf(columns: readonly DesignColumn[], input: DesignInput): Float64Array {
  return Float64Array.from(columns, (column) => column.of(input));
}
