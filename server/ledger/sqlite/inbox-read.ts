/** Reads the rows of a frozen batch. The bytes are the same every time and in every process. */
import type { Database, Statement } from "bun:sqlite";
import type { FrozenBatch } from "../inbox.ts";

export interface StoredBody {
  readonly rows: number;
  readonly body: Uint8Array;
}

type Range = [afterInboxId: number, uptoInboxId: number, table: string, year: number, schema: number];

const newline = "\n".charCodeAt(0);

/** Bodies are read as bytes. As text, each would be decoded and encoded again before the warehouse gets
 * it. */
export function prepareRead(db: Database): Statement<StoredBody, Range> {
  return db.prepare(
    `SELECT rows, CAST(body AS BLOB) AS body FROM inbox
     WHERE id > ? AND id <= ? AND warehouse_table = ? AND year = ? AND schema = ? ORDER BY id`,
  );
}

/**
 * The rows of a frozen batch, one JSON array a line, each with an end of line.
 * @throws Error when a row is missing: a batch must never be sent with other rows under its token.
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

/** A body with an end of line after its last line, so that another body can follow. */
export function endedBody(body: string): string {
  return body.endsWith("\n") ? body : `${body}\n`;
}

/** The size of a body in the result of `readBatch`. */
export function bytesOfBody(body: string): number {
  return Buffer.byteLength(body) + (body.endsWith("\n") ? 0 : 1);
}
