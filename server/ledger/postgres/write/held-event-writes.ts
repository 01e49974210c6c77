/**
 * Writes a transaction's changes of held events, links and names of events. Totals of people and
 * organizations change in the statement that changes the items.
 *
 * Invariant: a transaction that changes held events of an organization holds its row of `populations` (see
 * locks.ts).
 */
import { limits } from "../../../../contract/limits.ts";
import type { HeldEventWrites, PersonKey } from "../../rules/held-events.ts";
import { personText } from "../../rules/person-text.ts";
import { forgetIdsOfDropped } from "../../stores/lasting-ids.ts";
import { heldEventWarning, type IngestionWarning } from "../../stores/warnings.ts";
import type { Queries, Tx } from "../connect.ts";
import type { Statement } from "../statement.ts";
import { runOn } from "../store-engine.ts";
import { restored, storable } from "../text.ts";
import { tableOfKeys } from "./keys.ts";
import { lockOrganizations } from "./organization-locks.ts";
import { linkStatements } from "./person-links.ts";
import type { Reads } from "./reads.ts";

/** Items that were dropped from an organization. */
interface DroppedItems {
  readonly organization: number;
  readonly items: number;
  /** As they are stored. */
  readonly bodies: readonly string[];
}

/** Writes the changes inside the caller's transaction, in one round trip and one more if items with ids for
 * good are dropped.
 * @returns warnings about dropped and rejected items, which the caller adds last */
export async function writeHeldEvents(
  tx: Tx,
  writes: HeldEventWrites,
  { reads, nowMs, maxLinks }: { readonly reads: Reads; readonly nowMs: number; readonly maxLinks: number },
): Promise<readonly IngestionWarning[]> {
  const { taken, held, refused, links } = writes;
  const organizations = organizationsOf([...taken, ...held, ...links]);
  await lockOrganizations(
    tx,
    organizations.filter((organization) => !reads.isLocked(organization)),
  );
  // Statements are sent in the order in which they are created.
  const before = [
    ...beginTotals(tx, organizationsOf([...held, ...links])),
    ...(taken.length === 0 ? [] : [take(tx, taken)]),
    ...(held.length === 0 ? [] : [hold(tx, held)]),
  ];
  const dropping = held.length === 0 ? undefined : dropOldestOf(tx, held);
  const emptied = forgetEmpty(tx, organizationsOf([...taken, ...held]));
  const linking = links.length === 0 ? undefined : linkStatements(tx, links, { nowMs, maxWaiting: maxLinks });
  await inOrder([
    ...before,
    ...(dropping === undefined ? [] : [dropping]),
    ...emptied,
    ...(linking === undefined ? [] : [...linking.before, linking.added]),
    ...writeLabels(tx, writes.labels),
  ]);
  const dropped = dropping === undefined ? [] : await dropping;
  for (const { organization, bodies } of dropped) {
    await runOn(tx, forgetIdsOfDropped(organization, bodies.map(restored)));
  }
  const unlinked = linking === undefined ? [] : await linking.added;
  return [
    ...dropped.map(({ organization, items }) => heldEventWarning(organization, "held_full", items, nowMs)),
    ...refused.map(({ organization, message }) =>
      heldEventWarning(organization, "held_refused", 1, nowMs, message),
    ),
    ...unlinked.map((refusal) => heldEventWarning(refusal.organization, "links_full", refusal.links, nowMs)),
  ];
}

/** Deletes the rows of people without held events. */
function forgetEmpty(tx: Tx, organizations: readonly number[]): Statement<readonly object[]>[] {
  if (organizations.length === 0) return [];
  return [
    tx`DELETE FROM held_event_people WHERE organization = ANY (${organizations}::bigint[]) AND items = 0`,
  ];
}

/** Sends the statements at once. The server runs them one after another. */
export async function inOrder(statements: readonly Statement<readonly object[]>[]): Promise<void> {
  await Promise.all(statements.map((statement) => statement.execute()));
}

/** @param changes a statement that returns organization, person, and the change of items and bytes; of
 * dropped items also the body */
function change(tx: Tx, changes: Statement<readonly object[]>, dropped?: "full") {
  return tx<DroppedItems[]>`
    WITH changed AS (${changes}), people AS (
      INSERT INTO held_event_people AS stored (organization, person, items, bytes)
      SELECT organization, person, sum(items), sum(bytes) FROM changed
      GROUP BY organization, person ORDER BY organization, person
      ON CONFLICT (organization, person) DO UPDATE SET
        items = stored.items + excluded.items, bytes = stored.bytes + excluded.bytes)
    UPDATE held_event_totals AS stored SET items = stored.items + added.items, bytes = stored.bytes + added.bytes,
      dropped_full = dropped_full - ${dropped === "full" ? tx`added.items` : tx`0`}
    FROM (SELECT organization, sum(items)::bigint AS items, sum(bytes)::bigint AS bytes,
        ${dropped === "full" ? tx`array_agg(body)` : tx`'{}'::text[]`} AS bodies
      FROM changed GROUP BY organization) AS added
    WHERE stored.organization = added.organization
    RETURNING stored.organization, -added.items AS items, added.bodies`;
}

