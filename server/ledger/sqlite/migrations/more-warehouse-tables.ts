/**
 * The step that lets the inbox contain rows of any table of the warehouse. A list of tables in a CHECK cannot
 * be changed in SQLite, so the three tables are made again without it: the code's type `WarehouseTable` is
 * the list. Their numbers go on, also where a table is empty.
 */

/** @param columns their definitions. @param indexes statements that create the table's indexes again */
function madeAgain(table: string, columns: string, indexes = ""): string {
  return `
  CREATE TABLE remade_${table} (${columns}) STRICT;
  INSERT INTO sqlite_sequence (name, seq) SELECT 'remade_${table}', seq FROM sqlite_sequence WHERE name = '${table}';
  INSERT INTO remade_${table} SELECT * FROM ${table};
  DROP TABLE ${table};
  ALTER TABLE remade_${table} RENAME TO ${table};
  ${indexes}`;
}

/** The inbox, its batches and the rejected events without a list of tables. */
export const inboxOfMoreTables =
  madeAgain(
    "inbox",
    `
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    warehouse_table TEXT NOT NULL,
    year INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    rows INTEGER NOT NULL CHECK (rows > 0),
    bytes INTEGER NOT NULL,
    body TEXT NOT NULL`,
  ) +
  madeAgain(
    "frozen_batches",
    `
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    warehouse_table TEXT NOT NULL,
    year INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    after_inbox_id INTEGER NOT NULL,
    upto_inbox_id INTEGER NOT NULL,
    finished_at_ms INTEGER`,
    `
  CREATE INDEX frozen_batches_unfinished ON frozen_batches (after_inbox_id) WHERE finished_at_ms IS NULL;
  CREATE INDEX frozen_batches_finished ON frozen_batches (finished_at_ms);
  CREATE INDEX frozen_batches_by_range ON frozen_batches (upto_inbox_id);`,
  ) +
  madeAgain(
    "rejected_events",
    `
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    warehouse_table TEXT NOT NULL,
    row TEXT NOT NULL,
    reason TEXT NOT NULL,
    organization INTEGER NOT NULL DEFAULT 0,
    schema INTEGER NOT NULL DEFAULT 1,
    year INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    utc_day INTEGER,
    checksum INTEGER,
    number INTEGER,
    version INTEGER`,
    `
  CREATE INDEX rejected_events_of_organization
    ON rejected_events (organization, warehouse_table, bytes, utc_day, checksum, number, version);`,
  );
