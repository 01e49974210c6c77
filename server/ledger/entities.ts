/** Users and accounts as the ledger keeps them. */
import type { JsonObject } from "../../contract/json.ts";

/** The times of the fields of a user or an account, in Unix milliseconds. */
export interface FieldTimestamps {
  /** The time of all fields that have a value, except those in `fieldTimestampsMs`. */
  readonly timestampMs: number;
  /** By field: `email`, `isAccountOwner`, `account`, `properties.plan` … of a user; `name`, `avatar`,
   * `properties.industry` … of an account. */
  readonly fieldTimestampsMs: Readonly<Record<string, number>>;
}

export interface User extends FieldTimestamps {
  readonly organization: number;
  readonly userId: string;
  /** Dense within the organization, from 1. The bitmaps of the warehouse consist of these numbers. */
  readonly number: number;
  /** Null until one is sent: a connected source may identify without it. */
  readonly email: string | null;
  readonly traits: JsonObject;
  readonly isAccountOwner: boolean | null;
  /** The number of the user's account. 0 if the user has none. */
  readonly account: number;
  readonly firstIdentifiedAtMs: number;
  readonly updatedAtMs: number;
  /** The number of changes of this user, from 1. */
  readonly version: number;
}

export interface Account extends FieldTimestamps {
  readonly organization: number;
  readonly accountId: string;
  /** Dense within the organization, from 1. */
  readonly number: number;
  readonly name: string;
  readonly avatar: string | null;
  /** Attributes. */
  readonly traits: JsonObject;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly version: number;
}

export interface UserAndAccount {
  readonly user: User;
  readonly account: Account | null;
}
