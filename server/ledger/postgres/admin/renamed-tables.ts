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
