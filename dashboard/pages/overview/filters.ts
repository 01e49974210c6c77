/** The choices of the overview. They are in the address. */
import { labelledFilter, useFilters } from "../../parts/list/filters.ts";
import { conditionFilters } from "../../parts/segment/conditions.ts";

export type Kind = "user" | "account";

export const filters = {
  /** Health and risk of users or of accounts. */
  kind: labelledFilter({ user: "Health of users", account: "Health of accounts" }, "user"),
  /** How many days of activity. */
  days: labelledFilter({ "28": "28 days", "90": "90 days", "365": "A year" }, "90"),
  /** Health and risk of the users or accounts of a segment. */
  scored: conditionFilters.segment,
  /** Activity and lifecycle of the users of a segment. */
  segment: conditionFilters.segment,
} as const;

/** The plural of the kind. */
export const plural: Readonly<Record<Kind, "users" | "accounts">> = { user: "users", account: "accounts" };

/** The parameter of figures of scores for the segment that is chosen, if one is. */
export function useScoredSegment(): { readonly segment?: number } {
  const [{ scored }] = useFilters(filters);
  return scored === undefined ? {} : { segment: scored };
}
