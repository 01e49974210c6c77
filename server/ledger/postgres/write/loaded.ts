/** What a transaction locks and loads before it is decided, in one round trip. */

import { isJsonObject, type JsonObject } from "../../../../contract/json.ts";
import type { Account, User } from "../../ports/entities.ts";
import type { Needs } from "../../ports/transact.ts";
import { MessageIdHasher } from "../../rules/message-id-hash.ts";
import type { Queries, Sql, Tx } from "../client/connect.ts";
import { advisoryLocks } from "../client/locks.ts";
import { restored } from "../client/text.ts";
import { isOneOf, lockIsHeld } from "../client/transaction.ts";
import { claimIds } from "./claimed-ids.ts";
import { loadMore } from "./load-more.ts";
import { type Key, Known, type LastNumbers, Loaded } from "./stored.ts";

/** A user as `userColumns` give it. */
export type UserRow = Omit<User, "traits" | "fieldsSaidAtMs" | "email"> & {
  readonly email: string;
  readonly traits: string;
  readonly fieldsSaidAtMs: string;
};

/** An account as `accountColumns` give it. */
export type AccountRow = Omit<Account, "fieldsSaidAtMs"> & { readonly fieldsSaidAtMs: string };

/** How long a transaction waits for each lock of an organization. The other organizations of the transaction wait as long.
 * It is longer than a commit of another node, which is no reason to part them. */
const lockPatienceMs = 100;

/** Thrown when something else holds the lock of an organization, or of their table, for too long. */
export class OrganizationLockTimedOut extends Error {}

/**
 * Locks and loads what is needed. All of it is sent at once; the server does one after another, each with a view of its
 * own, so that what is read after a lock was taken is what its last holder committed.
 * @throws OrganizationLockTimedOut when the lock of an organization was not had in time. For other locks the error is
 * PostgreSQL's.
 */
export async function load(tx: Tx, needs: Needs, nowMs: number): Promise<Loaded> {
  const { users, accounts, known, labels } = needs;
  const organizations = organizationsOf(needs);
  const needed = [...new Set([...organizations, ...known.map(({ organization }) => organization)])];
  const hasher = new MessageIdHasher();
  const answers = new Known();
  const begun = byIndex(tx);
  // First: what waits for an organization must not hold up the inbox, or others' message ids.
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
    loadMore(tx, answers, {
      known: known.map(keyOfUser),
      users: users.map(keyOfUser),
      accounts: accounts.map(({ organization, accountId }) => ({ organization, id: accountId })),
      labels: labels.map(({ organization, event }) => ({ organization, id: event })),
      organizations,
    }),
  ]);
  const [, numbers, , [current], claimed] = await loading.catch((error: unknown) => {
    throw locking?.timedOutBy(error)
      ? new OrganizationLockTimedOut("no lock in time", { cause: error })
      : error;
  });
  if (current === undefined) throw new Error("The ledger in PostgreSQL has lost its inbox's segment.");
  const { there, ...inbox } = current;
  return new Loaded(
    {
      ...inbox,
      organizations: new Set(there.map(Number)),
      claimed: new Set([...claimed].map(({ id }) => id)),
      numbers,
    },
    answers,
    hasher,
  );
}

/** From here on every statement of the transaction looks few keys up, by an index, however many rows its tables had when it
 * was planned. Planned over an empty table they read all of it: with 200,000 links an alias took 140 ms instead of 10. A
 * table without a fitting index counts as so dear then that servers before 18 would compile the statement. */
export function byIndex(tx: Tx) {
  return tx`
    SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`;
}

function keyOfUser({ organization, userId }: Needs["users"][number]): Key {
  return { organization, id: userId };
}

/** Locks organizations, and waits for each for `lockPatienceMs` at most. */
function lockInTime(tx: Tx, organizations: readonly number[]) {
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

/** The organizations whose locks a transaction needs. Whoever parks an item under an id must see to whom another node links it. */
export function organizationsOf({ users, accounts, people }: Needs): readonly number[] {
  return [...new Set([...users, ...accounts, ...people].map(({ organization }) => organization))];
}

/** Whoever changes users, accounts or what is parked of an organization holds its row of `populations` until the commit:
 * numbers have no gaps, and nobody finds a user missing whom another node is writing.
 * @returns the last numbers of those that exist */
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

/** The columns of `UserRow`. */
export function userColumns(queries: Queries) {
  return queries`organization, user_id AS "userId", number, account, email, traits,
    is_account_owner AS "isAccountOwner", first_identified_at_ms AS "firstIdentifiedAtMs",
    said_at_ms AS "saidAtMs", fields_said_at_ms AS "fieldsSaidAtMs", updated_at_ms AS "updatedAtMs", version`;
}

/** The columns of `AccountRow`. */
export function accountColumns(queries: Queries) {
  return queries`organization, account_id AS "accountId", number, name, avatar, said_at_ms AS "saidAtMs",
    fields_said_at_ms AS "fieldsSaidAtMs", created_at_ms AS "createdAtMs", updated_at_ms AS "updatedAtMs", version`;
}

/** A user as its row has it. */
export function userOf(row: UserRow): User {
  return {
    ...row,
    userId: restored(row.userId),
    email: restored(row.email) || null,
    traits: parseObject(row.traits),
    fieldsSaidAtMs: parseObject(row.fieldsSaidAtMs) as Readonly<Record<string, number>>,
  };
}

/** An account as its row has it. */
export function accountOf(row: AccountRow): Account {
  return {
    ...row,
    fieldsSaidAtMs: JSON.parse(row.fieldsSaidAtMs),
    accountId: restored(row.accountId),
    name: restored(row.name),
    avatar: row.avatar === null ? null : restored(row.avatar),
  };
}

function parseObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new Error("The ledger holds traits that are not a JSON object.");
  return value;
}
