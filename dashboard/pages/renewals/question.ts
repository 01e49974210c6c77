/** The question about renewals, as the page's address holds it. */
import type { Reads } from "../../api/paths.ts";
import { choiceFilter, dayFilter, textFilter, useFilters, type Values } from "../../parts/list/filters.ts";

export type Renewals = Reads["/api/renewals"]["answer"];
export type RenewalMonth = Renewals["months"][number];

const filters = {
  kind: choiceFilter(["account", "user"], "account"),
  interval: choiceFilter(["all", "yearly", "shorter"], "all"),
  plan: textFilter(),
  owner: textFilter(),
  /** The first day of the month whose payers are shown. Default: the current month. */
  month: dayFilter(),
} as const;

type Choices = Values<typeof filters>;

export const kinds = [
  { value: "account", label: "Accounts" },
  { value: "user", label: "Users without an account" },
] as const;

export const intervals = [
  { value: "all", label: "Any interval" },
  { value: "yearly", label: "Yearly only" },
  { value: "shorter", label: "Shorter than a year" },
] as const;

/** The choices of the address, and the function that changes some of them. */
export function useChoices() {
  return useFilters(filters);
}

/** The parameters of both questions. */
export function queryOf({
  kind,
  interval,
  plan,
  owner,
}: Choices): NonNullable<Reads["/api/renewals"]["query"]> {
  return { kind, interval, ...(plan !== "" && { plan }), ...(owner !== "" && { owner }) };
}
