/**
 * Reads a request's JSON so that nothing is lost in silence. `JSON.parse` accepts more than it can carry:
 * 1e400 becomes Infinity and then null, 9007199254740993 becomes …992, a lone surrogate cannot be stored
 * as UTF-8. Whatever would come out of storage other than it went in is refused here.
 */

import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import { mayRoundIntegers, NumberTexts } from "./number-texts.ts";
import { countValues } from "./value-count.ts";

/** A request that cannot be accepted, with the message that its sender reads. */
export interface Invalid {
  readonly invalid: string;
  /** Whether less would be taken. */
  readonly isTooLarge?: true;
}

/** Whether a step refused the request. */
export function isInvalid(value: unknown): value is Invalid {
  return typeof value === "object" && value !== null && "invalid" in value;
}

/** A JSON object, and the spelling of its numbers. */
export interface ParsedBody {
  readonly value: JsonObject;
  /** The digits of the number at a path of keys. Undefined where `String` of the number writes the same ones. */
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
    return NumberTexts.of(this.#text).at(path);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses a request body; it must be a JSON object within the limits of size, nesting and keys. */
export function parseBody(bytes: Uint8Array): ParsedBody | Invalid {
  const parsed = parseObject(bytes);
  if (isInvalid(parsed)) return parsed;
  const { value, text } = parsed;
  const problem = whyUnstorable(value, () => (mayRoundIntegers(text) ? NumberTexts.of(text) : undefined));
  return problem ?? new SingleBody(value, text);
}

/** A JSON object, whatever is in it, and its text. */
export interface ParsedObject {
  readonly value: JsonObject;
  readonly text: string;
}

/** Parses a body's JSON object. */
export function parseObject(bytes: Uint8Array): ParsedObject | Invalid {
  const parsed = parseJson(bytes);
  if (isInvalid(parsed)) return parsed;
  const { value, text } = parsed;
  return isJsonObject(value)
    ? { value, text }
    : { invalid: "body is not a JSON object: send a JSON object." };
}

/** Parses a body's JSON, whatever it is, within the limit of values. */
export function parseJson(bytes: Uint8Array): { readonly value: unknown; readonly text: string } | Invalid {
  const tooMany = whyTooManyValues(bytes);
  if (tooMany !== undefined) return tooMany;
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

/** Why a text has more in it than is parsed; undefined when it can be parsed. */
function whyTooManyValues(json: Uint8Array): Invalid | undefined {
  // A value with the comma behind it has 2 bytes, a key with its value and punctuation 5.
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

/** Most levels of a body with several items. `JSON.parse` takes thousands, which a recursive function does not. */
const bodyLevels = 500;

/** Why a body with several items cannot be walked as a whole, to read its numbers again say; undefined when it can. */
export function whyTooDeep(value: unknown): Invalid | undefined {
  return isDeeperThan(value, bodyLevels)
    ? { invalid: `body is nested deeper than ${bodyLevels} levels: send a flatter one.` }
    : undefined;
}

/** Whether objects and arrays lie in one another deeper than so many levels; it goes no deeper itself. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (Array.isArray(value)) {
    return levels === 0 || value.some((held) => isDeeperThan(held, levels - 1));
  }
  if (!isJsonObject(value)) return false;
  if (levels === 0) return true;
  for (const key in value) if (isDeeperThan(value[key], levels - 1)) return true;
  return false;
}

/**
 * Why an object cannot be stored; undefined when it can.
 * @param numbers reads the object's numbers; undefined when none can be rounded
 */
export function whyUnstorable(
  value: JsonObject,
  numbers: () => NumberTexts | undefined,
): Invalid | undefined {
  const problem = findUnstorable(value) ?? findInexactInteger(value, numbers());
  return problem === undefined ? undefined : { invalid: message(problem) };
}

/** Something in a body that cannot be kept, at the path of keys that leads to it. */
interface Problem {
  readonly path: readonly string[];
  readonly text: string;
}

/** A path is as long as its sender makes it; the message shows its first characters. */
const maxPathCharacters = 200;

function message({ path, text }: Problem): string {
  const plain = path.join(".");
  // White space around it would not be seen.
  const joined = plain.trim() === plain ? plain : JSON.stringify(plain);
  const shown =
    joined.length > maxPathCharacters ? `${joined.slice(0, maxPathCharacters).toWellFormed()}…` : joined;
  return `${shown || "body"} ${text}`;
}

/**
 * How many keys are in a value and below it; NaN when something there cannot be kept, or there are too many. It allocates
 * nothing: this runs for every request, and looking for the problem itself cost 5 µs of each.
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

/** Finds the first thing in a body that storage could not give back, or that is over a limit. */
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

/** The first integer that came out other than it went in. */
function findInexactInteger(value: JsonObject, numbers: NumberTexts | undefined): Problem | undefined {
  const found = numbers?.find(value, isRounded);
  if (found === undefined) return undefined;
  return { path: found.path, text: `has too many digits to be kept, ${found.digits}: send it as a string.` };
}

/** Whether an integer comes out other than it went in. Large doubles that JavaScript writes, 58508407207935450
 * say, are not exact and yet come out in the very digits that they were sent in. */
function isRounded(digits: string): boolean {
  return /^-?\d+$/.test(digits) && BigInt(digits) !== BigInt(Number(digits));
}
