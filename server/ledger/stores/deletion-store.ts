/** Deletions of organizations: see `../erasures.ts`. The list of tables comes from the schema, so that it
 * includes tables that are added later. */

import { forUpdate, onPostgres } from "../dialect.ts";
import { deleteInParts, type Engine } from "../engine.ts";
import type { Deletion, Deletions } from "../erasures.ts";
import { integer, part, perEngine, RowOf, returning, run, select, sqlText, type Work, word } from "../sql.ts";
import type { InboxEnd } from "./erasure-store.ts";
import { deleteUnreadableRows } from "./rejected-event-rows.ts";

/** Tables that give access, and tables that cause work in the warehouse, are deleted first. */
const deletedAtOnce = ["tokens", "read_keys", "memberships", "invite_links", "exclusion_revisions"];

const deletionRow = new RowOf<Deletion>({
  organization: integer("id"),
  uptoInboxId: integer("deletion_upto_inbox_id"),
});

interface TableOfOrganizations {
  readonly name: string;
  /** SQLite's columns that identify a row. */
  readonly key: string;
}

const tableRow = new RowOf<TableOfOrganizations>({ name: word(), key: word() });
const tables = select(tableRow)`FROM (${perEngine({
  sqlite: `
    SELECT tables.name AS name,
      CASE WHEN tables.wr THEN (SELECT group_concat(name, ', ') FROM pragma_table_info(tables.name) WHERE pk > 0)
        ELSE 'rowid' END AS key
    FROM pragma_table_list AS tables
    WHERE tables.type = 'table' AND tables.schema = 'main' AND EXISTS (
      SELECT 1 FROM pragma_table_info(tables.name) AS columns WHERE columns.name = 'organization')`,
  postgres: `
    SELECT columns.table_name AS name, 'ctid' AS key FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE columns.table_schema = current_schema() AND columns.column_name = 'organization'
      AND table_type = 'BASE TABLE'`,
})}) AS tables ORDER BY name`;

export abstract class DeletionStore implements Deletions {
  protected readonly engine: Engine;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  abstract begin(organization: number): Promise<Deletion | undefined>;

  /** Deletes the rows of the inbox up to the deletion. @throws Error while they are not loaded */
  protected abstract deleteInboxRows(deletion: Deletion): Promise<void>;

  async pending(): Promise<readonly Deletion[]> {
    return this.engine.alone(
      select(deletionRow)`FROM organizations WHERE deletion_upto_inbox_id IS NOT NULL ORDER BY id`,
    );
  }

  async finish(organization: number): Promise<void> {
    const deletion = (await this.pending()).find((one) => one.organization === organization);
    if (deletion === undefined) return;
    for (const table of await this.engine.alone(tables)) {
      await deleteInParts(this.engine, (most) => deleteSome(table, organization, most));
    }
    await this.engine.alone(deleteUnreadableRows(organization));
    await this.deleteInboxRows(deletion);
    // Earlier requests may have written rows meanwhile. They are deleted in the commit of the organization's
    // last row.
    await this.engine.transaction(function* () {
      const own = part`FROM organizations WHERE id = ${organization} AND deletion_upto_inbox_id IS NOT NULL`;
      yield* select(deletionRow)`${own} ${forUpdate}`;
      for (const { name } of yield* tables) yield* deleteAll(name, organization);
      yield* run`DELETE ${own}`;
    });
  }
}

/** Marks an organization as deleted, inside the caller's transaction. @returns undefined when there is no
 * such organization, or it is already marked */
export function* markDeleted(
  organization: number,
  { uptoInboxId, uptoSegment }: InboxEnd,
): Work<Deletion | undefined> {
  const character = perEngine({ sqlite: "char", postgres: "chr" });
  // Names have no control characters, so this name is unique. The earlier name is free again.
  const [deletion] = yield* returning(deletionRow)`
    UPDATE organizations SET name = ${character}(1) || id, rebuild_pending = ${false},
      ${onPostgres(part`deletion_upto_segment = ${uptoSegment},`)} deletion_upto_inbox_id = ${uptoInboxId}
    WHERE id = ${organization} AND deletion_upto_inbox_id IS NULL`;
  if (deletion === undefined) return undefined;
  for (const table of deletedAtOnce) yield* deleteAll(table, organization);
  return deletion;
}

function deleteAll(table: string, organization: number) {
  return run`DELETE FROM ${sqlText(table)} WHERE organization = ${organization}`;
}

function deleteSome({ name, key }: TableOfOrganizations, organization: number, most: number) {
  const [isOneOf, end] = [
    perEngine({ sqlite: `(${key}) IN (SELECT ${key}`, postgres: "ctid = ANY (ARRAY(SELECT ctid" }),
    perEngine({ sqlite: ")", postgres: "))" }),
  ];
  return run`
    DELETE FROM ${sqlText(name)} WHERE ${isOneOf} FROM ${sqlText(name)} WHERE organization = ${organization}
      LIMIT ${most}${end}`;
}
