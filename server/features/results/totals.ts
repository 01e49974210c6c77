/** Sums over customers for whom something was done. Pure. */
import type { WorkOutcome } from "../../../contract/alerts/rules.ts";
import type { TouchedCustomer } from "./results.ts";

/** Amounts are in minor units of the reporting currency. */
export interface Sums {
  readonly customers: number;
  readonly mrrThen: number;
  readonly mrrNow: number;
}

export interface Totals extends Sums {
  /** Customers that paid on the day of the first touch, and those of them that pay now. */
  readonly paying: number;
  readonly stillPaying: number;
  /** Customers without an outcome are in none of them. */
  readonly outcomes: Readonly<Record<WorkOutcome, number>>;
}

/** How many they are, and what they paid and pay. */
export function sumsOf(customers: readonly TouchedCustomer[]): Sums {
  const sum = (of: (one: TouchedCustomer) => number | null) =>
    customers.reduce((total, one) => total + (of(one) ?? 0), 0);
  return {
    customers: customers.length,
    mrrThen: sum(({ mrrThen }) => mrrThen),
    mrrNow: sum(({ mrrNow }) => mrrNow),
  };
}

/** Their sums with what came of the work. */
export function totalsOf(customers: readonly TouchedCustomer[]): Totals {
  const paying = customers.filter(({ mrrThen }) => (mrrThen ?? 0) > 0);
  const count = (wanted: WorkOutcome) => customers.filter(({ outcome }) => outcome === wanted).length;
  return {
    ...sumsOf(customers),
    paying: paying.length,
    stillPaying: paying.filter(({ mrrNow }) => (mrrNow ?? 0) > 0).length,
    outcomes: {
      saved: count("saved"),
      lost: count("lost"),
      noAnswer: count("noAnswer"),
      wrongAlarm: count("wrongAlarm"),
      other: count("other"),
    },
  };
}
