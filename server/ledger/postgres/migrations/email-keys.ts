/** The step that stores a key beside each user's e-mail address. Users are found by this key. */
import { emailKey } from "../../rules/email-key.ts";
import type { Tx } from "../connect.ts";
import { restored, storable } from "../text.ts";

/** Adds the keys of all users. Links to an address that a user has in other letters do not wait any more. */
export async function addEmailKeys(tx: Tx): Promise<void> {
  await tx.unsafe(`
    ALTER TABLE users ADD COLUMN email_key text COLLATE "C" NOT NULL DEFAULT '';
    UPDATE users SET email_key = lower(email COLLATE "C");`);
  // With the collation "C", letters beyond ASCII do not change.
  const others = await tx<{ organization: number; number: number; email: string }[]>`
    SELECT organization, number, email FROM users WHERE octet_length(email) <> length(email)`;
  const keys = others.map(({ email, ...user }) => ({ ...user, key: storable(emailKey(restored(email))) }));
  await tx`
    UPDATE users SET email_key = key
    FROM json_to_recordset(${JSON.stringify(keys)}::text::json) AS given (organization bigint, number bigint, key text)
    WHERE users.organization = given.organization AND users.number = given.number`;
  await tx.unsafe(`
    DROP INDEX users_by_email;
    CREATE INDEX users_by_email ON users (organization, email_key) WHERE email_key <> '';
    UPDATE person_links SET waits = false WHERE waits AND user_id LIKE 'mailto:%' AND EXISTS (
      SELECT FROM users WHERE users.organization = person_links.organization
        AND email_key = substr(person_links.user_id, length('mailto:') + 1) AND email_key <> '');
    UPDATE parked_totals SET links = (
      SELECT count(*) FROM person_links WHERE person_links.organization = parked_totals.organization AND waits);`);
}
