/** Loads what a decision asks for: all of one kind by one statement, all kinds in one round trip. */

import { maxUsersWithEmail } from "../../ports/source-settings.ts";
import type { KnownUser } from "../../ports/transact.ts";
import { emailKey } from "../../rules/email-key.ts";
import type { Queries, Tx } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";
import { findLabels, findLinks, findLinksTo, findParked } from "../identity/parking-reads.ts";
import { type AccountRow, accountColumns, accountOf, type UserRow, userColumns, userOf } from "./loaded.ts";
import type { Key, Known, Wanted } from "./stored.ts";
import { erasedTexts } from "./tombstones.ts";

type Find = (tx: Tx, known: Known, keys: readonly Key[]) => Promise<void>;

const finders: Readonly<Record<Exclude<keyof Wanted, "organizations">, Find>> = {
  known: findKnown,
  users: findUsers,
  accounts: findAccounts,
  emails: findEmails,
  erased: findErased,
  links: findLinks,
  linksTo: findLinksTo,
  parked: findParked,
  labels: findLabels,
};

/** Adds what is stored of these to what is known. */
export async function loadMore(tx: Tx, known: Known, wanted: Partial<Wanted>): Promise<void> {
  const { organizations = [], ...keys } = wanted;
  const kinds = Object.keys(keys) as (keyof typeof keys)[];
  await Promise.all([
    findOrganizations(tx, known, organizations),
    ...kinds.map(async (kind) => {
      const unique = [
        ...new Map((keys[kind] ?? []).map((key) => [`${key.organization} ${key.id}`, key])).values(),
      ];
      if (unique.length > 0) await finders[kind](tx, known, unique);
    }),
  ]);
}

/** The keys as a table for a statement: `(organization, id)`. */
export function tableOfKeys(queries: Queries, keys: readonly Key[]) {
  return queries`unnest(${keys.map(({ organization }) => organization)}::bigint[],
    ${keys.map(({ id }) => storable(id))}::text[])`;
}

async function findOrganizations(tx: Tx, known: Known, organizations: readonly number[]): Promise<void> {
  if (organizations.length === 0) return;
  const found = await tx<{ id: number; hasParked: boolean; erasureKey: string | null }[]>`
    SELECT id,
      EXISTS (SELECT FROM parked_totals WHERE parked_totals.organization = given.id) AS "hasParked",
      CASE WHEN EXISTS (SELECT FROM erasures WHERE erasures.organization = given.id)
          OR EXISTS (SELECT FROM erased_ids WHERE erased_ids.organization = given.id)
        THEN (SELECT key FROM erasure_key) END AS "erasureKey"
    FROM unnest(${organizations}::bigint[]) AS given (id)`;
  for (const { id, hasParked, erasureKey } of found) {
    const key = erasureKey === null ? null : Buffer.from(erasureKey, "hex");
    known.foundOrganization(id, { hasParked, erasureKey: key });
  }
}

async function findKnown(tx: Tx, known: Known, keys: readonly Key[]): Promise<void> {
  const found = await tx<(KnownUser & { organization: number; userId: string })[]>`
    SELECT organization, user_id AS "userId", number, account
    FROM users JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, user_id) USING (organization, user_id)`;
  known.known.nothing(keys);
  for (const { organization, userId, ...user } of found) {
    known.known.found(organization, restored(userId), user);
  }
}

async function findUsers(tx: Tx, known: Known, keys: readonly Key[]): Promise<void> {
  const found = await tx<UserRow[]>`
    SELECT ${userColumns(tx)}
    FROM users JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, user_id) USING (organization, user_id)`;
  known.users.nothing(keys);
  for (const user of found.map(userOf)) known.users.found(user.organization, user.userId, user);
}

async function findAccounts(tx: Tx, known: Known, keys: readonly Key[]): Promise<void> {
  const found = await tx<AccountRow[]>`
    SELECT ${accountColumns(tx)}
    FROM accounts JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, account_id)
      USING (organization, account_id)`;
  known.accounts.nothing(keys);
  for (const account of found.map(accountOf)) {
    known.accounts.found(account.organization, account.accountId, account);
  }
}

async function findEmails(tx: Tx, known: Known, keys: readonly Key[]): Promise<void> {
  const wanted = keys.map(({ organization, id }) => ({ organization, id: emailKey(id) }));
  const found = await tx<{ organization: number; key: string; userId: string }[]>`
    SELECT wanted.organization, wanted.key, owner.user_id AS "userId"
    FROM ${tableOfKeys(tx, wanted)} AS wanted (organization, key) CROSS JOIN LATERAL (
      SELECT user_id FROM users
      WHERE users.organization = wanted.organization AND users.email_key <> '' AND users.email_key = wanted.key
      LIMIT ${maxUsersWithEmail}) AS owner`;
  const users = new Map<string, string[]>();
  for (const { organization, key, userId } of found) {
    const address = `${organization} ${restored(key)}`;
    users.set(address, [...(users.get(address) ?? []), restored(userId)]);
  }
  for (const { organization, id } of keys) {
    const ids = users.get(`${organization} ${emailKey(id)}`) ?? [];
    known.emails.found(organization, id, [...new Set(ids)]);
  }
}

/** Of organizations that erased somebody or an account. */
async function findErased(tx: Tx, known: Known, keys: readonly Key[]): Promise<void> {
  const texts = keys.flatMap(({ organization, id }) => {
    const key = known.organization(organization)?.erasureKey ?? null;
    return key === null ? [] : [{ organization, text: id, key }];
  });
  const found = await erasedTexts(tx, texts);
  known.erased.nothing(keys);
  for (const { organization, text, atMs } of found) known.erased.found(organization, text, atMs);
}
