/** Tables of the JSON API as CSV: whole unless a limit is asked for, with the columns that are asked for. */
import type { Route } from "../../../contract/api/route.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { traitKeys } from "../../analytics/entities/trait-keys.ts";
import { formatDay } from "../../calendar/days.ts";
import { followed } from "../../process/begun.ts";
import { csvChunks } from "../port/csv.ts";
import type { AnyContext, Chunks } from "./context.ts";
import { currencyColumn, moneyColumns, rowInUnits } from "./csv-money.ts";
import { revenueOf } from "./currency.ts";
import { today } from "./days.ts";
import { propertiesOf } from "./request.ts";

/** A route with a table, and what reads its rows. */
interface Table {
  /** Its method and path. */
  readonly name: string;
  readonly route: Route;
  readonly handler: (context: AnyContext) => Promise<unknown>;
  /** All rows of the table. Undefined: they are read page by page with the handler. */
  readonly wholeTable: ((context: AnyContext) => Promise<Chunks>) | undefined;
}

/** Rows that are read together where a table is read in parts. */
const chunkRows = 5_000;
/** The most rows of a table that is read at once. */
const maxRowsAtOnce = 100_000;
/** More traits than this have no column of their own. They share the last column, as JSON. */
const maxTraitColumns = 1_000;
const traitPrefix = "traits.";
const otherTraits = "otherTraits";

/** A route's table as CSV. The first rows are read before this returns, so that an error has its own status.
 * @param sent the parameters of the request
 * @param end called after the last row, or when the client goes away
 * @throws ApiError when a column is not known, or when the table cannot be read */
export async function csvAnswer(
  table: Table,
  context: AnyContext,
  sent: URLSearchParams,
  end: () => void,
): Promise<Response> {
  const { header, money, rowOf, left } = await columnsOf(table.route, context, sent.get("columns"));
  const read = sent.has("limit") ? onePage(table, context) : await wholeTable(table, context);
  const chunks = read[Symbol.asyncIterator]();
  const first = await chunks.next();
  const [row = {}] = first.done === true ? [] : first.value;
  const rows = mapped(followed(first, chunks), (chunk) => chunk.map(rowOf));
  const shown = beforeMoney(
    header.filter((name) => !left.has(name) || name in row),
    money,
  );
  // A person asks by the link of a page, and opens the file in Excel. A read key is a program's.
  const isForPage = context.actor.person !== null;
  return new Response(untilEnd(csvChunks(shown, rows, isForPage), end), {
    headers: {
      "Content-Type": "text/csv; charset=utf-8",
      "Content-Disposition": `attachment; filename="${fileName(context, sent, table.name)}"`,
    },
  });
}

interface Columns {
  readonly header: readonly string[];
  /** Columns of amounts. */
  readonly money: ReadonlySet<string>;
  /** Columns of the header that are left out when rows do not have them: optional fields, unless they are
   * asked for. */
  readonly left: ReadonlySet<string>;
  readonly rowOf: (row: JsonObject) => JsonObject;
}

/** The columns that are asked for, or all of them. A table with traits has a column for each trait. */
async function columnsOf(
  { table, answer }: Route,
  context: AnyContext,
  asked: string | null,
): Promise<Columns> {
  const { items, fields, required } = fieldsOf(table, answer);
  const money = moneyColumns(items);
  const known = fields.includes(currencyColumn) ? fields : beforeMoney(fields, money);
  const hasTraits = known.includes("traits");
  const wanted = asked === null ? undefined : listed(asked);
  const isTrait = (name: string) => hasTraits && name.startsWith(traitPrefix);
  const unknown = wanted?.find((name) => !known.includes(name) && !isTrait(name));
  if (unknown !== undefined || wanted?.length === 0) {
    const names = known.map((name) => (name === "traits" ? `${traitPrefix}NAME` : name)).join(", ");
    throw new ApiError("validation_error", `columns is not valid: send some of ${names}, between commas.`);
  }
  const left = new Set(wanted === undefined ? fields.filter((name) => !required.includes(name)) : []);
  const columns = wanted ?? fields;
  const currency = money.size === 0 ? "" : (await revenueOf(context)).head.reportingCurrency;
  const inUnits = (row: JsonObject) => (money.size === 0 ? row : rowInUnits(row, items, currency));
  if (!hasTraits) return { header: columns, money, left, rowOf: (row) => readable(inUnits(row)) };
  const of = table === "accounts" ? "accounts" : "users";
  const all = wanted === undefined || wanted.includes("traits") ? await allTraits(context, of) : [];
  const isMore = all.length > maxTraitColumns;
  const own = new Set(all.slice(0, maxTraitColumns));
  const ofTraits = [...[...own].map((key) => traitPrefix + key), ...(isMore ? [otherTraits] : [])];
  const header = columns.flatMap((name) => (name === "traits" ? ofTraits : [name]));
  const rowOf = (row: JsonObject) => ({
    ...readable(inUnits(row)),
    ...spreadTraits(row.traits, isMore, own),
  });
  return { header, money, left, rowOf };
}

/** The columns with that of the currency before the first amount. Without an amount there is none. */
function beforeMoney(names: readonly string[], money: ReadonlySet<string>): readonly string[] {
  const at = names.findIndex((name) => money.has(name));
  if (at < 0 || names.includes(currencyColumn)) return names;
  return [...names.slice(0, at), currencyColumn, ...names.slice(at)];
}

