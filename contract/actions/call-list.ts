/** The call list: which lists there are and the classes of their rows. Pages import it, so it imports no
 * schema. */

/** Why somebody is on the call list: the first class that holds. */
export const callClasses = ["end_scheduled", "payment_overdue", "high_risk", "unused", "falling"] as const;
export type CallClass = (typeof callClasses)[number];

/** `call`: whom to call. `non_payers`: users or accounts that pay nothing. `set_aside`: those that are kept
 * off for now. */
export const callLists = ["call", "non_payers", "set_aside"] as const;
export type CallListName = (typeof callLists)[number];

export const callListLimits = {
  rows: 1_000,
  byDefault: 100,
  /** On the overview, in the digest and in mails. */
  top: 10,
  /** From so many payers on, the list has payers alone. */
  leastPayers: 10,
  /** An end that is scheduled later is no reason to call yet. */
  endDays: 90,
  /** Users or accounts that are ranked: those with the highest MRR, then those with the highest churn
   * risk. */
  ranked: 20_000,
  /** Of the ranked ones, those that are looked through for rows that are set aside. */
  setAside: 2_000,
} as const;
