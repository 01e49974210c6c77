/** Users and accounts in PostgreSQL's rows. */
import { isJsonObject, type JsonObject } from "../../../../contract/json.ts";
import type { Account, User } from "../../entities.ts";
import type { Queries } from "../connect.ts";
import { restored } from "../text.ts";

/** A row of `userColumns`. */
export type UserRow = Omit<User, "traits" | "fieldTimestampsMs" | "email"> & {
  readonly email: string;
  readonly traits: string;
  readonly fieldTimestampsMs: string;
};

/** A row of `accountColumns`. */
export type AccountRow = Omit<Account, "traits" | "fieldTimestampsMs"> & {
  readonly traits: string;
  readonly fieldTimestampsMs: string;
};

/** The columns of `UserRow`. */
export function userColumns(queries: Queries) {
  return queries`organization, user_id AS "userId", number, account, email, traits,
    is_account_owner AS "isAccountOwner", first_identified_at_ms AS "firstIdentifiedAtMs",
    timestamp_ms AS "timestampMs", field_timestamps_ms AS "fieldTimestampsMs", updated_at_ms AS "updatedAtMs", version`;
}

/** The columns of `AccountRow`. */
export function accountColumns(queries: Queries) {
  return queries`organization, account_id AS "accountId", number, name, avatar, traits, timestamp_ms AS "timestampMs",
    field_timestamps_ms AS "fieldTimestampsMs", created_at_ms AS "createdAtMs", updated_at_ms AS "updatedAtMs", version`;
}

/** The user of a row. */
export function userOf(row: UserRow): User {
  return {
    ...row,
    userId: restored(row.userId),
    email: restored(row.email) || null,
    traits: parseObject(row.traits),
    fieldTimestampsMs: parseObject(row.fieldTimestampsMs) as Readonly<Record<string, number>>,
  };
}

/** The account of a row. */
export function accountOf(row: AccountRow): Account {
  return {
    ...row,
    traits: parseObject(row.traits),
    fieldTimestampsMs: JSON.parse(row.fieldTimestampsMs),
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