function allTraits({ warehouse, organization }: AnyContext, of: "users" | "accounts"): Promise<string[]> {
  return traitKeys(warehouse, { organization: organization.id, limit: maxTraitColumns + 1, of });
}

function spreadTraits(traits: unknown, isMore: boolean, own: ReadonlySet<string>): JsonObject {
  if (!isJsonObject(traits)) return {};
  const pairs = Object.entries(traits);
  const rest = isMore ? pairs.filter(([key]) => !own.has(key)) : [];
  return {
    ...Object.fromEntries(pairs.map(([key, value]) => [traitPrefix + key, value])),
    ...(rest.length > 0 && { [otherTraits]: Object.fromEntries(rest) }),
  };
}

// As many digits as can be read: at least four, and one after the point. Never rounded up, as on the pages.
const digits = new Intl.NumberFormat("en-US", {
  useGrouping: false,
  roundingMode: "trunc",
  roundingPriority: "morePrecision",
  maximumSignificantDigits: 4,
  maximumFractionDigits: 1,
});

/** The figures of a row with few digits. Values that a sender chose stay as they are. */
function readable(row: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "number" && !Number.isInteger(value) ? Number(digits.format(value)) : value,
    ]),
  );
}

/** Names between commas, each percent-encoded where it holds a comma itself. */
function listed(text: string): string[] {
  return text
    .split(",")
    .filter((name) => name !== "")
    .map((name) => {
      try {
        return decodeURIComponent(name);
      } catch {
        return name;
      }
    });
}

/** The fields of a table's rows, and those that every row has. */
function fieldsOf(table: string | undefined, answer: Route["answer"]) {
  const schema = table === undefined ? undefined : propertiesOf(answer)[table];
  const items = isJsonObject(schema) && isJsonObject(schema.items) ? schema.items : {};
  const fields = isJsonObject(items.properties) ? Object.keys(items.properties) : [];
  return { items, fields, required: Array.isArray(items.required) ? items.required : fields };
}

async function* onePage(
  { route, handler }: Table,
  context: AnyContext,
): AsyncGenerator<readonly JsonObject[]> {
  yield rowsIn(route, await handler(context));
}

function rowsIn({ table = "" }: Route, answer: unknown): readonly JsonObject[] {
  const rows = isJsonObject(answer) ? answer[table] : undefined;
  return Array.isArray(rows) ? rows : [];
}

async function wholeTable(table: Table, context: AnyContext): Promise<Chunks> {
  if (table.wholeTable !== undefined) return table.wholeTable(context);
  const parameters = propertiesOf(table.route.query);
  if (!("limit" in parameters)) return onePage(table, context);
  return inParts(table, context, "offset" in parameters, "next" in propertiesOf(table.route.answer));
}

/** Reads a table that has a limit by its own pages: on from `next`, or from an offset. */
async function* inParts(
  { route, handler }: Table,
  context: AnyContext,
  hasOffset: boolean,
  hasNext: boolean,
): AsyncGenerator<readonly JsonObject[]> {
  // A table that cannot be read on is read at once.
  const isReadOn = hasOffset || hasNext;
  const limit = isReadOn ? chunkRows : maxRowsAtOnce + 1;
  const on = "after" in propertiesOf(route.query) ? "after" : "before";
  let query: JsonObject = { ...(context.query as JsonObject), limit };
  for (;;) {
    const answer: unknown = await handler({ ...context, query });
    const rows = rowsIn(route, answer);
    if (!isReadOn && rows.length === limit) throw tooManyRows();
    yield rows;
    const next = isJsonObject(answer) ? answer.next : undefined;
    if (hasNext ? next == null : !hasOffset || rows.length < limit) return;
    query = hasNext ? { ...query, [on]: next } : { ...query, offset: Number(query.offset) + rows.length };
  }
}

function tooManyRows(): ApiError {
  return new ApiError(
    "validation_error",
    `format is not valid: the table has more than ${maxRowsAtOnce} rows. Send a limit, or use JSON.`,
  );
}

async function* mapped<From, To>(chunks: AsyncIterable<From>, map: (chunk: From) => To): AsyncGenerator<To> {
  for await (const chunk of chunks) yield map(chunk);
}

/** Passes bytes on, and calls `end` after the last or when the client goes away. */
export async function* untilEnd(
  chunks: AsyncIterable<Uint8Array>,
  end: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } finally {
    end();
  }
}

/** Parameters by which a file is told from others of the same table. */
const telling = [
  "kind",
  "verdict",
  "healthBand",
  "state",
  "riskBand",
  "account",
  "event",
  "period",
  "cohort",
  "side",
] as const;
const maxNameCharacters = 80;

/** Such as users-at-risk-2026-11-22.csv: the table, its filters, and today in the organization's timezone. */
function fileName(context: AnyContext, sent: URLSearchParams, name: string): string {
  const path = name
    .replace("GET /api/", "")
    .replace(/:(\w+)/g, (_, part: string) => context.path[part] ?? "");
  const filters = telling.map((name) =>
    name === "riskBand" && sent.has(name) ? `${sent.get(name)}-risk` : sent.get(name),
  );
  const words = [path, ...filters].filter((part) => part !== null && part !== "").join("-");
  const plain = words
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, maxNameCharacters);
  return `${plain}-${formatDay(today(context))}.csv`;
}
