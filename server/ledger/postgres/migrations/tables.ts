/**
 * The first step of PostgreSQL's tables. They mirror those of `sqlite/migrations/migrations.ts`. Many writers
 * need three differences:
 *
 * - `day_counts` has a row for each writer's slot, so that writers do not wait for each other's commits.
 * - The last numbers of users and accounts are in `populations`. Its row is locked for new numbers.
 * - A segment of the inbox is a table, created when the one before is full: see inbox-segments.ts.
 */
import { batchNumbers } from "../batch-numbers.ts";
import { inboxPositions } from "../inbox-counts.ts";

export const organizationsAndCredentials = `
  CREATE TABLE organizations (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    timezone text NOT NULL,
    requests_per_second integer NOT NULL,
    items_per_second integer,
    keep_events_days integer,
    events_from_day integer,
    created_at_ms bigint NOT NULL,
    rebuild_pending boolean NOT NULL DEFAULT false,
    rebuild_asked_at_ms bigint
  );

  CREATE TABLE tokens (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id),
    name text NOT NULL,
    rights text NOT NULL,
    sha256 text NOT NULL UNIQUE,
    last_four text NOT NULL,
    created_at_ms bigint NOT NULL,
    last_used_at_ms bigint,
    revoked_at_ms bigint
  );
  CREATE INDEX tokens_of_organization ON tokens (organization);

  CREATE TABLE read_keys (LIKE tokens INCLUDING ALL);
  ALTER TABLE read_keys ADD FOREIGN KEY (organization) REFERENCES organizations (id);
`;

export const usersAndAccounts = `
  CREATE TABLE users (
    organization bigint NOT NULL REFERENCES organizations (id),
    number bigint NOT NULL CHECK (number BETWEEN 1 AND 4294967295),
    account bigint NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    email text NOT NULL,
    is_account_owner boolean,
    first_identified_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    version bigint NOT NULL,
    traits text NOT NULL,
    said_at_ms bigint NOT NULL,
    fields_said_at_ms text NOT NULL,
    PRIMARY KEY (organization, user_id) INCLUDE (number, account),
    UNIQUE (organization, number)
  );

  CREATE TABLE accounts (
    organization bigint NOT NULL REFERENCES organizations (id),
    number bigint NOT NULL CHECK (number BETWEEN 1 AND 4294967295),
    account_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    avatar text,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (organization, account_id),
    UNIQUE (organization, number)
  );

  CREATE TABLE populations (
    organization bigint PRIMARY KEY REFERENCES organizations (id),
    last_user_number bigint NOT NULL DEFAULT 0,
    last_account_number bigint NOT NULL DEFAULT 0,
    users bigint NOT NULL DEFAULT 0,
    user_versions bigint NOT NULL DEFAULT 0,
    accounts bigint NOT NULL DEFAULT 0,
    account_versions bigint NOT NULL DEFAULT 0,
    version_rows bigint DEFAULT 0,
    version_row_sum bigint DEFAULT 0
  );

  CREATE TABLE day_counts (
    organization bigint NOT NULL REFERENCES organizations (id),
    utc_day integer NOT NULL,
    slot integer NOT NULL,
    events bigint NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (organization, utc_day, slot)
  ) WITH (fillfactor = 50);
`;

/** `id` is the first half of a SHA-256 of organization and message id. A BRIN of the times would be smaller,
 * but its ranges only widen when space is used again. After a day, a search for the oldest read the whole
 * table. */
export const messageIds = `
  CREATE TABLE message_ids (
    id uuid PRIMARY KEY,
    at_ms bigint NOT NULL
  );
  CREATE INDEX message_ids_by_time ON message_ids (at_ms);
  CREATE SEQUENCE transaction_numbers;
`;

/** The tables of the warehouse that a row of the inbox may belong to. */
export const warehouseTables = "('events', 'users', 'accounts', 'user_versions')";

/** Every segment is created like `inbox_segment`. They share its sequence, so that no id is ever used twice.
 * Bodies are not compressed: rows are dropped soon, and 17 kB took 0.64 ms instead of 0.23. */
export const inbox = `
  ${batchNumbers}
  CREATE SEQUENCE inbox_seqs;
  CREATE TABLE inbox_segment (
    seq bigint PRIMARY KEY DEFAULT nextval('inbox_seqs'),
    warehouse_table text NOT NULL CHECK (warehouse_table IN ${warehouseTables}),
    year integer NOT NULL,
    schema integer NOT NULL,
    rows bigint NOT NULL CHECK (rows > 0),
    bytes bigint NOT NULL,
    body text NOT NULL
  );
  ALTER TABLE inbox_segment ALTER COLUMN body SET STORAGE EXTERNAL;

  CREATE TABLE inbox_segments (
    segment bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    begun_at_ms bigint NOT NULL,
    sealed boolean NOT NULL DEFAULT false
  );
  INSERT INTO inbox_segments (begun_at_ms) VALUES (0);
  CREATE TABLE inbox_000001 (LIKE inbox_segment INCLUDING ALL);

  ${inboxPositions}
  CREATE TABLE frozen_batches (
    number bigint PRIMARY KEY,
    warehouse_table text NOT NULL CHECK (warehouse_table IN ${warehouseTables}),
    year integer NOT NULL,
    schema integer NOT NULL,
    rows bigint NOT NULL,
    bytes bigint NOT NULL,
    after_inbox_id bigint NOT NULL,
    upto_inbox_id bigint NOT NULL,
    segment bigint NOT NULL,
    after_seq bigint NOT NULL,
    upto_seq bigint NOT NULL,
    finished_at_ms bigint
  );
  CREATE INDEX frozen_batches_unfinished ON frozen_batches (number) WHERE finished_at_ms IS NULL;

  CREATE TABLE loader_lease (
    only_row integer PRIMARY KEY CHECK (only_row = 1),
    holder uuid,
    epoch bigint NOT NULL,
    until timestamptz NOT NULL
  );
  INSERT INTO loader_lease VALUES (1, NULL, 0, '-infinity');
`;
