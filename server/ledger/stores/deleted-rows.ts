/** The first commit of an erasure: all rows of a user or an account off the inbox. */

import { greatest, onPostgres, texts } from "../dialect.ts";
import type { Erasure } from "../erasures.ts";
import type { Feature } from "../feature.ts";
import { emailKey } from "../rules/email-key.ts";
import { addressId, type PersonId } from "../rules/held-events.ts";
import { accountText, personText } from "../rules/person-text.ts";
import { tombstoneOf } from "../rules/user-rows.ts";
import {
  exists,
  type Fragment,
  integer,
  part,
  RowOf,
  returning,
  run,
  select,
  text,
  type Work,
} from "../sql.ts";
import type { EntityNumbers } from "./entity-rows.ts";
import { forgetExclusion } from "./exclusions.ts";
import { forgetPeople, linkedTo, removeAccount } from "./held-event-rows.ts";
import { erasureKey, forgetWarningsOf } from "./warnings.ts";

/** Rows that were deleted. */
export interface Deleted {
  /** Whether there was any data. */
  readonly isAnything: boolean;
  /** The ids of the user: its own id, and the ids that were linked to it. */
  readonly names: readonly string[];
  /** The account that was deleted with the user. */
  readonly accountId?: string | undefined;
  /** Erasures to be recorded, that of the user first. */
  readonly erased: readonly ErasedFields[];
}

interface ErasedFields extends Pick<Erasure, "organization" | "user" | "account" | "members" | "versions"> {
  readonly hmac: string;
}

interface Deletion {
  readonly organization: number;
  readonly atMs: number;
  /** A condition that all members of the account meet. */
  readonly among: Fragment;
  readonly features: readonly Feature[];
}

const numbered = { number: integer(), version: integer() };
const userRow = new RowOf<{ number: number; version: number; email: string }>({ ...numbered, email: text() });
const accountRow = new RowOf<{ number: number; version: number }>(numbered);
const accountIdRow = new RowOf<{ accountId: string }>({ accountId: text() });
const numberRow = new RowOf<{ number: number }>({ number: integer() });
const accountOfUserRow = new RowOf<{ account: number }>({ account: integer() });

/** The number of the account with this id. 0 if there is none. */
export function* accountNumber(organization: number, accountId: string): Work<number> {
  const [account] = yield* select(numberRow)`
    FROM accounts WHERE organization = ${organization} AND account_id = ${accountId}`;
  return account?.number ?? 0;
}

/** The number of the user's account. 0 if there is none. */
export function* accountOfUser(organization: number, userId: string | undefined): Work<number> {
  if (userId === undefined) return 0;
  const [user] = yield* select(accountOfUserRow)`
    FROM users WHERE organization = ${organization} AND user_id = ${userId}`;
  return user?.account ?? 0;
}

/** Deletes a user, and the user's account if the user is its only account member. Deletes the held events and
 * links under the ids of the user, or under an id that was never identified. */
export function* deleteUser(deletion: Deletion, userId: string, withAccount: boolean): Work<Deleted> {
  const { organization } = deletion;
  const accountId = withAccount ? yield* accountOfOnlyMember(deletion, userId) : undefined;
  const [user] = yield* returning(userRow)`
    DELETE FROM users WHERE organization = ${organization} AND user_id = ${userId}`;
  const key = yield* erasureKey();
  const forgotten = yield* forgetIds(key, deletion, userId, user?.email);
  if (user === undefined) return { ...forgotten, erased: [] };
  yield* run`
    UPDATE populations SET users = users - 1, user_versions = user_versions - ${user.version}
    WHERE organization = ${organization}`;
  yield* forgetExclusion(organization, "user", userId);
  yield* deleteRowsAbout(deletion, { user: user.number, account: 0 });
  const hmac = tombstoneOf(key, organization, userId);
  const erased = { organization, user: user.number, account: 0, members: 0, versions: 0, hmac };
  const own = accountId === undefined ? undefined : yield* deleteAccount(deletion, accountId);
  return { isAnything: true, names: forgotten.names, accountId, erased: [erased, ...(own?.erased ?? [])] };
}

/** Deletes an account, or removes one that was never stored from held events. Leaves a tombstone if there was
 * any data. */
