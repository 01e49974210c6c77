/**
 * Brings one frozen batch into the warehouse, except rows that the engine cannot read. Those are found by
 * halving and become rejected events, each with its reason.
 *
 * The halves' tokens are made from the batch's number and the rows' positions, and an unreadable batch or
 * half stores nothing. So the same batch, sent again after a crash at any point, is halved in the same way,
 * and no row is stored twice.
 */
import type { FrozenBatch, RejectedEvent } from "../../ledger/inbox.ts";
import { type FrozenRows, WarehouseError } from "../engine/warehouse.ts";

/** The closed list of ClickHouse codes that only a row's content can cause. Other errors (memory, disk, too
 * many parts, time) do not blame the rows, which are kept and sent again. */
const rowErrorCodes: ReadonlySet<number> = new Set([
  6, // CANNOT_PARSE_TEXT
  25, // CANNOT_PARSE_ESCAPE_SEQUENCE
  26, // CANNOT_PARSE_QUOTED_STRING
  27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  32, // ATTEMPT_TO_READ_AFTER_EOF
  38, // CANNOT_PARSE_DATE
  41, // CANNOT_PARSE_DATETIME
  53, // TYPE_MISMATCH
  69, // ARGUMENT_OUT_OF_BOUND
  70, // CANNOT_CONVERT_TYPE
  72, // CANNOT_PARSE_NUMBER
  117, // INCORRECT_DATA
  130, // CANNOT_READ_ARRAY_FROM_TEXT
  131, // TOO_LARGE_STRING_SIZE
  321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  376, // CANNOT_PARSE_UUID
  467, // CANNOT_PARSE_BOOL
]);

/** Inserts rows under a token. An error that does not blame the rows ends the batch's insert, which may
 * simply be repeated. */
type InsertFrozen = (rows: FrozenRows) => Promise<void>;

/** Inserts a batch's rows; resolves with those that cannot be. */
export async function insertBatch(
  insert: InsertFrozen,
  batch: FrozenBatch,
  body: Buffer,
): Promise<RejectedEvent[]> {
  const error = await tryInsert(insert, batch, batch.rows, body, String(batch.number));
  if (error === undefined) return [];
  const lines = splitLines(body);
  return insertHalves(insert, batch, lines, 0, error);
}

/** Inserts rows `from` and following of a batch in two halves, after all of them together failed. */
async function insertHalves(
  insert: InsertFrozen,
  batch: FrozenBatch,
  lines: readonly Buffer[],
  from: number,
  reason: WarehouseError,
): Promise<RejectedEvent[]> {
  if (lines.length <= 1) {
    const row = Buffer.concat(lines).toString().trimEnd();
    return [{ table: batch.table, row, reason: firstLine(reason.message) }];
  }
  const middle = lines.length >> 1;
  const rejectedEvents: RejectedEvent[] = [];
  for (const [start, end] of [
    [0, middle],
    [middle, lines.length],
  ] as const) {
    const half = lines.slice(start, end);
    const token = `${batch.number}:${from + start}-${from + end}`;
    const error = await tryInsert(insert, batch, half.length, Buffer.concat(half), token);
    if (error !== undefined) {
      rejectedEvents.push(...(await insertHalves(insert, batch, half, from + start, error)));
    }
  }
  return rejectedEvents;
}

/** Inserts; resolves with the error when the rows are to blame for it, and rejects with any other. */
async function tryInsert(
  insert: InsertFrozen,
  { table, schema }: FrozenBatch,
  rows: number,
  body: Buffer,
  token: string,
): Promise<WarehouseError | undefined> {
  try {
    await insert({ table, schema, rows, body, token });
    return undefined;
  } catch (error) {
    if (isRowError(error)) return error;
    throw error;
  }
}

/** Whether a row's content caused the error. */
function isRowError(error: unknown): error is WarehouseError {
  return error instanceof WarehouseError && rowErrorCodes.has(error.code);
}

function splitLines(body: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  while (start < body.length) {
    const newline = body.indexOf(10, start);
    const end = newline === -1 ? body.length : newline + 1;
    lines.push(body.subarray(start, end));
    start = end;
  }
  return lines;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
