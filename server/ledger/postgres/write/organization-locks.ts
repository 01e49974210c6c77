/**
 * Locks of organizations. A transaction that changes users, accounts or held events of an organization holds
 * its row of `populations` until the commit. So numbers have no gaps, and a transaction never misses a user
 * of another node.
 */
import type { Needs } from "../../transact.ts";
import type { Sql, Tx } from "../connect.ts";
import { isOneOf, lockIsHeld } from "../transaction.ts";

/** The last numbers in an organization. */
export interface LastNumbers {
  readonly organization: number;
  readonly lastUser: number;
  readonly lastAccount: number;
}

/** The longest wait of a transaction for each lock of an organization. The other organizations of the
 * transaction also wait for this time. It is longer than a commit of another node: such a short lock should
 * not separate them. */
const lockPatienceMs = 100;

/** Thrown when another transaction holds the lock of an organization, or of their table, for too long. */
export class OrganizationLockTimedOut extends Error {}

/** The later statements of the transaction use indexes, independent of the size of a table when they were
 * planned. A plan for an empty table reads all of it: with 200,000 links an alias took 140 ms instead of 10.
 * The setting makes the estimate of a scan so high that servers before 18 would compile the statement, so
 * `jit` is off. */
export function byIndex(tx: Tx) {
  return tx`
    SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`;
}

/** Locks organizations. It waits for each at most `lockPatienceMs`. */
export function lockInTime(tx: Tx, organizations: readonly number[]) {
  const before = tx`
    SELECT set_config('rekindle.lock_timeout', current_setting('lock_timeout'), true),
      set_config('lock_timeout', ${`${lockPatienceMs}ms`}, true)`;
  const [added, locked] = organizationLocks(tx, organizations);
  const after = tx`SELECT set_config('lock_timeout', current_setting('rekindle.lock_timeout'), true)`;
  return {
    numbers: Promise.all([locked, before, added, after]).then(([numbers]) => numbers),
    timedOutBy: (error: unknown) =>
      isOneOf(error, lockIsHeld) && [added, locked].some((statement) => statement.failedWith(error)),
  };
}

/** @returns the organizations that another transaction has locked, or whose row another transaction is
 * adding */
export async function heldOrganizations(
  sql: Sql,
  organizations: readonly number[],
): Promise<readonly number[]> {
  const rows = await sql<{ organization: number }[]>`
    SELECT organization FROM unnest(${organizations}::bigint[]) AS given (organization)
    EXCEPT ALL (SELECT organization FROM (
      SELECT organization FROM populations WHERE organization = ANY (${organizations}::bigint[])
      FOR UPDATE SKIP LOCKED) AS free)`;
  return rows.map(({ organization }) => organization);
}

/** The organizations whose locks a transaction needs. A transaction that holds an event must see the links of
 * other nodes. */
export function organizationsOf({ users, accounts, people }: Needs): readonly number[] {
  return [...new Set([...users, ...accounts, ...people].map(({ organization }) => organization))];
}

/** Locks organizations until the commit. @returns the last numbers of those that exist */
export async function lockOrganizations(
  tx: Tx,
  organizations: readonly number[],
): Promise<readonly LastNumbers[]> {
  if (organizations.length === 0) return [];
  const [, numbers] = await Promise.all(organizationLocks(tx, organizations));
  return numbers;
}

function organizationLocks(tx: Tx, organizations: readonly number[]) {
  return [
    tx`
      INSERT INTO populations (organization)
      SELECT id FROM unnest(${organizations}::bigint[]) AS given (id)
      WHERE NOT EXISTS (SELECT FROM populations WHERE organization = id)
        AND EXISTS (SELECT FROM organizations WHERE organizations.id = given.id)
      ORDER BY id ON CONFLICT DO NOTHING`,
    tx<LastNumbers[]>`
      SELECT organization, last_user_number AS "lastUser", last_account_number AS "lastAccount" FROM populations
      WHERE organization = ANY (${organizations}::bigint[]) ORDER BY organization FOR UPDATE`,
  ] as const;
}
