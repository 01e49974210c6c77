/** How a user is known among the rows of others, and after an erasure. */
import { createHmac } from "node:crypto";

/** How every row of a user begins, in all tables but that of accounts (see `ledger/rules/warehouse-rows.ts`). */
export function beginningOfRow(organization: number, user: number): string {
  return `[${organization},${user},`;
}

/** What is kept of the id of an erased user. Ids are short and guessable: a plain hash of one could be found by trying.
 * @param key of the ledger, 32 bytes. @returns HMAC-SHA-256, hexadecimal */
export function tombstoneOf(key: Uint8Array, organization: number, userId: string): string {
  return createHmac("sha256", key).update(`${organization} ${userId}`).digest("hex");
}
