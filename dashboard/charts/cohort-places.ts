/** Where things stand in the grid: what is at a place of it, and where the Tab key comes in. */
import type { Spot } from "./cohort-cell-keys.ts";
import type { GridCell, GridGroup } from "./cohort-model.ts";

/** The cell at a place: of a cohort, or the mean of its group. */
export interface Found {
  readonly group: GridGroup;
  /** The cohort's first day. Undefined for a mean. */
  readonly cohort: string | undefined;
  readonly cell: GridCell;
}

/** The name of a row. @param day the cohort's day, or "" for the mean of the group */
export function rowName(key: string, day = ""): string {
  return `${day}\n${key}`;
}

/** The cell at a place. Undefined at an empty place. */
export function find(groups: readonly GridGroup[], { row, column }: Spot): Found | undefined {
  const end = row.indexOf("\n");
  const [day, key] = [row.slice(0, end), row.slice(end + 1)];
  const group = groups.find((one) => one.key === key);
  const cells = day === "" ? group?.mean : group?.cohorts.find((cohort) => cohort.day === day)?.cells;
  const cell = cells?.find(({ period }) => period === column);
  if (group === undefined || cell === undefined) return undefined;
  return { group, cohort: day || undefined, cell };
}

interface Entrance {
  readonly group: GridGroup;
  readonly spot: Spot;
}

/** The one cell that the Tab key reaches: the last one that had the focus while it is there, else the
 * first. */
export function entranceOf(
  groups: readonly GridGroup[],
  isOpen: (group: GridGroup) => boolean,
  last: Spot | undefined,
): Entrance | undefined {
  if (last !== undefined) {
    const found = find(groups, last);
    if (found !== undefined && (found.cohort === undefined || isOpen(found.group))) {
      return { group: found.group, spot: last };
    }
  }
  for (const group of groups) {
    const { key, mean, cohorts } = group;
    if (mean[0] !== undefined) return { group, spot: { row: rowName(key), column: mean[0].period } };
    const first = isOpen(group) ? cohorts[0] : undefined;
    if (first !== undefined) return { group, spot: { row: rowName(key, first.day), column: 0 } };
  }
  return undefined;
}
