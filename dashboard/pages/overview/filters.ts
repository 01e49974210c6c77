/** The choices of the overview. They are in the address. */
import { labelledFilter } from "../../parts/list/filters.ts";
import { conditionFilters } from "../../parts/segment/conditions.ts";

export type Kind = "user" | "account";

export const filters = {
  /** Health and risk of users or of accounts. */
  kind: labelledFilter({ user: "Health of users", account: "Health of accounts" }, "user"),
  /** How many days of activity. */
  days: labelledFilter({ "28": "28 days", "90": "90 days", "365": "A year" }, "90"),
  /** Activity and lifecycle of the users of a segment. */
  segment: conditionFilters.segment,
} as const;

/** The plural of the kind. */
export const plural: Readonly<Record<Kind, "users" | "accounts">> = { user: "users", account: "accounts" };
