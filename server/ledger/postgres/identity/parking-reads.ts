/** What is parked under ids, to whom ids are linked, and how events were named first, for a decision. */
import type { ParkedItem, PersonLink } from "../../ports/parking.ts";
import type { KnownUser } from "../../ports/transact.ts";
import { personOf } from "../../rules/person-text.ts";
import type { Tx } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";
import { tableOfKeys } from "../write/load-more.ts";
import type { Key, Known } from "../write/stored.ts";

/** When so many items were loaded the rest waits until it is asked for again: a decision stops at about as many. */
const itemsAtOnce = 5_000;

type LinkRow = PersonLink & { organization: number; id: string } & {
  [Field in keyof KnownUser]: number | null;
};

/** Also whether the one to whom an id is linked is a user: whoever asks the one asks the other. */
export async function findLinks(tx: Tx, known: Known, keys: readonly Key[]): Promise<void> {
  const found = await tx<LinkRow[]>`
    SELECT organization, links.id, links.user_id AS "userId", links.at_ms AS "atMs", users.number, users.account
    FROM person_links AS links JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, id) USING (organization, id)
    LEFT JOIN users USING (organization, user_id)`;
  known.links.nothing(keys);
  for (const { organization, id, atMs, number, account, ...row } of found) {
    const userId = restored(row.userId);
    known.links.found(organization, restored(id), { userId, atMs });
    if (number === null || account === null) known.known.nothing([{ organization, id: userId }]);
    else known.known.found(organization, userId, { number, account });
  }
}

/** The ids that are linked to these, the oldest link first. */
export async function findLinksTo(tx: Tx, known: Known, keys: readonly Key[]): Promise<void> {
  const found = await tx<{ organization: number; userId: string; id: string }[]>`
    SELECT organization, user_id AS "userId", links.id
    FROM person_links AS links JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, user_id)
      USING (organization, user_id)
    ORDER BY links.written_at_ms, links.id`;
  addAll(
    known.linksTo,
    keys,
    found.map(({ organization, userId, id }) => ({
      ...{ organization, id: restored(userId), value: personOf(restored(id)) },
    })),
  );
}

type ItemRow = { organization: number; person: string } & (
  | ({ isLoaded: true } & ParkedItem)
  | { isLoaded: false }
);

/** In the order in which they are asked for, until there are enough for one decision. */
export async function findParked(tx: Tx, known: Known, keys: readonly Key[]): Promise<void> {
  const found = await tx<ItemRow[]>`
    WITH wanted AS (
      SELECT organization, person, place, items, sum(items) OVER (ORDER BY place) - items AS before
      FROM unnest(${keys.map(({ organization }) => organization)}::bigint[],
        ${keys.map(({ id }) => storable(id))}::text[]) WITH ORDINALITY AS given (organization, person, place)
      JOIN parked_people USING (organization, person))
    SELECT organization, person, before < ${itemsAtOnce} AS "isLoaded", received_at_ms AS "receivedAtMs",
      at_ms AS "atMs", account_id AS "accountId", body
    FROM wanted LEFT JOIN LATERAL (
      SELECT id, received_at_ms, at_ms, account_id, body FROM parked_items AS own
      WHERE own.organization = wanted.organization AND own.person = wanted.person
        AND wanted.before < ${itemsAtOnce}) AS item ON true
    ORDER BY place, received_at_ms, item.id`;
  const items = found.flatMap((row) =>
    row.isLoaded ? [{ organization: row.organization, id: restored(row.person), value: itemOf(row) }] : [],
  );
  addAll(known.parked, keys, items);
  for (const { organization, person, isLoaded } of found) {
    if (!isLoaded) known.parked.unknown({ organization, id: restored(person) });
  }
}

function itemOf({ receivedAtMs, atMs, accountId, body }: ParkedItem): ParkedItem {
  return {
    ...{ receivedAtMs, atMs, body: restored(body) },
    accountId: accountId === null ? null : restored(accountId),
  };
}

/** The names under which events were sent first. */
export async function findLabels(tx: Tx, known: Known, keys: readonly Key[]): Promise<void> {
  const found = await tx<{ organization: number; event: string; label: string }[]>`
    SELECT organization, event, label
    FROM event_labels JOIN ${tableOfKeys(tx, keys)} AS wanted (organization, event) USING (organization, event)`;
  known.labels.nothing(keys);
  for (const { organization, event, label } of found) {
    known.labels.found(organization, restored(event), restored(label));
  }
}

function addAll<Value>(
  answers: { found(organization: number, id: string, value: readonly Value[]): void },
  keys: readonly Key[],
  found: readonly (Key & { readonly value: Value })[],
): void {
  const values = new Map<string, Value[]>(keys.map(({ organization, id }) => [`${organization} ${id}`, []]));
  for (const { organization, id, value } of found) values.get(`${organization} ${id}`)?.push(value);
  for (const { organization, id } of keys)
    answers.found(organization, id, values.get(`${organization} ${id}`) ?? []);
}
