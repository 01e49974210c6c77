/**
 * The inbox's part of an erasure. No row is ever changed or deleted by itself. When an erasure begins, the segment that
 * may have rows of the user is sealed. When it is loaded, it is dropped at once, before its hour is over.
 */

import type { Erasure } from "../../ports/erasures.ts";
import { withinBytes } from "../../rules/rejected-event-facts.ts";
import { beginningOfRow } from "../../rules/user-rows.ts";
import type { Sql } from "../client/connect.ts";
import { inTransaction } from "../client/transaction.ts";
import { unfinishedBatches } from "./inbox.ts";
import { positionOf } from "./inbox-counts.ts";
import { dropSegments, tableOf } from "./inbox-segments.ts";

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

/** The number of rows of a user, or of an account itself, in these segments. */
export async function countErasedRows(
  sql: Sql,
  { organization, user, account }: Pick<Erasure, "organization" | "user" | "account">,
  { uptoSegment }: Pick<ErasedRows, "uptoSegment">,
): Promise<number> {
  const segments = await sql<{ segment: number }[]>`
    SELECT segment FROM inbox_segments WHERE segment <= ${uptoSegment} ORDER BY segment`;
  // Every line comes after the end of another, or at the beginning.
  const beginning = `\n${beginningOfRow(organization, user > 0 ? user : account)}`;
  let rows = 0;
  for (const { segment } of segments) {
    for (let after = 0; ; ) {
      const next = await sql<{ seq: number; bytes: number }[]>`
        SELECT seq, bytes FROM ${sql(tableOf(segment))} WHERE seq > ${after} ORDER BY seq LIMIT ${readAtOnce}`;
      const last = withinBytes(next, readAtOnceBytes).at(-1);
      if (last === undefined) break;
      const [step] = await sql<{ rows: number }[]>`
        SELECT coalesce(sum(
            (length(lines) - length(replace(lines, ${beginning}::text, ''))) / length(${beginning}::text)
          ), 0)::bigint AS rows
        FROM (SELECT E'\\n' || body AS lines FROM ${sql(tableOf(segment))}
              WHERE seq > ${after} AND seq <= ${last.seq}
                AND (warehouse_table = 'accounts') = ${account > 0}) AS bodies`;
      rows += step?.rows ?? 0;
      after = last.seq;
    }
  }
  return rows;
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
