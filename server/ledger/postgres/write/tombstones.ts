import { personText } from "../../rules/person-text.ts";
import { tombstoneOf } from "../../rules/user-rows.ts";
import type { Queries } from "../connect.ts";

/** The id of a person or an account as a text, with the key of the ledger's tombstones. */
interface WithKey {
  readonly organization: number;
  readonly text: string;
  readonly key: Uint8Array;
}

const userPrefix = personText({ kind: "user", id: "" });

/** The last erasure of each of these, or of the user to whom the id was linked at that time. Others are left
 * out. */
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
