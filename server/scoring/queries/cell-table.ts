/** BG/BB's risks of every possible history, computed here and looked up by the engine: they are few, users
 * are many. */
import type { BgbbParameters, Cell } from "../churn/bgbb.ts";
import { middleDayOfPeriod, silenceBy } from "../churn/churn-model.ts";
import { daysPerPeriod, windowPeriods } from "../scores/features.ts";

/** One number for a cell, in SQL over columns x, t and n. It is negative where there is no cell. */
export const cellNumberSql = "n * 10000 + t * 100 + x";

export interface CellRisks {
  readonly numbers: readonly number[];
  readonly risks: readonly number[];
}

/** P(silent over the horizon) by whole periods, of every history that fits into the window, and with one
 * period more. */
export function cellRisks(parameters: BgbbParameters, horizonDays: number): CellRisks {
  return {
    numbers: allCells.map(({ x, t, n }) => n * 10_000 + t * 100 + x),
    risks: allCells.map(silenceBy(horizonDays, parameters).of),
  };
}

const daysFromMiddleSql = `((idleDays - 1) % ${daysPerPeriod} - ${middleDayOfPeriod})`;

/** `silenceBetween` over columns x, t, n and idleDays. @param risks names of the parameters with `CellRisks`;
 * the risk is one without a cell */
export function silenceSql(risks: { readonly numbers: string; readonly risks: string }): string {
  const riskOf = (number: string) =>
    `transform(${number}, {${risks.numbers}:Array(Int32)}, {${risks.risks}:Array(Float64)}, 1.)`;
  const near = `if(n > t OR ${daysFromMiddleSql} > 0, sign(${daysFromMiddleSql}), 0)`;
  return `(${riskOf(cellNumberSql)} * pow(${riskOf(`toInt32(${cellNumberSql} + 10000 * ${near})`)} / ${riskOf(cellNumberSql)},
    abs(${daysFromMiddleSql}) / ${daysPerPeriod}))`;
}

/** With n up to 26, 3,303 of them. */
const allCells: readonly Cell[] = Array.from({ length: windowPeriods + 1 }, (_, n) => cellsOf(n)).flat();

function cellsOf(n: number): Cell[] {
  const cells: Cell[] = [{ x: 0, t: 0, n }];
  for (let t = 1; t <= n; t++) for (let x = 1; x <= t; x++) cells.push({ x, t, n });
  return cells;
}
