/** How the MRR of all payers came from the start of a period to its end. */
import type { Balance } from "./balances.ts";

/** A sum of MRR in minor units, and how many payers it has. */
export interface Movement {
  readonly mrr: number;
  readonly payers: number;
}

type MovementName = "new" | "reactivated" | "expansion" | "contraction" | "churned";

/** The movements of a period. `startMrr + new + reactivated + expansion − contraction − churned` is `endMrr`, exactly. */
export interface Movements extends Readonly<Record<MovementName, Movement>> {
  readonly startMrr: number;
  readonly endMrr: number;
  /** The part of `churned` whose last subscriptions ended involuntarily. */
  readonly churnedInvoluntarily: Movement;
}

/**
 * The movements of each period between two edges, per payer from its MRR at both. A payer without MRR at the start
 * is reactivated if it had MRR before the start, and else new.
 */
export function movementsOf(balances: readonly Balance[], edgesMs: readonly number[]): Movements[] {
  return edgesMs.slice(1).map((_, index) => {
    const sums = new Sums();
    for (const balance of balances) {
      const [start = 0, end = 0] = [balance.mrrs[index], balance.mrrs[index + 1]];
      const wasPaying = balance.firstPaidMs < (edgesMs[index] ?? 0);
      sums.add(start, end, wasPaying, balance.leftInvoluntarily[index + 1] === true);
    }
    return sums.all();
  });
}

/** The movements of consecutive periods as those of one: a quarter's are the sums of its months'. */
export function sumOfMovements(periods: readonly Movements[]): Movements {
  const sumOf = (name: MovementName | "churnedInvoluntarily"): Movement =>
    periods.reduce(
      (sum, { [name]: { mrr, payers } }) => ({ mrr: sum.mrr + mrr, payers: sum.payers + payers }),
      { mrr: 0, payers: 0 },
    );
  return {
    startMrr: periods[0]?.startMrr ?? 0,
    new: sumOf("new"),
    reactivated: sumOf("reactivated"),
    expansion: sumOf("expansion"),
    contraction: sumOf("contraction"),
    churned: sumOf("churned"),
    churnedInvoluntarily: sumOf("churnedInvoluntarily"),
    endMrr: periods.at(-1)?.endMrr ?? 0,
  };
}

/** The movement of one payer; undefined when its MRR stays. */
function movementBetween(start: number, end: number, wasPaying: boolean): MovementName | undefined {
  if (start === end) return undefined;
  if (start === 0) return wasPaying ? "reactivated" : "new";
  if (end === 0) return "churned";
  return end > start ? "expansion" : "contraction";
}

class Sums {
  #startMrr = 0;
  #endMrr = 0;
  readonly #movements = {
    new: { mrr: 0, payers: 0 },
    reactivated: { mrr: 0, payers: 0 },
    expansion: { mrr: 0, payers: 0 },
    contraction: { mrr: 0, payers: 0 },
    churned: { mrr: 0, payers: 0 },
    churnedInvoluntarily: { mrr: 0, payers: 0 },
  };

  add(start: number, end: number, wasPaying: boolean, leftInvoluntarily: boolean): void {
    this.#startMrr += start;
    this.#endMrr += end;
    const name = movementBetween(start, end, wasPaying);
    if (name === undefined) return;
    this.#count(name, Math.abs(end - start));
    if (name === "churned" && leftInvoluntarily) this.#count("churnedInvoluntarily", start);
  }

  #count(name: MovementName | "churnedInvoluntarily", mrr: number): void {
    const movement = this.#movements[name];
    movement.mrr += mrr;
    movement.payers += 1;
  }

  all(): Movements {
    return { startMrr: this.#startMrr, ...this.#movements, endMrr: this.#endMrr };
  }
}
