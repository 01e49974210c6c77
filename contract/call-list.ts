/** The call list: which lists there are and the classes of their rows. Pages import it, so it imports no
 * schema. */

/** Why somebody is on the call list: the first class that holds. */
export const callClasses = ["end_scheduled", "payment_overdue", "high_risk", "unused", "falling"] as const;
export type CallClass = (typeof callClasses)[number];

/** `call`: whom to call. `non_payers`: users or accounts that pay nothing. `set_aside`: users or accounts
 * that are off the list for now. */
export const callLists = ["call", "non_payers", "set_aside"] as const;
export type CallListName = (typeof callLists)[number];

export const callListLimits = {
  rows: 1_000,
  byDefault: 100,
  /** On the overview, in the digest and in mails. */
  top: 10,
  /** With this many payers or more, the list has payers only. */
  leastPayers: 10,
  /** An end that is scheduled later is no reason to call yet. */
  endDays: 90,
  /** Users or accounts that are ranked: by the highest MRR, then by the highest churn risk. */
  ranked: 20_000,
  /** Ranked users or accounts that are searched for rows that are set aside. */
  setAside: 2_000,
} as const;
