/**
 * `JSON.parse` does not keep the digits of a number: 1.50 and 1.5 are one value, and 9007199254740993 becomes
 * …992. This scan finds those digits in the text, in one pass. A second parse with a reviver took 19 s for 4
 * million numbers.
 */

/** By key or index: the digits of a number, or the numbers below it. */
interface Unusual {
  [key: string]: string | Unusual;
}

/** The numbers of a JSON text that JavaScript would write in other digits, by their paths. */
export class NumberTexts {
  /** Of a text without any. */
  static readonly none = new NumberTexts(undefined);
  readonly #unusual: string | Unusual | undefined;

  private constructor(unusual: string | Unusual | undefined) {
    this.#unusual = unusual;
  }

  /** The numbers of a whole text, which must be valid JSON. @param levels how deep: numbers further inside
   * are left out */
  static of(text: string, levels = Number.POSITIVE_INFINITY): NumberTexts {
    return new NumberTexts(numbersOf(text, unusualDigits, levels));
  }

  /** Only those numbers that JavaScript would write as another one, see `isLost`. */
  static lost(text: string): NumberTexts {
    return new NumberTexts(numbersOf(text, lostDigits, Number.POSITIVE_INFINITY));
  }

  /** The numbers of the value at a path of keys and indexes. */
  below(...path: readonly (string | number)[]): NumberTexts {
    let found = this.#unusual;
    for (const key of path) {
      if (typeof found !== "object") return NumberTexts.none;
      found = found[key];
    }
    return found === undefined ? NumberTexts.none : new NumberTexts(found);
  }

  /** Whether there is a number at a key or index, or below it. */
  has(key: string | number): boolean {
    return typeof this.#unusual === "object" && this.#unusual[key] !== undefined;
  }

  /** The digits of the number at a path. Undefined if there is no number, or if `String` of it writes the
   * same digits. */
  at(path: readonly string[]): string | undefined {
    const found = this.below(...path).#unusual;
    return typeof found === "string" ? found : undefined;
  }

