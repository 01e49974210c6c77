/** The choices of the overview. They are in the address. */
import { choiceFilter } from "../../parts/list/filters.ts";

export type Kind = "user" | "account";

export const filters = {
  /** Health and risk of users or of accounts. */
  kind: choiceFilter(["user", "account"], "user"),
  /** How many days of activity. */
  days: choiceFilter(["28", "90", "365"], "90"),
} as const;

/** The plural of the kind. */
export const plural: Readonly<Record<Kind, "users" | "accounts">> = { user: "users", account: "accounts" };
