/**
 * The step that names tables after their content. `invite_links` and `login_sessions` belong to team members,
 * `identity_links` to visitors who became users. SQLite cannot rename an index, so the indexes are created again.
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
