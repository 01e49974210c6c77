/** Exact division of money. */

/** A quotient of whole numbers that are not negative, rounded to the nearest whole number, halves to the even
 * one. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = 2n * (dividend % divisor);
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}
