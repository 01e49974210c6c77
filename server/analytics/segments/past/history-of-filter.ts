/** Which conditions of a filter can be evaluated as of a past day. */
import type { Filter } from "../../../../contract/actions/filters.ts";

/** For each condition: the reason why it has no history, as the end of a sentence; null for the others. */
const missing: Readonly<Record<keyof Filter, string | null>> = {
  ...{ traits: null, verdict: null, state: null, healthBand: null, riskBand: null, isPresent: null },
  ...{ seenWithinDays: null, notSeenForDays: null, activeFrom: null, activeTo: null, lifecycle: null },
  ...{ mrrFrom: null, mrrTo: null, subscriptionPlan: null, subscriptionStatus: null },
  ...{ events: null, segments: null },
  owner: "only present owners are stored",
  renewsWithinDays: "renewal dates of past days are not stored",
  ...{ healthBandBefore: "it compares two days", moved: "it compares two days" },
  toCall: "it compares two days",
};

/** The first condition without a history, with the reason. */
export function withoutHistory(
  filter: Filter,
): { readonly condition: keyof Filter; readonly why: string } | undefined {
  for (const condition of Object.keys(filter) as (keyof Filter)[]) {
    const why = missing[condition];
    if (why !== null && filter[condition] !== undefined) return { condition, why };
  }
  return undefined;
}
