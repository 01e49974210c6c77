/** NRR, GRR and logo churn between two edges. */

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
