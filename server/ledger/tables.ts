/** The tables of stores, as the first migrations create them on both engines. Never edit a released text. */

/** An engine's SQL for the types of columns and the ends of tables. */
export interface TableTypes {
  readonly engine: "sqlite" | "postgres";
  /** An automatically incremented number. */
  readonly id: string;
  readonly integer: string;
  readonly real: string;
  readonly text: string;
  /** Text that is sorted byte by byte, independent of the database's own order. */
  readonly ordered: string;
  readonly end: string;
  /** The end of a table that is stored in the order of its primary key. */
  readonly keyed: string;
}

/** How a move from SQLite to PostgreSQL copies a table. */
export interface MovedTable {
  readonly name: string;
  /** Columns whose text is `storable`. */
  readonly encoded?: readonly string[];
  /** Columns that PostgreSQL does not have. */
  readonly without?: readonly string[];
  /** Columns that SQLite does not have. */
  readonly with?: Readonly<Record<string, number>>;
}

export const sqliteTypes: TableTypes = {
  engine: "sqlite",
  id: "INTEGER PRIMARY KEY AUTOINCREMENT",
  integer: "INTEGER",
  real: "REAL",
  text: "TEXT",
  ordered: "TEXT",
  end: " STRICT",
  keyed: " STRICT, WITHOUT ROWID",
};

export const postgresTypes: TableTypes = {
  engine: "postgres",
  id: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  integer: "bigint",
  real: "double precision",
  text: "text",
  ordered: 'text COLLATE "C"',
  end: "",
  keyed: "",
};

/** People, their memberships, sessions and links, and the audit log. Links are deleted when they are used,
 * and sessions when a person signs out. */
export function peopleAndAudit({ id, integer, text, ordered, end, keyed }: TableTypes): string {
  return `
  CREATE TABLE people (
    id ${id},
    email ${text} NOT NULL UNIQUE,
    name ${ordered} NOT NULL,
    password_hash ${text} NOT NULL,
    created_at_ms ${integer} NOT NULL
  )${end};

  CREATE TABLE memberships (
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    person ${integer} NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    role ${text} NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
    joined_at_ms ${integer} NOT NULL,
    last_seen_at_ms ${integer},
    PRIMARY KEY (organization, person)
  )${keyed};
  CREATE INDEX memberships_of_person ON memberships (person);

  CREATE TABLE people_sessions (
    id ${id},
    person ${integer} NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    sha256 ${text} NOT NULL UNIQUE,
    created_at_ms ${integer} NOT NULL,
    used_at_ms ${integer} NOT NULL
  )${end};
  CREATE INDEX people_sessions_of_person ON people_sessions (person);
  CREATE INDEX people_sessions_by_use ON people_sessions (used_at_ms);

  CREATE TABLE people_links (
    id ${id},
    kind ${text} NOT NULL CHECK (kind IN ('claim', 'invitation', 'password')),
    sha256 ${text} NOT NULL UNIQUE,
    organization ${integer} REFERENCES organizations (id) ON DELETE CASCADE,
    email ${text},
    role ${text} CHECK (role IN ('owner', 'member', 'viewer')),
    person ${integer} REFERENCES people (id) ON DELETE CASCADE,
    invited_by ${integer} REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms ${integer} NOT NULL,
    expires_at_ms ${integer}
  )${end};
  CREATE INDEX people_links_of_organization ON people_links (organization, email);
  CREATE INDEX people_links_of_person ON people_links (person);

  CREATE TABLE audit_log (
    id ${id},
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    at_ms ${integer} NOT NULL,
    person ${integer},
    person_name ${text},
    action ${text} NOT NULL,
    summary ${text} NOT NULL,
    detail ${text} NOT NULL
  )${end};
  CREATE INDEX audit_log_of_organization ON audit_log (organization, id);
  CREATE INDEX audit_log_by_time ON audit_log (at_ms);
`;
}

