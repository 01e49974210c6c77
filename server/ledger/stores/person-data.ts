/** Reads what the ledger keeps about one person. */

import type { StoredAuditEntry } from "../audit.ts";
import { positionIn, texts } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { addressId, type HeldEvent, type PersonId } from "../rules/held-events.ts";
import { personOf, personText } from "../rules/person-text.ts";
import type { StoredRejectedEvent } from "../rules/rejected-event-facts.ts";
import { exists, integer, nullable, part, RowOf, select, text, type Work } from "../sql.ts";
import { findEntries } from "./audit.ts";
import { linkedTo } from "./held-event-rows.ts";
import { findRowsOfUser } from "./rejected-event-rows.ts";
import { findWarningsOf, type IngestionWarning } from "./warnings.ts";

/** Another id of a person, and the time of its link. */
export interface LinkedId extends PersonId {
  readonly atMs: number;
}

/** Rows that name a person by an id. An erasure deletes the same: see `Erasures.begin`. */
export interface IdentityData {
  readonly ids: readonly LinkedId[];
  /** In the order of their arrival. There are as many as one person may have. */
  readonly held: readonly HeldEvent[];
  readonly warnings: readonly IngestionWarning[];
}

const linkRow = new RowOf<{ readonly id: string; readonly atMs: number }>({ id: text(), atMs: integer() });
const heldRow = new RowOf<HeldEvent>({
  receivedAtMs: integer(),
  atMs: integer(),
  accountId: nullable(text()),
  body: text(),
});
const emailRow = new RowOf<{ readonly email: string }>({ email: text() });
/** The store of data about persons. */
export function personDataStore(engine: Engine) {
  return {
    /** @param userId also one that was never identified */
    identity: async (organization: number, userId: string): Promise<IdentityData> => {
      await engine.countsFlushed();
      return engine.snapshot(identityOf(organization, userId));
    },
    /** Rejected events of a user, in the order of their ids. @param after only ids above it */
    rejectedEvents: (
      organization: number,
      user: number,
      after: number,
      limit: number,
    ): Promise<readonly StoredRejectedEvent[]> =>
      engine.snapshot(findRowsOfUser(organization, user, after, limit)),
    /** Entries of the audit log about the user, the newest first. They name users by number. @param before
     * only older ones than this entry */
    auditEntries: (
      organization: number,
      user: number,
      before: number,
      limit: number,
    ): Promise<readonly StoredAuditEntry[]> =>
      engine.alone(
        findEntries(part`
          WHERE organization = ${organization} AND id < ${before} AND (
            ${positionIn}(detail, ${`"user":${user},`}) > 0 OR ${positionIn}(detail, ${`"user":${user}}`}) > 0)
          ORDER BY id DESC LIMIT ${limit}`),
      ),
  };
}

export type PersonDataStore = ReturnType<typeof personDataStore>;

function* identityOf(organization: number, userId: string): Work<IdentityData> {
  const [user] = yield* select(emailRow)`
    FROM users WHERE organization = ${organization} AND user_id = ${userId}`;
  const people = yield* idsOf(organization, userId, user?.email);
  const given = texts(people.map(personText));
  const links = yield* select(linkRow)`
    FROM identity_links WHERE organization = ${organization} AND id IN (SELECT text FROM ${given})`;
  const held = yield* select(heldRow)`
    FROM held_events WHERE organization = ${organization} AND person IN (SELECT text FROM ${given}) ORDER BY id`;
  const names = [...new Set(people.map(({ id }) => id))];
  return {
    ids: links.map(({ id, atMs }): LinkedId => ({ ...personOf(id), atMs })),
    held,
    warnings: yield* findWarningsOf(organization, names),
  };
}

/** The ids of a person, their own among them. Held events under an e-mail address belong to the only user
 * with it.
 * @param email undefined for an id that was never identified */
function* idsOf(organization: number, userId: string, email: string | undefined): Work<readonly PersonId[]> {
  const own: PersonId = { kind: "user", id: userId };
  const linked = yield* linkedTo(organization, userId);
  if (email === undefined) return [own, ...linked, { kind: "visitor", id: userId }];
  const address = email === "" ? undefined : addressId(email);
  if (address === undefined) return [own, ...linked];
  const isShared = yield* exists`
    FROM users AS own JOIN users AS other ON other.organization = own.organization AND other.email_key = own.email_key
      AND other.number <> own.number
    WHERE own.organization = ${organization} AND own.user_id = ${userId}`;
  return isShared ? [own, ...linked] : [own, ...linked, ...(yield* linkedTo(organization, address))];
}
