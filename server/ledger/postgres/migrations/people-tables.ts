/**
 * The tables of people, as in `sqlite/migrations/people-tables.ts`. Texts by which lists are sorted are
 * compared byte by byte (collation "C"), independent of the database's own order.
 */

/** As in `sqlite/migrations/people-tables.ts`. */
export const verifiedEmailsAndMakers = `
  ALTER TABLE people ADD COLUMN email_verified integer NOT NULL DEFAULT 0 CHECK (email_verified IN (0, 1));
  ALTER TABLE people ADD COLUMN fallback_email text;
  ALTER TABLE tokens ADD COLUMN made_by bigint;
  ALTER TABLE read_keys ADD COLUMN made_by bigint;
  UPDATE tokens SET made_by = (
    SELECT min(person) FROM audit_log WHERE audit_log.organization = tokens.organization
      AND action = 'token.created' AND detail::json ->> 'id' = tokens.id::text);
  UPDATE read_keys SET made_by = (
    SELECT min(person) FROM audit_log WHERE audit_log.organization = read_keys.organization
      AND action = 'read_key.created' AND detail::json ->> 'id' = read_keys.id::text);
`;
