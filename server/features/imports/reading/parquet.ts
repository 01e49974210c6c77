/**
 * Parquet, read by the embedded engine as JSON lines, in a temporary folder of its own: it does not touch the
 * installation's warehouse.
 *
 * Times come in UTC with a Z. Integers and decimals that a JSON number cannot hold exactly come as text, and
 * bytes that are not UTF-8 as base64. NULL is not sent.
 */
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Session } from "chdb";
import { Refusal } from "../../../../contract/refusal.ts";
import { sessionOpener } from "../../../warehouse/engine/sessions.ts";
import type { Counter } from "./bytes.ts";
import { type Reading, type Row, utf8 } from "./row.ts";

const memoryBytes = 1_500_000_000;

// One thread and one order: a resumed import skips as many rows as were stored.
const settings = [
  "max_threads = 1",
  "input_format_parquet_preserve_order = 1",
  "max_block_size = 8192",
  "date_time_output_format = 'iso'",
  "output_format_json_validate_utf8 = 1",
  "output_format_json_quote_denormals = 0",
].join(", ");

/** The rows; `total` gets their number. @throws Refusal when the file is no Parquet */
export async function* parquetRows(
  { path }: Reading,
  counter: Counter & { total: number },
): AsyncIterable<Row> {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-parquet-"));
  const session = sessionOpener(await import("chdb"), join(folder, "engine"), memoryBytes)();
  try {
    // The engine would take *, ? and {} in a name for patterns.
    const link = join(folder, "input.parquet");
    symlinkSync(realpathSync(path), link);
    const from = `file('${link.replace(/[\\']/g, "\\$&")}', 'Parquet')`;
    const columns = await linesOf<Column>(session, `DESCRIBE TABLE ${from}`);
    const [counted] = await linesOf<{ rows: number }>(session, `SELECT count() AS rows FROM ${from}`);
    counter.total = Number(counted?.rows ?? 0);
    const selected = columns.map(({ name, type }) => select(name, type)).join(", ");
    yield* rowsOf(session, `SELECT ${selected} FROM ${from} SETTINGS ${settings}`, counter);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`the Parquet file cannot be read: ${reasonOf(error)}`);
  } finally {
    session.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The engine's message: the first line after the headings. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const lines = error.message.split("\n").filter((line) => line !== "");
  return lines.find((line) => !line.endsWith("Error:")) ?? error.message;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

async function linesOf<Line>(session: Session, sql: string): Promise<Line[]> {
  const text = (await session.queryAsync(sql, { format: "JSONEachRow" })).text();
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
}

function select(name: string, type: string): string {
  const quoted = `\`${name.replace(/[\\`]/g, "\\$&")}\``;
  if (!/^(LowCardinality\()?(Nullable\()?(String|FixedString\(\d+\))\)*$/.test(type)) return quoted;
  return `if(isValidUTF8(toString(${quoted})), toString(${quoted}), base64Encode(toString(${quoted}))) AS ${quoted}`;
}

async function* rowsOf(session: Session, sql: string, counter: Counter): AsyncIterable<Row> {
  let rest = Buffer.alloc(0);
  let line = 0;
  for await (const chunk of session.queryStream(sql, { format: "JSONEachRow" })) {
    const raw = chunk.raw();
    const bytes = Buffer.concat([rest, Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)]);
    let start = 0;
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, start)) {
      line += 1;
      counter.bytes = line;
      yield parquetRow(line, utf8.decode(bytes.subarray(start, at)));
      start = at + 1;
    }
    rest = bytes.subarray(start);
  }
}

function parquetRow(line: number, text: string): Row {
  const row = JSON.parse(text, exact) as Record<string, unknown>;
  return { line, columns: Object.keys(row), cells: Object.values(row).map((cell) => cell ?? undefined) };
}

function exact(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  return digits(context.source) === digits(String(value)) ? value : context.source;
}

/** The significant digits of a number's text. */
function digits(text: string): string {
  const [mantissa = ""] = text.replace(/^-/, "").split(/[eE]/);
  const all = mantissa.replace(".", "").replace(/^0+/, "");
  return all.replace(/(?<!0)0+$/, "");
}
