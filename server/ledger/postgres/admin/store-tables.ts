/** The tables of stores, as the migrations add them. */

/** The table of views. */
export const viewsTable = `
  CREATE TABLE views (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    page text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    query text NOT NULL,
    created_by bigint REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    UNIQUE (organization, page, name)
  );
  CREATE INDEX views_of_person ON views (created_by);
`;

/** The table of settings. They are JSON, which writes every character that PostgreSQL does not store otherwise. */
export const settingsTable = `
  CREATE TABLE settings_versions (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    version bigint NOT NULL CHECK (version > 0),
    changed_at_ms bigint NOT NULL,
    changed_by text NOT NULL,
    settings text NOT NULL,
    PRIMARY KEY (organization, version)
  );
`;

const outcomes = `
    accepted bigint NOT NULL,
    parked bigint NOT NULL,
    duplicate bigint NOT NULL,
    rejected bigint NOT NULL,
    ignored bigint NOT NULL`;

/** The tables of sources. No user is named in them. */
export const sourcesTables = `
  CREATE TABLE sources (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source text COLLATE "C" NOT NULL,${outcomes},
    first_ms bigint NOT NULL,
    last_ms bigint NOT NULL,
    first_heard_ms bigint,
    last_heard_ms bigint,
    retired_at_ms bigint,
    PRIMARY KEY (organization, source)
  );

  CREATE TABLE source_hours (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source text COLLATE "C" NOT NULL,
    utc_hour bigint NOT NULL,${outcomes},
    PRIMARY KEY (organization, source, utc_hour)
  );
  CREATE INDEX source_hours_by_hour ON source_hours (utc_hour);
`;

/** The table of sources' settings, which are JSON. */
export const sourceSettingsTable = `
  CREATE TABLE source_settings (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source text NOT NULL CHECK (source IN ('stripe', 'webhook')),
    name text COLLATE "C" NOT NULL,
    settings text NOT NULL,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    UNIQUE (organization, source, name)
  );
`;

/** What look-ups need: links of visitors, and users by their address. */
export const identities = `
  CREATE TABLE person_links (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    at_ms bigint NOT NULL,
    written_at_ms bigint NOT NULL,
    waits boolean NOT NULL,
    PRIMARY KEY (organization, id)
  );
  CREATE INDEX person_links_of_user ON person_links (organization, user_id, written_at_ms);
  CREATE INDEX person_links_waiting ON person_links (organization, written_at_ms) WHERE waits;
  CREATE INDEX users_by_email ON users (organization, lower(email COLLATE "C")) WHERE email <> '';
`;
