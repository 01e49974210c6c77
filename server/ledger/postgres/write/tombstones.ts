/** Erased users, with the time of the erasure, and the ids that were linked to them: see sqlite/write/tombstones.ts. An id
 * is kept as an HMAC under a key of this ledger. */
import type { PersonId } from "../../ports/held-events.ts";
import { personText } from "../../rules/person-text.ts";
import { tombstoneOf } from "../../rules/user-rows.ts";
import type { Queries, Tx } from "../client/connect.ts";

/** The key of a ledger never changes. @returns its bytes */
export async function erasureKey(queries: Queries): Promise<Uint8Array> {
  const [stored] = await queries<{ key: string }[]>`SELECT key FROM erasure_key`;
  if (stored === undefined) throw new Error("The ledger has lost the key of its erasures.");
  return Buffer.from(stored.key, "hex");
}

/** The id of a person or an account as a text, with the key of the ledger's tombstones. */
interface WithKey {
  readonly organization: number;
  readonly text: string;
  readonly key: Uint8Array;
}

const userPrefix = personText({ kind: "user", id: "" });

/** The last erasure of each of these, or of the user to whom the id was linked at that time. Others are left out. */
export async function erasedTexts(
  queries: Queries,
  texts: readonly WithKey[],
): Promise<readonly { readonly organization: number; readonly text: string; readonly atMs: number }[]> {
  if (texts.length === 0) return [];
  const organizations = texts.map(({ organization }) => organization);
  const asUsers = texts.map(({ key, organization, text }) =>
    text.startsWith(userPrefix) ? tombstoneOf(key, organization, text.slice(userPrefix.length)) : null,
  );
  const asLinked = texts.map(({ key, organization, text }) => tombstoneOf(key, organization, text));
  const found = await queries<{ place: number; atMs: number }[]>`
    SELECT place, max(at_ms) AS "atMs" FROM (
      SELECT place, requested_at_ms AS at_ms
      FROM unnest(${organizations}::bigint[], ${asUsers}::text[]) WITH ORDINALITY
        AS wanted (organization, user_hmac, place) JOIN erasures USING (organization, user_hmac)
      UNION ALL
      SELECT place, erased_at_ms
      FROM unnest(${organizations}::bigint[], ${asLinked}::text[]) WITH ORDINALITY
        AS wanted (organization, person_hmac, place) JOIN erased_ids USING (organization, person_hmac)) AS erased
    GROUP BY place`;
  return found.flatMap(({ place, atMs }) => {
    const asked = texts[place - 1];
    return asked === undefined ? [] : [{ organization: asked.organization, text: asked.text, atMs }];
  });
}

/** Stores tombstones of ids that are no user's own, inside the caller's transaction. */
export async function eraseLinked(
  tx: Tx,
  key: Uint8Array,
  organization: number,
  people: readonly PersonId[],
  atMs: number,
): Promise<void> {
  const hmacs = people.map((person) => tombstoneOf(key, organization, personText(person)));
  await keepErased(tx, organization, hmacs, atMs);
}

/** The same for their HMACs. */
export async function keepErased(
  tx: Tx,
  organization: number,
  hmacs: readonly string[],
  atMs: number,
): Promise<void> {
  await tx`
    INSERT INTO erased_ids AS stored (organization, person_hmac, erased_at_ms)
    SELECT ${organization}::bigint, hmac, ${atMs}::bigint FROM unnest(${[...new Set(hmacs)]}::text[]) AS given (hmac)
    ON CONFLICT (organization, person_hmac) DO UPDATE SET
      erased_at_ms = greatest(stored.erased_at_ms, excluded.erased_at_ms)`;
}
