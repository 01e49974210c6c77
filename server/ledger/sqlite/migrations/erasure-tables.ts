/** Migration steps for erasures and deletions. */

/** A number in `erasures` is never used again. The keyed hash recognizes an erased user. */
export const erasures = `
  ALTER TABLE organizations ADD COLUMN keep_events_days INTEGER;
  ALTER TABLE organizations ADD COLUMN events_from_day INTEGER;

  CREATE TABLE erasure_key (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    key BLOB NOT NULL
  ) STRICT;
  INSERT INTO erasure_key VALUES (1, randomblob(32));

  CREATE TABLE erasures (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization INTEGER NOT NULL REFERENCES organizations (id),
    user INTEGER NOT NULL,
    user_hmac TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'begun' CHECK (state IN ('begun', 'counted', 'done')),
    upto_inbox_id INTEGER NOT NULL,
    requested_at_ms INTEGER NOT NULL,
    erased_at_ms INTEGER,
    events INTEGER NOT NULL DEFAULT 0,
    versions INTEGER NOT NULL DEFAULT 0,
    dead_letters INTEGER NOT NULL DEFAULT 0,
    inbox_rows INTEGER NOT NULL DEFAULT 0,
    days INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX erasures_by_number ON erasures (organization, user);
  CREATE INDEX erasures_by_user ON erasures (organization, user_hmac);
  CREATE INDEX erasures_pending ON erasures (id) WHERE state <> 'done';
`;

/** An erasure is that of a user or of an account. The other number is 0. */
export const accountErasures = `
  ALTER TABLE erasures ADD COLUMN account INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE erasures ADD COLUMN members INTEGER NOT NULL DEFAULT 0;
  DROP INDEX erasures_by_number;
  CREATE UNIQUE INDEX erasures_by_number ON erasures (organization, user, account);
  CREATE INDEX erasures_of_accounts ON erasures (organization, account);
`;

/** Only for an organization that is being deleted, else null. The inbox has no row of the organization after
 * this one. */
export const organizationDeletions = "ALTER TABLE organizations ADD COLUMN deletion_upto_inbox_id INTEGER;";
