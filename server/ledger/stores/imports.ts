/** The durable records of imported files. A record's new position and its rows are one commit. */
import { type ImportProgress, type ImportRecord, type Imports, importMovedOn } from "../ports/imports.ts";
import type { Engine } from "./engine/engine.ts";
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
} from "./engine/sql.ts";
import { lockKnownOrganization } from "./organization-rows.ts";

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

/** The store of imports. */
export function importStore(engine: Engine): Imports {
  return {
    begin: ({ organization, sha256, mapping, fileName, nowMs }) =>
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

    find: async (id) => {
      const [found] = await engine.alone(select(importRow)`FROM imports WHERE id = ${id}`);
      return found;
    },

    ofFile: (organization, sha256) =>
      engine.alone(
        select(
          importRow,
        )`FROM imports WHERE organization = ${organization} AND sha256 = ${sha256} ORDER BY id`,
      ),

    finish: async (id, nowMs) => {
      await engine.alone(
        run`UPDATE imports SET finished_at_ms = ${nowMs}, updated_at_ms = ${nowMs}
          WHERE id = ${id} AND finished_at_ms IS NULL`,
      );
    },
  };
}

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
