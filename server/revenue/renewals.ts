/** MRR that is expected to renew in a month, with an interval. */
import type { Interval } from "./drawn.ts";
import { type Calibration, drawnRecalibrations, type Exposure, revenueAtRisk } from "./revenue-at-risk.ts";

/**
 * The expected MRR of renewals, and the middle 90 % of what may renew: the draws of the expected loss. They
 * correct the risk until the renewal as the back-test corrects that of the horizon.
 * @param due MRR that renews, in minor units, with the risk of being lost until then
 * @param calibration null without a back-test: then risks count as calibrated
 * @returns null without a renewal
 */
export function expectedRenewals(
  due: readonly Exposure[],
  calibration: Calibration | null,
  uniform: () => number,
): { readonly expected: number; readonly interval: Interval } | null {
  if (due.length === 0) return null;
  const recalibrations = calibration === null ? [] : drawnRecalibrations(calibration, uniform);
  const { mrr, expectedLoss, interval } = revenueAtRisk(due, recalibrations, uniform);
  return {
    expected: mrr - expectedLoss,
    interval: { low: mrr - interval.high, high: mrr - interval.low },
  };
}

/** Of the MRR that was expected to renew, at most this share may be open for a month to be compared. */
const openShare = 0.1;

/** Whether a past month's expected MRR can be compared with what came. @param withRisk the MRR of payers with
 * a churn risk, and the part of it that is neither renewed nor lost yet */
export function isCompared(withRisk: { readonly mrr: number; readonly openMrr: number }): boolean {
  return withRisk.mrr > 0 && withRisk.openMrr <= openShare * withRisk.mrr;
}
