/** Records of imported files, so that imports can be stopped, resumed and run again. */
import { Refusal } from "../../../contract/refusal.ts";
import type { Engine } from "../engine.ts";
import {
  integer,
  Json,
  json,
  nullable,
  RowOf,
  returning,
  returningOne,
  run,
  select,
  text,
  type Work,
} from "../sql.ts";
import { lockKnownOrganization } from "./organization-rows.ts";

/** An imported file: its position, and the outcomes of its rows. */
export interface ImportRecord {
  readonly id: number;
  readonly organization: number;
  /** The hash of the file's content, hexadecimal. */
  readonly sha256: string;
  /** The mapping of its rows, as text. One file under two mappings is two imports. */
  readonly mapping: string;
  readonly fileName: string;
  /** Rows from the file's begin that are decided. The valid ones are stored. */
  readonly rowsDone: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** The last rows that were decided, so that a lost answer can be repeated. */
  readonly lastFromRow: number;
  readonly lastRejected: readonly RejectedRow[];
  readonly startedAtMs: number;
  readonly updatedAtMs: number;
  readonly finishedAtMs: number | null;
}

export type NewImport = Pick<ImportRecord, "organization" | "sha256" | "mapping" | "fileName"> & {
  readonly nowMs: number;
};

export interface RejectedRow {
  /** Counted from 0, without a header. */
  readonly row: number;
  readonly reason: string;
}

/** Rows [fromRow, fromRow + rows) of an import, decided in this transaction. */
export interface ImportProgress {
  readonly importId: number;
  readonly fromRow: number;
  readonly rows: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly rejected: readonly RejectedRow[];
}

/** The error for a run whose rows another run has decided. */
function importMovedOn(): Refusal {
  return new Refusal("Another run of this import has moved on: let one finish.");
}

const importRow = new RowOf<ImportRecord>({
  id: integer(),
  organization: integer(),
  sha256: text(),
  mapping: text(),
  fileName: text(),
  rowsDone: integer(),
  stored: integer(),
  duplicates: integer(),
  rejected: integer(),
  lastFromRow: integer(),
  lastRejected: json(),
  startedAtMs: integer(),
  updatedAtMs: integer(),
  finishedAtMs: nullable(integer()),
});

/** The store of records of imported files. Only `transact` changes their position,
 * together with the rows. */
export function importStore(engine: Engine) {
  return {
    /** The record of this file under this mapping: the existing one, or a new one. A finished import that
     * stored nothing begins again. @throws Refusal when there is no such organization */
    begin: ({ organization, sha256, mapping, fileName, nowMs }: NewImport) =>
      engine.transaction(function* () {
        yield* lockKnownOrganization(organization);
        const [renamed] = yield* returning(importRow)`
          UPDATE imports SET file_name = ${fileName}
          WHERE organization = ${organization} AND sha256 = ${sha256} AND mapping = ${mapping}`;
        if (renamed !== undefined) {
          const [restarted] = yield* returning(importRow)`
            UPDATE imports SET rows_done = 0, duplicates = 0, rejected = 0, last_from_row = 0, last_rejected = '[]',
              started_at_ms = ${nowMs}, updated_at_ms = ${nowMs}, finished_at_ms = NULL
            WHERE id = ${renamed.id} AND stored = 0 AND finished_at_ms IS NOT NULL`;
          return restarted ?? renamed;
        }
        return yield* returningOne(importRow)`
          INSERT INTO imports (organization, sha256, mapping, file_name, rows_done, stored, duplicates, rejected,
            last_from_row, last_rejected, started_at_ms, updated_at_ms)
          VALUES (${organization}, ${sha256}, ${mapping}, ${fileName}, 0, 0, 0, 0, 0, '[]', ${nowMs}, ${nowMs})`;
      }),

    find: async (id: number) => {
      const [found] = await engine.alone(select(importRow)`FROM imports WHERE id = ${id}`);
      return found;
    },

    /** Every import of this content into the organization, with any mapping. */
    ofFile: (organization: number, sha256: string) =>
      engine.alone(
        select(
          importRow,
        )`FROM imports WHERE organization = ${organization} AND sha256 = ${sha256} ORDER BY id`,
      ),

    /** Records that every row of the file is decided. A second call changes nothing. */
    finish: async (id: number, nowMs: number) => {
      await engine.alone(
        run`UPDATE imports SET finished_at_ms = ${nowMs}, updated_at_ms = ${nowMs}
          WHERE id = ${id} AND finished_at_ms IS NULL`,
      );
    },
  };
}

export type Imports = ReturnType<typeof importStore>;

const total = new RowOf<{ readonly rows: number; readonly lastAtMs: number | null }>({
  rows: integer("CAST(coalesce(sum(stored), 0) AS bigint)"),
  lastAtMs: nullable(integer("max(updated_at_ms)")),
});

/** The rows that imports of an organization have stored, and when the last of them was. */
export function* importedRows(
  organization: number,
): Work<{ readonly rows: number; readonly lastAtMs: number | null }> {
  const [found] = yield* select(total)`FROM imports WHERE organization = ${organization} AND stored > 0`;
  return found ?? { rows: 0, lastAtMs: null };
}

/** Moves an import's position.
 * @throws Refusal when another run has decided these rows. Then the transaction is rolled back */
export function* advanceImport(progress: ImportProgress, nowMs: number): Work<void> {
  const { importId, fromRow, rows, stored, duplicates, rejected } = progress;
  const moved = yield* run`
    UPDATE imports SET rows_done = rows_done + ${rows}, stored = stored + ${stored},
      duplicates = duplicates + ${duplicates}, rejected = rejected + ${rejected.length},
      last_from_row = ${fromRow}, last_rejected = ${Json.of(rejected)}, updated_at_ms = ${nowMs}
    WHERE id = ${importId} AND rows_done = ${fromRow}`;
  if (moved !== 1) throw importMovedOn();
}
