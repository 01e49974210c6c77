/** BG/BB's risks of every possible history, computed here and looked up by the engine: they are few, users are many. */
import type { BgbbParameters, Cell } from "../churn/bgbb.ts";
import { bgbbLogOdds, silenceBy } from "../churn/churn-model.ts";
import { windowPeriods } from "../scores/features.ts";
import type { CellLogOdds } from "./lists/member-query.ts";

/** One number for a cell, in SQL over columns x, t and n. It is negative where there is no cell. */
export const cellNumberSql = "n * 10000 + t * 100 + x";

export interface CellRisks {
  readonly numbers: readonly number[];
  readonly risks: readonly number[];
}

/** P(silent over the horizon) of every history that fits into the window. */
export function cellRisks(parameters: BgbbParameters, horizonDays: number): CellRisks {
  return {
    numbers: allCells.map(({ x, t, n }) => n * 10_000 + t * 100 + x),
    risks: allCells.map(silenceBy(horizonDays, parameters)),
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
