/** The MRR of a subscription, in exact integer arithmetic. */
import type { BillingInterval } from "../../contract/billing/events.ts";
import { divideHalfEven } from "./half-even.ts";

/** Units of an interval in a month, as fractions: a month has 365/12 days and 52/12 weeks. */
const unitsOfMonth: Readonly<Record<BillingInterval["unit"], readonly [bigint, bigint]>> = {
  day: [365n, 12n],
  week: [52n, 12n],
  month: [1n, 1n],
  year: [1n, 12n],
};

/** The MRR of an amount for one interval, rounded half to even to the minor unit. */
export function mrrOf(amount: number, { count, unit }: BillingInterval): number {
  const [numerator, denominator] = unitsOfMonth[unit];
  return Number(divideHalfEven(BigInt(amount) * numerator, denominator * BigInt(count)));
}
