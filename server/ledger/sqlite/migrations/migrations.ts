/**
 * The tables of the ledger, as numbered steps without a way back. A released step is never edited: a database
 * stores the number of its steps in `user_version`. When it is opened, the missing steps run.
 *
 * Ids that are compared with a position (inbox rows, frozen batches, commits of message ids) are
 * AUTOINCREMENT. Without it SQLite starts again at 1 once a table is empty. That is below the present
 * position, and acknowledged rows would never be read.
 */
import type { Database } from "bun:sqlite";
import { Refusal } from "../../../../contract/refusal.ts";
import { type Feature, type FeatureStep, ofFeature, stepOf } from "../../feature.ts";
import { bulkLoadTimes } from "../../stores/bulk-loads.ts";
import {
  accountsOfErasures,
  lastingMessageIdsTable,
  outagesTable,
  peopleAndAudit,
  settingsTable,
  sourceSettingsTable,
  sourcesTables,
  sqliteTypes,
} from "../../tables.ts";
import { messageIdKinds } from "../message-id-kinds.ts";
import { inTransaction } from "../sync-transaction.ts";
import { addEmailKeys } from "./email-keys.ts";
import { accountErasures, erasures, organizationDeletions } from "./erasure-tables.ts";
import { heldEventTables, personKinds } from "./held-event-tables.ts";
import { inboxOfMoreTables } from "./more-warehouse-tables.ts";
import { verifiedEmailsAndMakers } from "./people-tables.ts";
import { renamedEvents, renamedTables } from "./renamed-tables.ts";
import { warningsExclusionsAndChecks } from "./warnings-tables.ts";

const organizationsAndTokens = `
  CREATE TABLE organizations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    timezone TEXT NOT NULL,
    requests_per_second INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    rebuild_pending INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization INTEGER NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE,
    last_four TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER,
    revoked_at_ms INTEGER
  ) STRICT;
  CREATE INDEX tokens_of_organization ON tokens (organization);
`;

const usersAndAccounts = `
  CREATE TABLE users (
    organization INTEGER NOT NULL REFERENCES organizations (id),
    number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 4294967295),
    account INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    email TEXT NOT NULL,
    is_account_owner INTEGER,
    first_identified_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    version INTEGER NOT NULL,
    traits TEXT NOT NULL,
    UNIQUE (organization, user_id),
    UNIQUE (organization, number)
  ) STRICT;

  CREATE TABLE accounts (
    organization INTEGER NOT NULL REFERENCES organizations (id),
    number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 4294967295),
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    avatar TEXT,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (organization, account_id),
    UNIQUE (organization, number)
  ) STRICT;

  CREATE TABLE populations (
    organization INTEGER PRIMARY KEY REFERENCES organizations (id),
    users INTEGER NOT NULL,
    user_versions INTEGER NOT NULL,
    accounts INTEGER NOT NULL,
    account_versions INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE day_counts (
    organization INTEGER NOT NULL REFERENCES organizations (id),
    utc_day INTEGER NOT NULL,
    events INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (organization, utc_day)
  ) STRICT, WITHOUT ROWID;
`;

const warehouseTables = "('events', 'users', 'accounts', 'user_versions')";

/** The body is the last column, so that sums over rows and bytes do not read it. */
const inbox = `
  CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    warehouse_table TEXT NOT NULL CHECK (warehouse_table IN ${warehouseTables}),
    year INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    rows INTEGER NOT NULL CHECK (rows > 0),
    bytes INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;

  CREATE TABLE inbox_position (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    frozen_upto_inbox_id INTEGER NOT NULL
  ) STRICT;
  INSERT INTO inbox_position VALUES (1, 0);

  CREATE TABLE frozen_batches (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    warehouse_table TEXT NOT NULL CHECK (warehouse_table IN ${warehouseTables}),
    year INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    after_inbox_id INTEGER NOT NULL,
    upto_inbox_id INTEGER NOT NULL,
    finished_at_ms INTEGER
  ) STRICT;
  CREATE INDEX frozen_batches_unfinished ON frozen_batches (after_inbox_id) WHERE finished_at_ms IS NULL;
  CREATE INDEX frozen_batches_finished ON frozen_batches (finished_at_ms);
  CREATE INDEX frozen_batches_by_range ON frozen_batches (upto_inbox_id);

  CREATE TABLE dead_letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    warehouse_table TEXT NOT NULL CHECK (warehouse_table IN ${warehouseTables}),
    row TEXT NOT NULL,
    reason TEXT NOT NULL
  ) STRICT;
`;

const messageIds = `
  CREATE TABLE message_ids (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    committed_at_ms INTEGER NOT NULL,
    ids BLOB NOT NULL
  ) STRICT;

  CREATE TABLE message_id_runs (
    last_sequence INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    newest_at_ms INTEGER NOT NULL
  ) STRICT;
`;

