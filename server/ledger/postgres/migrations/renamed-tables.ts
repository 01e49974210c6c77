import { renamedColumnsAndWords } from "../../tables.ts";

/**
 * The step that names tables after their content. `invite_links` and `login_sessions` belong to team members,
 * `identity_links` to visitors who became users.
 */
export const renamedTables = `
  ALTER TABLE people_links RENAME TO invite_links;
  ALTER INDEX people_links_of_organization RENAME TO invite_links_of_organization;
  ALTER INDEX people_links_of_person RENAME TO invite_links_of_person;

  ALTER TABLE people_sessions RENAME TO login_sessions;
  ALTER INDEX people_sessions_of_person RENAME TO login_sessions_of_person;
  ALTER INDEX people_sessions_by_use RENAME TO login_sessions_by_use;

  ALTER TABLE person_links RENAME TO identity_links;
  ALTER INDEX person_links_of_user RENAME TO identity_links_of_user;
  ALTER INDEX person_links_waiting RENAME TO identity_links_waiting;
`;

/** Held events, rejected events, and the timestamps of fields. */
export const renamedEvents = `
  ALTER TABLE parked_items RENAME TO held_events;
  ALTER INDEX parked_items_of_person RENAME TO held_events_of_person;
  ALTER INDEX parked_items_by_time RENAME TO held_events_by_time;

  ALTER TABLE parked_people RENAME TO held_event_people;
  ALTER INDEX parked_people_by_items RENAME TO held_event_people_by_items;
  ALTER TABLE parked_totals RENAME TO held_event_totals;

  ALTER TABLE dead_letters RENAME TO rejected_events;
  ALTER INDEX dead_letters_of_organization RENAME TO rejected_events_of_organization;
${renamedColumnsAndWords}`;
