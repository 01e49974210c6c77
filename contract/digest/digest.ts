/** Periods and limits of the digest. Pages import it, so it imports no schema. */

export const digestPeriods = ["daily", "weekly"] as const;
export type DigestPeriod = (typeof digestPeriods)[number];

/** The days that a digest looks back. */
export const digestDays: Readonly<Record<DigestPeriod, number>> = { daily: 1, weekly: 7 };

export const digestLimits = {
  /** At most this many users or accounts are named that entered, and that left. */
  moved: 10,
  /** Users or accounts of the call list. */
  top: 10,
  /** The days whose alerts are summed up. */
  alertDays: 7,
} as const;

/** How often a team member gets the digest by e-mail. */
export const ownDigestPeriods = ["off", ...digestPeriods] as const;
