/** The tables of stores, as the migrations add them. */

/** What is added to the ledger by the migration that brings views. */
export const viewsTable = `
  CREATE TABLE views (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    page TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    created_by INTEGER REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    UNIQUE (organization, page, name)
  ) STRICT;
  CREATE INDEX views_of_person ON views (created_by);
`;

const outcomes = `
    accepted INTEGER NOT NULL,
    parked INTEGER NOT NULL,
    duplicate INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    ignored INTEGER NOT NULL`;

/** What is added to the ledger by the migration that brings sources. No user is named in it. */
export const sourcesTables = `
  CREATE TABLE sources (
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source TEXT NOT NULL,${outcomes},
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    first_heard_ms INTEGER,
    last_heard_ms INTEGER,
    retired_at_ms INTEGER,
    PRIMARY KEY (organization, source)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE source_hours (
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    utc_hour INTEGER NOT NULL,${outcomes},
    PRIMARY KEY (organization, source, utc_hour)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX source_hours_by_hour ON source_hours (utc_hour);
`;

/** What is added to the ledger by the migration that brings sources' settings. */
const usersByEmail = "CREATE INDEX users_by_email ON users (organization, lower(email)) WHERE email <> '';";

/** What is added to the ledger by the migration that brings settings of sources. */
export const sourceSettingsTable = `
  CREATE TABLE source_settings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source TEXT NOT NULL CHECK (source IN ('stripe', 'webhook')),
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    UNIQUE (organization, source, name)
  ) STRICT;
  ${usersByEmail}
`;
