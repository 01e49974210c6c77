/** The look-ups of a decision for held events, links and names of events. Each function is one statement. */

import type { HeldEvent, PersonId, PersonLink } from "../../rules/held-events.ts";
import { personOf } from "../../rules/person-text.ts";
import type { KnownUser } from "../../transact.ts";
import type { Tx } from "../connect.ts";
import { restored, storable } from "../text.ts";
import { type Key, tableOfKeys } from "./keys.ts";
import { type Found, grouped, type Lookup } from "./lookup.ts";

/** A statement reads at most this many items. The next one reads the others. A decision stops at about this
 * number. */
const itemsAtOnce = 5_000;

type LinkRow = PersonLink & { organization: number; id: string } & {
  [Field in keyof KnownUser]: number | null;
};

/** Finds links, and whether the linked user exists, because a decision needs both. @param users gets the
 * latter */
export async function findLinks(
  tx: Tx,
  keys: readonly Key[],
  users: Lookup<KnownUser>,
): Promise<readonly Found<PersonLink>[]> {
  const found = await tx<LinkRow[]>`
    SELECT organization, links.id, links.user_id AS "userId", links.at_ms AS "atMs", users.number, users.account
    FROM identity_links AS links JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, id) USING (organization, id)
    LEFT JOIN users USING (organization, user_id)`;
  return found.map(({ organization, id, atMs, number, account, ...row }) => {
    const userId = restored(row.userId);
    const user = { organization, id: userId };
    users.add([user], number === null || account === null ? [] : [{ ...user, value: { number, account } }]);
    return { organization, id: restored(id), value: { userId, atMs } };
  });
}

/** Finds the ids that are linked to users, the oldest link first. */
export async function findLinksTo(
  tx: Tx,
  keys: readonly Key[],
): Promise<readonly Found<readonly PersonId[]>[]> {
  const found = await tx<{ organization: number; userId: string; id: string }[]>`
    SELECT organization, user_id AS "userId", links.id
    FROM identity_links AS links JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, user_id)
      USING (organization, user_id)
    ORDER BY links.written_at_ms, links.id`;
  return grouped(
    keys,
    found.map(({ organization, userId, id }) => ({
      organization,
      id: restored(userId),
      value: personOf(restored(id)),
    })),
  );
}

type ItemRow = { organization: number; person: string } & (
  | ({ isLoaded: true } & HeldEvent)
  | { isLoaded: false }
);

/** Finds held events in the order of the keys, until there are enough for one decision. The other keys stay
 * unknown. */
export async function findHeldEvents(
  tx: Tx,
  keys: readonly Key[],
): Promise<readonly Found<readonly HeldEvent[]>[]> {
  const found = await tx<ItemRow[]>`
    WITH wanted AS (
      SELECT organization, person, place, items, sum(items) OVER (ORDER BY place) - items AS before
      FROM unnest(${keys.map(({ organization }) => organization)}::bigint[],
        ${keys.map(({ id }) => storable(id))}::text[]) WITH ORDINALITY AS given (organization, person, place)
      JOIN held_event_people USING (organization, person))
    SELECT organization, person, before < ${itemsAtOnce} AS "isLoaded", received_at_ms AS "receivedAtMs",
      at_ms AS "atMs", account_id AS "accountId", body
    FROM wanted LEFT JOIN LATERAL (
      SELECT id, received_at_ms, at_ms, account_id, body FROM held_events AS own
      WHERE own.organization = wanted.organization AND own.person = wanted.person
        AND wanted.before < ${itemsAtOnce}) AS item ON true
    ORDER BY place, received_at_ms, item.id`;
  const items = found.flatMap((row) =>
    row.isLoaded ? [{ organization: row.organization, id: restored(row.person), value: itemOf(row) }] : [],
  );
  const unknown = found.flatMap(({ organization, person, isLoaded }) =>
    isLoaded ? [] : [{ organization, id: restored(person), value: undefined }],
  );
  return [...grouped(keys, items), ...unknown];
}

function itemOf({ receivedAtMs, atMs, accountId, body }: HeldEvent): HeldEvent {
  return {
    receivedAtMs,
    atMs,
    body: restored(body),
    accountId: accountId === null ? null : restored(accountId),
  };
}

/** Finds the names under which events were sent first. */
export async function findLabels(tx: Tx, keys: readonly Key[]): Promise<readonly Found<string>[]> {
  const found = await tx<{ organization: number; event: string; label: string }[]>`
    SELECT organization, event, label
    FROM event_labels JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, event) USING (organization, event)`;
  return found.map(({ organization, event, label }) => ({
    organization,
    id: restored(event),
    value: restored(label),
  }));
}
