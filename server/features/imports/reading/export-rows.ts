/** The rows of an export: JSON lines, Parquet, or the CSV and the lists of Stripe. */
import { readFileSync, statSync } from "node:fs";
import { isJsonObject, type JsonObject } from "../../../../contract/json.ts";
import { isInvalid, parseJson, whyTooDeep } from "../../../intake/admission/json.ts";
import { keptValue, mayLoseValues } from "../../../intake/admission/kept-values.ts";
import { NumberTexts } from "../../../intake/admission/number-texts.ts";
import type { ExportTool } from "../../../sources/exports/exports.ts";
import type { Counter } from "./bytes.ts";
import { delimiterOf } from "./delimiter.ts";
import { exportContent, type Packing, packingOf } from "./export-content.ts";
import type { ImportFile } from "./file.ts";
import { jsonRows } from "./lines.ts";
import type { Row, RowSource } from "./row.ts";
import { openRows } from "./source.ts";

/** A list of objects is parsed as a whole. */
const maxListBytes = 64 * 1024 * 1024;

/** How an export is written. */
export interface ExportForm {
  readonly packing: Packing;
  readonly format: "lines" | "list" | "csv" | "parquet";
  /** Of CSV. */
  readonly delimiter: string;
}

/** How a file is written: by its first bytes, and by its name. */
export async function exportFormOf(file: ImportFile, tool: ExportTool): Promise<ExportForm> {
  const packing = packingOf(file.path);
  const format = formatOf(file, tool, packing);
  const gzip = packing === "gzip";
  return {
    packing,
    format,
    delimiter: format === "csv" ? await delimiterOf(file, { gzip, header: true }) : ",",
  };
}

function formatOf(file: ImportFile, tool: ExportTool, packing: Packing): ExportForm["format"] {
  const name = file.name.toLowerCase().replace(/\.gz$/, "");
  if (packing === "plain" && name.endsWith(".parquet")) return "parquet";
  if (tool !== "stripe") return "lines";
  if (/\.(csv|tsv)$/.test(name) && packing !== "zip") return "csv";
  const mayBeList = packing === "plain" && file.bytes <= maxListBytes;
  return mayBeList && listIn(file.path) !== undefined ? "list" : "lines";
}

/** The rows of the file, from its begin. */
export function openExport(file: ImportFile, { packing, format, delimiter }: ExportForm): RowSource {
  if (format === "csv" || format === "parquet") {
    const reading = { path: file.path, format, gzip: packing === "gzip", delimiter, header: true };
    return openRows(reading, file.bytes);
  }
  const counter: Counter = { bytes: 0 };
  const rows =
    format === "list" ? rowsOfList(file.path) : jsonRows(exportContent(file.path, packing, counter));
  return {
    [Symbol.asyncIterator]: () => rows[Symbol.asyncIterator](),
    fractionRead: () => (file.bytes === 0 ? 0 : counter.bytes / file.bytes),
  };
}

/** The objects of `[…]` or of Stripe's `{"object":"list","data":[…]}`. */
function listIn(path: string): { readonly list: readonly unknown[]; readonly text: string } | undefined {
  const parsed = statSync(path).size > maxListBytes ? undefined : parseJson(readFileSync(path));
  if (parsed === undefined || isInvalid(parsed)) return undefined;
  const { value, text } = parsed;
  if (Array.isArray(value)) return { list: value, text };
  const isList = isJsonObject(value) && value.object === "list" && Array.isArray(value.data);
  return isList ? { list: value.data as unknown[], text } : undefined;
}

async function* rowsOfList(path: string): AsyncIterable<Row> {
  const { list, text } = listIn(path) ?? { list: [], text: "" };
  const mayBeLost = mayLoseValues(text);
  const isBare = /^\s*\[/.test(text.slice(0, 100));
  const numbers = mayBeLost ? NumberTexts.lost(text).below(...(isBare ? [] : ["data"])) : undefined;
  for (const [index, element] of list.entries()) {
    const line = index + 1;
    const tooDeep = mayBeLost ? whyTooDeep(element) : undefined;
    if (tooDeep !== undefined) yield { line, unreadable: tooDeep.invalid };
    else {
      const { value, changed } =
        numbers === undefined ? { value: element, changed: [] } : keptValue(element, numbers.below(index));
      if (isJsonObject(value))
        yield { line, columns: Object.keys(value), cells: Object.values(value), changed };
      else yield { line, unreadable: "element is not a JSON object: send a list of objects." };
    }
  }
}

/** A row as an object. Cells without a value are not in it. */
export function objectOfRow({
  columns,
  cells,
}: {
  readonly columns: readonly string[];
  readonly cells: readonly unknown[];
}): JsonObject {
  return Object.fromEntries(
    columns.flatMap((name, index) => (cells[index] === undefined ? [] : [[name, cells[index]]])),
  );
}
