/** The step that stores a key beside each user's e-mail address. Users are found by this key. */
import type { Database } from "bun:sqlite";
import { emailKey } from "../../rules/email-key.ts";

/** Adds the keys of all users. Links to an address that a user has in other letters do not wait any more. */
export function addEmailKeys(db: Database): void {
  db.run(`
    ALTER TABLE users ADD COLUMN email_key TEXT NOT NULL DEFAULT '';
    UPDATE users SET email_key = lower(email);`);
  const set = db.prepare("UPDATE users SET email_key = ? WHERE rowid = ?");
  // SQLite's lower() does not change letters beyond ASCII.
  const others = db.query<{ rowid: number; email: string }, []>(
    "SELECT rowid, email FROM users WHERE length(email) <> length(CAST(email AS BLOB))",
  );
  for (const { rowid, email } of others.all()) set.run(emailKey(email), rowid);
  db.run(`
    DROP INDEX users_by_email;
    CREATE INDEX users_by_email ON users (organization, email_key) WHERE email_key <> '';
    UPDATE person_links SET waits = 0 WHERE waits AND user_id LIKE 'mailto:%' AND EXISTS (
      SELECT 1 FROM users WHERE users.organization = person_links.organization
        AND email_key = substr(person_links.user_id, length('mailto:') + 1) AND email_key <> '');
    UPDATE parked_totals SET links = (
      SELECT count(*) FROM person_links WHERE person_links.organization = parked_totals.organization AND waits);`);
}
