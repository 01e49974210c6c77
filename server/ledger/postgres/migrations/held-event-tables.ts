/** The tables for connected sources: see sqlite/migrations/held-event-tables.ts. `person_links` is in
 * identity-tables.ts. The number of people with held events is counted when it is read, so that one statement
 * changes `parked_totals`. */
export const heldEventTables = `
  CREATE TABLE parked_items (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    person text COLLATE "C" NOT NULL,
    received_at_ms bigint NOT NULL,
    at_ms bigint NOT NULL,
    account_id text,
    bytes bigint NOT NULL,
    body text NOT NULL
  );
  CREATE INDEX parked_items_of_person ON parked_items (organization, person, received_at_ms);
  CREATE INDEX parked_items_by_time ON parked_items (organization, received_at_ms);

  CREATE TABLE parked_people (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    person text COLLATE "C" NOT NULL,
    items bigint NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (organization, person)
  );
  CREATE INDEX parked_people_by_items ON parked_people (organization, items);

  CREATE TABLE parked_totals (
    organization bigint PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    items bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    dropped_full bigint NOT NULL DEFAULT 0,
    dropped_expired bigint NOT NULL DEFAULT 0,
    links bigint NOT NULL DEFAULT 0
  );

  CREATE TABLE event_labels (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    event text COLLATE "C" NOT NULL,
    label text NOT NULL,
    PRIMARY KEY (organization, event)
  );
`;
