/**
 * The users and accounts whose changes are not their own behavior: an erasure changed their figures, or a
 * team member gave them another owner. They are marked one by one, because both may happen every day. See
 * docs/decisions/0092.
 */
import { ownerTrait } from "../../../contract/notes-and-tasks.ts";
import type { EntitySet } from "../../analytics/entities/entity-sets.ts";

/** Erasures and owners since the last evaluation of a segment. */
export interface Touched {
  /** The accounts whose users were erased. */
  readonly accounts: readonly number[];
  /** Whether an account was erased: its members belong to no account now. */
  readonly isAccountErased: boolean;
  /** Owners that were set at this time or later count; null for a segment that asks for no owner. */
  readonly ownersSinceMs: number | null;
}

const own = "organization = {organization:UInt32}";
const owned = (kind: EntitySet["of"]) =>
  `SELECT ${kind} FROM ${kind}_versions
   WHERE ${own} AND at >= fromUnixTimestamp64Milli({ownersSinceMs:Int64}, 'UTC') AND position(traits, '"${ownerTrait}":') > 0`;

/** A condition on `entity`, with its parameters: whether the entity was touched. Undefined when no entity
 * was. */
export function isTouched(
  of: EntitySet["of"],
  { accounts, isAccountErased, ownersSinceMs }: Touched,
):
  | { readonly sql: string; readonly parameters: Readonly<Record<string, number | readonly number[]>> }
  | undefined {
  const conditions: string[] = [];
  if (of === "account" && accounts.length > 0) conditions.push("entity IN {touched:Array(UInt32)}");
  if (of === "user" && isAccountErased) {
    conditions.push(`entity IN (SELECT user FROM users FINAL WHERE ${own} AND account = 0)`);
  }
  if (ownersSinceMs !== null) {
    conditions.push(`entity IN (${owned(of)})`);
    // A user without an owner has the owner of the account.
    if (of === "user") {
      conditions.push(
        `entity IN (SELECT user FROM users FINAL WHERE ${own} AND account IN (${owned("account")}))`,
      );
    }
  }
  if (conditions.length === 0) return undefined;
  return {
    sql: `(${conditions.join(" OR ")})`,
    parameters: {
      ...(of === "account" && accounts.length > 0 && { touched: accounts }),
      ...(ownersSinceMs !== null && { ownersSinceMs }),
    },
  };
}
