/** The answer about revenue as the page shows it: groups of payers with their periods, and what they are
 * called. */
import type { Reads } from "../../api/paths.ts";
import { dayPlus, dayText } from "../../text/format.ts";
import type { Choices, Period } from "./question.ts";

export type Revenue = Reads["/api/revenue"]["answer"];
export type PeriodRevenue = Revenue["periods"][number];
type GroupName = Pick<PeriodRevenue, "kind" | "value">;

/** Payers of one plan or attribute, or all. */
export interface Group {
  /** Its key in the address. */
  readonly key: string;
  readonly label: string;
  /** The oldest first. */
  readonly periods: readonly PeriodRevenue[];
}

/** The key of a group. */
export function keyOf({ kind, value }: GroupName): string {
  return kind === "value" ? `=${value}` : kind;
}

/** The label of a group. */
export function groupLabel({ kind, value }: GroupName, { split, trait, segment }: Choices): string {
  if (kind === "value") return value || "(empty)";
  const what = split === "plan" ? "plan" : trait;
  const all = segment === undefined ? "All payers" : "All payers of the segment";
  return { all, other: `Other values of ${what}`, none: `No ${what}` }[kind];
}

/** The groups of an answer, the one with the most MRR now first. */
export function groupsOf({ periods }: Revenue, choices: Choices): Group[] {
  return [...Map.groupBy(periods, keyOf)]
    .flatMap(([key, ofGroup]) => {
      const [first] = ofGroup;
      return first === undefined ? [] : [{ key, label: groupLabel(first, choices), periods: ofGroup }];
    })
    .toSorted((a, b) => (b.periods.at(-1)?.endMrr ?? 0) - (a.periods.at(-1)?.endMrr ?? 0));
}

/** The period that an address names, else the last one that is over, else the last one. */
export function chosenPeriod(
  periods: readonly PeriodRevenue[],
  at: string | undefined,
): PeriodRevenue | undefined {
  return (
    periods.find(({ fromDay }) => fromDay === at) ??
    periods.findLast(({ isComplete }) => isComplete) ??
    periods.at(-1)
  );
}

/** The name of a period, from its first day: Nov 2026, Q4 2026, 2026. */
export function periodText(fromDay: string, period: Period): string {
  const [year = "", month = "1"] = fromDay.split("-");
  if (period === "month") return dayText(fromDay, "month");
  return period === "year" ? year : `Q${Math.ceil(Number(month) / 3)} ${year}`;
}

/** The name of a period, marked while the period goes on: "Nov 2025, so far". */
export function periodTitle(
  { fromDay, isComplete }: Pick<PeriodRevenue, "fromDay" | "isComplete">,
  period: Period,
): string {
  return `${periodText(fromDay, period)}${isComplete ? "" : ", so far"}`;
}

/** The last day before a period. */
export function dayBefore({ fromDay }: PeriodRevenue): string {
  return dayPlus(fromDay, -1);
}

/** The churned MRR and payers without those whose payments failed. */
export function churnedVoluntarily(one: PeriodRevenue): { readonly mrr: number; readonly payers: number } {
  return {
    mrr: one.churnedMrr - one.churnedInvoluntarilyMrr,
    payers: one.churnedPayers - one.churnedInvoluntarilyPayers,
  };
}
