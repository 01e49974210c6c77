/** How the rows of a frozen batch are read: the same bytes every time, whichever process asks. */
import type { Database, Statement } from "bun:sqlite";
import type { FrozenBatch } from "../../ports/inbox.ts";

export interface StoredBody {
  readonly rows: number;
  readonly body: Uint8Array;
}

type Range = [afterInboxId: number, uptoInboxId: number, table: string, year: number, schema: number];

const newline = "\n".charCodeAt(0);

/** Bodies come as bytes: as text each would be decoded and encoded again on its way to the warehouse. */
export function prepareRead(db: Database): Statement<StoredBody, Range> {
  return db.prepare(
    `SELECT rows, CAST(body AS BLOB) AS body FROM inbox
     WHERE id > ? AND id <= ? AND warehouse_table = ? AND year = ? AND schema = ? ORDER BY id`,
  );
}

/**
 * The rows of a frozen batch, one JSON array a line, every line ended.
 * @throws Error when they are not all there: a batch must never be sent with other rows under its token.
 */
export function readBatch(read: Statement<StoredBody, Range>, batch: FrozenBatch): Buffer {
  const { afterInboxId, uptoInboxId, table, year, schema } = batch;
  const stored = read.all(afterInboxId, uptoInboxId, table, year, schema);
  const parts: Uint8Array[] = [];
  let rows = 0;
  for (const { rows: rowsOfBody, body } of stored) {
    parts.push(body);
    if (body.at(-1) !== newline) parts.push(Uint8Array.of(newline));
    rows += rowsOfBody;
  }
  const bytes = Buffer.concat(parts);
  if (rows !== batch.rows || bytes.length !== batch.bytes) {
    throw new Error(
      `Batch ${batch.number} was frozen with ${batch.rows} rows in ${batch.bytes} bytes, and the inbox ` +
        `holds ${rows} rows in ${bytes.length} bytes of it.`,
    );
  }
  return bytes;
}

/** A body whose last line is ended, so that another can follow. */
export function endedBody(body: string): string {
  return body.endsWith("\n") ? body : `${body}\n`;
}

/** Bytes of a body as `readBatch` gives them. */
export function bytesOfBody(body: string): number {
  return Buffer.byteLength(body) + (body.endsWith("\n") ? 0 : 1);
}
