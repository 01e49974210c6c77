/** How the MRR of all payers came from the start of a period to its end. */
import type { Balance } from "./balances.ts";

/** A sum of MRR in minor units, and how many payers it has. */
export interface Movement {
  readonly mrr: number;
  readonly payers: number;
}

type MovementName = "new" | "reactivated" | "expansion" | "contraction" | "churned";
type TransferName = "transferredIn" | "transferredOut";

/**
 * The movements of a period. `startMrr + new + reactivated + expansion + transferredIn − contraction −
 * churned − transferredOut` is `endMrr`, exactly. A transfer has payers where it alone made a payer begin or
 * stop to pay.
 */
export interface Movements extends Readonly<Record<MovementName | TransferName, Movement>> {
  readonly startMrr: number;
  readonly endMrr: number;
  /** The part of `churned` whose last subscriptions ended involuntarily. */
  readonly churnedInvoluntarily: Movement;
}

/** A payer between two edges. */
interface PayerSpan {
  readonly start: number;
  readonly end: number;
  /** MRR that passed to the payer from others, less what passed to others. */
  readonly taken: number;
}

/**
 * The movements of each period between two edges, per payer from its MRR at both and what passed between
 * payers. A payer without MRR at the start is reactivated if it had MRR before the start, and else new.
 */
export function movementsOf(balances: readonly Balance[], edgesMs: readonly number[]): Movements[] {
  return edgesMs.slice(1).map((_, index) => {
    const sums = new Sums();
    for (const balance of balances) {
      const wasPaying = balance.firstPaidMs < (edgesMs[index] ?? 0);
      const span = spanBetween(balance, index, index + 1);
      sums.add(span, wasPaying, balance.leftInvoluntarily[index + 1] === true);
    }
    return sums.all();
  });
}

/** A payer between two of its edges. */
export function spanBetween({ mrrs, taken }: Balance, from: number, to: number): PayerSpan {
  const [start = 0, end = 0] = [mrrs[from], mrrs[to]];
  return { start, end, taken: (taken[to] ?? 0) - (taken[from] ?? 0) };
}

/** The movements of consecutive periods as those of one: a quarter's are the sums of its months'. */
export function sumOfMovements(periods: readonly Movements[]): Movements {
  const sumOf = (name: SumName): Movement =>
    periods.reduce(
      (sum, { [name]: { mrr, payers } }) => ({ mrr: sum.mrr + mrr, payers: sum.payers + payers }),
      { mrr: 0, payers: 0 },
    );
  return {
    startMrr: periods[0]?.startMrr ?? 0,
    new: sumOf("new"),
    reactivated: sumOf("reactivated"),
    expansion: sumOf("expansion"),
    transferredIn: sumOf("transferredIn"),
    contraction: sumOf("contraction"),
    churned: sumOf("churned"),
    transferredOut: sumOf("transferredOut"),
    churnedInvoluntarily: sumOf("churnedInvoluntarily"),
    endMrr: periods.at(-1)?.endMrr ?? 0,
  };
}

/** The movement of one payer beside what passed to it or from it, and its size; undefined without one. So a
 * payer whose subscriptions all passed to another did not churn, and who took them over is not new. */
export function movementBetween(
  { start, end, taken }: PayerSpan,
  wasPaying: boolean,
): { readonly name: MovementName; readonly mrr: number } | undefined {
  const held = start + taken;
  if (end === held) return undefined;
  const mrr = Math.abs(end - held);
  if (end < held) return { name: end === 0 ? "churned" : "contraction", mrr };
  if (start > 0 || taken > 0) return { name: "expansion", mrr };
  return { name: wasPaying ? "reactivated" : "new", mrr };
}

type SumName = MovementName | TransferName | "churnedInvoluntarily";

class Sums {
  #startMrr = 0;
  #endMrr = 0;
  readonly #movements = {
    new: { mrr: 0, payers: 0 },
    reactivated: { mrr: 0, payers: 0 },
    expansion: { mrr: 0, payers: 0 },
    transferredIn: { mrr: 0, payers: 0 },
    contraction: { mrr: 0, payers: 0 },
    churned: { mrr: 0, payers: 0 },
    transferredOut: { mrr: 0, payers: 0 },
    churnedInvoluntarily: { mrr: 0, payers: 0 },
  };

  add(span: PayerSpan, wasPaying: boolean, leftInvoluntarily: boolean): void {
    const { start, end, taken } = span;
    this.#startMrr += start;
    this.#endMrr += end;
    const moved = movementBetween(span, wasPaying);
    if (taken > 0) this.#count("transferredIn", taken, start === 0);
    if (taken < 0) this.#count("transferredOut", -taken, end === 0 && moved?.name !== "churned");
    if (moved === undefined) return;
    this.#count(moved.name, moved.mrr);
    if (moved.name === "churned" && leftInvoluntarily) this.#count("churnedInvoluntarily", moved.mrr);
  }

  #count(name: SumName, mrr: number, isPayer = true): void {
    const movement = this.#movements[name];
    movement.mrr += mrr;
    if (isPayer) movement.payers += 1;
  }

  all(): Movements {
    return { startMrr: this.#startMrr, ...this.#movements, endMrr: this.#endMrr };
  }
}
