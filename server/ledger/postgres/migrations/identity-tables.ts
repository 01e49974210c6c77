/** Tables and indexes for look-ups: links of visitors, and users by their address. */
export const identities = `
  CREATE TABLE person_links (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    at_ms bigint NOT NULL,
    written_at_ms bigint NOT NULL,
    waits boolean NOT NULL,
    PRIMARY KEY (organization, id)
  );
  CREATE INDEX person_links_of_user ON person_links (organization, user_id, written_at_ms);
  CREATE INDEX person_links_waiting ON person_links (organization, written_at_ms) WHERE waits;
  CREATE INDEX users_by_email ON users (organization, lower(email COLLATE "C")) WHERE email <> '';
`;
