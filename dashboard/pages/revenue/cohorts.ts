/** The answer about revenue cohorts as the page shows it. */
import type { Reads } from "../../api/paths.ts";
import type { GridGroup, GridWords } from "../../charts/cohort-model.ts";
import { groupLabel, keyOf, periodText } from "./periods.ts";
import type { Choices, Period } from "./question.ts";

type Answer = Reads["/api/revenue/cohorts"]["answer"];
export type Cell = Answer["cells"][number];

/** The mean of a group's cohorts at an age. */
export interface MeanCell {
  readonly period: number;
  readonly cohorts: number;
  readonly payers: number;
  readonly entryMrr: number;
  readonly mrr: number;
}

interface Cohort {
  readonly day: string;
  readonly payers: number;
  readonly cells: readonly Cell[];
}

export interface CohortGroup {
  readonly key: string;
  readonly label: string;
  readonly payers: number;
  readonly cohorts: readonly Cohort[];
  readonly mean: readonly MeanCell[];
}

/** Below this a cohort is small: one payer of ten is a tenth of all, and often more of their MRR. */
export const smallCohortPayers = 10;

/** The groups, the largest first, each with its cohorts in the order of their days. */
export function cohortGroups({ cells }: Answer, choices: Choices): CohortGroup[] {
  return [...Map.groupBy(cells, keyOf)]
    .flatMap(([key, ofGroup]) => {
      const [first] = ofGroup;
      if (first === undefined) return [];
      const cohorts = [...Map.groupBy(ofGroup, ({ cohortDay }) => cohortDay)].map(([day, ofCohort]) => ({
        day,
        cells: ofCohort,
        payers: ofCohort[0]?.payers ?? 0,
      }));
      const payers = cohorts.reduce((sum, cohort) => sum + cohort.payers, 0);
      return [{ key, label: groupLabel(first, choices), payers, cohorts, mean: meanOf(ofGroup) }];
    })
    .toSorted((a, b) => b.payers - a.payers);
}

/** By age, of the cohorts whose period is over: their MRR ÷ their MRR at entry. */
function meanOf(cells: readonly Cell[]): MeanCell[] {
  const complete = cells.filter(({ isComplete }) => isComplete);
  return [...Map.groupBy(complete, ({ period }) => period)]
    .map(([period, atAge]) => {
      const sum = (of: (cell: Cell) => number) => atAge.reduce((total, cell) => total + of(cell), 0);
      return {
        period,
        cohorts: atAge.length,
        payers: sum((cell) => cell.payers),
        entryMrr: sum((cell) => cell.entryMrr),
        mrr: sum((cell) => cell.mrr),
      };
    })
    .toSorted((a, b) => a.period - b.period);
}

/** The groups as the grid shows them. */
export function gridOf(groups: readonly CohortGroup[]): GridGroup[] {
  return groups.map(({ key, label, payers, cohorts, mean }) => ({
    key,
    label,
    size: payers,
    mean: mean.map((cell) => ({
      period: cell.period,
      share: cell.mrr / cell.entryMrr,
      isSmall: cell.payers < smallCohortPayers,
    })),
    cohorts: cohorts.map((cohort) => {
      const isSmall = cohort.payers < smallCohortPayers;
      return {
        day: cohort.day,
        size: cohort.payers,
        isSmall,
        cells: cohort.cells.map(({ period, ratio, isComplete }) => ({
          period,
          share: ratio,
          isComplete,
          isSmall,
        })),
      };
    }),
  }));
}

/** The words of the grid. */
export const gridWords: Readonly<Record<Period, GridWords>> = {
  month: wordsOf("month", "Month"),
  quarter: wordsOf("quarter", "Quarter"),
  year: wordsOf("year", "Year"),
};

function wordsOf(period: Period, cohort: string): GridWords {
  return { period, cohort, size: "Payers", cohortText: (day) => periodText(day, period) };
}
