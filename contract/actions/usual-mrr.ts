/** The MRR above which accounts are exempt from a hold-out by default: at most the highest tenth of paying accounts exceed it, or of paying
 * users where no account pays. Pages import values of it, so it has no import. */

/** Parameters of a list of accounts or users: those that pay, the highest MRR first, one of them. */
export const highestPayer = { mrrFrom: 1, sort: "mrr", order: "descending", limit: 1 } as const;

/** The place of the payer with this MRR among the payers. @param payers their number */
export function placeOfUsualMrr(payers: number): number {
  return Math.floor(payers / 10);
}
