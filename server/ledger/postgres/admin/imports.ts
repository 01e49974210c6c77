/** The lasting records of imported files. A record and the rows that it counts move on in one commit. */
import {
  type ImportProgress,
  type ImportRecord,
  type Imports,
  importMovedOn,
  type NewImport,
} from "../../ports/imports.ts";
import type { Queries, Sql, Tx } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import { lockKnownOrganization } from "./organizations.ts";

type ImportRow = Omit<ImportRecord, "lastRejected"> & { readonly lastRejected: string };

export class PostgresImports implements Imports {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  begin({ organization, sha256, mapping, fileName, nowMs }: NewImport): Promise<ImportRecord> {
    return inTransaction(this.#sql, async (tx) => {
      await lockKnownOrganization(tx, organization);
      const [renamed] = await tx<ImportRow[]>`
        UPDATE imports SET file_name = ${storable(fileName)}
        WHERE organization = ${organization} AND sha256 = ${sha256} AND mapping = ${storable(mapping)}
        RETURNING ${columns(tx)}`;
      if (renamed !== undefined) {
        const [restarted] = await tx<ImportRow[]>`
          UPDATE imports SET rows_done = 0, duplicates = 0, rejected = 0, last_from_row = 0, last_rejected = '[]',
            started_at_ms = ${nowMs}, updated_at_ms = ${nowMs}, finished_at_ms = NULL
          WHERE id = ${renamed.id} AND stored = 0 AND finished_at_ms IS NOT NULL RETURNING ${columns(tx)}`;
        return importRecord(restarted ?? renamed);
      }
      const [begun] = await tx<ImportRow[]>`
        INSERT INTO imports (organization, sha256, mapping, file_name, rows_done, stored, duplicates, rejected,
          last_from_row, last_rejected, started_at_ms, updated_at_ms)
        VALUES (${organization}, ${sha256}, ${storable(mapping)}, ${storable(fileName)}, 0, 0, 0, 0, 0, '[]',
          ${nowMs}, ${nowMs})
        RETURNING ${columns(tx)}`;
      if (begun === undefined) throw new Error("PostgreSQL returned no row for an import.");
      return importRecord(begun);
    });
  }

  async find(id: number): Promise<ImportRecord | undefined> {
    const [row] = await this.#sql<ImportRow[]>`SELECT ${columns(this.#sql)} FROM imports WHERE id = ${id}`;
    return row === undefined ? undefined : importRecord(row);
  }

  async ofFile(organization: number, sha256: string): Promise<readonly ImportRecord[]> {
    const rows = await this.#sql<ImportRow[]>`
      SELECT ${columns(this.#sql)} FROM imports
      WHERE organization = ${organization} AND sha256 = ${sha256} ORDER BY id`;
    return rows.map(importRecord);
  }

  async finish(id: number, nowMs: number): Promise<void> {
    await this.#sql`
      UPDATE imports SET finished_at_ms = ${nowMs}, updated_at_ms = ${nowMs}
      WHERE id = ${id} AND finished_at_ms IS NULL`;
  }
}

/** Moves an import on inside the caller's transaction.
 * @throws Refusal when another run has decided these rows; nothing of the transaction is kept then */
export async function advanceImport(tx: Tx, progress: ImportProgress, nowMs: number): Promise<void> {
  const { importId, fromRow, rows, stored, duplicates, rejected } = progress;
  const moved = await tx`
    UPDATE imports SET rows_done = rows_done + ${rows}, stored = stored + ${stored},
      duplicates = duplicates + ${duplicates}, rejected = rejected + ${rejected.length},
      last_from_row = ${fromRow}, last_rejected = ${JSON.stringify(rejected)}, updated_at_ms = ${nowMs}
    WHERE id = ${importId} AND rows_done = ${fromRow}`;
  if (moved.count !== 1) throw importMovedOn();
}

function columns(queries: Queries) {
  return queries`id, organization, sha256, mapping, file_name AS "fileName", rows_done AS "rowsDone", stored,
    duplicates, rejected, last_from_row AS "lastFromRow", last_rejected AS "lastRejected",
    started_at_ms AS "startedAtMs", updated_at_ms AS "updatedAtMs", finished_at_ms AS "finishedAtMs"`;
}

function importRecord(row: ImportRow): ImportRecord {
  return {
    ...row,
    mapping: restored(row.mapping),
    fileName: restored(row.fileName),
    lastRejected: JSON.parse(row.lastRejected),
  };
}