export function* deleteAccount(deletion: Deletion, accountId: string): Work<Deleted> {
  const { organization, atMs, among } = deletion;
  const [account] = yield* returning(accountRow)`
    DELETE FROM accounts WHERE organization = ${organization} AND account_id = ${accountId}`;
  const held = yield* removeAccount(organization, accountId);
  if (account === undefined && held === 0) return { isAnything: false, names: [], erased: [] };
  const hmac = tombstoneOf(yield* erasureKey(), organization, accountText(accountId));
  yield* keepTombstones(organization, [hmac], atMs);
  yield* announce(organization, "account", [accountId]);
  if (account === undefined) return { isAnything: true, names: [], erased: [] };
  const members = yield* run`
    UPDATE users SET account = 0
    WHERE organization = ${organization} AND account > 0 AND account = ${account.number} ${among}`;
  yield* run`
    UPDATE populations SET accounts = accounts - 1, account_versions = account_versions - ${account.version}
    WHERE organization = ${organization}`;
  yield* forgetExclusion(organization, "account", accountId);
  yield* deleteRowsAbout(deletion, { user: 0, account: account.number });
  const erased = { organization, user: 0, account: account.number, members, versions: account.version, hmac };
  return { isAnything: true, names: [], erased: [erased] };
}

/** Deletes what features have about a user or an account. */
function* deleteRowsAbout({ organization, features }: Deletion, entity: EntityNumbers): Work<void> {
  for (const { erase } of features) if (erase !== undefined) yield* erase(organization, entity);
}

function* accountOfOnlyMember({ organization, among }: Deletion, userId: string): Work<string | undefined> {
  const [own] = yield* select(accountIdRow)`
    FROM accounts WHERE organization = ${organization}
      AND number = (SELECT account FROM users WHERE organization = ${organization} AND user_id = ${userId})
      AND (SELECT count(*) FROM users WHERE users.organization = accounts.organization AND account > 0
        AND users.account = accounts.number ${among}) = 1`;
  return own?.accountId;
}

/** Deletes the held events, links and warnings under the ids of a deleted user. Leaves tombstones of all ids
 * except the user's own. @param email empty for a user without an address, undefined for an id that was never
 * identified */
function* forgetIds(
  key: Uint8Array,
  { organization, atMs }: Deletion,
  userId: string,
  email: string | undefined,
): Work<Pick<Deleted, "isAnything" | "names">> {
  const own: PersonId = { kind: "user", id: userId };
  const linked = [...(yield* linkedTo(organization, userId))];
  const address = email ? addressId(email) : undefined;
  // Events that are held for an address belong to every user with that address.
  if (email && address !== undefined && !(yield* hasUserWith(organization, email))) {
    linked.push(...(yield* linkedTo(organization, address)));
  }
  // An id that was never identified may be a visitor's.
  if (email === undefined) linked.push({ kind: "visitor", id: userId });
  const gone = yield* forgetPeople(organization, [own, ...linked]);
  const left = gone.filter((person) => person !== own || email === undefined);
  const hmacs = left.map((person) => tombstoneOf(key, organization, personText(person)));
  yield* keepTombstones(organization, hmacs, atMs);
  const names = [...new Set([userId, ...linked.map(({ id }) => id)])];
  yield* announce(organization, "user", names);
  const warned = yield* forgetWarningsOf(organization, names);
  return { isAnything: warned + gone.length > 0, names };
}

function hasUserWith(organization: number, email: string) {
  return exists`FROM users WHERE organization = ${organization} AND email_key <> '' AND email_key = ${emailKey(email)}`;
}

/** Stores tombstones of ids that are no user's own. */
function* keepTombstones(organization: number, hmacs: readonly string[], atMs: number): Work<void> {
  if (hmacs.length === 0) return;
  yield* run`
    INSERT INTO erased_ids AS stored (organization, person_hmac, erased_at_ms)
    SELECT DISTINCT CAST(${organization} AS bigint), text, CAST(${atMs} AS bigint) FROM ${texts(hmacs)} WHERE true
    ON CONFLICT (organization, person_hmac) DO UPDATE SET
      erased_at_ms = ${greatest}(stored.erased_at_ms, excluded.erased_at_ms)`;
}

/** Publishes erased ids to other nodes, with the commit of the transaction
 * (`postgres/erased-names.ts`). */
function announce(organization: number, kind: "user" | "account", names: readonly string[]) {
  return run`${onPostgres(part`
    INSERT INTO erased_names (organization, kind, user_id)
    SELECT CAST(${organization} AS bigint), CAST(${kind} AS text), text FROM ${texts(names)}`)}`;
}
