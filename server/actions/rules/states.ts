/** The states that a rule keeps in the ledger. */
import type { EntityStateRow, RuleVersion } from "../../ledger/ledger.ts";
import type { EntityKind } from "../../scoring/scoring.ts";
import type { DecisionParts } from "./decision-parts.ts";

/** States that are read together. */
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
