/** A user and the account it belongs to, for whoever asks outside of a transaction. */
import type { UserAndAccount } from "../../ports/entities.ts";
import type { Sql } from "../client/connect.ts";
import { storable } from "../client/text.ts";
import { type AccountRow, accountColumns, accountOf, type UserRow, userColumns, userOf } from "./loaded.ts";

/** The user with this id and the account that the user belongs to. */
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
