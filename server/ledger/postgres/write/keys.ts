/** Keys of look-ups. */
import type { Queries } from "../connect.ts";
import { storable } from "../text.ts";

/** An id of an organization: of a user, an account or an event, an e-mail address, or the text of a person's
 * id. */
export interface Key {
  readonly organization: number;
  readonly id: string;
}

/** The keys as a table for a statement: `(organization, id)`. */
export function tableOfKeys(queries: Queries, keys: readonly Key[]) {
  return queries`unnest(${keys.map(({ organization }) => organization)}::bigint[],
    ${keys.map(({ id }) => storable(id))}::text[])`;
}
