/** Deletions of organizations in SQLite: see ../deletions.ts. The list of tables comes from the schema, so that it
 * includes tables that are added later. */
import type { Database } from "bun:sqlite";
import type { Deletion, Deletions } from "../../ports/erasures.ts";
import { deleteUnreadableRows } from "../../stores/events/rejected-event-rows.ts";
import { nextTurn } from "../engine/small-steps.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import type { InboxTidy } from "../inbox/inbox-tidy.ts";
import type { Parts } from "./transact.ts";

/** To delete these takes about 2 ms. */
const stepRows = 500;
/** Tables that give access, and tables that cause work in the warehouse, are deleted first. */
const deletedAtOnce = ["tokens", "read_keys", "memberships", "invite_links", "exclusion_revisions"];

const columns = "id AS organization, deletion_upto_inbox_id AS uptoInboxId";

function prepare(db: Database) {
  return {
    begin: db.prepare<Deletion, [number, number]>(
      // Names have no control characters, so this name is unique. The earlier name is free again.
      `UPDATE organizations SET name = char(1) || id, rebuild_pending = 0, deletion_upto_inbox_id = ?
       WHERE id = ? AND deletion_upto_inbox_id IS NULL RETURNING ${columns}`,
    ),
    pending: db.prepare<Deletion, []>(
      `SELECT ${columns} FROM organizations WHERE deletion_upto_inbox_id IS NOT NULL ORDER BY id`,
    ),
    remove: db.prepare("DELETE FROM organizations WHERE id = ? AND deletion_upto_inbox_id IS NOT NULL"),
  };
}

export class SqliteDeletions implements Deletions {
  readonly #db: Database;
  readonly #parts: Parts;
  readonly #inboxTidy: InboxTidy;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, parts: Parts, inboxTidy: InboxTidy) {
    this.#db = db;
    this.#parts = parts;
    this.#inboxTidy = inboxTidy;
    this.#statements = prepare(db);
  }

  async begin(organization: number): Promise<Deletion | undefined> {
    const { journal, inbox, organizations, knownUsers, heldEvents } = this.#parts;
    journal.flush();
    const begun = inTransaction(this.#db, () => {
      const deletion = this.#statements.begin.get(inbox.newestInboxId, organization);
      if (deletion === null) return undefined;
      for (const table of deletedAtOnce) {
        this.#db.query(`DELETE FROM ${table} WHERE organization = ?`).run(organization);
      }
      return deletion;
    });
    if (begun === undefined) return undefined;
    organizations.forget(organization);
    knownUsers.forgetOrganization(organization);
    heldEvents.eventLabels.forgetOrganization(organization);
    return begun;
  }

  async pending(): Promise<readonly Deletion[]> {
    return this.#statements.pending.all();
  }

  async finish(organization: number): Promise<void> {
    const deletion = this.#statements.pending.all().find((one) => one.organization === organization);
    if (deletion === undefined) return;
    for (const table of tablesOfOrganizations(this.#db)) {
      while (this.#deleteSome(table, organization) === stepRows) await nextTurn();
    }
    this.#parts.engine.now(deleteUnreadableRows(organization));
    await this.#inboxTidy.erase(deletion.uptoInboxId);
    // Earlier requests may have written rows meanwhile. They are deleted in the commit of the organization's last row.
    inTransaction(this.#db, () => {
      for (const { name } of tablesOfOrganizations(this.#db)) {
        this.#db.query(`DELETE FROM ${name} WHERE organization = ?`).run(organization);
      }
      this.#statements.remove.run(organization);
    });
  }

  #deleteSome({ name, key }: TableOfOrganizations, organization: number): number {
    return inTransaction(
      this.#db,
      () =>
        this.#db
          .query(
            `DELETE FROM ${name} WHERE (${key}) IN (
               SELECT ${key} FROM ${name} WHERE organization = ? LIMIT ${stepRows})`,
          )
          .run(organization).changes,
    );
  }
}

interface TableOfOrganizations {
  readonly name: string;
  /** The columns that identify a row. */
  readonly key: string;
}

function tablesOfOrganizations(db: Database): readonly TableOfOrganizations[] {
  return db
    .query<TableOfOrganizations, []>(
      `SELECT tables.name AS name,
         CASE WHEN tables.wr THEN (SELECT group_concat(name, ', ') FROM pragma_table_info(tables.name) WHERE pk > 0)
           ELSE 'rowid' END AS key
       FROM pragma_table_list AS tables
       WHERE tables.type = 'table' AND tables.schema = 'main' AND EXISTS (
         SELECT 1 FROM pragma_table_info(tables.name) AS columns WHERE columns.name = 'organization')
       ORDER BY tables.name`,
    )
    .all();
}
