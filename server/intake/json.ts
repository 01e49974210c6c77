/**
 * Reads a request's JSON so that nothing is lost in silence. `JSON.parse` accepts more than it can carry:
 * 1e400 becomes Infinity and then null, 9007199254740993 becomes …992, a lone surrogate cannot be stored
 * as UTF-8. Whatever would come out of storage other than it went in is refused here.
 */
import { limits } from "../../contract/limits.ts";
import { isJsonObject, type JsonObject } from "../ledger/ledger.ts";
import { NumberTexts } from "./number-texts.ts";

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
  /**
   * The text in which a number was sent, at the path of keys; undefined when no number is there. Only asked
   * where the spelling matters (ids), because it parses the text again.
   */
  numberText(path: readonly string[]): string | undefined;
}

class SingleBody implements ParsedBody {
  readonly value: JsonObject;
  readonly #text: string;

  constructor(value: JsonObject, text: string) {
    this.value = value;
    this.#text = text;
  }

  numberText(path: readonly string[]): string | undefined {
    return NumberTexts.of(this.#text).at(path);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses a request body; it must be a JSON object within the limits of size, nesting and keys. */
export function parseBody(bytes: Uint8Array): ParsedBody | Invalid {
  const parsed = parseObject(bytes);
  if (isInvalid(parsed)) return parsed;
  const { value, text } = parsed;
  const isReadAgain = mayRoundIntegers(text) && !isDeeperThan(value, limits.nestingLevels);
  const problem = whyUnstorable(value, isReadAgain ? NumberTexts.of(text) : undefined);
  return problem ?? new SingleBody(value, text);
}

/** Parses a body's JSON object, whatever is in it. */
export function parseObject(
  bytes: Uint8Array,
): { readonly value: JsonObject; readonly text: string } | Invalid {
  const parsed = parseJson(bytes);
  if (isInvalid(parsed)) return parsed;
  const { value, text } = parsed;
  return isJsonObject(value)
    ? { value, text }
    : { invalid: "body is not a JSON object: send a JSON object." };
}

/** Parses a body's JSON, whatever it is. */
export function parseJson(bytes: Uint8Array): { readonly value: unknown; readonly text: string } | Invalid {
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

/** Levels of a body that has several items: some thousand, which `JSON.parse` takes, are too many for whoever walks them all. */
const bodyLevels = 500;

/** Why a body with several items cannot be walked as a whole, to read its numbers again say; undefined when it can. */
export function whyTooDeep(value: unknown): Invalid | undefined {
  return isDeeperThan(value, bodyLevels)
    ? { invalid: `body is nested deeper than ${bodyLevels} levels: send a flatter one.` }
    : undefined;
}

/** Whether objects and arrays lie in one another deeper than so many levels; it goes no deeper itself. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((held) => isDeeperThan(held, levels - 1));
}

/** Why an object cannot be stored; undefined when it can. @param texts its numbers, when they may be rounded. */
export function whyUnstorable(value: JsonObject, texts: NumberTexts | undefined): Invalid | undefined {
  const problem = findUnstorable(value) ?? (texts && findInexactInteger(value, texts));
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
 * How many keys are in a value and below it; NaN when something there cannot be kept. It allocates nothing:
 * this runs for every request, and looking for the problem itself cost 5 µs of each.
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
    for (const [key, item] of Object.entries(value)) {
      if (!Array.isArray(value)) {
        keys += 1;
        if (keys > limits.keys) break;
        if (!key.isWellFormed()) return { path: [], text: `has a key with ${halfCharacter}` };
      }
      const found = visit(item, level + 1);
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

/** Integers below 10^15 are always exact, so the slow look at each number's text is for longer ones. */
const sixteenDigits = /\d{16}/;

/** Whether a text may hold an integer that JSON.parse rounds. */
export function mayRoundIntegers(text: string): boolean {
  return sixteenDigits.test(text);
}

/** The first integer that came out other than it went in. */
function findInexactInteger(value: unknown, texts: NumberTexts): Problem | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const source = typeof item === "number" ? texts.at([key]) : undefined;
    if (source !== undefined && isRounded(source, Number(item))) {
      return { path: [key], text: `has too many digits to be kept, ${source}: send it as a string.` };
    }
    const found = findInexactInteger(item, texts.below(key));
    if (found !== undefined) return { path: [key, ...found.path], text: found.text };
  }
  return undefined;
}

/** Whether an integer comes out other than it went in. Large doubles that JavaScript writes, 58508407207935450
 * say, are not exact and yet come out in the very digits that they were sent in. */
function isRounded(source: string, value: number): boolean {
  return /^-?\d+$/.test(source) && String(value) !== source && BigInt(source) !== BigInt(value);
}
