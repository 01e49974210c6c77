/** Reasons of churn, and limits of figures about them. Pages import it, so it imports no schema. */

/** What customers of a billing tool choose from: Stripe's list of cancellation feedback. */
export const billingReasons = [
  "customer_service",
  "low_quality",
  "missing_features",
  "other",
  "switched_service",
  "too_complex",
  "too_expensive",
  "unused",
] as const;

/** The reason of a departure whose payments failed. */
export const failedPaymentReason = "payment_failed";

/** Who said a reason: a team member, the billing tool, or the application with its churn event. */
export const reasonSources = ["team", "billing", "event"] as const;
export type ReasonSource = (typeof reasonSources)[number];

export const churnReasonLimits = {
  /** Reasons in words of one's own that are rows of their own. Departures with others count as `other`. */
  ownReasons: 20,
  reasonCharacters: 200,
  /** Longer comments are cut. */
  commentCharacters: 300,
  comments: 100,
} as const;

/** Whole units of a currency between bands of MRR. */
const mrrEdges = [50, 200, 1_000, 5_000] as const;

/** The edges of bands of MRR, in whole units: 100 times as much in currencies without minor units.
 * @param digits of the currency's minor unit */
export function mrrBandEdges(digits: number): readonly number[] {
  return mrrEdges.map((edge) => (digits === 0 ? edge * 100 : edge));
}
