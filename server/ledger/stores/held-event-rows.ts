/**
 * Deletes held events and links between ids inside the caller's transaction, with the totals of people and
 * organizations.
 *
 * Invariant: on PostgreSQL the transaction holds the organization's row of `populations` (see locks.ts).
 */

import { onSqlite, records, texts } from "../dialect.ts";
import { bodyWithoutAccount, type PersonId } from "../rules/held-events.ts";
import { personOf, personText } from "../rules/person-text.ts";
import {
  flag,
  integer,
  part,
  perEngine,
  RowOf,
  returning,
  run,
  select,
  sqlText,
  text,
  type Work,
} from "../sql.ts";
import { forgetIdsOfDropped } from "./lasting-ids.ts";

/** Held events of one person. */
interface OfPerson {
  readonly person: string;
  readonly items: number;
  readonly bytes: number;
}

interface HeldRow {
  readonly id: number;
  readonly person: string;
  readonly bytes: number;
  readonly body: string;
}

const heldRow = new RowOf<HeldRow>({ id: integer(), person: text(), bytes: integer(), body: text() });
const ofPersonRow = new RowOf<OfPerson>({ person: text(), items: integer(), bytes: integer() });
const bodyRow = new RowOf<{ readonly id: number; readonly body: string }>({ id: integer(), body: text() });
const bytesRow = new RowOf<{ readonly bytes: number }>({ bytes: integer() });
const linkRow = new RowOf<{ readonly id: string; readonly waits: boolean }>({ id: text(), waits: flag() });

/** Without an index SQLite reads all links of an organization. */
const linksOfUser = perEngine({
  sqlite: "identity_links INDEXED BY identity_links_of_user",
  postgres: "identity_links",
});
const waitingLinks = perEngine({
  sqlite: "identity_links INDEXED BY identity_links_waiting",
  postgres: "identity_links",
});

/** Drops at most `most` events that were received before. @returns their number */
export function* dropReceivedBefore(organization: number, beforeMs: number, most: number): Work<number> {
  return yield* drop(organization, yield* oldest(organization, beforeMs, most), "dropped_expired");
}

/** Drops at most `most` of the oldest events, until at most `maxBytes` are left. @returns their number */
export function* dropOldest(organization: number, maxBytes: number, most: number): Work<number> {
  const [totals] = yield* select(bytesRow)`FROM held_event_totals WHERE organization = ${organization}`;
  let left = totals?.bytes ?? 0;
  const rows = (yield* oldest(organization, Number.MAX_SAFE_INTEGER, most)).filter(({ bytes }) => {
    const isOver = left > maxBytes;
    left -= bytes;
    return isOver;
  });
  return yield* drop(organization, rows, "dropped_full");
}

/** Deletes at most `most` links to users that are not identified, written before. @returns their number */
export function* expireLinks(organization: number, beforeMs: number, most: number): Work<number> {
  const stale = yield* select(linkRow)`
    FROM ${waitingLinks} WHERE organization = ${organization} AND waits AND written_at_ms < ${beforeMs}
    ORDER BY written_at_ms LIMIT ${most}`;
  const deleted = yield* deleteLinks(
    organization,
    stale.map(({ id }) => id),
  );
  return deleted.length;
}

/** The ids that are linked to a user, or to an e-mail address. */
export function* linkedTo(organization: number, userId: string): Work<readonly PersonId[]> {
  const links = yield* select(linkRow)`
    FROM ${linksOfUser} WHERE organization = ${organization} AND user_id = ${userId}`;
  return links.map(({ id }) => personOf(id));
}

/** Deletes the held events under these ids and every link from them. @returns the ids that had held events or
 * links */
export function* forgetPeople(organization: number, people: readonly PersonId[]): Work<readonly PersonId[]> {
  const given = texts(people.map(personText));
  const own = part`organization = ${organization} AND person IN (SELECT text FROM ${given})`;
  const held = yield* select(ofPersonRow)`FROM held_event_people WHERE ${own}`;
  if (held.length > 0) {
    yield* run`DELETE FROM held_events WHERE ${own}`;
    yield* subtract(organization, held);
  }
  const links = yield* deleteLinks(organization, people.map(personText));
  const found = new Set([...held.map(({ person }) => person), ...links.map(({ id }) => id)]);
  return people.filter((person) => found.has(personText(person)));
}

/** Removes an account from held events. Their counted bytes do not change. @returns the number of events */
export function* removeAccount(organization: number, accountId: string): Work<number> {
  const naming = yield* select(bodyRow)`
    FROM held_events WHERE organization = ${organization} AND account_id = ${accountId}`;
  for (const { id, body } of naming) {
    yield* run`UPDATE held_events SET account_id = NULL, body = ${bodyWithoutAccount(body)} WHERE id = ${id}`;
  }
  return naming.length;
}

function oldest(organization: number, beforeMs: number, most: number) {
  return select(heldRow)`
    FROM held_events WHERE organization = ${organization} AND received_at_ms < ${beforeMs}
    ORDER BY received_at_ms, id LIMIT ${most}`;
}

function* drop(
  organization: number,
  rows: readonly HeldRow[],
  reason: "dropped_full" | "dropped_expired",
): Work<number> {
  if (rows.length === 0) return 0;
  yield* run`DELETE FROM held_events WHERE id IN (SELECT id FROM ${records(rows, { id: "bigint" })})`;
  const removed = [...Map.groupBy(rows, ({ person }) => person)].map(([person, own]) => ({
    person,
    items: own.length,
    bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
  }));
  yield* subtract(organization, removed);
  const bodies = rows.map(({ body }) => body);
  yield* forgetIdsOfDropped(organization, bodies);
  const column = sqlText(reason);
  yield* run`
    UPDATE held_event_totals SET ${column} = ${column} + ${rows.length} WHERE organization = ${organization}`;
  return rows.length;
}

/** Subtracts deleted events from the totals. */
function* subtract(organization: number, removed: readonly OfPerson[]): Work<void> {
  const given = records(removed, { person: "text", items: "bigint", bytes: "bigint" });
  yield* run`
    UPDATE held_event_people AS stored SET items = stored.items - given.items, bytes = stored.bytes - given.bytes
    FROM ${given} WHERE stored.organization = ${organization} AND stored.person = given.person`;
  const gone = yield* run`DELETE FROM held_event_people WHERE organization = ${organization} AND items = 0`;
  const sum = (field: "items" | "bytes") => removed.reduce((all, one) => all + one[field], 0);
  yield* run`
    UPDATE held_event_totals SET items = items - ${sum("items")}, bytes = bytes - ${sum("bytes")}
      ${onSqlite(part`, people = people - ${gone}`)}
    WHERE organization = ${organization}`;
}

function* deleteLinks(organization: number, ids: readonly string[]) {
  const deleted = yield* returning(linkRow)`
    DELETE FROM identity_links WHERE organization = ${organization} AND id IN (SELECT text FROM ${texts(ids)})`;
  const waiting = deleted.filter(({ waits }) => waits).length;
  if (waiting > 0) {
    yield* run`UPDATE held_event_totals SET links = links - ${waiting} WHERE organization = ${organization}`;
  }
  return deleted;
}
