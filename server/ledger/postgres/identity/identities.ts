/** Look-ups of users by other things than their ids. */

import { type IdentityStore, maxUsersWithEmail } from "../../ports/source-settings.ts";
import { emailKey } from "../../rules/email-key.ts";
import { personText } from "../../rules/person-text.ts";
import type { Sql } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";

/** What look-ups need: links of visitors, and users by their address. */
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

export class PostgresIdentities implements IdentityStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async linkedTo(organization: number, anonymousId: string): Promise<string | undefined> {
    const [link] = await this.#sql<{ userId: string }[]>`
      SELECT user_id AS "userId" FROM person_links
      WHERE organization = ${organization} AND id = ${storable(personText({ kind: "visitor", id: anonymousId }))}`;
    return link && restored(link.userId);
  }

  async withEmail(organization: number, email: string): Promise<readonly string[]> {
    const rows = await this.#sql<{ userId: string }[]>`
      SELECT user_id AS "userId" FROM users
      WHERE organization = ${organization} AND email_key = ${storable(emailKey(email))} AND email_key <> ''
      LIMIT ${maxUsersWithEmail}`;
    return rows.map(({ userId }) => restored(userId));
  }
}
