/** The body of a connected source's request, as their clients label and mislabel it. */

import { isJsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import {
  type Invalid,
  isInvalid,
  type Kept,
  type KeptValue,
  keptValue,
  mayLoseValues,
  NumberTexts,
  type ParsedObject,
  parseJson,
  parseObject,
  whyTooDeep,
  whyUnstorable,
} from "../../intake/intake.ts";
import type { Translated, TranslatedItem } from "../../sources/sources.ts";
import { inflate } from "../port/inflate.ts";

/** Of a message that has thousands, the first ones are looked for, and the first of these are told. */
const [maxLookedFor, maxChangedOfMessage] = [200, 20];

/** A body that is JSON. Values that storage would lose are changed into values that it keeps. */
export class SourceBody {
  readonly bytes: Uint8Array;
  /** As it can be kept. */
  readonly value: unknown;
  /** What was changed, by the message of the body's `batch`. Of everything else the key is null. */
  readonly #changed: ReadonlyMap<number | null, readonly KeptValue[]>;

  private constructor(bytes: Uint8Array, { value, changed }: Kept<unknown>) {
    this.bytes = bytes;
    this.value = value;
    const isBatch = isJsonObject(value) && Array.isArray(value.batch);
    this.#changed = Map.groupBy(changed, ({ path }) =>
      isBatch && path[0] === "batch" ? Number(path[1]) : null,
    );
  }

  /** Parses a body. Its Content-Type is ignored: beacons send text/plain, and some clients label gzip as a
   * form.
   * @param mayBeAny whether it may be something else than an object
   * @param before the bytes as JSON, where they were parsed already */
  static parse(
    bytes: Uint8Array,
    { mayBeAny = false, parsed: before }: { mayBeAny?: boolean; parsed?: ParsedObject | undefined } = {},
  ): SourceBody | Invalid {
    const parsed = before ?? (mayBeAny ? parseJson(bytes) : parseObject(bytes));
    if (isInvalid(parsed)) return parsed;
    const { value, text } = parsed;
    const mayBeLost = mayLoseValues(text);
    const isWalked = mayBeLost || mayBeAny;
    const refused = whyTooMany(value) ?? (isWalked ? whyTooDeep(value) : undefined);
    if (refused !== undefined) return refused;
    return new SourceBody(
      bytes,
      mayBeLost ? keptValue(value, NumberTexts.lost(text)) : { value, changed: [] },
    );
  }

  /** What was changed of a message so that it can be kept, as far as its translation has it.
   * @param index of the message in the body's `batch` */
  changedIn(translated: Translated, index: number): readonly KeptValue[] {
    const own = this.#changed.get(index)?.map((one) => ({ ...one, path: one.path.slice(2) })) ?? [];
    const changed = [...own, ...(this.#changed.get(null) ?? [])].slice(0, maxLookedFor);
    if (changed.length === 0 || !("items" in translated)) return [];
    const kept = JSON.stringify(translated.items);
    return changed
      .filter(({ text }) => kept.includes(JSON.stringify(text).slice(1, -1)))
      .slice(0, maxChangedOfMessage);
  }

  /** Why a message cannot be stored; undefined when it can. @param message the whole body, or an item of its
   * `batch` */
  whyUnstorable(message: unknown): Invalid | undefined {
    if (!isJsonObject(message)) return undefined;
    // Its size first: looking at 260,000 values takes 40 ms. A message that is too deep cannot be made into a
    // text again.
    const mayBeTooLarge = this.bytes.byteLength > limits.bodyBytes && whyTooDeep(message) === undefined;
    if (mayBeTooLarge && Buffer.byteLength(JSON.stringify(message)) > limits.bodyBytes) {
      return { invalid: `message is larger than ${limits.bodyBytes} bytes: send less.` };
    }
    return whyUnstorable(message, () => undefined);
  }
}

/** Why a body has more messages than a request may have, which is looked at before anything is done with
 * each. */
function whyTooMany(value: unknown): Invalid | undefined {
  if (isTooLong(value)) return tooManyMessages;
  if (Array.isArray(value)) return value.some(isTooLong) ? tooManyMessages : undefined;
  if (!isJsonObject(value)) return undefined;
  for (const key in value) if (isTooLong(value[key])) return tooManyMessages;
  return undefined;
}

function isTooLong(list: unknown): boolean {
  return Array.isArray(list) && list.length > limits.sourceItems;
}

const tooManyMessages: Invalid = {
  invalid: `body has more than ${limits.sourceItems} messages: send fewer.`,
  isTooLarge: true,
};

/** Why what a mapping takes out of a body cannot be kept as a whole: a path may lead from every item to the
 * same large object. */
export function whyTooMuch(translated: readonly TranslatedItem[]): Invalid | undefined {
  if (translated.length > limits.sourceItems) return tooManyMessages;
  let bytes = 0;
  for (const { translated: one } of translated) {
    bytes += "items" in one ? Buffer.byteLength(JSON.stringify(one.items)) : 0;
    if (bytes > 2 * limits.batchBytes) {
      return {
        invalid: "The mapping takes more out of this body than the body holds: take less of each item.",
      };
    }
  }
  return undefined;
}

/** The bytes of a body, inflated also where they are gzip that no header tells of. */
export function unwrapGzip(_request: Request, bytes: Uint8Array, maxBytes: number): Uint8Array | Invalid {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? inflate(bytes, "gzip", maxBytes) : bytes;
}