const readKeys = `
  ALTER TABLE tokens ADD COLUMN rights TEXT NOT NULL DEFAULT 'write';

  CREATE TABLE read_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization INTEGER NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    rights TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE,
    last_four TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER,
    revoked_at_ms INTEGER
  ) STRICT;
  CREATE INDEX read_keys_of_organization ON read_keys (organization);
`;

/** For POST /batch: its own limit, and the time of each field of a user, because items may be late. */
const batches = `
  ALTER TABLE organizations ADD COLUMN items_per_second INTEGER;
  ALTER TABLE users ADD COLUMN said_at_ms INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE users ADD COLUMN fields_said_at_ms TEXT NOT NULL DEFAULT '{}';
  UPDATE users SET said_at_ms = updated_at_ms;
`;

const imports = `
  CREATE TABLE imports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL,
    mapping TEXT NOT NULL,
    file_name TEXT NOT NULL,
    rows_done INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    last_from_row INTEGER NOT NULL,
    last_rejected TEXT NOT NULL,
    started_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    UNIQUE (organization, sha256, mapping)
  ) STRICT;
`;

const usersByEmail = "CREATE INDEX users_by_email ON users (organization, lower(email)) WHERE email <> '';";

/** Adds the account of events to `user_event_days`: see the warehouse's migrations. */
const rebuildOfAll = "UPDATE organizations SET rebuild_pending = 1";

/** The times of an account's name and picture. They are unknown for stored accounts. These get the time of
 * their last change, so that an import of past data renames no account. */
const accountTimes = `
  ALTER TABLE accounts ADD COLUMN said_at_ms INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN fields_said_at_ms TEXT NOT NULL DEFAULT '{}';
  UPDATE accounts SET said_at_ms = updated_at_ms;
`;

/** Attributes of accounts, and the table of the warehouse with their history. */
const accountAttributes = `
  ALTER TABLE accounts ADD COLUMN traits TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE populations ADD COLUMN account_version_rows INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE populations ADD COLUMN account_version_row_sum INTEGER NOT NULL DEFAULT 0;
${inboxOfMoreTables}`;

/** SQL, a function for changes that SQL cannot make, or a step of a feature. */
type Migration = string | ((db: Database) => void) | FeatureStep;

const migrations: readonly Migration[] = [
  organizationsAndTokens + usersAndAccounts + inbox + messageIds,
  batches,
  imports,
  readKeys,
  erasures,
  warningsExclusionsAndChecks,
  settingsTable(sqliteTypes),
  rebuildOfAll,
  peopleAndAudit(sqliteTypes),
  ofFeature("saved-views"),
  heldEventTables,
  sourcesTables(sqliteTypes),
  sourceSettingsTable(sqliteTypes) + usersByEmail,
  personKinds,
  accountTimes,
  addEmailKeys,
  verifiedEmailsAndMakers,
  messageIdKinds,
  accountErasures,
  organizationDeletions,
  renamedTables + renamedEvents,
  outagesTable(sqliteTypes),
  lastingMessageIdsTable(sqliteTypes),
  accountAttributes,
  ofFeature("sending"),
  ofFeature("notes-and-tasks"),
  ofFeature("segments"),
  ofFeature("alerts"),
  ofFeature("sending", 1),
  ofFeature("alerts", 1),
  ofFeature("sending", 2),
  accountsOfErasures,
  ofFeature("sending", 3),
  ofFeature("alerts", 2),
  ofFeature("alerts", 3),
  ofFeature("alerts", 4),
  ofFeature("segments", 1),
  ofFeature("alerts", 5),
  ofFeature("alerts", 6),
  ofFeature("alerts", 7),
  ofFeature("alerts", 8),
  bulkLoadTimes("INTEGER"),
  ofFeature("alerts", 9),
  ofFeature("sending", 4),
  ofFeature("alerts", 10),
  ofFeature("alerts", 11),
  ofFeature("alerts", 12),
  ofFeature("alerts", 13),
  ofFeature("alerts", 14),
  ofFeature("pulse"),
  ofFeature("notes-and-tasks", 1),
  ofFeature("assistants"),
  ofFeature("imports"),
];

/** The number of migrations of this code. */
export const ledgerMigrations = migrations.length;

/**
 * Migrates the database to the form of this code.
 * @param upto the number of migrations after the call
 * @throws Refusal when the database was written by newer code.
 */
export function migrate(db: Database, features: readonly Feature[], upto = migrations.length): void {
  const done = db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
  if (done > migrations.length) {
    throw new Refusal(
      `The ledger ${db.filename} was written by a newer Rekindle (its form is ${done}, this one knows ` +
        `${migrations.length}). Start the newer version again, or restore a backup made before the upgrade.`,
    );
  }
  for (let step = done; step < upto; step++) {
    inTransaction(db, () => {
      const migration = migrations[step] ?? "";
      if (typeof migration === "function") migration(db);
      else db.run(typeof migration === "string" ? migration : stepOf(features, migration, sqliteTypes));
      db.run(`PRAGMA user_version = ${step + 1}`);
    });
  }
}
