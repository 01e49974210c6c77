/** The migration step for connected sources. It adds held events, links between ids, and the names of events
 * as they were sent. Totals are kept beside the rows: a count of a million rows would block every request. */
export const heldEventTables = `
  CREATE TABLE parked_items (
    id INTEGER PRIMARY KEY,
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    received_at_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    account_id TEXT,
    bytes INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX parked_items_of_person ON parked_items (organization, person, received_at_ms);
  CREATE INDEX parked_items_by_time ON parked_items (organization, received_at_ms);

  CREATE TABLE parked_people (
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    items INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (organization, person)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX parked_people_by_items ON parked_people (organization, items);

  CREATE TABLE parked_totals (
    organization INTEGER PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    people INTEGER NOT NULL DEFAULT 0,
    items INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    dropped_full INTEGER NOT NULL DEFAULT 0,
    dropped_expired INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE person_links (
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (organization, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX person_links_of_user ON person_links (organization, user_id, at_ms);

  CREATE TABLE event_labels (
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    event TEXT NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (organization, event)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * The step that distinguishes ids of users from those of visitors. Links to users who are not identified get
 * an expiry and a limit. Ids that were linked to an erased user are kept as a keyed hash. Older rows have no
 * kind and become visitors' ids, because nearly all held events are of visitors.
 */
export const personKinds = `
  UPDATE parked_items SET person = 'visitor ' || person;
  UPDATE parked_people SET person = 'visitor ' || person;
  UPDATE person_links SET id = 'visitor ' || id;

  ALTER TABLE person_links ADD COLUMN written_at_ms INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE person_links ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE parked_totals ADD COLUMN links INTEGER NOT NULL DEFAULT 0;
  UPDATE person_links SET written_at_ms = unixepoch() * 1000, waits = NOT EXISTS (
    SELECT 1 FROM users WHERE users.organization = person_links.organization
      AND (users.user_id = person_links.user_id
        OR (users.email <> '' AND person_links.user_id = 'mailto:' || lower(users.email))));
  UPDATE parked_totals SET links = (
    SELECT count(*) FROM person_links WHERE person_links.organization = parked_totals.organization AND waits);
  DROP INDEX person_links_of_user;
  CREATE INDEX person_links_of_user ON person_links (organization, user_id, written_at_ms);
  CREATE INDEX person_links_waiting ON person_links (organization, written_at_ms) WHERE waits;

  CREATE TABLE erased_ids (
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    person_hmac TEXT NOT NULL,
    erased_at_ms INTEGER NOT NULL,
    PRIMARY KEY (organization, person_hmac)
  ) STRICT, WITHOUT ROWID;
`;
