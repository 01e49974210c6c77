/** Look-ups of users by visitors' ids and e-mail addresses. */

import type { Engine } from "../engine.ts";
import { emailKey } from "../rules/email-key.ts";
import { personText } from "../rules/person-text.ts";
import { RowOf, select, text } from "../sql.ts";

/** Enough to find one beside a user that was made from a customer's id. */
export const maxUsersWithEmail = 3;

const userOf = new RowOf<{ readonly userId: string }>({ userId: text() });

/** Looks up users, for sources that identify people without the user's id. */
export function identityStore(engine: Engine) {
  return {
    /** The user to whom a visitor's id is linked. */
    linkedTo: async (organization: number, anonymousId: string) => {
      const visitor = personText({ kind: "visitor", id: anonymousId });
      const [link] = await engine.alone(
        select(userOf)`FROM identity_links WHERE organization = ${organization} AND id = ${visitor}`,
      );
      return link?.userId;
    },

    /** Users with this e-mail address, upper and lower case alike: at most `maxUsersWithEmail`. */
    withEmail: async (organization: number, email: string): Promise<readonly string[]> => {
      const users = await engine.alone(
        select(userOf)`FROM users WHERE organization = ${organization} AND email_key = ${emailKey(email)}
          AND email_key <> '' LIMIT ${maxUsersWithEmail}`,
      );
      return users.map(({ userId }) => userId);
    },
  };
}

export type IdentityStore = ReturnType<typeof identityStore>;
