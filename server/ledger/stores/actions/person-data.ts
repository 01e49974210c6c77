/** Reads what the ledger keeps about one person. */
import type { IdentityData, LinkedId, PersonDataStore } from "../../ports/actions/person-data.ts";
import { addressId, type HeldEvent, type PersonId } from "../../ports/held-events.ts";
import { personOf, personText } from "../../rules/person-text.ts";
import { findEntries } from "../audit.ts";
import { positionIn, texts } from "../engine/dialect.ts";
import type { Engine } from "../engine/engine.ts";
import { exists, integer, nullable, part, RowOf, select, text, type Work } from "../engine/sql.ts";
import { linkedTo } from "../events/held-event-rows.ts";
import { findRowsOfUser } from "../events/rejected-event-rows.ts";
import { findWarningsOf } from "../warnings.ts";

const linkRow = new RowOf<{ readonly id: string; readonly atMs: number }>({ id: text(), atMs: integer() });
const heldRow = new RowOf<HeldEvent>({
  receivedAtMs: integer(),
  atMs: integer(),
  accountId: nullable(text()),
  body: text(),
});
const emailRow = new RowOf<{ readonly email: string }>({ email: text() });

/** The store of data about persons. */
export function personDataStore(engine: Engine): PersonDataStore {
  return {
    identity: async (organization, userId) => {
      await engine.countsFlushed();
      return engine.snapshot(identityOf(organization, userId));
    },
    rejectedEvents: (organization, user, after, limit) =>
      engine.snapshot(findRowsOfUser(organization, user, after, limit)),
    auditEntries: (organization, user, before, limit) =>
      engine.alone(
        findEntries(part`
          WHERE organization = ${organization} AND id < ${before} AND (
            ${positionIn}(detail, ${`"user":${user},`}) > 0 OR ${positionIn}(detail, ${`"user":${user}}`}) > 0)
          ORDER BY id DESC LIMIT ${limit}`),
      ),
  };
}

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

/** The ids of a person, their own among them. Held events under an e-mail address belong to the only user with it.
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
