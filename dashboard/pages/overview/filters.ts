/** The choices of the overview. They are in the address. */
import { useRead } from "../../api/query.ts";
import { choiceFilter, flagFilter, labelledFilter, useFilters } from "../../parts/list/filters.ts";
import { conditionFilters } from "../segments/conditions.ts";

export type Kind = "user" | "account";

export const filters = {
  /** Users or accounts; none for the kind that pays. */
  kind: choiceFilter(["", "user", "account"], ""),
  /** How many days of activity. */
  days: labelledFilter({ "28": "28 days", "90": "90 days", "365": "A year" }, "90"),
  /** Health and risk of the users or accounts of a segment. */
  scored: conditionFilters.segment,
  /** Activity and lifecycle of the users of a segment. */
  segment: conditionFilters.segment,
  /** Whether all figures are shown. */
  more: flagFilter(),
} as const;

export const kindChoices: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: "account", label: "Accounts" },
  { value: "user", label: "Users" },
];

/** The kind that is chosen: accounts where accounts pay, and users where they do not. Undefined until that is
 * known. */
export function useKind(): Kind | undefined {
  const [{ kind }] = useFilters(filters);
  const { data, isError } = useRead("/api/revenue/at-risk", {
    query: { kind: "account", limit: 1 },
    enabled: kind === "",
  });
  if (kind !== "") return kind;
  if (data === undefined) return isError ? "user" : undefined;
  return data.payers > 0 ? "account" : "user";
}

/** The plural of the kind. */
export const plural: Readonly<Record<Kind, "users" | "accounts">> = { user: "users", account: "accounts" };

/** The parameter of figures of scores for the segment that is chosen, if one is. */
export function useScoredSegment(): { readonly segment?: number } {
  const [{ scored }] = useFilters(filters);
  return scored === undefined ? {} : { segment: scored };
}
