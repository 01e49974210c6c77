/**
 * Reads a request's JSON without silent loss. `JSON.parse` accepts values that JavaScript cannot represent:
 * 1e400 becomes Infinity and then null, and 9007199254740993 becomes …992. A lone surrogate cannot be stored
 * as UTF-8. A value that storage would change is rejected here.
 */

import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import { mayRoundIntegers, NumberTexts } from "./number-texts.ts";
import { countValues } from "./value-count.ts";

/** A request that cannot be accepted, with the message that its sender reads. */
export interface Invalid {
  readonly invalid: string;
  /** Whether a smaller body would be accepted. */
  readonly isTooLarge?: true;
}

/** Whether a step refused the request. */
export function isInvalid(value: unknown): value is Invalid {
  return typeof value === "object" && value !== null && "invalid" in value;
}

/** A JSON object, and the spelling of its numbers. */
export interface ParsedBody {
  readonly value: JsonObject;
  /** The digits of the number at a path of keys. Undefined if `String` of the number writes the same
   * digits. */
  unusualDigits(path: readonly string[]): string | undefined;
}

class SingleBody implements ParsedBody {
  readonly value: JsonObject;
  readonly #text: string;

  constructor(value: JsonObject, text: string) {
    this.value = value;
    this.#text = text;
  }

