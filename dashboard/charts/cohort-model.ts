/** The values of a cohort grid: groups of cohorts, each with a share for each period. */

/** A share of a cohort, or the mean of several, at a period. */
export interface GridCell {
  /** Periods after the cohort's own. */
  readonly period: number;
  /** 0.5 is shown as 50. It may be above 1. */
  readonly share: number;
  /** So few count that the share may be far off. */
  readonly isSmall: boolean;
  /** Whether the period is over. Undefined for a mean, which has only such periods. */
  readonly isComplete?: boolean;
}

export interface GridCohort {
  /** The first day of its period. */
  readonly day: string;
  /** How many are in it. */
  readonly size: number;
  readonly isSmall: boolean;
  /** A remark below the name. */
  readonly mark?: { readonly text: string; readonly hint: string } | undefined;
  readonly cells: readonly GridCell[];
}

export interface GridGroup {
  /** Its key in the address. */
  readonly key: string;
  readonly label: string;
  readonly size: number;
  readonly mean: readonly GridCell[];
  readonly cohorts: readonly GridCohort[];
}

/** The words of a grid. They should be one object for as long as nothing changes. */
export interface GridWords {
  /** The header of the cohorts: "Week of". */
  readonly cohort: string;
  /** The header of their sizes: "Users". */
  readonly size: string;
  /** A period: "week". */
  readonly period: string;
  /** The name of a cohort, from its first day. */
  readonly cohortText: (day: string) => string;
}

/** The shares that take the palest and the deepest colour. */
export interface Scale {
  readonly low: number;
  readonly high: number;
}

/** Shares closer together than this are not drawn as far apart as colours can be. */
const leastRange = 0.2;

/** From the lowest to the highest share after the cohort's own period, of all cells that are drawn: those of
 * small cohorts must not share one shade. @param most shares above it have the deepest colour, too */
export function scaleOf(groups: readonly GridGroup[], most = Number.POSITIVE_INFINITY): Scale {
  const later = cellsOf(groups).filter(({ period }) => period > 0);
  const shares = later.map(({ share }) => Math.min(share, most));
  if (shares.length === 0) return { low: 0, high: 1 };
  const [low, high] = [Math.min(...shares), Math.max(...shares)];
  const lacking = Math.max(0, leastRange - (high - low));
  const from = Math.max(0, Math.min(low - lacking / 2, 1 - leastRange));
  return { low: from, high: Math.max(high, from + leastRange) };
}

/** The cells of all cohorts. */
export function cellsOf(groups: readonly GridGroup[]): GridCell[] {
  return groups.flatMap(({ cohorts }) => cohorts.flatMap(({ cells }) => cells));
}

/** When a cell is: its own week, 3 weeks after. */
export function atText(at: number, period: string): string {
  return at === 0 ? `its own ${period}` : `${periodsText(at, period)} after`;
}

/** A count of periods in words: 1 week, 3 weeks. */
export function periodsText(count: number, period: string): string {
  return `${count} ${period}${count === 1 ? "" : "s"}`;
}
