/** The states that a rule keeps in the ledger. */

import type { RuleEntity } from "../../../ledger/stores/entity-rows.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { EntityStateRow, RuleVersion } from "../store/decisions.ts";
import type { DecisionParts } from "./decision-parts.ts";
import type { EntityState } from "./step.ts";

/** Rows of a page of states. */
const statesOfPage = 10_000;

/** The states of users or of accounts that a rule keeps, by number. */
export async function statesOf(
  rules: DecisionParts["rules"],
  { organization, rule }: RuleVersion,
  kind: EntityKind,
): Promise<ReadonlyMap<number, EntityStateRow>> {
  const states = new Map<number, EntityStateRow>();
  for (let after = -1; ; ) {
    const page = await rules.states(organization, rule, after, statesOfPage);
    for (const state of page) {
      if (state.entity.kind === "source") continue;
      after = state.entity.number;
      if (state.entity.kind === kind) states.set(state.entity.number, state);
    }
    if (page.length < statesOfPage) return states;
  }
}

/** The state in a row. A row calls `isArmed` by the name of its column, `hasLeft`. */
export function stateOf({ hasLeft, daysOut, restsUntil, firedOn }: EntityStateRow): EntityState {
  return { isArmed: hasLeft, daysOut, restsUntil, firedOn };
}

/** The row of a state. @param value that the condition compares with the next day's; null without one */
export function rowOf(
  entity: RuleEntity,
  { isArmed, daysOut, restsUntil, firedOn }: EntityState,
  value: number | null,
): EntityStateRow {
  return { entity, hasLeft: isArmed, daysOut, restsUntil, firedOn, value };
}
