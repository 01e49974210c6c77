/** Options of a command, made from the schemas of its route's parameters and body. */
import { Option } from "commander";
import type { TSchema } from "typebox";
import type { Route } from "../../contract/api/route.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../contract/json.ts";
import { Refusal } from "../../contract/refusal.ts";

/** A parameter or a part of a body, as an option. */
export interface Field {
  readonly of: "query" | "body";
  /** Its names from the outside in: `scope`, `segment`. */
  readonly path: readonly string[];
  /** Without null. */
  readonly schema: JsonObject;
  readonly isNullable: boolean;
}

/** A list may be longer than a command line: then its option takes a file. */
const mostGiven = 1_000;

/** The fields of a route: its parameters, and the properties of its body. An object in the body has options
 * for its own properties, too: `--scope` takes JSON, and `--scope-kind` a part of it. */
export function fieldsOf({ query, body }: Pick<Route, "query" | "body">): readonly Field[] {
  const ofQuery = propertiesOf(query).map(([name, schema]) => fieldOf("query", [name], schema));
  const ofBody = propertiesOf(body).flatMap(([name, schema]) => {
    const field = fieldOf("body", [name], schema);
    const inside = propertiesOf(field.schema);
    return [field, ...inside.map(([inner, one]) => fieldOf("body", [name, inner], one))];
  });
  return [...ofQuery, ...ofBody];
}

function propertiesOf(schema: TSchema | JsonObject | undefined): readonly (readonly [string, JsonObject])[] {
  const { properties } = objectOf(schema);
  return Object.entries(objectOf(properties)).map(([name, one]) => [name, objectOf(one)]);
}

function fieldOf(of: Field["of"], path: readonly string[], schema: JsonObject): Field {
  const { anyOf, ...rest } = schema;
  const branches = Array.isArray(anyOf) ? anyOf.map(objectOf) : [];
  const others = branches.filter(({ type }) => type !== "null");
  const [inner] = others;
  const isNullable = others.length < branches.length;
  // The description beside null says more than the one of the other branch.
  return { of, path, isNullable, schema: isNullable ? Object.assign({}, inner, rest) : schema };
}

/** The name of a field's option: `scope-kind`. */
export function flagOf({ path }: Field): string {
  return path.join("-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The options of a field: one that takes its value, and one that takes it away. */
export function optionsOf(field: Field): readonly Option[] {
  const { of, path, schema, isNullable } = field;
  const flag = flagOf(field);
  const { type } = schema;
  const option = new Option(`--${flag}${valueForm(field)}`, descriptionOf(schema));
  const choices = choicesOf(type === "array" ? objectOf(schema.items) : schema);
  if (choices !== undefined) option.choices(choices);
  const none = type === "boolean" ? "false" : isNullable ? "null" : type === "array" ? "an empty list" : null;
  if (of === "query") return [option];
  if (none !== null) return [option, new Option(`--no-${flag}`, `${none} for --${flag}`)];
  // A part of an object that a PUT would keep.
  return path.length === 1 ? [option] : [option, new Option(`--no-${flag}`, "leave it out").hideHelp()];
}

function valueForm({ of, schema }: Field): string {
  const { type, format, items, maxItems } = schema;
  if (type === "boolean") return "";
  if (type === "integer" || type === "number") return " <number>";
  if (format === "date") return " <date>";
  if (isMap(schema)) return " <name=value...>";
  if (type === "array" && of === "body" && !isJsonObject(objectOf(items).properties)) {
    return typeof maxItems === "number" && maxItems > mostGiven ? " <file>" : " <value...>";
  }
  return type === "string" || "enum" in schema || "anyOf" in schema ? " <text>" : " <json>";
}

function isMap({ type, properties }: JsonObject): boolean {
  return type === "object" && properties === undefined;
}

function choicesOf({ enum: values, anyOf }: JsonObject): readonly string[] | undefined {
  if (Array.isArray(values)) return values.map(String);
  const consts = Array.isArray(anyOf) ? anyOf.map((one) => objectOf(one).const) : [];
  return consts.length > 0 && consts.every((one) => one !== undefined) ? consts.map(String) : undefined;
}

function descriptionOf(schema: JsonObject): string {
  const { description, default: byDefault, "x-send": send } = schema;
  const text = typeof description === "string" ? description : typeof send === "string" ? send : "";
  return byDefault === undefined || byDefault === "" ? text : `${text} (default: ${byDefault})`.trim();
}

/** The value of a body's field from what its option was given: false by `--no-…`. A text of another form than
 * the schema's goes to the API as it is, which says what to send.
 * @param read reads a file @throws Refusal for JSON that cannot be read */
export async function valueIn(
  field: Field,
  given: string | boolean | readonly string[],
  read: (file: string) => Promise<readonly string[]>,
): Promise<unknown> {
  const { schema, isNullable } = field;
  if (given === true) return true;
  if (given === false) return withoutIt(field);
  if (isMap(schema)) return mapIn(given, flagOf(field));
  if (typeof given !== "string") return given.map((text) => scalarIn(objectOf(schema.items), text));
  if (isNullable && given === "") return null;
  const form = valueForm(field);
  if (form === " <file>") return read(given);
  return form === " <json>" ? jsonIn(given, `--${flagOf(field)}`) : scalarIn(schema, given);
}

function withoutIt({ schema: { type }, isNullable }: Field): unknown {
  if (isNullable) return null;
  return type === "array" ? [] : type === "boolean" ? false : undefined;
}

function scalarIn({ type, enum: values }: JsonObject, text: string): unknown {
  if (Array.isArray(values)) return values.find((value) => String(value) === text) ?? text;
  const isNumber = (type === "integer" || type === "number") && /^-?(\d+(\.\d*)?|\.\d+)$/.test(text);
  return isNumber ? Number(text) : text;
}

/** `report_created=3 login=null` as an object, or the object as JSON. */
function mapIn(given: string | readonly string[], flag: string): unknown {
  const texts = typeof given === "string" ? [given] : given;
  if (texts[0]?.startsWith("{")) return jsonIn(texts.join(" "), `--${flag}`);
  return Object.fromEntries(
    texts.map((text) => {
      // At the last sign: names of events may have some of their own.
      const at = text.lastIndexOf("=");
      if (at < 1) throw new Refusal(`--${flag}: ${JSON.stringify(text)} is not valid: give NAME=VALUE.`);
      const value = text.slice(at + 1);
      return [text.slice(0, at), value === "null" ? null : scalarIn({ type: "number" }, value)];
    }),
  );
}

/** A JSON value. @param what it is, for the refusal @throws Refusal */
export function jsonIn(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(`${what} is not valid: give JSON.`);
  }
}
