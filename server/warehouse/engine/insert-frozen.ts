/** Inserts of frozen rows, for both engines. */
import { columns } from "../../ledger/rules/warehouse-rows.ts";
import type { FrozenRows } from "./warehouse.ts";

/**
 * The names of the rows' columns, in their order. @throws TypeError when the rows do not match their
 * description
 */
export function columnsOfFrozen({ table, schema, rows, body, token }: FrozenRows): readonly string[] {
  const names = columns[table][schema - 1];
  if (names === undefined) throw new TypeError(`Rows of ${table} have the unknown schema ${schema}`);
  if (token === "") throw new TypeError("Frozen rows need a token");
  const lines = countLines(body);
  if (lines !== rows) throw new TypeError(`${rows} rows of ${table} were promised, ${lines} came`);
  return names;
}

/** The settings of such an insert. Some set the engine's present default, because it changed in 26.2 and
 * 26.3. */
export function frozenInsertSettings({ rows, token }: Pick<FrozenRows, "rows" | "token">) {
  return {
    async_insert: 0,
    // The first applies since 26.2; the second where an administrator chose its "backward_compatible_choice".
    deduplicate_insert: "enable",
    insert_deduplicate: 1,
    deduplicate_blocks_in_dependent_materialized_views: 1,
    insert_deduplication_token: token,
    // One block of any size: then a row that cannot be read means that no row was written.
    input_format_parallel_parsing: 0,
    max_insert_block_size: rows,
    max_insert_block_size_bytes: 0,
    input_format_null_as_default: 0,
    max_execution_time: 0,
  };
}

/** The settings of an `INSERT … SELECT … ORDER BY ALL` of at most a million rows. They are written as one
 * block, which is stored once, however often the statement runs.
 * @param token names the rows, without text of a user */
export function deduplicatedSelect(token: string): string {
  const settings = {
    deduplicate_insert: "'enable'",
    deduplicate_insert_select: "'force_enable'",
    insert_deduplicate: 1,
    insert_deduplication_token: `'${token}'`,
    max_insert_threads: 1,
    max_threads: 1,
    max_block_size: 1_000_000,
    min_insert_block_size_rows: 1_000_000,
    min_insert_block_size_bytes: 0,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}`)
    .join(", ");
}

/** Settings of a statement that must not be taken for a repetition of another one because its rows are equal.
 * Since 26.2 `insert_deduplicate = 0` is not enough: two equal `INSERT … SELECT … ORDER BY ALL` stored
 * one. */
export const neverDeduplicated = {
  deduplicate_insert: "disable",
  deduplicate_insert_select: "disable",
} as const;

function countLines(body: Buffer): number {
  let lines = 0;
  for (let at = body.indexOf(10); at !== -1; at = body.indexOf(10, at + 1)) lines += 1;
  return lines;
}
