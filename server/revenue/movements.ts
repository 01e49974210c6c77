/** How the MRR of all payers came from the start of a period to its end. */

/** A sum of MRR in minor units, and how many payers it has. */
export interface Movement {
  readonly mrr: number;
  readonly payers: number;
}

type MovementName = "new" | "reactivated" | "expansion" | "contraction" | "churned";
type TransferName = "transferredIn" | "transferredOut";
type SumName = MovementName | TransferName | "churnedInvoluntarily";

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
