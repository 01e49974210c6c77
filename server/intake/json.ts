/**
 * Reads a request's JSON so that nothing is lost in silence. `JSON.parse` accepts more than it can carry:
 * 1e400 becomes Infinity and then null, 9007199254740993 becomes …992, a lone surrogate cannot be stored
 * as UTF-8. Whatever would come out of storage other than it went in is refused here.
 */
import { limits } from "../../contract/limits.ts";
import { isJsonObject, type JsonObject } from "../ledger/ledger.ts";

/** A request that cannot be accepted, with the message that its sender reads. */
export interface Invalid {
  readonly invalid: string;
}

/** Whether a step refused the request. */
export function isInvalid(value: unknown): value is Invalid {
  return typeof value === "object" && value !== null && "invalid" in value;
}

/** A JSON object together with its text, from which the spelling of a number can still be read. */
export interface ParsedBody {
  readonly value: JsonObject;
  readonly text: string;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses a request body; it must be a JSON object within the limits of size, nesting and keys. */
export function parseBody(bytes: Uint8Array): ParsedBody | Invalid {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { invalid: "body is not valid UTF-8: send JSON encoded as UTF-8." };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { invalid: "body is not valid JSON: send a JSON object." };
  }
  if (!isJsonObject(value)) return { invalid: "body is not a JSON object: send a JSON object." };
  const problem = findUnstorable(value) ?? findInexactInteger(text);
  return problem === undefined ? { value, text } : { invalid: message(problem) };
}

/** Something in a body that cannot be kept, at the path of keys that leads to it. */
interface Problem {
  readonly path: readonly string[];
  readonly text: string;
}

/** A path is as long as its sender makes it; the message shows its first characters. */
const maxPathCharacters = 200;

function message({ path, text }: Problem): string {
  const joined = path.join(".");
  const shown = joined.length > maxPathCharacters ? `${joined.slice(0, maxPathCharacters)}…` : joined;
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

function findInexactInteger(text: string): Problem | undefined {
  if (!sixteenDigits.test(text)) return undefined;
  let found: { holder: object; key: string; source: string } | undefined;
  const root = visitNumbers(text, (holder, key, value, source) => {
    if (isRounded(source, value)) found ??= { holder, key, source };
  });
  if (found === undefined) return undefined;
  return {
    path: [...(pathTo(found.holder, root) ?? []), found.key],
    text: `has too many digits to be kept, ${found.source}: send it as a string.`,
  };
}

/** Whether an integer comes out other than it went in. Large doubles that JavaScript writes, 58508407207935450
 * say, are not exact and yet come out in the very digits that they were sent in. */
function isRounded(source: string, value: number): boolean {
  return /^-?\d+$/.test(source) && String(value) !== source && BigInt(source) !== BigInt(value);
}

/** The keys that lead from a value to an object inside it. */
function pathTo(holder: object, from: unknown): readonly string[] | undefined {
  if (from === holder) return [];
  if (typeof from !== "object" || from === null) return undefined;
  for (const [key, item] of Object.entries(from)) {
    const path = pathTo(holder, item);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

/**
 * The text in which a number stands in a body, at the path of keys; undefined when no number is there.
 * Only used where the spelling matters (ids), because it parses the body again.
 */
export function numberSource(text: string, path: readonly string[]): string | undefined {
  const sources = new Map<object, Map<string, string>>();
  const root = visitNumbers(text, (holder, key, _value, source) => {
    const ofHolder = sources.get(holder) ?? new Map<string, string>();
    sources.set(holder, ofHolder.set(key, source));
  });
  let holder: unknown = root;
  for (const key of path.slice(0, -1)) holder = isJsonObject(holder) ? holder[key] : undefined;
  return isJsonObject(holder) ? sources.get(holder)?.get(path.at(-1) ?? "") : undefined;
}

type NumberVisitor = (holder: object, key: string, value: number, source: string) => void;

function visitNumbers(text: string, visit: NumberVisitor): unknown {
  return JSON.parse(
    text,
    function (this: object, key: string, value: unknown, context?: { source?: string }) {
      if (typeof value === "number" && context?.source !== undefined) {
        visit(this, key, value, context.source);
      }
      return value;
    },
  );
}
