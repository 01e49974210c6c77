/** BG/BB's risks of every possible history, computed here and looked up by the engine: they are few, users are many. */
import type { BgbbParameters, Cell } from "../bgbb.ts";
import { bgbbLogOdds, silenceOver, tablesFor } from "../churn-model.ts";
import { windowPeriods } from "../features.ts";
import type { SegmentParameters } from "../segments.ts";
import type { CellLogOdds } from "./member-query.ts";

/** One number for a cell, in SQL over columns x, t and n. It is negative where there is no cell. */
export const cellNumberSql = "n * 10000 + t * 100 + x";

export interface CellRisks {
  readonly numbers: readonly number[];
  readonly risks: readonly number[];
}

/**
 * The same of an entity in a segment: `segment` counts from 1 in the order of the values, 0 is the pooled fit. The
 * churned go by the pooled fit: segments are judged by the risks of the active and the new.
 */
export const cellNumberOfSegmentSql = `${cellNumberSql} + if(state = 'churned', 0, toInt32(segment)) * 1000000`;

/** P(silent over the horizon) of every history that fits into the window, and of every segment. */
export function cellRisks(
  pooled: BgbbParameters,
  horizonDays: number,
  segments: SegmentParameters | null = null,
): CellRisks {
  const parameters = [pooled, ...(segments?.values ?? []).map((each) => each.parameters)];
  return {
    numbers: parameters.flatMap((_, segment) =>
      allCells.map(({ x, t, n }) => segment * 1_000_000 + n * 10_000 + t * 100 + x),
    ),
    risks: parameters.flatMap((each) => {
      const tables = tablesFor(each, horizonDays);
      return allCells.map((cell) => silenceOver(horizonDays, tables, cell));
    }),
  };
}

/** The same as log-odds, as `membersQuery` takes them. */
export function cellLogOdds({ numbers, risks }: CellRisks): CellLogOdds {
  return { cells: numbers, logOdds: risks.map(bgbbLogOdds) };
}

/** With n up to 25, 2,951 of them. */
const allCells: readonly Cell[] = Array.from({ length: windowPeriods }, (_, n) => cellsOf(n)).flat();

function cellsOf(n: number): Cell[] {
  const cells: Cell[] = [{ x: 0, t: 0, n }];
  for (let t = 1; t <= n; t++) for (let x = 1; x <= t; x++) cells.push({ x, t, n });
  return cells;
}
