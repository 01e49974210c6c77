/** What the reader chooses on the overview; it stands in the address. */
import { choiceFilter } from "../../parts/list/filters.ts";

export type Kind = "user" | "account";

export const filters = {
  /** Whose health and risk is shown. */
  kind: choiceFilter(["user", "account"], "user"),
  /** How many days of activity. */
  days: choiceFilter(["28", "90", "365"], "90"),
} as const;

/** The plural of whom it is about. */
export const plural: Readonly<Record<Kind, "users" | "accounts">> = { user: "users", account: "accounts" };
