/**
 * The inbox's part of an erasure. No row is ever changed or deleted by itself. When an erasure begins, the
 * segment that may have rows of the user is sealed. When it is loaded, it is dropped at once, before its hour
 * is over.
 */

import type { Erasure } from "../erasures.ts";
import { withinBytes } from "../rules/rejected-event-facts.ts";
import { beginningOfRow } from "../rules/user-rows.ts";
import type { Sql } from "./connect.ts";
import { unfinishedBatches } from "./inbox.ts";
import { positionOf } from "./inbox-counts.ts";
import { dropSegments, tableOf } from "./inbox-segments.ts";
import { inTransaction } from "./transaction.ts";

/** Bodies that one statement reads. A statement has 30 s. */
const readAtOnce = 2_000;
const readAtOnceBytes = 64 * 1024 * 1024;
/** The longest wait for a table that another session has open. */
const dropPatienceMs = 1_000;

/** The rows that an erasure will delete: up to this inbox id, in segments up to this one. */
export interface ErasedRows {
  readonly uptoInboxId: number;
  readonly uptoSegment: number;
}

/** The number of rows of users, or of accounts themselves, in segments up to this one, by the erasure's
 * id. */
export async function countErasedRows(
  sql: Sql,
  erasures: readonly Pick<Erasure, "id" | "organization" | "user" | "account">[],
  uptoSegment: number,
): Promise<ReadonlyMap<number, number>> {
  const idOf = new Map(
    erasures.map(({ id, organization, user, account }) => [
      beginningOfRow(organization, user > 0 ? user : account),
      id,
    ]),
  );
  const isOfAccounts = erasures.some(({ account }) => account > 0);
  const segments = await sql<{ segment: number }[]>`
    SELECT segment FROM inbox_segments WHERE segment <= ${uptoSegment} ORDER BY segment`;
  const counted = new Map<number, number>();
  for (const { segment } of segments) {
    for (let after = 0; ; ) {
      const next = await sql<{ seq: number; bytes: number }[]>`
        SELECT seq, bytes FROM ${sql(tableOf(segment))} WHERE seq > ${after} ORDER BY seq LIMIT ${readAtOnce}`;
      const last = withinBytes(next, readAtOnceBytes).at(-1);
      if (last === undefined) break;
      const found = await sql<{ beginning: string; rows: number }[]>`
        SELECT beginning, count(*) AS rows
        FROM (
          SELECT split_part(line, ',', 1) || ',' || split_part(line, ',', 2) || ',' AS beginning
          FROM ${sql(tableOf(segment))}, LATERAL string_to_table(body, E'\\n') AS line
          WHERE seq > ${after} AND seq <= ${last.seq} AND (warehouse_table IN ('accounts', 'account_versions')) = ${isOfAccounts}) AS lines
        WHERE beginning = ANY(${[...idOf.keys()]}::text[]) GROUP BY beginning`;
      for (const { beginning, rows } of found) {
        const id = idOf.get(beginning) ?? 0;
        counted.set(id, (counted.get(id) ?? 0) + rows);
      }
      after = last.seq;
    }
  }
  return counted;
}

/** Removes an erasure's segments from the inbox and drops them: at once, or when no session has them open.
 * @throws Error while rows in them are not loaded. */
export async function dropErased(sql: Sql, { uptoInboxId, uptoSegment }: ErasedRows): Promise<void> {
  await inTransaction(sql, async (tx) => {
    const position = await positionOf(tx, "for update");
    const [oldest] = await unfinishedBatches(tx);
    if (uptoInboxId > (oldest?.afterInboxId ?? position.inboxId)) {
      throw new Error("rows before an erasure are not loaded yet");
    }
    await tx`
      UPDATE inbox_position SET segment = (SELECT min(segment) FROM inbox_segments WHERE segment > ${uptoSegment})
      WHERE segment <= ${uptoSegment}`;
    await tx`DELETE FROM frozen_batches WHERE segment <= ${uptoSegment}`;
  });
  await dropSegments(sql, dropPatienceMs);
}
