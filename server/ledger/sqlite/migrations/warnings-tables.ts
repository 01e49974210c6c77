/** The migration step that adds ingestion warnings, facts of rejected events, exclusion rules, and results of
 * checks. */

/** `bytes` is 0 for older rejected events. Their facts are added when the ledger is opened. */
export const warningsExclusionsAndChecks = `
  CREATE TABLE ingestion_warnings (
    organization INTEGER NOT NULL REFERENCES organizations (id),
    utc_day INTEGER NOT NULL,
    kind TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    detail TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_seen_ms INTEGER NOT NULL,
    last_seen_ms INTEGER NOT NULL,
    message TEXT,
    user_id TEXT,
    PRIMARY KEY (organization, utc_day, kind, endpoint, detail)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ingestion_warnings_by_day ON ingestion_warnings (utc_day);

  ALTER TABLE dead_letters ADD COLUMN organization INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE dead_letters ADD COLUMN schema INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE dead_letters ADD COLUMN year INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE dead_letters ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE dead_letters ADD COLUMN utc_day INTEGER;
  ALTER TABLE dead_letters ADD COLUMN checksum INTEGER;
  ALTER TABLE dead_letters ADD COLUMN number INTEGER;
  ALTER TABLE dead_letters ADD COLUMN version INTEGER;
  CREATE INDEX dead_letters_of_organization
    ON dead_letters (organization, warehouse_table, bytes, utc_day, checksum, number, version);

  CREATE TABLE dropped_versions (
    organization INTEGER NOT NULL REFERENCES organizations (id),
    warehouse_table TEXT NOT NULL CHECK (warehouse_table IN ('users', 'accounts')),
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organization, warehouse_table, number)
  ) STRICT, WITHOUT ROWID;

  ALTER TABLE populations ADD COLUMN version_rows INTEGER;
  ALTER TABLE populations ADD COLUMN version_row_sum INTEGER;

  CREATE TABLE exclusion_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization INTEGER NOT NULL REFERENCES organizations (id),
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    UNIQUE (organization, kind, key, value)
  ) STRICT;

  CREATE TABLE exclusion_revisions (
    organization INTEGER PRIMARY KEY REFERENCES organizations (id),
    revision INTEGER NOT NULL
  ) STRICT;

  ALTER TABLE organizations ADD COLUMN rebuild_asked_at_ms INTEGER;

  CREATE TABLE checks (
    organization INTEGER PRIMARY KEY REFERENCES organizations (id),
    at_ms INTEGER NOT NULL,
    took_ms INTEGER NOT NULL,
    differences INTEGER NOT NULL,
    examples TEXT NOT NULL
  ) STRICT;
`;
