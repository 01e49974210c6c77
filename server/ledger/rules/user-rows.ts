/** Recognizes the rows of a user, and a user's id after an erasure. */
import { createHmac } from "node:crypto";

/** The beginning of every row of a user, in all tables except that of accounts (see `ledger/rules/warehouse-rows.ts`). */
export function beginningOfRow(organization: number, user: number): string {
  return `[${organization},${user},`;
}

/** The hash that is kept of an erased user's id. Ids are short and guessable: a plain hash could be found by trial.
 * @param key of the ledger, 32 bytes. @returns HMAC-SHA-256, hexadecimal */
export function tombstoneOf(key: Uint8Array, organization: number, userId: string): string {
  return createHmac("sha256", key).update(`${organization} ${userId}`).digest("hex");
}
