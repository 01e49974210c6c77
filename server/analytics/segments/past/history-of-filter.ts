/** Which conditions of a filter can be evaluated as of a past day. */
import type { Filter } from "../../../../contract/segments/filters.ts";
import { monthDays } from "../../../scoring/queries/lists/reading.ts";
import { callChangeDays } from "../../../scoring/queries/lists/to-call.ts";

/** For each condition: the reason why it has no history, as the end of a sentence; null for the others. */
const missing: Readonly<Record<keyof Filter, string | null>> = {
  traits: null,
  verdict: null,
  state: null,
  healthBand: null,
  riskBand: null,
  isPresent: null,
  seenWithinDays: null,
  notSeenForDays: null,
  activeFrom: null,
  activeTo: null,
  lifecycle: null,
  mrrFrom: null,
  mrrTo: null,
  subscriptionPlan: null,
  subscriptionStatus: null,
  renewsWithinDays: null,
  events: null,
  segments: null,
  owner: "only present owners are stored",
  healthBandBefore: null,
  moved: null,
  toCall: null,
  comparedWithDays: null,
  usageFellPercent: null,
  healthFellPoints: null,
  healthFellDays: null,
};

/** Days between the scores of a condition and those that it compares them with; 0 for conditions that compare
 * none. */
export function comparedDays(filter: Filter): number {
  const { healthBandBefore, moved, toCall, comparedWithDays, usageFellPercent } = filter;
  return Math.max(
    healthBandBefore === undefined && moved === undefined ? 0 : (comparedWithDays ?? monthDays),
    toCall === undefined ? 0 : callChangeDays,
    usageFellPercent === undefined ? 0 : monthDays,
    filter.healthFellPoints === undefined ? 0 : (filter.healthFellDays ?? monthDays),
  );
}

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
