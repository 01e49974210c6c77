/** Deletions of organizations in PostgreSQL: see ../deletions.ts. The list of tables comes from the schema, so that it
 * includes tables that are added later. */
import type { Deletion, Deletions } from "../../ports/erasures.ts";
import { deleteUnreadableRows } from "../../stores/events/rejected-event-rows.ts";
import type { Queries, Sql } from "../client/connect.ts";
import { runOn } from "../client/store-engine.ts";
import { inTransaction } from "../client/transaction.ts";
import { newestInboxId } from "../inbox/inbox-counts.ts";
import { dropErased } from "../inbox/inbox-erasing.ts";
import { sealWritten } from "../inbox/inbox-segments.ts";
import { whileNoneWrites } from "./alone.ts";

type StoredDeletion = Deletion & { readonly uptoSegment: number };

const stepRows = 5_000;
/** Tables that give access, and tables that cause work in the warehouse, are deleted first. */
const deletedAtOnce = ["tokens", "read_keys", "memberships", "invite_links", "exclusion_revisions"];

export class PostgresDeletions implements Deletions {
  readonly #sql: Sql;
  readonly #clock: () => number;

  constructor(sql: Sql, clock: () => number) {
    this.#sql = sql;
    this.#clock = clock;
  }

  begin(organization: number): Promise<Deletion | undefined> {
    return whileNoneWrites(this.#sql, organization, async (tx, counted) => {
      const uptoInboxId = await newestInboxId(tx, counted);
      const uptoSegment = await sealWritten(tx, this.#clock());
      // Names have no control characters, so this name is unique. The earlier name is free again.
      const [begun] = await tx<StoredDeletion[]>`
        UPDATE organizations SET name = chr(1) || id, rebuild_pending = false,
          deletion_upto_inbox_id = ${uptoInboxId}, deletion_upto_segment = ${uptoSegment}
        WHERE id = ${organization} AND deletion_upto_inbox_id IS NULL RETURNING ${columns(tx)}`;
      if (begun === undefined) return undefined;
      for (const table of deletedAtOnce) {
        await tx`DELETE FROM ${tx(table)} WHERE organization = ${organization}`;
      }
      return { organization, uptoInboxId };
    });
  }

  async pending(): Promise<readonly Deletion[]> {
    const stored = await this.#stored();
    return stored.map(({ uptoSegment: _, ...deletion }) => deletion);
  }

  async finish(organization: number): Promise<void> {
    const deletion = (await this.#stored()).find((one) => one.organization === organization);
    if (deletion === undefined) return;
    const sql = this.#sql;
    await dropErased(sql, deletion);
    for (const table of await tablesOfOrganizations(sql)) {
      for (let deleted = stepRows; deleted === stepRows; ) {
        const done = await sql`
          DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${sql(table)} WHERE organization = ${organization} LIMIT ${stepRows}))`;
        deleted = done.count;
      }
    }
    await runOn(sql, deleteUnreadableRows(organization));
    // Earlier requests may have written rows meanwhile. They are deleted in the commit of the organization's last row.
    await inTransaction(sql, async (tx) => {
      await tx`SELECT FROM organizations WHERE id = ${organization} FOR UPDATE`;
      for (const table of await tablesOfOrganizations(tx)) {
        await tx`DELETE FROM ${tx(table)} WHERE organization = ${organization}`;
      }
      await tx`DELETE FROM organizations WHERE id = ${organization} AND deletion_upto_inbox_id IS NOT NULL`;
    });
  }

  #stored(): Promise<readonly StoredDeletion[]> {
    const sql = this.#sql;
    return sql<StoredDeletion[]>`
      SELECT ${columns(sql)} FROM organizations WHERE deletion_upto_inbox_id IS NOT NULL ORDER BY id`.execute();
  }
}

function columns(queries: Queries) {
  return queries`id AS organization, deletion_upto_inbox_id AS "uptoInboxId", deletion_upto_segment AS "uptoSegment"`;
}

async function tablesOfOrganizations(queries: Queries): Promise<readonly string[]> {
  const tables = await queries<{ name: string }[]>`
    SELECT columns.table_name AS name FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE columns.table_schema = current_schema() AND columns.column_name = 'organization' AND table_type = 'BASE TABLE'
    ORDER BY name`;
  return tables.map(({ name }) => name);
}
