/** The deletions of a user's erasure beside the user's row: all held events and links under the user's ids. */

import { addressId, type PersonId } from "../../ports/held-events.ts";
import { emailKey } from "../../rules/email-key.ts";
import { forgetPeople, linkedTo } from "../../stores/events/held-event-rows.ts";
import { forgetWarningsOf } from "../../stores/warnings.ts";
import type { Tx } from "../client/connect.ts";
import { runOn } from "../client/store-engine.ts";
import { storable } from "../client/text.ts";
import { announceErased } from "../cluster/erased-names.ts";
import { eraseLinked } from "./tombstones.ts";

interface Forgotten {
  readonly key: Uint8Array;
  readonly organization: number;
  readonly userId: string;
  /** Empty for a user without an address. Undefined for an id that was never identified. */
  readonly email: string | undefined;
  readonly atMs: number;
}

/** Deletes the held events and links under the ids of a deleted user, or under an id that was never identified.
 * Deletes the warnings that name one. Leaves tombstones of all ids except the user's own. @returns these ids */
export async function forgetIds(
  tx: Tx,
  { key, organization, userId, email, atMs }: Forgotten,
): Promise<readonly string[]> {
  const own: PersonId = { kind: "user", id: userId };
  const address = email === undefined || email === "" ? undefined : addressId(email);
  const linked = [...(await runOn(tx, linkedTo(organization, userId)))];
  // Events that are held for an address belong to every user with that address.
  if (email !== undefined && address !== undefined && !(await hasUserWith(tx, organization, email))) {
    linked.push(...(await runOn(tx, linkedTo(organization, address))));
  }
  // An id that was never identified may be a visitor's.
  if (email === undefined) linked.push({ kind: "visitor", id: userId });
  const gone = await runOn(tx, forgetPeople(organization, [own, ...linked]));
  const left = gone.filter((person) => person !== own || email === undefined);
  if (left.length > 0) await eraseLinked(tx, key, organization, left, atMs);
  const names = [...new Set([userId, ...linked.map(({ id }) => id)])];
  await announceErased(tx, organization, "user", names);
  await runOn(tx, forgetWarningsOf(organization, names));
  return names;
}

async function hasUserWith(tx: Tx, organization: number, email: string): Promise<boolean> {
  const [any] = await tx`
    SELECT FROM users WHERE organization = ${organization} AND email_key <> ''
      AND email_key = ${storable(emailKey(email))} LIMIT 1`;
  return any !== undefined;
}
