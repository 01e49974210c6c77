/** The state of an entity, which decides whether it has scores. */
import type { Cell } from "../churn/bgbb.ts";
import type { Features } from "./features.ts";

export type State = "no_data" | "churned" | "new" | "active";

export const newForDays = 14;

/**
 * The first that matches: `no_data` without an engagement event before T (`features` is null), `churned` when idle
 * for the horizon or gone with the churn event, `new` when the first engagement event is under 14 days ago, `active`.
 */
export function stateOf(features: Features | null, horizonDays: number): State {
  if (features === null) return "no_data";
  if (features.idleDays >= horizonDays || features.hasLeft) return "churned";
  return features.tenureDays < newForDays ? "new" : "active";
}

/** An entity that has a churn risk, and so was seen in the window of 26 weeks. */
export type ScoredFeatures = Features & { readonly cell: Cell };

/** Whether the entity has a churn risk: it is there, so it can leave. For horizons of up to 26 weeks. */
export function isScored(features: Features | null, horizonDays: number): features is ScoredFeatures {
  const state = stateOf(features, horizonDays);
  return (state === "active" || state === "new") && features?.cell !== null;
}
