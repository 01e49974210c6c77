/**
 * Writes links from ids to users, and counts the links that wait for their user to be identified: see
 * sqlite/write/person-links.ts. The count of an organization changes in the statement that changes the
 * links. Links are sent as JSON, because their limits depend on their order.
 *
 * Invariant: a transaction that changes links or users of an organization holds its row of `populations` (see
 * locks.ts).
 */
import { limits } from "../../../../contract/limits.ts";
import { msPerDay } from "../../../calendar/zone.ts";
import type { User } from "../../entities.ts";
import { addressId, type PersonKey, type PersonLink } from "../../rules/held-events.ts";
import { personText } from "../../rules/person-text.ts";
import type { Tx } from "../connect.ts";
import type { Statement } from "../statement.ts";
import { storable } from "../text.ts";
import { type Key, tableOfKeys } from "./keys.ts";
import type { Reads } from "./reads.ts";

/** A link that was not written for this time may be deleted. */
const staleAfterMs = limits.heldEventDays * msPerDay;

/** The number of links of an organization that were over a limit. */
export interface RefusedLinks {
  readonly organization: number;
  readonly links: number;
}

/** The statements that write links as far as there is room. They are sent in this order. The last returns the
 * rejected links. @param maxWaiting the most links of an organization to users who are not identified */
export function linkStatements(
  tx: Tx,
  links: readonly (PersonKey & { readonly link: PersonLink | null })[],
  { nowMs, maxWaiting }: { readonly nowMs: number; readonly maxWaiting: number },
) {
  const rows = links.map(({ link, ...person }) => ({
    organization: person.organization,
    id: storable(personText(person)),
    userId: link === null ? null : storable(link.userId),
    atMs: link?.atMs ?? null,
  }));
  const given = tx`
    ROWS FROM (json_to_recordset(${JSON.stringify(rows)}::text::json)
      AS (organization bigint, id text, "userId" text, "atMs" bigint)) WITH ORDINALITY AS given`;
  return {
    before: [deleteOthers(tx, given), updateStored(tx, given, nowMs), makeRoom(tx, given, nowMs)],
    added: addLinks(tx, given, nowMs, maxWaiting),
  };
}

/** Links to new users of this transaction, or to new e-mail addresses of users, do not wait any more. Sent
 * after the statements that write the users. */
export function identifiedStatements(
  tx: Tx,
  users: readonly User[],
  reads: Reads,
): Statement<readonly object[]>[] {
  const targets = users.flatMap(({ organization, userId, email }): Key[] => {
    const previous = reads.user(organization, userId);
    const isNew = previous === undefined || previous.email !== email;
    if (!isNew || !reads.hasHeldEvents(organization)) return [];
    const address = email === null ? undefined : addressId(email);
    return [userId, ...(address === undefined ? [] : [address])].map((id) => ({ organization, id }));
  });
  if (targets.length === 0) return [];
  return [
    countWaiting(
      tx,
      tx`UPDATE identity_links AS stored SET waits = false
        FROM ${tableOfKeys(tx, targets)} AS wanted (organization, user_id)
        WHERE stored.organization = wanted.organization AND stored.user_id = wanted.user_id AND stored.waits
        RETURNING stored.organization, -1 AS waiting`,
    ),
  ];
}

/** @param changes a statement that returns organization, the change of waiting links (`waiting`), and other
 * columns
 * @returns its rows */
function countWaiting(tx: Tx, changes: Statement<readonly object[]>) {
  return tx<{ organization: number; id: string }[]>`
    WITH changed AS (${changes}), counted AS (
      UPDATE held_event_totals AS stored SET links = stored.links + added.waiting
      FROM (SELECT organization, sum(waiting)::bigint AS waiting FROM changed GROUP BY organization) AS added
      WHERE stored.organization = added.organization AND added.waiting <> 0)
    SELECT * FROM changed`;
}

/** Deletes links that are removed or lead to another user now, even if there is no room for the new link. */
function deleteOthers(tx: Tx, given: Statement<readonly object[]>) {
  return countWaiting(
    tx,
    tx`DELETE FROM identity_links AS stored USING ${given}
      WHERE stored.organization = given.organization AND stored.id = given.id
        AND stored.user_id IS DISTINCT FROM given."userId"
      RETURNING stored.organization, -stored.waits::integer AS waiting, stored.id`,
  );
}

/** Updates stored links. With `=` PostgreSQL would search all links of the user: with 20,000 it took 2.5
 * s. */
function updateStored(tx: Tx, given: Statement<readonly object[]>, nowMs: number) {
  return tx`
    UPDATE identity_links AS stored SET at_ms = given."atMs", written_at_ms = ${nowMs} FROM ${given}
    WHERE stored.organization = given.organization AND stored.id = given.id
      AND stored.user_id IS NOT DISTINCT FROM given."userId"`;
}

