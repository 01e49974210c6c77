/** The tables of people: what is added to the ledger by the migration that brings them. */

/** Which e-mails are verified, and who made which token and key. The maker is in the audit log of those that were made
 * before. There is no reference to people: a ledger that moves to PostgreSQL has keys before people. */
export const verifiedEmailsAndMakers = `
  ALTER TABLE people ADD COLUMN email_verified INTEGER NOT NULL DEFAULT 0 CHECK (email_verified IN (0, 1));
  ALTER TABLE people ADD COLUMN fallback_email TEXT;
  ALTER TABLE tokens ADD COLUMN made_by INTEGER;
  ALTER TABLE read_keys ADD COLUMN made_by INTEGER;
  UPDATE tokens SET made_by = (
    SELECT person FROM audit_log WHERE audit_log.organization = tokens.organization
      AND action = 'token.created' AND json_extract(detail, '$.id') = tokens.id);
  UPDATE read_keys SET made_by = (
    SELECT person FROM audit_log WHERE audit_log.organization = read_keys.organization
      AND action = 'read_key.created' AND json_extract(detail, '$.id') = read_keys.id);
`;

/** Links are deleted when they are used; sessions when somebody signs out. */
export const peopleAndAudit = `
  CREATE TABLE people (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE memberships (
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    person INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
    joined_at_ms INTEGER NOT NULL,
    last_seen_at_ms INTEGER,
    PRIMARY KEY (organization, person)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX memberships_of_person ON memberships (person);

  CREATE TABLE people_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    person INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL UNIQUE,
    created_at_ms INTEGER NOT NULL,
    used_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX people_sessions_of_person ON people_sessions (person);
  CREATE INDEX people_sessions_by_use ON people_sessions (used_at_ms);

  CREATE TABLE people_links (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('claim', 'invitation', 'password')),
    sha256 TEXT NOT NULL UNIQUE,
    organization INTEGER REFERENCES organizations (id) ON DELETE CASCADE,
    email TEXT,
    role TEXT CHECK (role IN ('owner', 'member', 'viewer')),
    person INTEGER REFERENCES people (id) ON DELETE CASCADE,
    invited_by INTEGER REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER
  ) STRICT;
  CREATE INDEX people_links_of_organization ON people_links (organization, email);
  CREATE INDEX people_links_of_person ON people_links (person);

  CREATE TABLE audit_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    at_ms INTEGER NOT NULL,
    person INTEGER,
    person_name TEXT,
    action TEXT NOT NULL,
    summary TEXT NOT NULL,
    detail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_log_of_organization ON audit_log (organization, id);
  CREATE INDEX audit_log_by_time ON audit_log (at_ms);
`;
