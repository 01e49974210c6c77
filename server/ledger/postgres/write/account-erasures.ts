/** The ledger's part of an erasure of an account, inside the caller's transaction: see erasures.ts. */

import { accountText } from "../../rules/person-text.ts";
import { tombstoneOf } from "../../rules/user-rows.ts";
import { removeAccount } from "../../stores/events/held-event-rows.ts";
import { forgetExclusion } from "../../stores/exclusions.ts";
import type { Tx } from "../client/connect.ts";
import { runOn } from "../client/store-engine.ts";
import { restored, storable } from "../client/text.ts";
import { announceErased } from "../cluster/erased-names.ts";
import { keepErased } from "./tombstones.ts";

export interface DeletedAccount {
  readonly number: number;
  readonly version: number;
  readonly members: number;
  readonly hmac: string;
}

interface Deleting {
  readonly key: Uint8Array;
  readonly organization: number;
  readonly accountId: string;
  readonly atMs: number;
}

/** The id of a user's account, if the user is its only account member. */
export async function accountOfOnlyMember(
  tx: Tx,
  organization: number,
  userId: string,
): Promise<string | undefined> {
  const [own] = await tx<{ accountId: string }[]>`
    SELECT account_id AS "accountId" FROM accounts WHERE organization = ${organization}
      AND number = (SELECT account FROM users WHERE organization = ${organization} AND user_id = ${storable(userId)})
      AND (SELECT count(*) FROM users WHERE users.organization = accounts.organization AND account > 0
        AND users.account = accounts.number) = 1`;
  return own === undefined ? undefined : restored(own.accountId);
}

/** Deletes an account, or removes one that was never stored from held items. Leaves a tombstone if there was any data. The
 * caller has locked the organization and the inbox. @returns undefined when there is no such account */
export async function deleteAccount(
  tx: Tx,
  { key, organization, accountId, atMs }: Deleting,
): Promise<DeletedAccount | undefined> {
  const [account] = await tx<{ number: number; version: number }[]>`
    DELETE FROM accounts WHERE organization = ${organization} AND account_id = ${storable(accountId)}
    RETURNING number, version`;
  const held = await runOn(tx, removeAccount(organization, accountId));
  if (account === undefined && held === 0) return undefined;
  const hmac = tombstoneOf(key, organization, accountText(accountId));
  await keepErased(tx, organization, [hmac], atMs);
  await announceErased(tx, organization, "account", [accountId]);
  if (account === undefined) return undefined;
  const left = await tx`
    UPDATE users SET account = 0
    WHERE organization = ${organization} AND account > 0 AND account = ${account.number}`;
  await tx`
    UPDATE populations SET accounts = accounts - 1, account_versions = account_versions - ${account.version}
    WHERE organization = ${organization}`;
  await runOn(tx, forgetExclusion(organization, "account", accountId));
  return { ...account, members: left.count, hmac };
}