/** The links that are not stored. */
function freshLinks(tx: Tx, given: Statement<readonly object[]>) {
  return tx`
    SELECT organization, id, "userId", "atMs", ordinality AS place FROM ${given}
    WHERE "userId" IS NOT NULL AND NOT EXISTS (
      SELECT FROM identity_links AS known WHERE known.organization = given.organization AND known.id = given.id)`;
}

/** The number of links of a user in `target`. */
function linkedOf(tx: Tx) {
  return tx`(
    SELECT count(*) FROM identity_links AS own
    WHERE own.organization = target.organization AND own.user_id = target."userId")`;
}

/** Deletes the oldest stale links of users who would have too many. */
function makeRoom(tx: Tx, given: Statement<readonly object[]>, nowMs: number) {
  return countWaiting(
    tx,
    tx`DELETE FROM identity_links AS stored USING (
        SELECT target.organization, stale.id FROM (
          SELECT organization, "userId", count(*) AS wanted FROM (${freshLinks(tx, given)}) AS fresh
          GROUP BY organization, "userId") AS target
        CROSS JOIN LATERAL (SELECT ${linkedOf(tx)} + wanted - ${limits.linksOfUser} AS over) AS room
        CROSS JOIN LATERAL (
          SELECT id FROM identity_links AS old
          WHERE old.organization = target.organization AND old.user_id = target."userId"
            AND old.written_at_ms < ${nowMs - staleAfterMs}
          ORDER BY old.written_at_ms, old.id LIMIT greatest(over, 0)) AS stale) AS gone
      WHERE stored.organization = gone.organization AND stored.id = gone.id
      RETURNING stored.organization, -stored.waits::integer AS waiting, stored.id`,
  );
}

/** Adds links as far as there is room. There is a limit for each user, and one for all users that are not
 * identified together. Links are added in the order of the list, all of one user at the position of the
 * first. */
function addLinks(tx: Tx, given: Statement<readonly object[]>, nowMs: number, maxWaiting: number) {
  return tx<RefusedLinks[]>`
    WITH fresh AS (
      SELECT *, row_number() OVER (PARTITION BY organization, "userId" ORDER BY place) AS nth
      FROM (${freshLinks(tx, given)}) AS given
    ), looked_up AS (
      SELECT *, CASE WHEN nth = 1 THEN ${linkedOf(tx)} END AS linked,
        CASE WHEN nth = 1 THEN NOT ${isIdentified(tx)} END AS is_unknown
      FROM fresh AS target
    ), fitting AS (
      SELECT organization, id, "userId", "atMs", place, min(place) OVER own AS turn, bool_or(is_unknown) OVER own AS waits,
        nth + max(linked) OVER own <= ${limits.linksOfUser} AS fits
      FROM looked_up WINDOW own AS (PARTITION BY organization, "userId")
    ), ranked AS (
      SELECT *, row_number() OVER (PARTITION BY organization ORDER BY turn, place) AS rank
      FROM fitting WHERE fits AND waits
    ), kept AS (
      INSERT INTO identity_links (organization, id, user_id, at_ms, written_at_ms, waits)
      SELECT organization, id, "userId", "atMs", ${nowMs}::bigint, false FROM fitting WHERE fits AND NOT waits
      UNION ALL
      SELECT organization, id, "userId", "atMs", ${nowMs}::bigint, true
      FROM ranked JOIN held_event_totals AS totals USING (organization) WHERE rank + totals.links <= ${maxWaiting}
      RETURNING organization, waits
    ), added AS (
      SELECT organization, count(*) AS kept, count(*) FILTER (WHERE waits) AS waiting FROM kept GROUP BY organization
    ), counted AS (
      UPDATE held_event_totals AS stored SET links = stored.links + waiting
      FROM added WHERE stored.organization = added.organization AND waiting <> 0
    )
    SELECT organization, wanted - coalesce(kept, 0) AS links
    FROM (SELECT organization, count(*) AS wanted FROM fresh GROUP BY organization) AS all_of
    LEFT JOIN added USING (organization) WHERE wanted > coalesce(kept, 0)`;
}

/** Whether the user of `target` exists, or a user has its address. With EXISTS, PostgreSQL would read all
 * users into memory. */
function isIdentified(tx: Tx) {
  return tx`coalesce((
    SELECT true FROM users WHERE users.organization = target.organization AND users.user_id = target."userId"
  ), target."userId" LIKE 'mailto:%' AND (
    SELECT true FROM users WHERE users.organization = target.organization AND users.email_key <> ''
      AND users.email_key = substr(target."userId", length('mailto:') + 1)
    LIMIT 1), false)`;
}
