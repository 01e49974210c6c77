/** The step of the migrations that adds what connected sources need: what is parked, links between ids, and the
 * names of events as they were sent. Totals are kept beside the rows: counting a million would hold up every request. */
export const parkingTables = `
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