/** People as a table for a statement: `(organization, person)`. */
function tableOfPeople(queries: Queries, people: readonly PersonKey[]) {
  return tableOfKeys(
    queries,
    people.map((person) => ({ organization: person.organization, id: personText(person) })),
  );
}

function organizationsOf(keys: readonly { readonly organization: number }[]): readonly number[] {
  return [...new Set(keys.map(({ organization }) => organization))];
}

function beginTotals(tx: Tx, organizations: readonly number[]) {
  if (organizations.length === 0) return [];
  return [
    tx`
      INSERT INTO held_event_totals (organization)
      SELECT id FROM unnest(${organizations}::bigint[]) AS given (id) ORDER BY id ON CONFLICT DO NOTHING`,
  ];
}

function take(tx: Tx, people: readonly PersonKey[]) {
  return change(
    tx,
    tx`DELETE FROM held_events AS stored USING ${tableOfPeople(tx, people)} AS wanted (organization, person)
      WHERE stored.organization = wanted.organization AND stored.person = wanted.person
      RETURNING stored.organization, stored.person, -1 AS items, -bytes AS bytes`,
  );
}

function hold(tx: Tx, held: HeldEventWrites["held"]) {
  const rows = held.map(({ kind, id, body, accountId, ...row }) => ({
    ...row,
    person: storable(personText({ kind, id })),
    accountId: accountId === null ? null : storable(accountId),
    bytes: Buffer.byteLength(body),
    body: storable(body),
  }));
  return change(
    tx,
    tx`INSERT INTO held_events (organization, person, received_at_ms, at_ms, account_id, bytes, body)
      SELECT organization, person, "receivedAtMs", "atMs", "accountId", bytes, body
      FROM ROWS FROM (json_to_recordset(${JSON.stringify(rows)}::text::json) AS (organization bigint, person text,
        "receivedAtMs" bigint, "atMs" bigint, "accountId" text, bytes bigint, body text)) WITH ORDINALITY
      ORDER BY ordinality
      RETURNING organization, person, 1 AS items, bytes`,
  );
}

/** Drops the oldest items of each person above the limits. */
function dropOldestOf(tx: Tx, people: readonly PersonKey[]) {
  const unique = [...new Map(people.map((key) => [`${key.organization} ${personText(key)}`, key])).values()];
  return change(
    tx,
    tx`DELETE FROM held_events WHERE id IN (
        SELECT id FROM (
          SELECT items.id, row_number() OVER newest AS place, sum(items.bytes) OVER newest AS bytes
          FROM ${tableOfPeople(tx, unique)} AS wanted (organization, person)
          JOIN held_event_people AS people USING (organization, person)
          JOIN held_events AS items USING (organization, person)
          WHERE people.items > ${limits.heldEvents} OR people.bytes > ${limits.heldEventBytes}
          WINDOW newest AS (PARTITION BY organization, person ORDER BY received_at_ms DESC, items.id DESC)) AS ranked
        WHERE place > ${limits.heldEvents} OR bytes > ${limits.heldEventBytes})
      RETURNING organization, person, -1 AS items, -bytes AS bytes, body`,
    "full",
  );
}

/** Adds as many labels as there is room for. A stored label stays. */
function writeLabels(queries: Queries, labels: HeldEventWrites["labels"]): Statement<readonly object[]>[] {
  if (labels.length === 0) return [];
  const rows = labels.map(({ organization, event, label }) => ({
    organization,
    event: storable(event),
    label: storable(label),
  }));
  return [
    queries`
      INSERT INTO event_labels (organization, event, label)
      SELECT organization, event, label FROM (
        SELECT organization, event, label, row_number() OVER (PARTITION BY organization ORDER BY ordinality) AS place
        FROM ROWS FROM (json_to_recordset(${JSON.stringify(rows)}::text::json)
          AS (organization bigint, event text, label text)) WITH ORDINALITY) AS given
      WHERE place + (SELECT count(*) FROM event_labels AS known WHERE known.organization = given.organization)
        <= ${limits.eventLabels}
      ORDER BY organization, event
      ON CONFLICT DO NOTHING`,
  ];
}
