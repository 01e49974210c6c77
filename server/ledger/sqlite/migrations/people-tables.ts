/** The tables of people, which a migration adds to the ledger. */

/** Marks verified e-mails, and stores the makers of tokens and keys. For older tokens and keys, the audit log
 * has the maker. There is no reference to people: a move to PostgreSQL writes keys before people. */
export const verifiedEmailsAndMakers = `
  ALTER TABLE people ADD COLUMN email_verified INTEGER NOT NULL DEFAULT 0 CHECK (email_verified IN (0, 1));
  ALTER TABLE people ADD COLUMN fallback_email TEXT;
  ALTER TABLE tokens ADD COLUMN made_by INTEGER;
  ALTER TABLE read_keys ADD COLUMN made_by INTEGER;
  UPDATE tokens SET made_by = (
    SELECT person FROM audit_log WHERE audit_log.organization = tokens.organization
      AND action = 'token.created' AND json_extract(detail, '$.id') = tokens.id);
  UPDATE read_keys SET made_by = (
    SELECT person FROM audit_log WHERE audit_log.organization = read_keys.organization
      AND action = 'read_key.created' AND json_extract(detail, '$.id') = read_keys.id);
`;
