/** The columns of the ridge regression: how it sees an entity, and which reason each column belongs to. */

import type { ScoredFeatures } from "../scores/state.ts";
import type { Column, ReasonGroup } from "../statistics/logistic.ts";
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

/** Groups of features. A back-test can leave each out, to see its worth. */
export const featureGroups = [
  "silence-frequency",
  "trend",
  "breadth-volume",
  "tenure",
  "bgbb",
  "traits",
  "members",
] as const;
export type FeatureGroup = (typeof featureGroups)[number];

/** The columns beside the fixed ones; stored with the model. */
export interface Design {
  readonly hasMembers: boolean;
  readonly traits: readonly TraitValue[];
  /** A group of features that is left out. No model that serves leaves one out. */
  readonly without?: FeatureGroup;
}

export interface DesignColumn extends Column {
  readonly featureGroup: FeatureGroup;
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

/** Names a column, the group of features that it belongs to, and the reason that it speaks for. */
function column(
  name: string,
  featureGroup: FeatureGroup,
  group: ReasonGroup,
  of: DesignColumn["of"],
): DesignColumn {
  return { name, featureGroup, group, of };
}

const userColumns: readonly DesignColumn[] = [
  column("idle", "silence-frequency", "silence", ({ features }) => Math.log1p(features.idleDays)),
  column("active days in 28", "silence-frequency", "frequency", ({ features }) =>
    Math.log1p(features.activeDays28),
  ),
  column("active days in 84", "silence-frequency", "frequency", ({ features }) =>
    Math.log1p(features.activeDays84),
  ),
  column("active days against the 28 before", "trend", "trend", ({ features }) =>
    Math.log((features.activeDays28 + 1) / (features.activeDaysPrevious28 + 1)),
  ),
  column("event names in 28", "breadth-volume", "breadth", ({ features }) =>
    Math.log1p(features.eventNames28),
  ),
  column("tenure", "tenure", "tenure", ({ features }) => Math.log1p(features.tenureDays)),
  column("mean gap", "silence-frequency", "frequency", ({ features }) => Math.log1p(features.meanGapDays)),
  column("idle against the mean gap", "silence-frequency", "silence", ({ features }) =>
    Math.log((features.idleDays + 1) / (features.meanGapDays + 1)),
  ),
  column("single active day", "silence-frequency", "frequency", ({ features }) =>
    Number(features.hasSingleActiveDay),
  ),
  column(bgbbColumn, "bgbb", "silence", ({ bgbbRisk }) => clippedLogOdds(bgbbRisk)),
];

const memberColumns: readonly DesignColumn[] = [
  column("active members", "members", "breadth", ({ features }) =>
    Math.log1p(features.members?.active28 ?? 0),
  ),
  column("active members against the 28 days before", "members", "trend", ({ features: { members } }) =>
    Math.log(((members?.active28 ?? 0) + 1) / ((members?.activePrevious28 ?? 0) + 1)),
  ),
  column(
    "penetration",
    "members",
    "breadth",
    ({ features: { members } }) => (members?.active28 ?? 0) / Math.max(1, members?.active90 ?? 0),
  ),
  column("top member's share", "members", "breadth", ({ features }) => features.members?.topShare ?? 0),
  column(
    "members' mean risk",
    "members",
    "silence",
    ({ features }) => features.members?.meanRiskLogOdds ?? 0,
  ),
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
export function columnsOf({ hasMembers, traits, without }: Design): DesignColumn[] {
  const traitColumns = traits.map(({ trait, value }) =>
    column(`${trait} = ${value}`, "traits", "traits", ({ features }) =>
      Number(features.traits[trait] === value),
    ),
  );
  const all = [...userColumns, ...(hasMembers ? memberColumns : []), ...traitColumns];
  return all.filter(({ featureGroup }) => featureGroup !== without);
}

/** The values of a row. */
export function rowOf(columns: readonly DesignColumn[], input: DesignInput): Float64Array {
  return Float64Array.from(columns, (column) => column.of(input));
}
