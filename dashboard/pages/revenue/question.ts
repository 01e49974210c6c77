/** The question about revenue, as the page's address holds it. */
import type { Reads } from "../../api/paths.ts";
import {
  choiceFilter,
  dayFilter,
  labelledFilter,
  numberFilter,
  textFilter,
  useFilters,
  type Values,
} from "../../parts/list/filters.ts";
import { conditionFilters } from "../segments/conditions.ts";

/** Every choice of the page. Choices that are not in the address have their default. */
export const filters = {
  period: labelledFilter({ month: "months", quarter: "quarters", year: "years" }, "month"),
  /** 0: as many as is usual for the period. */
  periods: numberFilter(60),
  /** The last day that counts. Default: today. */
  to: dayFilter(),
  split: choiceFilter(["none", "plan", "trait"], "none"),
  /** The attribute of the split. */
  trait: textFilter(),
  /** Only payers of this segment. */
  segment: conditionFilters.segment,
  /** The first day of the period whose movements are shown. Default: the last period that is over. */
  at: dayFilter(),
  /** The key of the group whose movements are shown. Empty: all payers. */
  group: textFilter(),
  /** The groups of cohorts that are open: their keys as JSON. */
  open: textFilter(),
  /** By what churn reasons are split. */
  reasonsBy: choiceFilter(["none", "plan", "owner", "mrr", "ending"], "none"),
  /** The payers of MRR at risk. Empty: accounts, or users when no account pays. */
  payers: choiceFilter(["", "account", "user"], ""),
} as const;

/** The choices with their values. */
export type Choices = Values<typeof filters>;
export type Period = Choices["period"];

/** The choices of the address, and the function that changes some of them. */
export function useChoices() {
  return useFilters(filters);
}

/** How many periods can be chosen: at most ten years, as the API has it. */
export const periodCounts: Readonly<Record<Period, readonly number[]>> = {
  month: [6, 12, 24, 36, 60],
  quarter: [4, 8, 12, 20, 40],
  year: [3, 5, 10],
};

const usualPeriods: Readonly<Record<Period, number>> = { month: 12, quarter: 8, year: 5 };

/** How many periods are asked for. */
export function periodsOf({ periods, period }: Choices): number {
  return periods === 0 ? usualPeriods[period] : periods;
}

/** Whether payers are split into groups. */
export function isSplit({ split, trait }: Choices): boolean {
  return split === "plan" || (split === "trait" && trait !== "");
}

type Query = NonNullable<Reads["/api/revenue"]["query"]>;

/** The parameters of a question without a split. */
export function queryOf(choices: Choices): Omit<Query, "split" | "trait"> {
  return {
    period: choices.period,
    periods: periodsOf(choices),
    ...(choices.to !== undefined && { to: choices.to }),
    ...segmentQueryOf(choices),
  };
}

/** The parameter for the payers of one segment, if one is chosen. */
export function segmentQueryOf({ segment }: Choices): Pick<Query, "segment"> {
  return segment === undefined ? {} : { segment };
}

/** The parameters of a question about groups. Without a split there is one group. */
export function splitQueryOf(choices: Choices): Query {
  const { split, trait } = choices;
  if (!isSplit(choices)) return queryOf(choices);
  return { ...queryOf(choices), split, ...(split === "trait" && { trait }) };
}

/** The parameters of the question about churn reasons, which have a split of their own. */
export function reasonsQueryOf(choices: Choices): NonNullable<Reads["/api/churn-reasons"]["query"]> {
  const { reasonsBy } = choices;
  return { ...queryOf(choices), ...(reasonsBy !== "none" && { split: reasonsBy }) };
}

const mostCohorts = { alone: 24, split: 12 } as const;

/** The parameters of the question about cohorts. Of more periods than the API has cohorts for, the newest are
 * asked for. */
export function cohortsQueryOf(choices: Choices): NonNullable<Reads["/api/revenue/cohorts"]["query"]> {
  const most = isSplit(choices) ? mostCohorts.split : mostCohorts.alone;
  return { ...splitQueryOf(choices), periods: Math.min(most, periodsOf(choices)) };
}
