/** The table of rejected events. The inbox writes it, and erasures delete from it. A transaction that changes it holds its
 * lock until the commit, so that no letter is read twice. Such changes are rare. */

import type { DeadLetter } from "../../ports/inbox.ts";
import {
  type BuriedLetter,
  bytesOfRow,
  countsOfUser,
  type DeadLetterLimits,
  factsOf,
  refuseFull,
} from "../../rules/dead-letter-facts.ts";
import { beginningOfRow } from "../../rules/user-rows.ts";
import type { Tx } from "../client/connect.ts";
import { storable } from "../client/text.ts";

interface Batch {
  readonly number: number;
  readonly year: number;
  readonly schema: number;
}

/** The text of one statement. Its JSON may be several times as long. */
const buriedAtOnceBytes = 8 * 1024 * 1024;

/** Locks the table for changes. Readers do not wait for it. */
export function lockDeadLetters(tx: Tx): Promise<unknown> {
  return tx`LOCK TABLE dead_letters IN SHARE ROW EXCLUSIVE MODE`.execute();
}

/** Stores the rejected rows of a batch, inside the caller's transaction. @throws Refusal when there is no room. */
export async function bury(
  tx: Tx,
  batch: Batch,
  letters: readonly DeadLetter[],
  { limits, nowMs }: { readonly limits: DeadLetterLimits; readonly nowMs: number },
): Promise<void> {
  if (letters.length === 0) return;
  await lockDeadLetters(tx);
  const [kept] = await tx<{ rows: number; bytes: number }[]>`
    SELECT count(*) AS rows, coalesce(sum(bytes), 0)::bigint AS bytes FROM dead_letters`;
  refuseFull(letters, kept ?? { rows: 0, bytes: 0 }, limits);
  let rows: unknown[] = [];
  let bytes = 0;
  for (const { table, row, reason } of letters) {
    const facts = factsOf(table, batch.schema, row);
    const letterBytes = bytesOfRow(row);
    rows.push({ ...facts, table, bytes: letterBytes, row: storable(row), reason: storable(reason) });
    bytes += letterBytes;
    if (bytes < buriedAtOnceBytes) continue;
    await insert(tx, batch, rows, nowMs);
    rows = [];
    bytes = 0;
  }
  if (rows.length > 0) await insert(tx, batch, rows, nowMs);
}

function insert(tx: Tx, { number, year, schema }: Batch, rows: readonly unknown[], nowMs: number) {
  return tx`
    INSERT INTO dead_letters (at_ms, batch, year, schema, warehouse_table, row, reason, bytes, organization, utc_day,
      checksum, number, version)
    SELECT ${nowMs}::bigint, ${number}::bigint, ${year}::integer, ${schema}::integer, "table", "row", reason, bytes,
      organization, "utcDay", checksum, number, version
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS given ("table" text, "row" text, reason text,
      bytes bigint, organization bigint, "utcDay" integer, checksum bigint, number bigint, version bigint)`;
}

/** Deletes the rejected events of a user, and the stored versions of dropped ones, inside the caller's transaction.
 * @returns their counts */
export async function takeLettersOfUser(
  tx: Tx,
  { organization, user }: { readonly organization: number; readonly user: number },
) {
  await lockDeadLetters(tx);
  const beginning = beginningOfRow(organization, user);
  // A row without a readable organization and user is recognized by its beginning.
  const taken = await tx<Pick<BuriedLetter, "table" | "organization" | "utcDay" | "checksum" | "version">[]>`
    DELETE FROM dead_letters
    WHERE organization IN (0, ${organization}) AND warehouse_table <> 'accounts'
      AND (organization = ${organization} AND number = ${user} OR starts_with(row, ${beginning}))
    RETURNING warehouse_table AS "table", organization, utc_day AS "utcDay", checksum, version`;
  await tx`
    DELETE FROM dropped_versions
    WHERE organization = ${organization} AND warehouse_table = 'users' AND number = ${user}`;
  return { count: taken.length, ...countsOfUser(organization, taken) };
}
