/**
 * The tables of people, as `sqlite/admin/people-tables.ts` has them. What is shown in the order of its text is compared byte by
 * byte (collation "C"), whatever the database's own order is.
 */

/** As `sqlite/admin/people-tables.ts` has it. */
export const verifiedEmailsAndMakers = `
  ALTER TABLE people ADD COLUMN email_verified integer NOT NULL DEFAULT 0 CHECK (email_verified IN (0, 1));
  ALTER TABLE people ADD COLUMN fallback_email text;
  ALTER TABLE tokens ADD COLUMN made_by bigint;
  ALTER TABLE read_keys ADD COLUMN made_by bigint;
  UPDATE tokens SET made_by = (
    SELECT min(person) FROM audit_log WHERE audit_log.organization = tokens.organization
      AND action = 'token.created' AND detail::json ->> 'id' = tokens.id::text);
  UPDATE read_keys SET made_by = (
    SELECT min(person) FROM audit_log WHERE audit_log.organization = read_keys.organization
      AND action = 'read_key.created' AND detail::json ->> 'id' = read_keys.id::text);
`;

/** Links are deleted when they are used; sessions when somebody signs out. */
export const peopleAndAudit = `
  CREATE TABLE people (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email text NOT NULL UNIQUE,
    name text COLLATE "C" NOT NULL,
    password_hash text NOT NULL,
    created_at_ms bigint NOT NULL
  );

  CREATE TABLE memberships (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    person bigint NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    role text NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
    joined_at_ms bigint NOT NULL,
    last_seen_at_ms bigint,
    PRIMARY KEY (organization, person)
  );
  CREATE INDEX memberships_of_person ON memberships (person);

  CREATE TABLE people_sessions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    person bigint NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    sha256 text NOT NULL UNIQUE,
    created_at_ms bigint NOT NULL,
    used_at_ms bigint NOT NULL
  );
  CREATE INDEX people_sessions_of_person ON people_sessions (person);
  CREATE INDEX people_sessions_by_use ON people_sessions (used_at_ms);

  CREATE TABLE people_links (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('claim', 'invitation', 'password')),
    sha256 text NOT NULL UNIQUE,
    organization bigint REFERENCES organizations (id) ON DELETE CASCADE,
    email text,
    role text CHECK (role IN ('owner', 'member', 'viewer')),
    person bigint REFERENCES people (id) ON DELETE CASCADE,
    invited_by bigint REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint
  );
  CREATE INDEX people_links_of_organization ON people_links (organization, email);
  CREATE INDEX people_links_of_person ON people_links (person);

  CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    at_ms bigint NOT NULL,
    person bigint,
    person_name text,
    action text NOT NULL,
    summary text NOT NULL,
    detail text NOT NULL
  );
  CREATE INDEX audit_log_of_organization ON audit_log (organization, id);
  CREATE INDEX audit_log_by_time ON audit_log (at_ms);
`;
