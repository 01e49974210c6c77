/**
 * Changes values that storage would lose into values that it keeps, for senders who cannot correct them:
 * connected tools and files. A number that JavaScript writes in other digits becomes a text of its digits,
 * and half of a character becomes U+FFFD.
 */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import type { WarningKind } from "../../ledger/stores/warnings.ts";
import { type Invalid, isInvalid, type ParsedBody, parseObject, whyTooDeep, whyUnstorable } from "./json.ts";
import { mayRoundIntegers, NumberTexts } from "./number-texts.ts";

/** A value that was changed. */
export interface KeptValue {
  readonly kind: Extract<WarningKind, "number_kept_as_text" | "half_character_replaced">;
  /** Keys and indexes that lead to it. */
  readonly path: readonly string[];
  /** As it is kept. */
  readonly text: string;
}

/** A JSON value, with what was changed in it. */
export interface Kept<Value> {
  readonly value: Value;
  readonly changed: readonly KeptValue[];
}

/** An escaped surrogate or an exponent of three digits. Without them and without long integers nothing can be
 * lost. */
const mayBeLost = /\\u[dD][89a-fA-F]|[eE]\+?\d{3}/;

/** Whether a JSON text may have a value that storage would lose. */
export function mayLoseValues(text: string): boolean {
  return mayRoundIntegers(text) || mayBeLost.test(text);
}

/** Makes a parsed value one that can be kept: it changes the value itself, and walks it, so it must not be
 * too deep for that.
 * @param lost the value's lost numbers */
export function keptValue(value: unknown, lost: NumberTexts): Kept<unknown> {
  const keeping = new Keeping();
  return { value: keeping.keep(value, lost), changed: keeping.changed };
}

/** A JSON object as it can be kept. */
export interface KeptBody extends ParsedBody {
  readonly changed: readonly KeptValue[];
}

/** Parses a JSON object within the limits of a request, as `parseBody` does, and changes values that storage
 * would lose. */
export function parseKeptBody(bytes: Uint8Array): KeptBody | Invalid {
  const parsed = parseObject(bytes);
  if (isInvalid(parsed)) return parsed;
  const { text } = parsed;
  const tooDeep = whyTooDeep(parsed.value);
  if (tooDeep !== undefined) return tooDeep;
  const { value, changed } = mayLoseValues(text)
    ? keptValue(parsed.value, NumberTexts.lost(text))
    : { ...parsed, changed: [] };
  if (!isJsonObject(value)) return { invalid: "body is not a JSON object: send a JSON object." };
  const problem = whyUnstorable(value, () => undefined);
  return problem ?? { value, changed, unusualDigits: (path) => NumberTexts.of(text, path.length).at(path) };
}

/** A path in words: `properties.order_id`. */
export function keptDetail({ path }: Pick<KeptValue, "path">): string {
  return path.join(".").toWellFormed();
}

/** Whether a number or text is kept as it is. Nearly all are: a path for each of a million took 60 ms. */
function isKept(held: unknown, lost: NumberTexts, key: string | number): boolean {
  if (typeof held === "number") return !lost.has(key);
  return typeof held === "string" ? held.isWellFormed() : typeof held !== "object" || held === null;
}

class Keeping {
  readonly changed: KeptValue[] = [];
  /** Leads to the present value. */
  readonly #path: (string | number)[] = [];

  keep(value: unknown, lost: NumberTexts): unknown {
    if (typeof value === "string") return this.#text(value);
    if (typeof value === "number") return this.#number(value, lost);
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        if (!isKept(value[index], lost, index)) this.#keepAt(value, index, lost);
      }
      return value;
    }
    if (!isJsonObject(value)) return value;
    let hasWholeKeys = true;
    for (const key in value) {
      hasWholeKeys &&= key.isWellFormed();
      if (!isKept(value[key], lost, key)) this.#keepAt(value, key, lost);
    }
    return hasWholeKeys ? value : this.#withWholeKeys(value);
  }

  #keepAt<Key extends string | number>(
    inside: { [key in Key]?: unknown },
    key: Key,
    lost: NumberTexts,
  ): void {
    const held = inside[key];
    this.#path.push(key);
    const kept = this.keep(held, lost.below(key));
    if (kept !== held) inside[key] = kept;
    this.#path.pop();
  }

  #withWholeKeys(value: JsonObject): JsonObject {
    // `fromEntries` makes "__proto__" a key like any other.
    return Object.fromEntries(
      Object.entries(value).map(([key, held]) => {
        this.#path.push(key);
        const entry = [this.#text(key), held] as const;
        this.#path.pop();
        return entry;
      }),
    );
  }

  #number(value: number, lost: NumberTexts): number | string {
    const digits = lost.at([]);
    if (digits === undefined) return value;
    this.#change("number_kept_as_text", digits);
    return digits;
  }

  #text(text: string): string {
    if (text.isWellFormed()) return text;
    const whole = text.toWellFormed();
    this.#change("half_character_replaced", whole);
    return whole;
  }

  #change(kind: KeptValue["kind"], text: string): void {
    this.changed.push({ kind, path: this.#path.map(String), text });
  }
}
