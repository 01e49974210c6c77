/**
 * The tables for the operation of an installation: warnings, rejected events, exclusion rules, checks,
 * imports and erasures. They mirror those of `sqlite/`. No index of PostgreSQL takes a text of thousands of
 * bytes. Rows with such a key have no unique index: the transaction that adds one locks the organization's
 * row.
 */
import { warehouseTables } from "./tables.ts";

export const operation = `
  CREATE TABLE ingestion_warnings (
    organization bigint NOT NULL REFERENCES organizations (id),
    utc_day integer NOT NULL,
    kind text COLLATE "C" NOT NULL,
    endpoint text COLLATE "C" NOT NULL,
    detail text COLLATE "C" NOT NULL,
    count bigint NOT NULL,
    first_seen_ms bigint NOT NULL,
    last_seen_ms bigint NOT NULL,
    message text,
    user_id text COLLATE "C",
    PRIMARY KEY (organization, utc_day, kind, endpoint, detail)
  );
  CREATE INDEX ingestion_warnings_by_day ON ingestion_warnings (utc_day);
  CREATE INDEX ingestion_warnings_of_user ON ingestion_warnings (organization, user_id);

  CREATE TABLE dead_letters (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at_ms bigint NOT NULL,
    batch bigint NOT NULL,
    warehouse_table text NOT NULL CHECK (warehouse_table IN ${warehouseTables}),
    row text NOT NULL,
    reason text NOT NULL,
    organization bigint NOT NULL,
    schema integer NOT NULL,
    year integer NOT NULL,
    bytes bigint NOT NULL,
    utc_day integer,
    checksum bigint,
    number bigint,
    version bigint
  );
  CREATE INDEX dead_letters_of_organization ON dead_letters (organization, warehouse_table);

  CREATE TABLE dropped_versions (
    organization bigint NOT NULL REFERENCES organizations (id),
    warehouse_table text NOT NULL CHECK (warehouse_table IN ('users', 'accounts')),
    number bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (organization, warehouse_table, number)
  );

  CREATE TABLE exclusion_rules (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id),
    kind text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    created_at_ms bigint NOT NULL
  );
  CREATE INDEX exclusion_rules_of_organization ON exclusion_rules (organization);

  CREATE TABLE exclusion_revisions (
    organization bigint PRIMARY KEY REFERENCES organizations (id),
    revision bigint NOT NULL
  );

  CREATE TABLE checks (
    organization bigint PRIMARY KEY REFERENCES organizations (id),
    at_ms bigint NOT NULL,
    took_ms bigint NOT NULL,
    differences bigint NOT NULL,
    examples text NOT NULL
  );

  CREATE TABLE imports (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    sha256 text NOT NULL,
    mapping text NOT NULL,
    file_name text NOT NULL,
    rows_done bigint NOT NULL,
    stored bigint NOT NULL,
    duplicates bigint NOT NULL,
    rejected bigint NOT NULL,
    last_from_row bigint NOT NULL,
    last_rejected text NOT NULL,
    started_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    finished_at_ms bigint
  );
  CREATE INDEX imports_of_file ON imports (organization, sha256);
`;

/** `upto_segment`: the inbox has no row of the user after this segment. The key is hexadecimal, of 244 random
 * bits. */
export const erasures = `
  CREATE TABLE erasure_key (
    only_row integer PRIMARY KEY CHECK (only_row = 1),
    key text NOT NULL
  );
  INSERT INTO erasure_key VALUES (1, replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));

  CREATE TABLE erasures (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id),
    "user" bigint NOT NULL,
    user_hmac text NOT NULL,
    state text NOT NULL DEFAULT 'begun' CHECK (state IN ('begun', 'counted', 'done')),
    upto_inbox_id bigint NOT NULL,
    upto_segment bigint NOT NULL DEFAULT 0,
    requested_at_ms bigint NOT NULL,
    erased_at_ms bigint,
    events bigint NOT NULL DEFAULT 0,
    versions bigint NOT NULL DEFAULT 0,
    dead_letters bigint NOT NULL DEFAULT 0,
    inbox_rows bigint NOT NULL DEFAULT 0,
    days bigint NOT NULL DEFAULT 0
  );
  CREATE UNIQUE INDEX erasures_by_number ON erasures (organization, "user");
  CREATE INDEX erasures_by_user ON erasures (organization, user_hmac);
  CREATE INDEX erasures_pending ON erasures (id) WHERE state <> 'done';

  CREATE TABLE erased_ids (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    person_hmac text NOT NULL,
    erased_at_ms bigint NOT NULL,
    PRIMARY KEY (organization, person_hmac)
  );
`;

/** An erasure is that of a user or of an account. The other number is 0. */
export const accountErasures = `
  ALTER TABLE erasures ADD COLUMN account bigint NOT NULL DEFAULT 0;
  ALTER TABLE erasures ADD COLUMN members bigint NOT NULL DEFAULT 0;
  DROP INDEX erasures_by_number;
  CREATE UNIQUE INDEX erasures_by_number ON erasures (organization, "user", account);
`;

/** Only for an organization that is being deleted, else null. The inbox has no row of the organization after
 * these. */
export const organizationDeletions = `
  ALTER TABLE organizations ADD COLUMN deletion_upto_inbox_id bigint;
  ALTER TABLE organizations ADD COLUMN deletion_upto_segment bigint NOT NULL DEFAULT 0;
`;
