/** Where things stand in the heat map: what is at a place of it, and where the Tab key comes in. */
import type { Spot } from "./cell-keys.ts";
import type { Cell, Group, MeanCell } from "./cohorts.ts";

/** The figure at a place: of a cohort, or the weighted mean of its group. */
export type Found =
  | { readonly group: Group; readonly cohort: string; readonly cell: Cell }
  | { readonly group: Group; readonly cohort?: undefined; readonly cell: MeanCell };

/** The name of a row. @param day the cohort's day, or "" for the mean of the group */
export function rowName(key: string, day = ""): string {
  return `${day}\n${key}`;
}

/** The figure at a place. Undefined at an empty place. */
export function find(groups: readonly Group[], { row, column }: Spot): Found | undefined {
  const end = row.indexOf("\n");
  const [day, key] = [row.slice(0, end), row.slice(end + 1)];
  const group = groups.find((one) => one.key === key);
  if (group === undefined) return undefined;
  if (day === "") {
    const cell = group.mean.find(({ period }) => period === column);
    return cell && { group, cell };
  }
  const cell = group.cohorts.find((cohort) => cohort.day === day)?.cells[column];
  return cell && { group, cohort: day, cell };
}

interface Entrance {
  readonly group: Group;
  readonly spot: Spot;
}

/** The one cell that the Tab key reaches: the last one that had the focus while it is there, else the first. */
export function entranceOf(
  groups: readonly Group[],
  isOpen: (group: Group) => boolean,
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
