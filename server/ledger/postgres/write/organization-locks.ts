/**
 * Locks of organizations. A transaction that changes users, accounts or held events of an organization holds its row of
 * `populations` until the commit. So numbers have no gaps, and a user whom another node is writing is never missing.
 */
import type { Needs } from "../../ports/transact.ts";
import type { Sql, Tx } from "../client/connect.ts";
import { isOneOf, lockIsHeld } from "../client/transaction.ts";

/** The last numbers that were given in an organization. */
export interface LastNumbers {
  readonly organization: number;
  readonly lastUser: number;
  readonly lastAccount: number;
}

/** How long a transaction waits for each lock of an organization. The other organizations of the transaction wait as long.
 * It is longer than a commit of another node, for which they should not be separated. */
const lockPatienceMs = 100;

/** Thrown when something else holds the lock of an organization, or of their table, for too long. */
export class OrganizationLockTimedOut extends Error {}

/** From here on the statements of the transaction use indexes, however many rows a table had when they were planned. Planned
 * over an empty table they would read all of it: with 200,000 links an alias took 140 ms instead of 10. A scan without an
 * index is then estimated as so expensive that servers before 18 would compile the statement, so `jit` is off. */
export function byIndex(tx: Tx) {
  return tx`
    SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`;
}

/** Locks organizations, and waits for each for `lockPatienceMs` at most. */
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

/** @returns those of the organizations that another transaction has locked, or is adding a row for */
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

/** The organizations whose locks a transaction needs. A transaction that holds an event must see the links of other nodes. */
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
