/**
 * Compares variants fairly on a machine with other load: in alternating rounds, A B A B …, so that a
 * disturbance affects both. Ratios are taken within each round and their median reported.
 */
import type { LoadResult } from "./load.ts";

export interface Variant {
  readonly name: string;
  measure(): Promise<LoadResult>;
}

export interface Comparison {
  readonly name: string;
  /** Medians over the rounds. */
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests a second as a share of the baseline's in the same round: median, lowest and highest. */
  readonly ratio: number;
  readonly lowestRatio: number;
  readonly highestRatio: number;
  /** Answers of all rounds by status, and requests without one. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly lost: number;
}

/** Measures every variant once in every round. The first variant is the baseline of the ratios. */
export async function alternate(variants: readonly Variant[], rounds = 7): Promise<Comparison[]> {
  const results = variants.map((): LoadResult[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, variant] of variants.entries()) results[index]?.push(await variant.measure());
  }
  const baseline = results[0] ?? [];
  return variants.map((variant, index) => compare(variant.name, results[index] ?? [], baseline));
}

function compare(name: string, results: readonly LoadResult[], baseline: readonly LoadResult[]): Comparison {
  const ratios = results.map(
    ({ requestsPerSecond }, round) => requestsPerSecond / (baseline[round]?.requestsPerSecond ?? Number.NaN),
  );
  const statuses: Record<number, number> = {};
  for (const result of results) {
    for (const [status, count] of Object.entries(result.statuses)) {
      statuses[Number(status)] = (statuses[Number(status)] ?? 0) + count;
    }
  }
  return {
    name,
    requestsPerSecond: median(results.map((result) => result.requestsPerSecond)),
    p50Ms: median(results.map((result) => result.p50Ms)),
    p99Ms: median(results.map((result) => result.p99Ms)),
    ratio: median(ratios),
    lowestRatio: Math.min(...ratios),
    highestRatio: Math.max(...ratios),
    statuses,
    lost: results.reduce((sum, result) => sum + result.lost, 0),
  };
}

/** The middle value, or the mean of the two in the middle. NaN when there is none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** The comparisons as a table for a terminal. */
export function formatTable(comparisons: readonly Comparison[]): string {
  const rows = [
    ["variant", "requests/s", "ratio", "from", "to", "p50 ms", "p99 ms", "answers"],
    ...comparisons.map((row) => [
      row.name,
      Math.round(row.requestsPerSecond).toLocaleString("en"),
      ...[row.ratio, row.lowestRatio, row.highestRatio, row.p50Ms, row.p99Ms].map((value) =>
        value.toFixed(2),
      ),
      [
        ...Object.entries(row.statuses).map(([status, count]) => `${count} × ${status}`),
        ...(row.lost > 0 ? [`${row.lost} lost`] : []),
      ].join(", "),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const align = (cell: string, column: number) =>
    column === 0 || column === widths.length - 1
      ? cell.padEnd(widths[column] ?? 0)
      : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(align).join("  ").trimEnd()).join("\n");
}
