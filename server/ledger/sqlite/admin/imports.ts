/** The lasting records of imported files. A record and the rows that it counts move on in one commit. */
import type { Database } from "bun:sqlite";
import {
  type ImportProgress,
  type ImportRecord,
  type Imports,
  importMovedOn,
  type NewImport,
  type RejectedRow,
} from "../../ports/imports.ts";
import { noOrganization } from "../../rules/organization-notes.ts";
import { inTransaction } from "../engine/sync-transaction.ts";

interface ImportRow {
  readonly id: number;
  readonly organization: number;
  readonly sha256: string;
  readonly mapping: string;
  readonly file_name: string;
  readonly rows_done: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly last_from_row: number;
  readonly last_rejected: string;
  readonly started_at_ms: number;
  readonly updated_at_ms: number;
  readonly finished_at_ms: number | null;
}

function prepare(db: Database) {
  return {
    begin: db.prepare<ImportRow, [number, string, string, string, number]>(
      `INSERT INTO imports (organization, sha256, mapping, file_name, rows_done, stored, duplicates, rejected,
                            last_from_row, last_rejected, started_at_ms, updated_at_ms)
       SELECT id, ?2, ?3, ?4, 0, 0, 0, 0, 0, '[]', ?5, ?5 FROM organizations WHERE id = ?1
       ON CONFLICT DO UPDATE SET file_name = excluded.file_name
       RETURNING *`,
    ),
    restart: db.prepare<ImportRow, [number, number]>(
      `UPDATE imports SET rows_done = 0, duplicates = 0, rejected = 0, last_from_row = 0, last_rejected = '[]',
                          started_at_ms = ?1, updated_at_ms = ?1, finished_at_ms = NULL
       WHERE id = ?2 AND stored = 0 AND finished_at_ms IS NOT NULL
       RETURNING *`,
    ),
    find: db.prepare<ImportRow, [number]>("SELECT * FROM imports WHERE id = ?"),
    ofFile: db.prepare<ImportRow, [number, string]>(
      "SELECT * FROM imports WHERE organization = ? AND sha256 = ? ORDER BY id",
    ),
    advance: db.prepare(
      `UPDATE imports SET rows_done = rows_done + ?1, stored = stored + ?2, duplicates = duplicates + ?3,
                          rejected = rejected + ?4, last_from_row = ?5, last_rejected = ?6, updated_at_ms = ?7
       WHERE id = ?8 AND rows_done = ?5`,
    ),
    finish: db.prepare(
      "UPDATE imports SET finished_at_ms = ?1, updated_at_ms = ?1 WHERE id = ?2 AND finished_at_ms IS NULL",
    ),
  };
}

export class SqliteImports implements Imports {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  async begin(file: NewImport): Promise<ImportRecord> {
    const { organization, sha256, mapping, fileName, nowMs } = file;
    return inTransaction(this.#db, () => {
      const begun = this.#statements.begin.get(organization, sha256, mapping, fileName, nowMs);
      if (begun === null) throw noOrganization(organization);
      return importRecord(this.#statements.restart.get(nowMs, begun.id) ?? begun);
    });
  }

  async find(id: number): Promise<ImportRecord | undefined> {
    const row = this.#statements.find.get(id);
    return row === null ? undefined : importRecord(row);
  }

  async ofFile(organization: number, sha256: string): Promise<readonly ImportRecord[]> {
    return this.#statements.ofFile.all(organization, sha256).map(importRecord);
  }

  async finish(id: number, nowMs: number): Promise<void> {
    this.#statements.finish.run(nowMs, id);
  }

  /** Moves an import on inside the caller's transaction.
   * @throws Refusal when another run has decided these rows; nothing of the transaction is kept then */
  advance({ importId, fromRow, rows, stored, duplicates, rejected }: ImportProgress, nowMs: number): void {
    const lastRejected = JSON.stringify(rejected);
    const counts = [rows, stored, duplicates, rejected.length];
    const { changes } = this.#statements.advance.run(...counts, fromRow, lastRejected, nowMs, importId);
    if (changes !== 1) throw importMovedOn();
  }
}

function importRecord(row: ImportRow): ImportRecord {
  return {
    id: row.id,
    organization: row.organization,
    sha256: row.sha256,
    mapping: row.mapping,
    fileName: row.file_name,
    rowsDone: row.rows_done,
    stored: row.stored,
    duplicates: row.duplicates,
    rejected: row.rejected,
    lastFromRow: row.last_from_row,
    lastRejected: JSON.parse(row.last_rejected) as RejectedRow[],
    startedAtMs: row.started_at_ms,
    updatedAtMs: row.updated_at_ms,
    finishedAtMs: row.finished_at_ms,
  };
}
