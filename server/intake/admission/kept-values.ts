/**
 * Changes values that storage would lose into values that it keeps, for senders who cannot correct them: connected tools and
 * files. A number that JavaScript writes in other digits becomes a text of its digits, and half of a character becomes U+FFFD.
 */
import { isJsonObject } from "../../../contract/json.ts";
import type { WarningKind } from "../../ledger/ledger.ts";
import { type Invalid, isInvalid, type ParsedBody, parseObject, whyTooDeep, whyUnstorable } from "./json.ts";
import { isLost, mayRoundIntegers, NumberTexts } from "./number-texts.ts";

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

/** An escaped surrogate or an exponent of three digits. Without them and without long integers nothing can be lost. */
const mayBeLost = /\\u[dD][89a-fA-F]|[eE]\+?\d{3}/;

/** Whether a JSON text may have a value that storage would lose. */
export function mayLoseValues(text: string): boolean {
  return mayRoundIntegers(text) || mayBeLost.test(text);
}

/** A parsed value as it can be kept. It walks the value, which must not be too deep for that. @param numbers the value's */
export function keptValue(value: unknown, numbers: NumberTexts): Kept<unknown> {
  const keeping = new Keeping();
  return { value: keeping.keep(value, numbers, []), changed: keeping.changed };
}

/** A JSON object as it can be kept. */
export interface KeptBody extends ParsedBody {
  readonly changed: readonly KeptValue[];
}

/** Parses a JSON object within the limits of a request, as `parseBody` does, and changes values that storage would lose. */
export function parseKeptBody(bytes: Uint8Array): KeptBody | Invalid {
  const parsed = parseObject(bytes);
  if (isInvalid(parsed)) return parsed;
  const { text } = parsed;
  const tooDeep = whyTooDeep(parsed.value);
  if (tooDeep !== undefined) return tooDeep;
  const { value, changed } = mayLoseValues(text)
    ? keptValue(parsed.value, NumberTexts.of(text))
    : { ...parsed, changed: [] };
  if (!isJsonObject(value)) return { invalid: "body is not a JSON object: send a JSON object." };
  const problem = whyUnstorable(value, () => undefined);
  return problem ?? { value, changed, unusualDigits: (path) => NumberTexts.of(text).at(path) };
}

/** A path in words: `properties.order_id`. */
export function keptDetail({ path }: Pick<KeptValue, "path">): string {
  return path.join(".").toWellFormed();
}

class Keeping {
  readonly changed: KeptValue[] = [];

  keep(value: unknown, numbers: NumberTexts, path: readonly string[]): unknown {
    if (typeof value === "number") return this.#number(value, numbers, path);
    if (typeof value === "string") return this.#text(value, path);
    if (Array.isArray(value)) {
      return value.map((item: unknown, index) => {
        const key = String(index);
        return this.keep(item, numbers.below(key), [...path, key]);
      });
    }
    if (!isJsonObject(value)) return value;
    // `fromEntries` makes "__proto__" a key like any other.
    return Object.fromEntries(
      Object.entries(value).map(([key, held]) => {
        const inside = [...path, key];
        return [this.#text(key, inside), this.keep(held, numbers.below(key), inside)];
      }),
    );
  }

  #number(value: number, numbers: NumberTexts, path: readonly string[]): number | string {
    const digits = numbers.at([]);
    if (digits === undefined || !isLost(digits)) return value;
    this.changed.push({ kind: "number_kept_as_text", path, text: digits });
    return digits;
  }

  #text(text: string, path: readonly string[]): string {
    if (text.isWellFormed()) return text;
    const whole = text.toWellFormed();
    this.changed.push({ kind: "half_character_replaced", path, text: whole });
    return whole;
  }
}
