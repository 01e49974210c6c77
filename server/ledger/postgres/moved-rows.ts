/** Copies the rows of a table from SQLite to PostgreSQL, and compares counts and sums of both sides. */
import { Refusal } from "../../../contract/refusal.ts";
import type { MovingOut, StoredRow, StoredValue } from "../sqlite/moving-out.ts";
import type { MovedTable } from "../tables.ts";
import type { Queries, Tx } from "./connect.ts";
import { storable } from "./text.ts";

/** Limits of one statement. */
const sentAtOnce = { rows: 5_000, characters: 4 * 1024 * 1024 };

/** For each column the number of its values, and their sum: of texts the sum of their bytes, of fractions
 * that of their whole parts, which is the same in any order. */
type Sums = Map<string, { values: bigint; sum: bigint }>;

type Value = string | number | null;

/**
 * Copies a table, and compares PostgreSQL's rows with SQLite's.
 * @param progress called with the number of copied rows so far
 * @returns the number of rows
 * @throws Refusal when the two differ, or PostgreSQL lacks a column
 */
export async function moveTable(
  tx: Tx,
  source: MovingOut,
  table: MovedTable,
  progress: (rows: number) => void,
): Promise<number> {
  const added = Object.keys(table.with ?? {});
  const columns = [...source.columns(table.name), ...added].filter(
    (name) => table.without?.includes(name) !== true,
  );
  const sums: Sums = new Map(columns.map((name) => [name, { values: 0n, sum: 0n }]));
  let rows = 0;
  let waiting: string[] = [];
  let characters = 0;
  const send = async () => {
    await insert(tx, table.name, columns, `[${waiting.join(",")}]`);
    rows += waiting.length;
    waiting = [];
    characters = 0;
    progress(rows);
  };
  for (const stored of source.rows(table.name)) {
    const text = JSON.stringify(rowOf(stored, table, columns, sums));
    waiting.push(text);
    characters += text.length;
    if (waiting.length >= sentAtOnce.rows || characters >= sentAtOnce.characters) await send();
  }
  if (waiting.length > 0) await send();
  await compare(tx, table.name, { rows: source.count(table.name), sums });
  return rows;
}

function rowOf(stored: StoredRow, table: MovedTable, columns: readonly string[], sums: Sums) {
  const row: Record<string, Value> = {};
  for (const name of columns) {
    const value = movedValue(
      stored[name] ?? table.with?.[name] ?? null,
      table.encoded?.includes(name) === true,
    );
    row[name] = value;
    const sum = sums.get(name);
    if (value === null || sum === undefined) continue;
    sum.values += 1n;
    sum.sum += BigInt(typeof value === "number" ? Math.floor(value) : Buffer.byteLength(value));
  }
  return row;
}

function movedValue(value: StoredValue, isEncoded: boolean): Value {
  if (value instanceof Uint8Array) throw new Error("A column of bytes is moved in a way of its own.");
  return isEncoded && typeof value === "string" ? storable(value) : value;
}

/** The columns get the types of PostgreSQL's table: 0 and 1 become booleans in a boolean column. */
function insert(tx: Tx, table: string, columns: readonly string[], rows: string) {
  return tx`
    INSERT INTO ${tx(table)} (${listOf(tx, columns)}) OVERRIDING SYSTEM VALUE
    SELECT ${listOf(tx, columns)} FROM json_populate_recordset(NULL::${tx(table)}, ${rows}::text::json)`;
}

function listOf(queries: Queries, columns: readonly string[]) {
  const [first = "", ...others] = columns;
  return others.reduce((list, name) => queries`${list}, ${queries(name)}`, queries`${queries(first)}`);
}

/** @throws Refusal when PostgreSQL's table differs from the rows that were read. */
async function compare(
  tx: Tx,
  table: string,
  { rows, sums }: { readonly rows: number; readonly sums: Sums },
): Promise<void> {
  const types = await tx<{ name: string; type: string }[]>`
    SELECT column_name AS name, data_type AS type FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = ${table}`;
  const [counted] = await tx<{ rows: number }[]>`SELECT count(*) AS rows FROM ${tx(table)}`;
  if (counted?.rows !== rows) throw differs(table, `${counted?.rows} rows instead of ${rows}`);
  for (const { name, type } of types) {
    const expected = sums.get(name);
    if (expected === undefined) continue;
    const column = tx(name);
    const summed = summedAs(tx, type, column);
    const [found] = await tx<{ values: string; sum: string }[]>`
      SELECT count(${column})::text AS values, coalesce(sum(${summed}), 0)::text AS sum FROM ${tx(table)}`;
    if (found?.values === String(expected.values) && found.sum === String(expected.sum)) continue;
    throw differs(
      table,
      `${found?.values} values of ${name} with the sum ${found?.sum} instead of ${expected.values} with ${expected.sum}`,
    );
  }
}

function summedAs(tx: Tx, type: string, column: ReturnType<Tx>) {
  if (type === "text") return tx`octet_length(${column})`;
  if (type === "boolean") return tx`${column}::integer`;
  return type === "double precision" ? tx`floor(${column})::numeric` : tx`${column}`;
}

function differs(table: string, how: string): Refusal {
  return new Refusal(`PostgreSQL has ${how} in ${table}: nothing was moved. The installation is as it was.`);
}
