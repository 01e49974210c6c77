/** Look-ups of users, accounts and erasures. */
import type { Account, User, UserAndAccount } from "../../entities.ts";
import { emailKey } from "../../rules/email-key.ts";
import { maxUsersWithEmail } from "../../stores/identities.ts";
import type { KnownUser } from "../../transact.ts";
import type { Sql, Tx } from "../connect.ts";
import { restored, storable } from "../text.ts";
import { type Key, tableOfKeys } from "./keys.ts";
import { type Found, grouped, type Lookup } from "./lookup.ts";
import { type AccountRow, accountColumns, accountOf, type UserRow, userColumns, userOf } from "./rows.ts";
import { erasedTexts } from "./tombstones.ts";

/** Facts about an organization itself. The id of the key is empty. */
export interface OrganizationFacts {
  readonly hasHeldEvents: boolean;
  /** The key of tombstones. Null if neither a user nor an account was erased. */
  readonly erasureKey: Uint8Array | null;
}

/** Finds facts about organizations. */
export async function findFacts(tx: Tx, keys: readonly Key[]): Promise<readonly Found<OrganizationFacts>[]> {
  const found = await tx<{ organization: number; hasHeldEvents: boolean; erasureKey: string | null }[]>`
    SELECT organization,
      EXISTS (SELECT FROM held_event_totals AS own WHERE own.organization = given.organization) AS "hasHeldEvents",
      CASE WHEN EXISTS (SELECT FROM erasures AS own WHERE own.organization = given.organization)
          OR EXISTS (SELECT FROM erased_ids AS own WHERE own.organization = given.organization)
        THEN (SELECT key FROM erasure_key) END AS "erasureKey"
    FROM unnest(${keys.map(({ organization }) => organization)}::bigint[]) AS given (organization)`;
  return found.map(({ organization, hasHeldEvents, erasureKey }) => ({
    organization,
    id: "",
    value: { hasHeldEvents, erasureKey: erasureKey === null ? null : Buffer.from(erasureKey, "hex") },
  }));
}

/** Finds numbers of users and of their accounts. */
export async function findKnown(tx: Tx, keys: readonly Key[]): Promise<readonly Found<KnownUser>[]> {
  const found = await tx<(KnownUser & { organization: number; userId: string })[]>`
    SELECT organization, user_id AS "userId", number, account
    FROM users JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, user_id) USING (organization, user_id)`;
  return found.map(({ organization, userId, ...value }) => ({ organization, id: restored(userId), value }));
}

/** Finds whole users. */
export async function findUsers(tx: Tx, keys: readonly Key[]): Promise<readonly Found<User>[]> {
  const found = await tx<UserRow[]>`
    SELECT ${userColumns(tx)}
    FROM users JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, user_id) USING (organization, user_id)`;
  return found.map(userOf).map((user) => ({ organization: user.organization, id: user.userId, value: user }));
}

/** Finds accounts. */
export async function findAccounts(tx: Tx, keys: readonly Key[]): Promise<readonly Found<Account>[]> {
  const found = await tx<AccountRow[]>`
    SELECT ${accountColumns(tx)}
    FROM accounts JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, account_id)
      USING (organization, account_id)`;
  return found
    .map(accountOf)
    .map((account) => ({ organization: account.organization, id: account.accountId, value: account }));
}

/** Finds ids of users by their e-mail address, upper and lower case alike. */
export async function findEmails(tx: Tx, keys: readonly Key[]): Promise<readonly Found<readonly string[]>[]> {
  const wanted = keys.map(({ organization, id }) => ({ organization, id: emailKey(id) }));
  const found = await tx<{ organization: number; key: string; userId: string }[]>`
    SELECT wanted.organization, wanted.key, owner.user_id AS "userId"
    FROM ${tableOfKeys(tx, wanted)} AS wanted (organization, key) CROSS JOIN LATERAL (
      SELECT user_id FROM users
      WHERE users.organization = wanted.organization AND users.email_key <> '' AND users.email_key = wanted.key
      LIMIT ${maxUsersWithEmail}) AS owner`;
  const users = grouped(
    wanted,
    found.map(({ organization, key, userId }) => ({
      organization,
      id: restored(key),
      value: restored(userId),
    })),
  );
  // An address that was looked up in two spellings needs two results.
  return keys.map((key, index) => ({ ...key, value: [...new Set(users[index]?.value)] }));
}

/** Finds the last erasures of people and accounts, in organizations that have erasures. */
export async function findErased(
  tx: Tx,
  keys: readonly Key[],
  facts: Lookup<OrganizationFacts>,
): Promise<readonly Found<number>[]> {
  const texts = keys.flatMap(({ organization, id }) => {
    const key = facts.get(organization, "")?.erasureKey ?? null;
    return key === null ? [] : [{ organization, text: id, key }];
  });
  const found = await erasedTexts(tx, texts);
  return found.map(({ organization, text, atMs }) => ({ organization, id: text, value: atMs }));
}

/** Finds a user and the account that the user belongs to, outside of a transaction. */
export async function findUserAndAccount(
  sql: Sql,
  organization: number,
  userId: string,
): Promise<UserAndAccount | undefined> {
  const [user] = await sql<UserRow[]>`
    SELECT ${userColumns(sql)} FROM users WHERE organization = ${organization} AND user_id = ${storable(userId)}`;
  if (user === undefined) return undefined;
  const [account] = await sql<AccountRow[]>`
    SELECT ${accountColumns(sql)} FROM accounts WHERE organization = ${organization} AND number = ${user.account}`;
  return { user: userOf(user), account: account === undefined ? null : accountOf(account) };
}

/** Finds an account, outside of a transaction. */
export async function findAccount(
  sql: Sql,
  organization: number,
  accountId: string,
): Promise<Account | undefined> {
  const [account] = await sql<AccountRow[]>`
    SELECT ${accountColumns(sql)} FROM accounts
    WHERE organization = ${organization} AND account_id = ${storable(accountId)}`;
  return account === undefined ? undefined : accountOf(account);
}
