/** Says in words what is wrong with a value that its schema refuses: the field by its path, how, and what to
 * send instead, which is the `x-send` of the field's schema. */
import type { TSchema } from "typebox";
import type { Validator } from "typebox/compile";

/** The error of a value that its schema refuses, as a sentence. @param value for which `validator.Check` is
 * false */
export function explainInvalid(schema: TSchema, validator: Validator, value: unknown): string {
  const { path, keyword, isName } = firstError(validator, value);
  if (keyword === "unknown") return `${shownPath(path)} is not known: leave it out.`;
  const found = path.reduce<unknown>(ownValue, value);
  const isMissing = found === undefined || found === null;
  const isShort = keyword === "minLength" && !isName && found !== "";
  const problem =
    keyword === "pattern" ? patternProblems[path.join(".")] : isShort ? "is too short" : problems[keyword];
  return wrongField(schema, path, isMissing && !isName ? "is missing" : (problem ?? "is not valid"), isName);
}

/** The sentence for a field that is wrong, ending with what its schema says to send.
 * @param isName whether it is the last key of the path that is wrong, and not the value there */
export function wrongField(
  schema: TSchema,
  path: readonly string[],
  problem: string,
  isName = false,
): string {
  return `${shownPath(path)} ${problem}: send ${sendInstead(schema, path, isName)}.`;
}

/** Only these two fields of the write API have patterns that need words of their own. */
const patternProblems: Record<string, string> = {
  event: "contains white space",
  email: "contains control characters",
};

const problems: Record<string, string> = {
  minLength: "is empty",
  maxLength: "is too long",
  minProperties: "is empty",
  maxProperties: "has too many keys",
  maxItems: "has too many items",
  uniqueItems: "has an item twice",
};

interface FieldError {
  readonly path: readonly string[];
  /** The schema's keyword that refused; `unknown` for a key that the schema does not have. */
  readonly keyword: string;
  /** Whether the last key of the path was refused as a key. */
  readonly isName: boolean;
}

function firstError(validator: Validator, value: unknown): FieldError {
  for (const { instancePath, schemaPath, keyword, params } of validator.Errors(value)) {
    const path = instancePath
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (keyword === "required") {
      return { path: [...path, params.requiredProperties[0] ?? ""], keyword, isName: false };
    }
    if (schemaPath.endsWith("/additionalProperties")) return { path, keyword: "unknown", isName: false };
    return { path, keyword, isName: schemaPath.endsWith("/propertyNames") };
  }
  return { path: [], keyword: "", isName: false };
}

/** A path is as long as its sender makes it; the message shows its first characters. */
const maxPathCharacters = 200;

function shownPath(path: readonly string[]): string {
  const joined = path.join(".");
  const isLong = joined.length > maxPathCharacters;
  // A cut may leave half of a surrogate pair, which PostgreSQL's JSON does not take.
  return (isLong ? `${joined.slice(0, maxPathCharacters).toWellFormed()}…` : joined.toWellFormed()) || "body";
}

/** The `x-send` of the schema at a path of keys, through unions with null. */
function sendInstead(schema: TSchema, path: readonly string[], isName: boolean): string {
  let at: unknown = schema;
  for (const [index, key] of path.entries()) {
    at = schemaBelow(at, key, isName && index === path.length - 1) ?? at;
  }
  return sendOf(at) ?? sendByType(at) ?? "what the reference says";
}

/** The value that a schema without words of its own asks for. Undefined for objects and lists of objects. */
function sendByType(schema: unknown): string | undefined {
  const values = valuesOf(schema);
  if (values.length > 0) return values.length === 1 ? String(values[0]) : `one of ${values.join(", ")}`;
  if (!isObject(schema)) return undefined;
  const { type, minimum, maximum, maxLength, format } = schema;
  if (type === "boolean") return "true or false";
  if (type === "array") {
    return schema.maxItems === undefined ? "a JSON array" : `a JSON array of up to ${schema.maxItems}`;
  }
  if (type === "string") {
    if (format === "date") return "a date such as 2026-01-31";
    if (schema.pattern !== undefined) return undefined;
    return maxLength === undefined ? "a text" : `1 to ${maxLength} characters`;
  }
  if (type !== "integer" && type !== "number") return undefined;
  const number = type === "integer" ? "a whole number" : "a number";
  if (minimum === undefined) return maximum === undefined ? number : `${number} up to ${maximum}`;
  return maximum === undefined ? `${number} from ${minimum}` : `${number} from ${minimum} to ${maximum}`;
}

/** The values of an enumeration, of a constant and of unions of these. Nothing for other schemas. */
function valuesOf(schema: unknown): readonly unknown[] {
  if (!isObject(schema)) return [];
  if (Array.isArray(schema.enum)) return schema.enum;
  if ("const" in schema) return [schema.const];
  if (!Array.isArray(schema.anyOf)) return [];
  const choices = schema.anyOf.map(valuesOf);
  return choices.every((values) => values.length > 0) ? choices.flat() : [];
}

/** A union that says nothing itself is what its first choice says. */
function sendOf(schema: unknown): string | undefined {
  if (!isObject(schema)) return undefined;
  if (typeof schema["x-send"] === "string") return schema["x-send"];
  return Array.isArray(schema.anyOf) ? sendOf(schema.anyOf[0]) : undefined;
}

function schemaBelow(schema: unknown, key: string, isName: boolean): unknown {
  if (!isObject(schema)) return undefined;
  if (isName && schema.propertyNames !== undefined) return schema.propertyNames;
  if (isObject(schema.properties)) return ownValue(schema.properties, key);
  if (isObject(schema.patternProperties)) return Object.values(schema.patternProperties)[0];
  if (schema.items !== undefined) return schema.items;
  if (!Array.isArray(schema.anyOf)) return undefined;
  return schema.anyOf.map((choice) => schemaBelow(choice, key, isName)).find((found) => found !== undefined);
}

function ownValue(holder: unknown, key: string): unknown {
  return typeof holder === "object" && holder !== null
    ? Object.getOwnPropertyDescriptor(holder, key)?.value
    : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
