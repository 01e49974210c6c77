/** Begins an erasure or a deletion: in one commit, while no other transaction writes rows. */
import type { Sql, Tx } from "../connect.ts";
import { countWaiting, type Position } from "../inbox-counts.ts";
import { inboxPatienceMs, lockInbox } from "../inbox-segments.ts";
import { inTransaction, lockIsHeld, notInOrder, repeated, tableIsGone } from "../transaction.ts";
import { lockOrganizations } from "./organization-locks.ts";

/** Runs `begin` with the organization and the inbox locked. @returns undefined when there is no such
 * organization */
export function whileNoneWrites<Begun>(
  sql: Sql,
  organization: number,
  begin: (tx: Tx, counted: Position) => Promise<Begun | undefined>,
): Promise<Begun | undefined> {
  return repeated(
    async (refusals) => {
      const patienceMs = inboxPatienceMs(refusals);
      const counted = await countWaiting(sql, patienceMs);
      return inTransaction(sql, async (tx) => {
        const [locked] = await lockOrganizations(tx, [organization]);
        if (locked === undefined) return undefined;
        await lockInbox(tx, patienceMs);
        return begin(tx, counted);
      });
    },
    [...notInOrder, ...tableIsGone, ...lockIsHeld],
    { attempts: 15, pauseMs: 500 },
  );
}
