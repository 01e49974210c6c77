/** Which users were erased, and when, and the ids that were linked to them: see sqlite/tombstones.ts. An id is kept as an HMAC under a key of this ledger. */
import type { PersonId, PersonKey } from "../parking.ts";
import { personText } from "../person-text.ts";
import { tombstoneOf } from "../user-rows.ts";
import type { Queries, Tx } from "./connect.ts";

/** The key of a ledger never changes. @returns its bytes */
export async function erasureKey(queries: Queries): Promise<Uint8Array> {
  const [stored] = await queries<{ key: string }[]>`SELECT key FROM erasure_key`;
  if (stored === undefined) throw new Error("The ledger has lost the key of its erasures.");
  return Buffer.from(stored.key, "hex");
}

/** A person, with the key of the ledger's tombstones. */
interface WithKey extends PersonKey {
  readonly key: Uint8Array;
}

/** When each of these was erased last, or whom the id was linked to then; those of whom nobody was are not there. */
export async function erasedPeople(
  queries: Queries,
  people: readonly WithKey[],
): Promise<readonly (PersonKey & { readonly atMs: number })[]> {
  if (people.length === 0) return [];
  const organizations = people.map(({ organization }) => organization);
  const asUsers = people.map(({ key, organization, kind, id }) =>
    kind === "user" ? tombstoneOf(key, organization, id) : null,
  );
  const asLinked = people.map(({ key, organization, ...person }) =>
    tombstoneOf(key, organization, personText(person)),
  );
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
    const person = people[place - 1];
    if (person === undefined) return [];
    const { organization, kind, id } = person;
    return [{ organization, kind, id, atMs }];
  });
}

/** Keeps that ids were erased which are no user's own, inside the caller's transaction. */
export async function eraseLinked(
  tx: Tx,
  key: Uint8Array,
  organization: number,
  people: readonly PersonId[],
  atMs: number,
): Promise<void> {
  const hmacs = people.map((person) => tombstoneOf(key, organization, personText(person)));
  await tx`
    INSERT INTO erased_ids AS stored (organization, person_hmac, erased_at_ms)
    SELECT ${organization}::bigint, hmac, ${atMs}::bigint FROM unnest(${[...new Set(hmacs)]}::text[]) AS given (hmac)
    ON CONFLICT (organization, person_hmac) DO UPDATE SET
      erased_at_ms = greatest(stored.erased_at_ms, excluded.erased_at_ms)`;
}
