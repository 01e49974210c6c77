/**
 * Ids of users and accounts that were just erased. Other nodes may still have them in memory: in warnings
 * that are not stored yet, and in the live view. Each node deletes them there. When all have, the ledger
 * deletes the ids, too.
 */

import { forgetWarningsOf } from "../stores/warnings.ts";
import type { Sql } from "./connect.ts";
import { runOn } from "./store-engine.ts";
import { restored } from "./text.ts";
import { inTransaction } from "./transaction.ts";

/** A new row counts as a change, which every node reads. It needs the trigger function in nodes.ts. */
export const erasedNamesTable = `
  CREATE TABLE erased_names (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_id text NOT NULL
  );
  CREATE CONSTRAINT TRIGGER noted AFTER INSERT ON erased_names
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change();
`;

/** The migration step that adds erasures of accounts. */
export const erasedAccountNames =
  "ALTER TABLE erased_names ADD COLUMN kind text NOT NULL DEFAULT 'user' CHECK (kind IN ('user', 'account'));";

export interface ErasedName {
  readonly id: number;
  readonly organization: number;
  readonly kind: "user" | "account";
  /** The id of the user or the account. */
  readonly name: string;
}

/** The ids that a node may still have in memory. */
export async function erasedNames(sql: Sql): Promise<readonly ErasedName[]> {
  const rows = await sql<ErasedName[]>`
    SELECT id, organization, kind, user_id AS name FROM erased_names ORDER BY id`;
  return rows.map((row) => ({ ...row, name: restored(row.name) }));
}

/** Deletes ids that no node has in memory any more, and warnings that nodes have stored about them
 * meanwhile. */
export async function forgetErased(sql: Sql, names: readonly ErasedName[]): Promise<void> {
  if (names.length === 0) return;
  await inTransaction(sql, async (tx) => {
    await tx`DELETE FROM erased_names WHERE id = ANY (${names.map(({ id }) => id)}::bigint[])`;
    for (const [organization, own] of Map.groupBy(names, (name) => name.organization)) {
      const users = own.filter(({ kind }) => kind === "user").map(({ name }) => name);
      await runOn(tx, forgetWarningsOf(organization, users));
    }
  });
}
