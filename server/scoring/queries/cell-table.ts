/** BG/BB's risks of every possible history, computed here and looked up by the engine: they are few, users
 * are many. */
import type { BgbbParameters, Cell } from "../churn/bgbb.ts";
import { middleDayOfPeriod, silenceBy } from "../churn/churn-model.ts";
import { daysPerPeriod, windowPeriods } from "../scores/features.ts";
import type { Columns } from "./query.ts";

/** One number for a cell, in SQL over columns x, t and n. It is negative where there is no cell. */
export const cellNumberSql = "n * 10000 + t * 100 + x";

/** The bytes of a column of numbers, in hex: an array of 3,303 numbers takes the engine 16 ms to parse. */
export interface CellRisks {
  /** Of Int32. */
  readonly numbers: string;
  /** Of Float64. */
  readonly risks: string;
}

/** P(silent over the horizon) by whole periods, of every history that fits into the window, and with one
 * period more. */
export function cellRisks(parameters: BgbbParameters, horizonDays: number): CellRisks {
  return {
    numbers: cellNumbers,
    risks: hexOf(Float64Array.from(allCells, silenceBy(horizonDays, parameters).of)),
  };
}

function hexOf(numbers: Int32Array | Float64Array): string {
  return Buffer.from(numbers.buffer).toString("hex");
}

const daysFromMiddleSql = `((idleDays - 1) % ${daysPerPeriod} - ${middleDayOfPeriod})`;

/**
 * `silenceBetween` over columns x, t, n and idleDays: steps, and the risk over their columns. The table is a
 * column of a step of its own, because the engine copies 3,303 numbers to each place that names a parameter:
 * the scores of a few hundred accounts took 275 ms, and take 150.
 * @param risks names of the parameters with `CellRisks`; the risk is one without a cell
 */
export function silenceSql(risks: { readonly numbers: string; readonly risks: string }): {
  readonly steps: readonly Columns[];
  readonly risk: string;
} {
  const near = `if(n > t OR ${daysFromMiddleSql} > 0, sign(${daysFromMiddleSql}), 0)`;
  const riskOf = (cell: string) => `transform(${cell}, cellNumbers, cellTable, 1.)`;
  return {
    steps: [
      {
        cell: cellNumberSql,
        nearCell: `toInt32(${cellNumberSql} + 10000 * ${near})`,
        cellNumbers: `reinterpret(unhex({${risks.numbers}:String}), 'Array(Int32)')`,
        cellTable: `reinterpret(unhex({${risks.risks}:String}), 'Array(Float64)')`,
      },
      { silence: riskOf("cell"), nearSilence: riskOf("nearCell") },
    ],
    risk: `silence * pow(nearSilence / silence, abs(${daysFromMiddleSql}) / ${daysPerPeriod})`,
  };
}

/** With n up to 26, 3,303 of them. */
const allCells: readonly Cell[] = Array.from({ length: windowPeriods + 1 }, (_, n) => cellsOf(n)).flat();

function cellsOf(n: number): Cell[] {
  const cells: Cell[] = [{ x: 0, t: 0, n }];
  for (let t = 1; t <= n; t++) for (let x = 1; x <= t; x++) cells.push({ x, t, n });
  return cells;
}

const cellNumbers = hexOf(Int32Array.from(allCells, ({ x, t, n }) => n * 10_000 + t * 100 + x));
