/** The answer about retention as the page shows it: groups of cohorts, and what there is to say of a cell. */
import type { Reads } from "../../api/paths.ts";
import { dayPlus, daysBetween, dayText, numbers } from "../../text/format.ts";
import { type Choices, periodsText } from "./question.ts";

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

/** Below this a cohort is small: with 30 users the 95% interval of a half is 35 points wide. */
export const smallCohortUsers = 30;

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

/** The shares that take the palest and the deepest colour. */
export interface Scale {
  readonly low: number;
  readonly high: number;
}

/** Shares closer together than this are not drawn as far apart as colours can be. */
const leastRange = 0.2;

/** From the lowest to the highest share after the cohort's own period, but for small cohorts. */
export function scaleOf(cells: readonly Cell[]): Scale {
  const later = cells.filter(({ period }) => period > 0);
  const large = later.filter(({ cohortUsers }) => cohortUsers >= smallCohortUsers);
  const shares = (large.length === 0 ? later : large).map(({ share }) => share);
  if (shares.length === 0) return { low: 0, high: 1 };
  const [low, high] = [Math.min(...shares), Math.max(...shares)];
  const lacking = Math.max(0, leastRange - (high - low));
  const from = Math.max(0, Math.min(low - lacking / 2, 1 - leastRange));
  return { low: from, high: Math.max(high, from + leastRange) };
}

/** The last day of the period that is so many periods after a cohort's own. */
function lastDayOf(cohortDay: string, at: number, period: Choices["period"]): string {
  if (period !== "month") return dayPlus(cohortDay, (at + 1) * (period === "week" ? 7 : 1) - 1);
  const [year = 0, month = 1] = cohortDay.split("-").map(Number);
  return new Date(Date.UTC(year, month + at, 0)).toISOString().slice(0, 10);
}

/** The label of a cohort, from its first day. */
export function cohortText(day: string, period: Choices["period"]): string {
  return period === "month" ? dayText(day, "month") : dayText(day);
}

/** The same where it stands alone: Week of 3 Nov 2025. */
export function cohortTitle(day: string, period: Choices["period"]): string {
  return { day: "", week: "Week of ", month: "" }[period] + cohortText(day, period);
}

/** When a cell is: its own week, 3 weeks after. */
export function atText(at: number, period: Choices["period"]): string {
  return at === 0 ? `its own ${period}` : `${periodsText(at, period)} after`;
}

/** A share's interval: 26.3% to 43.1%. */
export function intervalText({ low, high }: { readonly low: number; readonly high: number }): string {
  return `${numbers.share(low)} to ${numbers.share(high)}`;
}

/** The missing part of an incomplete cell: days of its period, or of the churn horizon after it. @param today the organization's */
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
