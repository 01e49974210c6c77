/** Reads the numbers that commands take. */
import { InvalidArgumentError } from "commander";

const maxLimit = 100_000;

/** How many at most. */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxLimit) return limit;
  throw new InvalidArgumentError(`Give a whole number from 1 to ${maxLimit}.`);
}

/** An id, as a list shows it in its first column. */
export function readId(text: string): number {
  const id = Number(text);
  if (Number.isSafeInteger(id) && id >= 1) return id;
  throw new InvalidArgumentError("Give the number in the first column of the list.");
}
