/** The locks and reads of a transaction before the decision, in one round trip. */

import { lastingIdOf, MessageIdHasher } from "../../rules/message-id-hash.ts";
import type { Needs } from "../../transact.ts";
import type { Tx } from "../connect.ts";
import { advisoryLocks } from "../locks.ts";
import type { Key } from "./keys.ts";
import { claimIds, claimLastingIds, textOfLasting } from "./message-ids.ts";
import { byIndex, lockInTime, OrganizationLockTimedOut, organizationsOf } from "./organization-locks.ts";
import { Known, Reads } from "./reads.ts";

/**
 * Takes the locks and reads the needs. All statements are sent at once. The server runs one after another,
 * each with a snapshot of its own. So a read after a lock sees the commit of the lock's last holder.
 * @throws OrganizationLockTimedOut when the lock of an organization is not free in time. For other locks the
 * error is PostgreSQL's.
 */
export async function begin(tx: Tx, needs: Needs, nowMs: number): Promise<Reads> {
  const { users, accounts, known, labels } = needs;
  const organizations = organizationsOf(needs);
  const needed = [...new Set([...organizations, ...known.map(({ organization }) => organization)])];
  const hasher = new MessageIdHasher();
  const lasting = needs.messageIds.flatMap((key) => lastingIdOf(key, hasher.hash(key)) ?? []);
  const answers = new Known();
  const begun = byIndex(tx);
  // It comes first: a transaction that waits for an organization must not hold the inbox or message ids.
  const locking = organizations.length === 0 ? undefined : lockInTime(tx, organizations);
  const loading = Promise.all([
    begun,
    locking?.numbers ?? [],
    tx`SELECT pg_advisory_xact_lock_shared(${advisoryLocks.inbox}::bigint)`,
    tx<{ segment: number; transaction: number; there: number[] }[]>`
      SELECT segment, nextval('transaction_numbers') AS transaction,
        ARRAY(SELECT id FROM organizations WHERE id = ANY (${needed}::bigint[]) AND deletion_upto_inbox_id IS NULL) AS there
      FROM inbox_segments WHERE NOT sealed`,
    needs.messageIds.length === 0 ? [] : claimIds(tx, needs.messageIds, hasher, nowMs),
    lasting.length === 0 ? [] : claimLastingIds(tx, lasting),
    answers.load(tx, {
      known: known.map(keyOfUser),
      users: users.map(keyOfUser),
      accounts: accounts.map(({ organization, accountId }) => ({ organization, id: accountId })),
      labels: labels.map(({ organization, event }) => ({ organization, id: event })),
      facts: organizations.map((organization) => ({ organization, id: "" })),
    }),
  ]);
  const [, numbers, , [current], claimed, claimedForGood] = await loading.catch((error: unknown) => {
    throw locking?.timedOutBy(error)
      ? new OrganizationLockTimedOut("no lock in time", { cause: error })
      : error;
  });
  if (current === undefined) throw new Error("The ledger in PostgreSQL has lost its inbox's segment.");
  const { there, ...inbox } = current;
  return new Reads(
    {
      ...inbox,
      organizations: new Set(there.map(Number)),
      claimed: new Set([...claimed].map(({ id }) => id)),
      lasting: new Map([...claimedForGood].map((id) => [textOfLasting(id), id])),
      numbers,
    },
    answers,
    hasher,
  );
}

function keyOfUser({ organization, userId }: Needs["users"][number]): Key {
  return { organization, id: userId };
}
