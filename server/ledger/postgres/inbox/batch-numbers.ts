/**
 * Numbers of batches, of which their tokens are made. A PostgreSQL that was put back to an earlier moment (a standby that
 * lacked the last commits, a copy of its disk, a dump) counts the same numbers again, and ClickHouse, which remembers
 * the tokens of the last batches, would drop other rows that come under one of them. So a number is a count with a mark in
 * front that is drawn anew at each freeze: the count makes numbers differ as long as nothing is lost, and the mark
 * when it was. Nothing that the server says of itself would do: a copy of its disk starts again as the same server on
 * the same timeline.
 */
import { getRandomValues } from "node:crypto";
import type { Tx } from "../client/connect.ts";

/** Ten years of batches, at four tables each 0.6 s; what goes beyond is counted into the mark, which harms nothing. */
const countBits = 31;
/** The rest of a safe integer. That a count which is given again meets the same mark happens once in four million. */
const markBits = 53 - countBits;

export const batchNumbers = "CREATE SEQUENCE batch_numbers;";

/** The mark of one freeze, as it is added to a count. Never 0: numbers of a SQLite ledger that was moved have none. */
export function drawMark(): number {
  const [random = 0] = getRandomValues(new Uint32Array(1));
  return (1 + (random % (2 ** markBits - 1))) * 2 ** countBits;
}

/** The count of a batch number, without the mark. */
export function countOf(batchNumber: number): number {
  return batchNumber % 2 ** countBits;
}

/** Counts on behind a number. */
export async function countBehind(tx: Tx, last: number): Promise<void> {
  if (last > 0) await tx`SELECT setval('batch_numbers', ${last}::bigint)`;
}
