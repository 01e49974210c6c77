/** Users and accounts as the ledger keeps them. */
import type { JsonObject } from "../../../contract/json.ts";

/** When the fields of a user or an account were said, in Unix milliseconds. */
export interface SaidTimes {
  /** Of all fields that have a value, but for those that are listed in `fieldsSaidAtMs`. */
  readonly saidAtMs: number;
  /** By field: `email`, `isAccountOwner`, `account`, `properties.plan` … of a user; `name`, `avatar` of an account. */
  readonly fieldsSaidAtMs: Readonly<Record<string, number>>;
}

export interface User extends SaidTimes {
  readonly organization: number;
  readonly userId: string;
  /** Dense within the organization, from 1: the bitmaps of the warehouse are made of it. */
  readonly number: number;
  /** Null until one is said: a connected source may identify without it. */
  readonly email: string | null;
  readonly traits: JsonObject;
  readonly isAccountOwner: boolean | null;
  /** Number of the account the user belongs to; 0 when none. */
  readonly account: number;
  readonly firstIdentifiedAtMs: number;
  readonly updatedAtMs: number;
  /** Counts the changes of this user, from 1. */
  readonly version: number;
}

export interface Account extends SaidTimes {
  readonly organization: number;
  readonly accountId: string;
  /** Dense within the organization, from 1. */
  readonly number: number;
  readonly name: string;
  readonly avatar: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly version: number;
}

export interface UserAndAccount {
  readonly user: User;
  readonly account: Account | null;
}
