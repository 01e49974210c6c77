/**
 * The order by activity, which takes the place of a churn risk that no model gives: by BG/BB's probability of
 * silence with general parameters. Only the order is used. As a probability it says 35 % for every newcomer.
 */
import { priorParameters } from "./bgbb.ts";
import type { CountedCell } from "./bgbb-fit.ts";
import { silenceBy } from "./churn-model.ts";

/** Positions of the histories of all entities that could have a churn risk. */
export interface ActivityOrder {
  /** `cellNumber` of each history that occurs. */
  readonly cells: readonly number[];
  /** The position of each history: 1 for the most active. Entities with one history share its first
   * position. */
  readonly positions: readonly number[];
  /** Entities altogether. */
  readonly of: number;
}

/** The days of silence that the order is about, whatever the churn horizon is. */
const orderedForDays = 28;

/** Orders entities that are counted by history. */
export function activityOrderOf(counted: readonly CountedCell[]): ActivityOrder {
  const silence = silenceBy(orderedForDays, priorParameters);
  const sorted = counted
    .map((cell) => ({ ...cell, silent: silence.of(cell) }))
    .sort((a, b) => a.silent - b.silent);
  const positions: number[] = [];
  let of = 0;
  for (const { count } of sorted) {
    positions.push(of + 1);
    of += count;
  }
  return { cells: sorted.map(cellNumber), positions, of };
}

/** The position of an entity with this history; null when it is not in the order. */
export function positionIn(
  { cells, positions }: ActivityOrder,
  cell: Omit<CountedCell, "count">,
): number | null {
  return positions[cells.indexOf(cellNumber(cell))] ?? null;
}

function cellNumber({ x, t, n }: Omit<CountedCell, "count">): number {
  return n * 10_000 + t * 100 + x;
}