/** Counts of sources. They name no user. */
export function sourcesTables({ integer, ordered, keyed }: TableTypes): string {
  const outcomes = `
    accepted ${integer} NOT NULL,
    parked ${integer} NOT NULL,
    duplicate ${integer} NOT NULL,
    rejected ${integer} NOT NULL,
    ignored ${integer} NOT NULL`;
  return `
  CREATE TABLE sources (
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source ${ordered} NOT NULL,${outcomes},
    first_ms ${integer} NOT NULL,
    last_ms ${integer} NOT NULL,
    first_heard_ms ${integer},
    last_heard_ms ${integer},
    retired_at_ms ${integer},
    PRIMARY KEY (organization, source)
  )${keyed};

  CREATE TABLE source_hours (
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source ${ordered} NOT NULL,
    utc_hour ${integer} NOT NULL,${outcomes},
    PRIMARY KEY (organization, source, utc_hour)
  )${keyed};
  CREATE INDEX source_hours_by_hour ON source_hours (utc_hour);
`;
}

/** Settings of sources, which are JSON. */
export function sourceSettingsTable({ id, integer, text, ordered, end }: TableTypes): string {
  return `
  CREATE TABLE source_settings (
    id ${id},
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source ${text} NOT NULL CHECK (source IN ('stripe', 'webhook')),
    name ${ordered} NOT NULL,
    settings ${text} NOT NULL,
    created_at_ms ${integer} NOT NULL,
    updated_at_ms ${integer} NOT NULL,
    UNIQUE (organization, source, name)
  )${end};
`;
}

/** Settings of organizations, which are JSON. */
export function settingsTable({ integer, text, end }: TableTypes): string {
  return `
  CREATE TABLE settings_versions (
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    version ${integer} NOT NULL CHECK (version > 0),
    changed_at_ms ${integer} NOT NULL,
    changed_by ${text} NOT NULL,
    settings ${text} NOT NULL,
    PRIMARY KEY (organization, version)
  )${end};
`;
}

/** Outages that were declared by hand. */
export function outagesTable({ id, integer, end }: TableTypes): string {
  return `
  CREATE TABLE declared_outages (
    id ${id},
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    from_day ${integer} NOT NULL,
    to_day ${integer} NOT NULL,
    created_at_ms ${integer} NOT NULL,
    UNIQUE (organization, from_day, to_day)
  )${end};
`;
}

/**
 * Message ids that are remembered for good. The day comes before the hash: rows of a file are in the order of
 * time, so that inserts change neighbouring pages (cli/import/README.md).
 */
export function lastingMessageIdsTable({ integer, keyed }: TableTypes): string {
  return `
  CREATE TABLE lasting_message_ids (
    organization ${integer} NOT NULL,
    utc_day ${integer} NOT NULL,
    high ${integer} NOT NULL,
    low ${integer} NOT NULL,
    PRIMARY KEY (organization, utc_day, high, low)
  )${keyed};
`;
}

/** The accounts of erased users, as JSON: the numbers of those whose figures an erasure changed. */
export const accountsOfErasures = "ALTER TABLE erasures ADD COLUMN of_accounts TEXT NOT NULL DEFAULT '[]';";

/** Renames columns. Kinds of warnings and actions of the audit log get the names that the API has. */
export const renamedColumnsAndWords = `
  ALTER TABLE erasures RENAME COLUMN dead_letters TO rejected_events;
  ALTER TABLE users RENAME COLUMN said_at_ms TO timestamp_ms;
  ALTER TABLE users RENAME COLUMN fields_said_at_ms TO field_timestamps_ms;
  ALTER TABLE accounts RENAME COLUMN said_at_ms TO timestamp_ms;
  ALTER TABLE accounts RENAME COLUMN fields_said_at_ms TO field_timestamps_ms;
  ALTER TABLE sources RENAME COLUMN parked TO held;
  ALTER TABLE source_hours RENAME COLUMN parked TO held;
  UPDATE ingestion_warnings SET kind = replace(kind, 'parked_', 'held_')
    WHERE kind IN ('parked_full', 'parked_expired', 'parked_refused');
  UPDATE audit_log SET action = replace(action, 'dead_letters.', 'rejected_events.')
    WHERE action IN ('dead_letters.retried', 'dead_letters.dropped');
`;
