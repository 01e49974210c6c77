/**
 * Numbers of batches. The tokens of batches contain them. PostgreSQL may be restored to an earlier moment: a
 * standby without the last commits, a copy of its disk, a dump. Then it counts the same numbers again.
 * ClickHouse remembers the tokens of the last batches, and would drop other rows under the same token. So a
 * number is a count after a mark, which is drawn at random at each freeze. The count makes numbers differ
 * while no commit is lost, and the mark after a loss. The server's own identity cannot replace the mark: a
 * copy of its disk starts as the same server on the same timeline.
 */
import { getRandomValues } from "node:crypto";
import type { Tx } from "./connect.ts";

/** Ten years of batches, with four tables each 0.6 s. A larger count overflows into the mark, which does no
 * harm. */
const countBits = 31;
/** The other bits of a safe integer. A repeated count has the same mark once in four million cases. */
const markBits = 53 - countBits;

export const batchNumbers = "CREATE SEQUENCE batch_numbers;";

/** The mark of one freeze, to be added to a count. Never 0: numbers of a moved SQLite ledger have no mark. */
export function drawMark(): number {
  const [random = 0] = getRandomValues(new Uint32Array(1));
  return (1 + (random % (2 ** markBits - 1))) * 2 ** countBits;
}

/** Continues the count after a number. */
export async function countBehind(tx: Tx, last: number): Promise<void> {
  if (last > 0) await tx`SELECT setval('batch_numbers', ${last}::bigint)`;
}
