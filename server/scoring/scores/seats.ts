/** Seats that an account bought, and the pulse that the team gave it: rules for both, which
 * queries/seats-query.ts has in SQL. */

/** The attribute of an account that says how many seats it bought. */
export const seatsTrait = "seats";
/** Larger numbers are no seats. */
export const mostSeats = 1_000_000_000;
/** Billing tools write a flat price as a quantity of 1, which says nothing about seats. */
export const leastQuantityOfSeats = 2;

/** A pulse counts for this many days after the day on which it was said. */
export const pulseDays = 90;

/** Active members of 28 days divided by the seats bought; may exceed 1. Null while seats are unknown. */
export function seatsUsedOf(activeMembers: number, seats: number | null): number | null {
  return seats === null ? null : activeMembers / seats;
}