  unusualDigits(path: readonly string[]): string | undefined {
    return NumberTexts.of(this.#text, path.length).at(path);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses a request body. It must be a JSON object within the limits of size, nesting and keys. */
export function parseBody(bytes: Uint8Array): ParsedBody | Invalid {
  const parsed = parseObject(bytes);
  if (isInvalid(parsed)) return parsed;
  const { value, text } = parsed;
  const problem = whyUnstorable(value, () => (mayRoundIntegers(text) ? NumberTexts.lost(text) : undefined));
  return problem ?? new SingleBody(value, text);
}

/** A JSON object with unchecked content, and its text. */
export interface ParsedObject {
  readonly value: JsonObject;
  readonly text: string;
}

/** JSON of any type, and its text. */
interface ParsedJson {
  readonly value: unknown;
  readonly text: string;
}

/** Parses a body's JSON object. */
export function parseObject(bytes: Uint8Array): ParsedObject | Invalid {
  return asObject(parseJson(bytes));
}

/** Parses a body's JSON, of any type, within the limits of values and keys. */
export function parseJson(bytes: Uint8Array): ParsedJson | Invalid {
  return whyTooManyValues(bytes) ?? parseText(bytes);
}

/** Parses a large body's JSON, of any type, within the limits of values and keys.
 * @param turn awaited between the steps, of 10 and 30 ms for 7 MB, and after them */
export async function parseInTurns(bytes: Uint8Array, turn: Turn): Promise<ParsedJson | Invalid> {
  const tooMany = whyTooManyValues(bytes);
  if (tooMany !== undefined) return tooMany;
  await turn();
  const parsed = parseText(bytes);
  await turn();
  return parsed;
}

/** Resolves when a request may have the processor for its next step. A small one need not wait. */
export type Turn = () => Promise<void>;

/** Parsed JSON that must be an object. */
export function asObject(parsed: ParsedJson | Invalid): ParsedObject | Invalid {
  if (isInvalid(parsed)) return parsed;
  const { value, text } = parsed;
  return isJsonObject(value)
    ? { value, text }
    : { invalid: "body is not a JSON object: send a JSON object." };
}

function parseText(bytes: Uint8Array): ParsedJson | Invalid {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { invalid: "body is not valid UTF-8: send JSON encoded as UTF-8." };
  }
  try {
    return { value: JSON.parse(text) as unknown, text };
  } catch {
    return { invalid: "body is not valid JSON: send a JSON object." };
  }
}

/** The problem of a text with too many values or keys. Undefined if it can be parsed. */
function whyTooManyValues(json: Uint8Array): Invalid | undefined {
  // A value with its comma has at least 2 bytes, a key with its value and punctuation 5.
  if (json.length <= 2 * limits.values) return undefined;
  const count = countValues(json, { values: limits.values, keys: limits.bodyKeys });
  const most = { invalid: "", isTooLarge: true } as const;
  if (count.values > limits.values) {
    return { ...most, invalid: `body has more than ${limits.values} values: send fewer.` };
  }
  return count.keys > limits.bodyKeys
    ? { ...most, invalid: `body has more than ${limits.bodyKeys} keys: send fewer.` }
    : undefined;
}

/** Most levels of a body with several items. `JSON.parse` accepts thousands, more than a recursive function
 * can walk. */
const bodyLevels = 500;

/** The problem of a body whose items are too deep to walk, for example to read their numbers. Undefined if
 * there is none. */
export function whyTooDeep(value: unknown): Invalid | undefined {
  return isDeeperThan(value, bodyLevels)
    ? { invalid: `body is nested deeper than ${bodyLevels} levels: send a flatter one.` }
    : undefined;
}

/** Whether objects and arrays are nested deeper than `levels`. It stops at that depth. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (Array.isArray(value)) {
    return levels === 0 || value.some((held) => isDeeperThan(held, levels - 1));
  }
  if (!isJsonObject(value)) return false;
  if (levels === 0) return true;
  for (const key in value) if (isDeeperThan(value[key], levels - 1)) return true;
  return false;
}

/** Whether the JSON text of a value has more bytes than `bytes`. A value that is much larger is not read to
 * its end. False for a value that is too deep to walk, which is refused for its depth. */
export function isLargerThan(bytes: number, value: unknown): boolean {
  const least = leastBytes(value, bytes, bodyLevels);
  return least > bytes || (!Number.isNaN(least) && Buffer.byteLength(JSON.stringify(value)) > bytes);
}

/** A size that the JSON text of a value has at least, up to about `enough` bytes. NaN for a value deeper than
 * `levels`. */
function leastBytes(value: unknown, enough: number, levels: number): number {
  if (typeof value === "string") return value.length + 2;
  const isArray = Array.isArray(value);
  if (!isArray && !isJsonObject(value)) return 1;
  if (levels === 0) return Number.NaN;
  let bytes = 1;
  if (isArray) {
    for (const held of value) {
      bytes += 1 + leastBytes(held, enough, levels - 1);
      if (bytes > enough) break;
    }
    return bytes;
  }
  for (const key in value) {
    bytes += key.length + 4 + leastBytes(value[key], enough, levels - 1);
    if (bytes > enough) break;
  }
  return bytes;
}

/**
 * The reason why an object cannot be stored. Undefined if it can.
 * @param lost reads the object's lost numbers. It returns undefined if none can be rounded
 */
export function whyUnstorable(value: JsonObject, lost: () => NumberTexts | undefined): Invalid | undefined {
  const problem = findUnstorable(value) ?? findInexactInteger(value, lost());
  return problem === undefined ? undefined : { invalid: message(problem) };
}

/** A value in a body that cannot be stored, and its path of keys. */
interface Problem {
  readonly path: readonly string[];
  readonly text: string;
}

/** The sender decides the length of a path. The message shows its first characters. */
const maxPathCharacters = 200;

function message({ path, text }: Problem): string {
  const plain = path.join(".");
  // Quotes make white space at the ends visible.
  const joined = plain.trim() === plain ? plain : JSON.stringify(plain);
  const shown =
    joined.length > maxPathCharacters ? `${joined.slice(0, maxPathCharacters).toWellFormed()}…` : joined;
  return `${shown || "body"} ${text}`;
}

/**
 * The number of keys in a value and below it. NaN if a part of it cannot be stored, or if there are too many
 * keys. It allocates nothing, because it runs for every request: a search for the problem itself took 5 µs of
 * each.
 */
function storableKeys(value: unknown, level: number): number {
  if (typeof value === "string") return value.isWellFormed() ? 0 : Number.NaN;
  if (typeof value === "number") return Number.isFinite(value) ? 0 : Number.NaN;
  const isArray = Array.isArray(value);
  if (!isArray && !isJsonObject(value)) return 0;
  if (level > limits.nestingLevels) return Number.NaN;
  let keys = 0;
  if (isArray) {
    for (const item of value) keys += storableKeys(item, level + 1);
    return keys;
  }
  for (const key in value) {
    keys += key.isWellFormed() ? 1 : Number.NaN;
    keys += storableKeys(value[key], level + 1);
    if (!(keys <= limits.keys)) return Number.NaN;
  }
  return keys;
}

/** Finds the first value in a body that storage would change, or that is over a limit. */
function findUnstorable(body: JsonObject): Problem | undefined {
  if (storableKeys(body, 1) <= limits.keys) return undefined;
  let keys = 0;
  const visit = (value: unknown, level: number): Problem | undefined => {
    const problem = unstorableScalar(value);
    if (problem !== undefined) return { path: [], text: problem };
    if (typeof value !== "object" || value === null) return undefined;
    if (level > limits.nestingLevels) {
      return {
        path: [],
        text: `is nested deeper than ${limits.nestingLevels} levels: send a flatter object.`,
      };
    }
    const isArray = Array.isArray(value);
    for (const key in value) {
      if (!isArray) {
        keys += 1;
        if (keys > limits.keys) break;
        if (!key.isWellFormed()) return { path: [], text: `has a key with ${halfCharacter}` };
      }
      const found = visit((value as JsonObject)[key], level + 1);
      if (found !== undefined) return { path: [key, ...found.path], text: found.text };
    }
    return undefined;
  };
  const found = visit(body, 1);
  if (keys > limits.keys) return { path: [], text: `has more than ${limits.keys} keys: send fewer.` };
  return found;
}

const halfCharacter = "half of a surrogate pair: send whole characters.";

function unstorableScalar(value: unknown): string | undefined {
  if (typeof value === "string" && !value.isWellFormed()) return `has ${halfCharacter}`;
  if (typeof value === "number" && !Number.isFinite(value)) return "is out of range: send it as a string.";
  return undefined;
}

/** The first integer that `JSON.parse` rounded. */
function findInexactInteger(value: JsonObject, lost: NumberTexts | undefined): Problem | undefined {
  const found = lost?.first(value);
  if (found === undefined) return undefined;
  return { path: found.path, text: `has too many digits to be kept, ${found.digits}: send it as a string.` };
}
