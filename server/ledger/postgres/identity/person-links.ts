/**
 * Writes which ids are whose, and how many of them wait for somebody to be identified: see sqlite/identity/person-links.ts. How many
 * an organization has changes in the statement that changes the links. Of links `json_to_recordset` makes a table, since
 * their limits depend on their order.
 *
 * Invariant: whoever changes links of an organization, or its users, holds its row of `populations` (see locks.ts).
 */
import { limits } from "../../../../contract/limits.ts";
import { msPerDay } from "../../../calendar/calendar.ts";
import type { User } from "../../ports/entities.ts";
import { addressId, type PersonKey, type PersonLink } from "../../ports/parking.ts";
import { personText } from "../../rules/person-text.ts";
import type { Queries, Tx } from "../client/connect.ts";
import type { Statement } from "../client/statement.ts";
import { storable } from "../client/text.ts";
import { type Key, tableOfKeys } from "../write/keys.ts";
import type { Reads } from "../write/reads.ts";

/** A link of which nobody spoke for so long may be forgotten. */
const spokenMs = limits.parkedDays * msPerDay;

/** Links of an organization that were not kept, because there was no room. */
export interface RefusedLinks {
  readonly organization: number;
  readonly links: number;
}

/** The statements that write links as far as there is room, to be sent in this order: the last tells what was refused.
 * @param maxWaiting links of an organization to people who are not identified */
export function linkStatements(
  tx: Tx,
  links: readonly (PersonKey & { readonly link: PersonLink | null })[],
  { nowMs, maxWaiting }: { readonly nowMs: number; readonly maxWaiting: number },
) {
  const said = links.map(({ link, ...person }) => ({
    ...{ organization: person.organization, id: storable(personText(person)) },
    ...{ userId: link === null ? null : storable(link.userId), atMs: link?.atMs ?? null },
  }));
  const given = tx`
    ROWS FROM (json_to_recordset(${JSON.stringify(said)}::text::json)
      AS (organization bigint, id text, "userId" text, "atMs" bigint)) WITH ORDINALITY AS given`;
  return {
    before: [deleteOthers(tx, given), sayAgain(tx, given, nowMs), makeRoom(tx, given, nowMs)],
    added: addLinks(tx, given, nowMs, maxWaiting),
  };
}

/** Links to users who are new in this transaction, or have an e-mail address that is, wait no longer. To be sent when the
 * users are written. */
