/** The read keys of a member who is removed. */
import { noOwnerForKeys } from "../../rules/people-notes.ts";
import type { Tx } from "../client/connect.ts";
import { findMember } from "./people-rows.ts";

/** Revokes the read keys that a person made, or makes them those of an owner. The organization has to be locked.
 * @returns their ids */
export async function leaveKeys(
  tx: Tx,
  organization: number,
  person: number,
  nowMs: number,
  keysTo: number | null,
): Promise<readonly number[]> {
  if (keysTo !== null && (await findMember(tx, organization, keysTo))?.role !== "owner") {
    throw noOwnerForKeys();
  }
  const change = keysTo === null ? tx`revoked_at_ms = ${nowMs}::bigint` : tx`made_by = ${keysTo}::bigint`;
  const rows = await tx<{ id: number }[]>`
    UPDATE read_keys SET ${change}
    WHERE organization = ${organization} AND made_by = ${person} AND revoked_at_ms IS NULL RETURNING id`;
  return rows.map(({ id }) => id);
}