  /** The first number, and its path. Undefined if there is none. @param value has these numbers */
  first(value: unknown): FoundNumber | undefined {
    return firstIn(this.#unusual, value);
  }
}

/** A number's digits, and the path of keys and indexes that leads to it. */
export interface FoundNumber {
  readonly path: readonly string[];
  readonly digits: string;
}

function firstIn(unusual: string | Unusual | undefined, value: unknown): FoundNumber | undefined {
  if (typeof unusual === "string") return { path: [], digits: unusual };
  if (unusual === undefined || !isObject(value)) return undefined;
  // An object has a repeated key at its first position. An array is not iterated: it may have a million
  // items.
  for (const key in Array.isArray(value) ? unusual : value) {
    const found = firstIn(unusual[key], value[key]);
    if (found !== undefined) return { path: [key, ...found.path], digits: found.digits };
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** From here on JavaScript writes an integer with an exponent, which says the same number. */
const leastExponential = 1e21;

/** Whether JavaScript would write a number of a JSON text as another one: an integer in other digits, or one
 * beyond its range. Some large doubles, for example 58508407207935450, are not exact, but JavaScript writes
 * the same digits again. Of others, as -9223372036854775808, the double is exact, and JavaScript writes other
 * digits. */
export function isLost(digits: string): boolean {
  const number = Number(digits);
  if (!Number.isFinite(number)) return true;
  if (!/^-?\d+$/.test(digits)) return false;
  if (Math.abs(number) >= leastExponential) return BigInt(digits) !== BigInt(number);
  // The digits of zero may be -0. A big integer of each of 440,000 numbers took 200 ms.
  return number !== 0 && String(number) !== digits;
}

const longestExactDigits = 15;

/** Whether a text may hold an integer that `JSON.parse` rounds. Integers below 10^15 are always exact. Of 16
 * digits in a row one is at a multiple of 16, so only every 16th character is read. */
export function mayRoundIntegers(text: string): boolean {
  const step = longestExactDigits + 1;
  for (let at = step - 1; at < text.length; at += step) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let first = at;
    while (isDigit(text.charCodeAt(first - 1))) first -= 1;
    let end = at + 1;
    while (end - first < step && isDigit(text.charCodeAt(end))) end += 1;
    if (end - first >= step) return true;
  }
  return false;
}

/** An object or array that the scan is in. */
class Container {
  readonly isArray: boolean;
  /** Of an array: the index of the present value. */
  index = 0;
  /** Of an object: the key of the present value, as written in the text. */
  key = "";
  unusual: Unusual | undefined;

  constructor(isArray: boolean) {
    this.isArray = isArray;
  }

  /** Of two equal keys the last one counts, as in `JSON.parse`. */
  beginValueOf(key: string): void {
    this.key = key;
    if (this.unusual !== undefined) delete this.unusual[parsedKey(key)];
  }

  holds(found: string | Unusual): void {
    // Without a prototype "__proto__" is a key like any other.
    this.unusual ??= Object.create(null) as Unusual;
    this.unusual[this.isArray ? this.index : parsedKey(this.key)] = found;
  }
}

/** @param key with its quotes, as written in the text */
function parsedKey(key: string): string {
  return key.includes("\\") ? String(JSON.parse(key)) : key.slice(1, -1);
}

const character = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

function isDigit(code: number): boolean {
  return code >= character.zero && code <= character.nine;
}

/** Scans a text. @param digitsOf the digits of the number between two places, if it is to be kept
 * @param levels of containers inside one another whose numbers are kept */
function numbersOf(
  text: string,
  digitsOf: (text: string, start: number, end: number) => string | undefined,
  levels: number,
): string | Unusual | undefined {
  // The whole text counts as the only item of an array.
  const root = new Container(true);
  const around: Container[] = [];
  let inside = root;
  let [stringStart, stringEnd] = [0, 0];
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === character.quote) {
      stringStart = at;
      stringEnd = endOfString(text, at);
      at = stringEnd;
    } else if (isDigit(code) || code === character.minus) {
      const end = endOfNumber(text, at);
      const digits = around.length > levels ? undefined : digitsOf(text, at, end);
      if (digits !== undefined) inside.holds(digits);
      at = end;
    } else {
      if (code === character.colon) inside.beginValueOf(text.slice(stringStart, stringEnd));
      else if (code === character.comma) inside.index += 1;
      else if (code === character.openObject || code === character.openArray) {
        around.push(inside);
        inside = new Container(code === character.openArray);
      } else if (code === character.closeObject || code === character.closeArray) {
        const { unusual } = inside;
        inside = around.pop() ?? root;
        if (unusual !== undefined) inside.holds(unusual);
      }
      at += 1;
    }
  }
  return root.unusual?.[0];
}

/** The end of the string that begins at `start`: the position after its second quote. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === character.backslash) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isPartOfNumber(text.charCodeAt(end))) end += 1;
  return end;
}

/** Digits, `.`, `+`, `-`, `e` and `E`. */
function isPartOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x2b || code === 0x2d || (code | 0x20) === 0x65;
}

function unusualDigits(text: string, start: number, end: number): string | undefined {
  if (end - start <= longestExactDigits && isPlainInteger(text, start, end)) return undefined;
  const digits = text.slice(start, end);
  return String(Number(digits)) === digits ? undefined : digits;
}

/** Of 15 characters or fewer only a power of ten that is beyond the range is lost. */
function lostDigits(text: string, start: number, end: number): string | undefined {
  if (end - start <= longestExactDigits && !hasLongExponent(text, start, end)) return undefined;
  const digits = text.slice(start, end);
  return isLost(digits) ? digits : undefined;
}

/** Whether an `e` is followed by at least three characters: with two digits a number is within the range. */
function hasLongExponent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end - 3; at += 1) if ((text.charCodeAt(at) | 0x20) === 0x65) return true;
  return false;
}

function isPlainInteger(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!isDigit(text.charCodeAt(at))) return false;
  return true;
}
