import { renamedColumnsAndWords } from "../../tables.ts";

/**
 * The step that names tables after their content. `invite_links` and `login_sessions` belong to team members,
 * `identity_links` to visitors who became users. SQLite cannot rename an index, so the indexes are created
 * again.
 */
export const renamedTables = `
  ALTER TABLE people_links RENAME TO invite_links;
  DROP INDEX people_links_of_organization;
  DROP INDEX people_links_of_person;
  CREATE INDEX invite_links_of_organization ON invite_links (organization, email);
  CREATE INDEX invite_links_of_person ON invite_links (person);

  ALTER TABLE people_sessions RENAME TO login_sessions;
  DROP INDEX people_sessions_of_person;
  DROP INDEX people_sessions_by_use;
  CREATE INDEX login_sessions_of_person ON login_sessions (person);
  CREATE INDEX login_sessions_by_use ON login_sessions (used_at_ms);

  ALTER TABLE person_links RENAME TO identity_links;
  DROP INDEX person_links_of_user;
  DROP INDEX person_links_waiting;
  CREATE INDEX identity_links_of_user ON identity_links (organization, user_id, written_at_ms);
  CREATE INDEX identity_links_waiting ON identity_links (organization, written_at_ms) WHERE waits;
`;

/** Held events, rejected events, and the timestamps of fields. Kinds of warnings and actions of the audit log
 * get the names that the API has. */
export const renamedEvents = `
  ALTER TABLE parked_items RENAME TO held_events;
  DROP INDEX parked_items_of_person;
  DROP INDEX parked_items_by_time;
  CREATE INDEX held_events_of_person ON held_events (organization, person, received_at_ms);
  CREATE INDEX held_events_by_time ON held_events (organization, received_at_ms);

  ALTER TABLE parked_people RENAME TO held_event_people;
  DROP INDEX parked_people_by_items;
  CREATE INDEX held_event_people_by_items ON held_event_people (organization, items);
  ALTER TABLE parked_totals RENAME TO held_event_totals;

  ALTER TABLE dead_letters RENAME TO rejected_events;
  DROP INDEX dead_letters_of_organization;
  CREATE INDEX rejected_events_of_organization
    ON rejected_events (organization, warehouse_table, bytes, utc_day, checksum, number, version);
${renamedColumnsAndWords}`;
