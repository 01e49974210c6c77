/** Look-ups of users by visitors' ids and e-mail addresses. */
import { type IdentityStore, maxUsersWithEmail } from "../ports/source-settings.ts";
import { emailKey } from "../rules/email-key.ts";
import { personText } from "../rules/person-text.ts";
import type { Engine } from "./engine/engine.ts";
import { RowOf, select, text } from "./engine/sql.ts";

const userOf = new RowOf<{ readonly userId: string }>({ userId: text() });

/** The store of identities. */
export function identityStore(engine: Engine): IdentityStore {
  return {
    linkedTo: async (organization, anonymousId) => {
      const visitor = personText({ kind: "visitor", id: anonymousId });
      const [link] = await engine.alone(
        select(userOf)`FROM identity_links WHERE organization = ${organization} AND id = ${visitor}`,
      );
      return link?.userId;
    },

    withEmail: async (organization, email) => {
      const users = await engine.alone(
        select(userOf)`FROM users WHERE organization = ${organization} AND email_key = ${emailKey(email)}
          AND email_key <> '' LIMIT ${maxUsersWithEmail}`,
      );
      return users.map(({ userId }) => userId);
    },
  };
}
