/**
 * Reads the traits of a log's users, or the attributes of its accounts, and loads them into the warehouse as
 * the service's. A line has the entity, the time at which its traits were said, and a JSON object of them,
 * with commas or tabs between:
 *
 *   u1,2026-01-31,{"plan":"pro","seats":3}
 *
 * Any field may be quoted as CSV quotes it. A line may also be one JSON object with entity, time and traits.
 */
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { Refusal } from "../../contract/refusal.ts";
import type { Zone } from "../../server/calendar/zone.ts";
import { contentOf } from "../../server/features/imports/reading/bytes.ts";
import { ImportFile } from "../../server/features/imports/reading/file.ts";
import { decoded, type Line, linesOf, tooLong } from "../../server/features/imports/reading/lines.ts";
import { notUtf8 } from "../../server/features/imports/reading/row.ts";
import {
  accountVersionRow,
  currentSchema,
  userVersionRow,
} from "../../server/ledger/rules/warehouse-rows.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { objectIn } from "./json-object.ts";
import { type LoadedLog, organization } from "./log.ts";
import { notATime, timeOf } from "./time.ts";

/** The result of loading. */
export interface LoadedTraits {
  /** Lines of entities of the log. */
  readonly lines: number;
  /** Lines of entities without an event. */
  readonly linesWithoutEvents: number;
}

const rowsPerInsert = 50_000;

/** Loads the whole file. @throws Refusal for a line that cannot be read, naming it, and when no line is of
 * the log */
export async function loadTraits(
  warehouse: Warehouse,
  { path, zone, kind }: { readonly path: string; readonly zone: Zone; readonly kind: EntityKind },
  { numbersOf, accountNumberOf }: Pick<LoadedLog, "numbersOf" | "accountNumberOf">,
): Promise<LoadedTraits> {
  const file = new ImportFile(path);
  const gzip = file.name.toLowerCase().endsWith(".gz");
  const rows = new Rows(warehouse, kind);
  let [lines, linesWithoutEvents] = [0, 0];
  let isFirst = true;
  for await (const line of linesOf(contentOf(path, gzip, { bytes: 0 }))) {
    const said = within(`${file.name}, line ${line.number}`, () => {
      const fields = fieldsOf(textOf(line));
      const isHeader = isFirst && fields !== undefined && isOfNames(fields, zone);
      return fields === undefined || isHeader ? undefined : saidIn(fields, zone);
    });
    if (line.bytes?.length !== 0) isFirst = false;
    if (said === undefined) continue;
    const numbers = kind === "user" ? numbersOf(said.entity) : [accountNumberOf(said.entity) ?? []].flat();
    if (numbers.length === 0) linesWithoutEvents += 1;
    else lines += 1;
    for (const number of numbers) await rows.add(number, said);
  }
  await rows.insert();
  if (lines === 0) {
    throw new Refusal(
      `no line of ${file.name} is of an entity of the log: the first field has to be its id, as in the log.`,
    );
  }
  return { lines, linesWithoutEvents };
}

/** The traits that were said of an entity at a time. */
interface Said {
  readonly entity: string;
  readonly timeMs: number;
  readonly traits: JsonObject;
}

/** Rows on their way into the warehouse. Later lines have higher versions: of two values of one time the
 * later counts. */
class Rows {
  readonly #warehouse: Warehouse;
  readonly #kind: EntityKind;
  #rows: string[] = [];
  #version = 0;

  constructor(warehouse: Warehouse, kind: EntityKind) {
    this.#warehouse = warehouse;
    this.#kind = kind;
  }

  async add(number: number, { timeMs: atMs, traits }: Said): Promise<void> {
    this.#version += 1;
    const about = { organization, number, version: this.#version };
    this.#rows.push(
      this.#kind === "user"
        ? userVersionRow(about, { atMs, traits, account: null })
        : accountVersionRow(about, { atMs, traits }),
    );
    if (this.#rows.length === rowsPerInsert) await this.insert();
  }

  async insert(): Promise<void> {
    const rows = this.#rows.length;
    if (rows === 0) return;
    const body = Buffer.from(`${this.#rows.join("\n")}\n`);
    this.#rows = [];
    const [table, token] = [`${this.#kind}_versions` as const, `traits ${this.#version}`];
    await this.#warehouse.insertFrozen({ table, schema: currentSchema[table], rows, body, token });
  }
}

/** The fields of a line as they stand there. */
interface Fields {
  readonly entity: unknown;
  readonly time: unknown;
  /** JSON text, or the object. */
  readonly traits: unknown;
}

/** Names the place of what cannot be read. */
function within<Result>(place: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(`${place}: ${error.message}`) : error;
  }
}

function textOf({ bytes }: Line): string {
  if (bytes === undefined) throw new Refusal(`the line ${tooLong}`);
  const text = decoded(bytes);
  if (text === undefined) throw new Refusal(`the line ${notUtf8}`);
  return text.trim();
}

/** Undefined for a line without text. */
function fieldsOf(text: string): Fields | undefined {
  if (text === "") return undefined;
  if (text.startsWith("{")) {
    const { entity, time, traits } = objectIn(text, "the line");
    return { entity, time, traits };
  }
  const [entity, afterEntity] = cutField(text);
  const [time, json] = cutField(afterEntity);
  if (json === undefined) {
    throw new Refusal(
      "the line has to have three fields: the entity, the time, and a JSON object of traits.",
    );
  }
  if (!json.startsWith('"')) return { entity, time, traits: json };
  const [traits, more] = cutField(json);
  if (more !== undefined) throw new Refusal("the line has more than three fields: entity, time and traits.");
  return { entity, time, traits };
}

/** The first field, and the text behind its comma or tab; undefined behind the last field. */
function cutField(text = ""): [field: string, rest: string | undefined] {
  if (!text.startsWith('"')) {
    const end = text.search(/[,\t]/);
    return end < 0 ? [text, undefined] : [text.slice(0, end).trim(), text.slice(end + 1).trimStart()];
  }
  const quoted = /^"((?:[^"]|"")*)"\s*(?:[,\t]|$)/.exec(text);
  if (quoted === null) throw new Refusal("a field opens a quote that is not closed at its end.");
  const [whole, field = ""] = quoted;
  const rest = text.slice(whole.length).trimStart();
  return [field.replaceAll('""', '"'), whole.trimEnd().endsWith('"') ? undefined : rest];
}

/** Whether the first line has the names of its fields. */
function isOfNames({ time, traits }: Fields, zone: Zone): boolean {
  return timeOf(time, zone) === undefined && typeof traits === "string" && !traits.startsWith("{");
}

function saidIn({ entity, time, traits }: Fields, zone: Zone): Said {
  if ((typeof entity !== "string" && typeof entity !== "number") || entity === "") {
    throw new Refusal("the entity is missing: it has to be an id as in the log.");
  }
  const timeMs = timeOf(time, zone);
  if (timeMs === undefined) throw new Refusal(`the time ${notATime(time)}`);
  if (isJsonObject(traits)) return { entity: String(entity), timeMs, traits };
  if (typeof traits !== "string") throw new Refusal("the traits are missing: they have to be a JSON object.");
  return { entity: String(entity), timeMs, traits: objectIn(traits, "the field of traits") };
}
