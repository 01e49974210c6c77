/**
 * Advisory locks by number, and the order of all locks. A transaction takes its locks in this order, so that
 * no two wait for each other: `populations` by organization, the inbox, the table of rejected events, message
 * ids by their hash, the rows that are written, warnings last. Organizations come first, because one may be
 * locked for long, and the other locks would block every organization meanwhile. A drop of rejected events
 * locks organizations after their table, and not the inbox. Changes of members and settings: the claim, the
 * organization's row, its invitation, the person's row, then the person's links and sessions. A change of a
 * fixed segment shares the lock of `populations` first.
 */
import { storeLocks } from "../dialect.ts";
import type { Tx } from "./connect.ts";

export const advisoryLocks = {
  migrations: 7_401_001,
  /** The lock of the node that seals a segment, or deletes old message ids. Other nodes skip the step
   * meanwhile. */
  sealing: 7_401_004,
  forgetting: 7_401_005,
  ...storeLocks,
} as const;

/** Never waits. @returns true if this transaction holds the lock until its end, false if another one holds
 * it */
export async function tryLock(tx: Tx, name: keyof typeof advisoryLocks): Promise<boolean> {
  const [tried] = await tx<{ taken: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(${advisoryLocks[name]}::bigint) AS taken`;
  return tried?.taken === true;
}
