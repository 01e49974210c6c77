/** Reads the numbers that commands take. */
import { InvalidArgumentError } from "commander";

/** How many at most, for lists. */
export const readLimit = wholeNumber(1, 100_000);

/** Reads a whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

/** An id, as a list shows it in its first column. */
export function readId(text: string): number {
  const id = Number(text);
  if (Number.isSafeInteger(id) && id >= 1) return id;
  throw new InvalidArgumentError("Give the number in the first column of the list.");
}
