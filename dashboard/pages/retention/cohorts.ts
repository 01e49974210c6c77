/** The answer about retention as the page shows it: groups of cohorts, and what there is to say of a cell. */
import type { Reads } from "../../api/paths.ts";
import type { GridGroup, GridWords } from "../../charts/cohort-model.ts";
import type { Found } from "../../charts/cohort-places.ts";
import { dayPlus, daysBetween, dayText, numbers } from "../../text/format.ts";
import type { Choices } from "./question.ts";
import { smallCohortUsers } from "./usual-period.ts";

type Answer = Reads["/api/retention"]["answer"];
export type Cell = Answer["cells"][number];
export type MeanCell = Answer["mean"][number];
type Projection = Answer["projections"][number];
export type ProjectedShare = NonNullable<Projection["fit"]>["shares"][number];

export interface Cohort {
  readonly day: string;
  readonly users: number;
  /** Whether its users were there before the data begins. */
  readonly isAlreadyHere: boolean;
  readonly cells: readonly Cell[];
}

/** A value of the trait that splits the cohorts, or all users. */
export interface Group {
  /** Its key in the address. */
  readonly key: string;
  readonly kind: Cell["kind"];
  readonly value: string | null;
  readonly label: string;
  readonly users: number;
  readonly cohorts: readonly Cohort[];
  readonly mean: readonly MeanCell[];
  readonly projection: Projection | undefined;
}

export const keyOf = ({ kind, value }: Pick<Cell, "kind" | "value">) =>
  kind === "value" ? `=${value}` : kind;

/** Kind and value of a group by its key, as the people behind its cells are asked for. */
export function groupOfKey(key: string): { kind: Cell["kind"]; value?: string } {
  if (key.startsWith("=")) return { kind: "value", value: key.slice(1) };
  return { kind: key === "other" || key === "none" ? key : "all" };
}

/** The label of a group. */
export function groupLabel(key: string, trait: string): string {
  if (key === "=") return "(empty)";
  if (key.startsWith("=")) return key.slice(1);
  return { other: "Other values", none: `No ${trait}` }[key] ?? "All cohorts";
}

/** The groups in the answer's order, each with its cohorts in the order of their days. */
export function groupsOf({ cells, mean, projections }: Answer, trait: string): Group[] {
  const means = Map.groupBy(mean, keyOf);
  return [...Map.groupBy(cells, keyOf)].map(([key, ofGroup]) => {
    const cohorts = [...Map.groupBy(ofGroup, ({ cohortDay }) => cohortDay)].map(([day, ofCohort]) => ({
      day,
      users: ofCohort[0]?.cohortUsers ?? 0,
      isAlreadyHere: ofCohort[0]?.isAlreadyHere ?? false,
      cells: ofCohort,
    }));
    return {
      key,
      kind: ofGroup[0]?.kind ?? "all",
      value: ofGroup[0]?.value ?? null,
      label: groupLabel(key, trait),
      users: cohorts.reduce((sum, { users }) => sum + users, 0),
      cohorts,
      mean: means.get(key) ?? [],
      projection: projections.find((one) => keyOf(one) === key),
    };
  });
}

/** The groups as the grid shows them. */
export function gridOf(groups: readonly Group[]): GridGroup[] {
  const isSmall = ({ cohortUsers }: Pick<Cell, "cohortUsers">) => cohortUsers < smallCohortUsers;
  return groups.map(({ key, label, users, mean, cohorts }) => ({
    key,
    label,
    size: users,
    mean: mean.map((cell) => ({ period: cell.period, share: cell.share, isSmall: isSmall(cell) })),
    cohorts: cohorts.map((cohort) => ({
      day: cohort.day,
      size: cohort.users,
      isSmall: cohort.users < smallCohortUsers,
      mark: cohort.isAlreadyHere ? alreadyHere : undefined,
      cells: cohort.cells.map((cell) => ({
        period: cell.period,
        share: cell.share,
        isComplete: cell.isComplete,
        isSmall: cohort.users < smallCohortUsers || isSmall(cell),
      })),
    })),
  }));
}

const alreadyHere = { text: "already here", hint: "These users were there before the data begins" };

/** A cell of the answer, by its place in the grid. */
export type FoundCell =
  | { readonly group: Group; readonly cohort: string; readonly cell: Cell }
  | { readonly group: Group; readonly cohort?: undefined; readonly cell: MeanCell };

/** The cell of the answer at a place of the grid. */
export function cellAt(
  groups: readonly Group[],
  { group: { key }, cohort, cell }: Found,
): FoundCell | undefined {
  const group = groups.find((one) => one.key === key);
  const isIt = (one: { readonly period: number }) => one.period === cell.period;
  if (cohort === undefined) {
    const mean = group?.mean.find(isIt);
    return group && mean && { group, cell: mean };
  }
  const found = group?.cohorts.find(({ day }) => day === cohort)?.cells.find(isIt);
  return group && found && { group, cohort, cell: found };
}

/** The words of the grid. */
export const gridWords: Readonly<Record<Choices["period"], GridWords>> = {
  day: wordsOf("day", "Day"),
  week: wordsOf("week", "Week of"),
  month: wordsOf("month", "Month"),
};

function wordsOf(period: Choices["period"], cohort: string): GridWords {
  return { period, cohort, size: "Users", cohortText: (day) => cohortText(day, period) };
}

/** The last day of the period that is so many periods after a cohort's own. */
function lastDayOf(cohortDay: string, at: number, period: Choices["period"]): string {
  if (period !== "month") return dayPlus(cohortDay, (at + 1) * (period === "week" ? 7 : 1) - 1);
  const [year = 0, month = 1] = cohortDay.split("-").map(Number);
  return new Date(Date.UTC(year, month + at, 0)).toISOString().slice(0, 10);
}

/** The label of a cohort, from its first day. */
function cohortText(day: string, period: Choices["period"]): string {
  return period === "month" ? dayText(day, "month") : dayText(day);
}

/** The label of a cohort outside its table: Week of 3 Nov 2025. */
export function cohortTitle(day: string, period: Choices["period"]): string {
  return { day: "", week: "Week of ", month: "" }[period] + cohortText(day, period);
}

/** A share's interval: 26.3% to 43.1%. */
export function intervalText({ low, high }: { readonly low: number; readonly high: number }): string {
  return `${numbers.share(low)} to ${numbers.share(high)}`;
}

/** The missing part of an incomplete cell: days of its period, or of the churn horizon after it. @param today
 * the organization's */
export function missingText(
  { cohortDay, period: at, isComplete }: Cell,
  period: Choices["period"],
  today: string,
): string | undefined {
  if (isComplete) return undefined;
  const last = lastDayOf(cohortDay, at, period);
  const left = daysBetween(today, last) + 1;
  if (left <= 0) return "The churn horizon after it is not over: silent users may still come back.";
  const days = left === 1 ? "its last day is" : `${left} of its days are`;
  return `This ${period} ends with ${dayText(last)}: ${days} not over, so the share may still rise.`;
}
