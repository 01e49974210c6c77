/** The state of an entity, which decides whether it has scores. */
import { silence } from "../../../contract/api/churn-targets.ts";
import type { Cell } from "../churn/bgbb.ts";
import { type EndingTarget, isCanceling, isMetByEnd } from "./billing.ts";
import type { Features } from "./features.ts";

/** Only targets that are met by the end of a subscription have `canceling`. */
export type State = "no_data" | "churned" | "canceling" | "inactive" | "new" | "active";

export const newForDays = 14;

/**
 * The first that matches: `churned` when the target is met; `canceling` when all subscriptions will end;
 * `no_data` without an engagement event before T (`features` is null); `inactive` when idle for the horizon,
 * with a declared target; `new` when the first engagement event is under 14 days ago; `active`.
 */
export function stateOf(
  features: Features | null,
  horizonDays: number,
  target: EndingTarget = silence,
): State {
  if (features === null) return "no_data";
  if (features.hasLeft) return "churned";
  if (isMetByEnd(target) && isCanceling(features.billing)) return "canceling";
  if (features.idleDays >= horizonDays) return target.by === "silence" ? "churned" : "inactive";
  return features.tenureDays < newForDays ? "new" : "active";
}

/** An entity that has a churn risk, and so was seen in the window of 26 weeks. */
export type ScoredFeatures = Features & { readonly cell: Cell };

/** Whether the entity has a churn risk: it can leave. With a declared target the inactive of 26 weeks can,
 * too. With `subscription` only an entity that pays can. For horizons of up to 26 weeks. */
export function isScored(
  features: Features | null,
  horizonDays: number,
  target: EndingTarget = silence,
): features is ScoredFeatures {
  if (features === null || features.cell === null) return false;
  if (target.by === "subscription") return features.billing?.isPaying === true;
  return stateOf(features, horizonDays, target) !== "churned";
}
