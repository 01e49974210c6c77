/** NRR, GRR and logo churn between two edges. */
import type { Balance } from "./balances.ts";
import { movementBetween, spanBetween } from "./movements.ts";

/** Of the payers with MRR at the first edge, and of what they passed to other payers. Ratios are null without
 * such payers. */
export interface RevenueRetention {
  readonly startMrr: number;
  /** Their MRR at the second edge. */
  readonly endMrr: number;
  /** The sum of the lower one of a payer's two MRRs. */
  readonly keptMrr: number;
  /** Net revenue retention: end / start. */
  readonly nrr: number | null;
  /** Gross revenue retention: kept / start. */
  readonly grr: number | null;
  readonly payers: number;
  /** Payers without MRR at the second edge. */
  readonly left: number;
  /** Those of them whose last subscriptions ended involuntarily. */
  readonly leftInvoluntarily: number;
  /** Logo churn: left / payers. */
  readonly churn: number | null;
  readonly voluntaryChurn: number | null;
  readonly involuntaryChurn: number | null;
}

/**
 * The retention of the payers with MRR at one edge, at a later one. It is computed per payer and never from
 * totals. Payers that are new or reactivated are in no sum. A payer that left and came back between the edges
 * is kept. MRR that passed to another payer is kept as long as that one keeps it.
 */
export function retentionBetween(balances: readonly Balance[], from: number, to: number): RevenueRetention {
  let [startMrr, gained, lost, payers, left, leftInvoluntarily] = [0, 0, 0, 0, 0, 0];
  for (const balance of balances) {
    const span = spanBetween(balance, from, to);
    startMrr += span.start;
    if (span.start > 0) payers += 1;
    const moved = movementBetween(span, false);
    if (moved?.name === "expansion") gained += moved.mrr;
    if (moved?.name === "contraction" || moved?.name === "churned") lost += moved.mrr;
    if (moved?.name !== "churned") continue;
    left += 1;
    if (balance.leftInvoluntarily[to] === true) leftInvoluntarily += 1;
  }
  const keptMrr = startMrr - lost;
  return ratiosOf({ startMrr, endMrr: keptMrr + gained, keptMrr, payers, left, leftInvoluntarily });
}

type RetentionSums = Pick<
  RevenueRetention,
  "startMrr" | "endMrr" | "keptMrr" | "payers" | "left" | "leftInvoluntarily"
>;

/** The ratios of sums. */
export function ratiosOf(sums: RetentionSums): RevenueRetention {
  const { startMrr, endMrr, keptMrr, payers, left, leftInvoluntarily } = sums;
  const ratio = (part: number, whole: number) => (whole === 0 ? null : part / whole);
  return {
    ...sums,
    nrr: ratio(endMrr, startMrr),
    grr: ratio(keptMrr, startMrr),
    churn: ratio(left, payers),
    voluntaryChurn: ratio(left - leftInvoluntarily, payers),
    involuntaryChurn: ratio(leftInvoluntarily, payers),
  };
}