export function identifiedStatements(
  tx: Tx,
  users: readonly User[],
  reads: Reads,
): Statement<readonly object[]>[] {
  const targets = users.flatMap(({ organization, userId, email }): Key[] => {
    const previous = reads.user(organization, userId);
    const isNew = previous === undefined || previous.email !== email;
    if (!isNew || !reads.hasParked(organization)) return [];
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

/** Deletes the links from these ids. @returns a statement that gives `organization` and the `id` as it is stored */
export function deleteLinks(tx: Tx, people: readonly PersonKey[]) {
  const keys = people.map((person) => ({ organization: person.organization, id: personText(person) }));
  return countWaiting(
    tx,
    tx`DELETE FROM identity_links AS stored USING ${tableOfKeys(tx, keys)} AS wanted (organization, id)
      WHERE stored.organization = wanted.organization AND stored.id = wanted.id
      RETURNING stored.organization, -stored.waits::integer AS waiting, stored.id`,
  );
}

/** Forgets at most `limit` links to people who were not identified until now.
 * @returns a statement with a row for each */
export function expireLinks(tx: Tx, organization: number, nowMs: number, limit: number) {
  return countWaiting(
    tx,
    tx`DELETE FROM identity_links AS stored USING (
        SELECT id FROM identity_links
        WHERE organization = ${organization} AND waits AND written_at_ms < ${nowMs - spokenMs}
        ORDER BY written_at_ms LIMIT ${limit}) AS unspoken
      WHERE stored.organization = ${organization} AND stored.id = unspoken.id
      RETURNING stored.organization, -1 AS waiting, stored.id`,
  );
}

/** Whether links wait that may be forgotten: a condition on `organization`, which stands for a column. */
export function hasUnspoken(queries: Queries, organization: Statement<readonly object[]>, nowMs: number) {
  return queries`EXISTS (
    SELECT FROM identity_links AS old
    WHERE old.organization = ${organization} AND old.waits AND old.written_at_ms < ${nowMs - spokenMs})`;
}

/** @param changes a statement that returns organization, how many links more wait (`waiting`), and whatever is asked for.
 * @returns what that returned */
function countWaiting(tx: Tx, changes: Statement<readonly object[]>) {
  return tx<{ organization: number; id: string }[]>`
    WITH changed AS (${changes}), counted AS (
      UPDATE parked_totals AS stored SET links = stored.links + added.waiting
      FROM (SELECT organization, sum(waiting)::bigint AS waiting FROM changed GROUP BY organization) AS added
      WHERE stored.organization = added.organization AND added.waiting <> 0)
    SELECT * FROM changed`;
}

/** Links that are gone, and those that are another user's now, whether or not there is room for that. */
function deleteOthers(tx: Tx, given: Statement<readonly object[]>) {
  return countWaiting(
    tx,
    tx`DELETE FROM identity_links AS stored USING ${given}
      WHERE stored.organization = given.organization AND stored.id = given.id
        AND stored.user_id IS DISTINCT FROM given."userId"
      RETURNING stored.organization, -stored.waits::integer AS waiting, stored.id`,
  );
}

/** Links that are there already. With `=` they would be looked up among all that the user has: 20,000 took 2.5 s. */
function sayAgain(tx: Tx, given: Statement<readonly object[]>, nowMs: number) {
  return tx`
    UPDATE identity_links AS stored SET at_ms = given."atMs", written_at_ms = ${nowMs} FROM ${given}
    WHERE stored.organization = given.organization AND stored.id = given.id
      AND stored.user_id IS NOT DISTINCT FROM given."userId"`;
}

/** Those that are new. */
function freshLinks(tx: Tx, given: Statement<readonly object[]>) {
  return tx`
    SELECT organization, id, "userId", "atMs", ordinality AS place FROM ${given}
    WHERE "userId" IS NOT NULL AND NOT EXISTS (
      SELECT FROM identity_links AS known WHERE known.organization = given.organization AND known.id = given.id)`;
}

/** How many links a user of `target` has. */
function linkedOf(tx: Tx) {
  return tx`(
    SELECT count(*) FROM identity_links AS own
    WHERE own.organization = target.organization AND own.user_id = target."userId")`;
}

/** Of users who would have too many links those go of which nobody spoke longest. */
function makeRoom(tx: Tx, given: Statement<readonly object[]>, nowMs: number) {
  return countWaiting(
    tx,
    tx`DELETE FROM identity_links AS stored USING (
        SELECT target.organization, unspoken.id FROM (
          SELECT organization, "userId", count(*) AS wanted FROM (${freshLinks(tx, given)}) AS fresh
          GROUP BY organization, "userId") AS target
        CROSS JOIN LATERAL (SELECT ${linkedOf(tx)} + wanted - ${limits.linksOfUser} AS over) AS room
        CROSS JOIN LATERAL (
          SELECT id FROM identity_links AS old
          WHERE old.organization = target.organization AND old.user_id = target."userId"
            AND old.written_at_ms < ${nowMs - spokenMs}
          ORDER BY old.written_at_ms, old.id LIMIT greatest(over, 0)) AS unspoken) AS gone
      WHERE stored.organization = gone.organization AND stored.id = gone.id
      RETURNING stored.organization, -stored.waits::integer AS waiting, stored.id`,
  );
}

/** Adds what there is room for: of a user, and of those who are not identified together, each in the order of the list,
 * whose first link to a user says when it is that one's turn. */
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
      FROM ranked JOIN parked_totals AS totals USING (organization) WHERE rank + totals.links <= ${maxWaiting}
      RETURNING organization, waits
    ), added AS (
      SELECT organization, count(*) AS kept, count(*) FILTER (WHERE waits) AS waiting FROM kept GROUP BY organization
    ), counted AS (
      UPDATE parked_totals AS stored SET links = stored.links + waiting
      FROM added WHERE stored.organization = added.organization AND waiting <> 0
    )
    SELECT organization, wanted - coalesce(kept, 0) AS links
    FROM (SELECT organization, count(*) AS wanted FROM fresh GROUP BY organization) AS all_of
    LEFT JOIN added USING (organization) WHERE wanted > coalesce(kept, 0)`;
}

/** Whether the user of `target` is known, or somebody has the address that it stands for. With EXISTS all users would be
 * read, to be looked up in memory. */
function isIdentified(tx: Tx) {
  return tx`coalesce((
    SELECT true FROM users WHERE users.organization = target.organization AND users.user_id = target."userId"
  ), target."userId" LIKE 'mailto:%' AND (
    SELECT true FROM users WHERE users.organization = target.organization AND users.email_key <> ''
      AND users.email_key = substr(target."userId", length('mailto:') + 1)
    LIMIT 1), false)`;
}
