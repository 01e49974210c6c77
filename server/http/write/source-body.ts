/** The body of a connected source's request, as their clients label and mislabel it. */

import { isJsonObject, objectOf } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import {
  asObject,
  type Invalid,
  isInvalid,
  isLargerThan,
  type ParsedObject,
  parseInTurns,
  type Turn,
  whyTooDeep,
  whyUnstorable,
} from "../../intake/admission/json.ts";
import { type KeptValue, keptValue, mayLoseValues } from "../../intake/admission/kept-values.ts";
import { NumberTexts } from "../../intake/admission/number-texts.ts";
import { slicesOf } from "../../intake/admission/slices.ts";
import type { Translated, TranslatedItem } from "../../sources/source.ts";
import { inflate } from "../port/inflate.ts";

/** Of a message that has thousands, the first ones are looked for, and the first of these are told. */
const [maxLookedFor, maxChangedOfMessage] = [200, 20];

/** A body that is JSON. Values that storage would lose are changed into values that it keeps. */
export class SourceBody {
  readonly bytes: Uint8Array;
  /** As it can be kept. */
  readonly value: unknown;
  /** What was changed, by the message of the body's `batch`. Of everything else the key is null. */
  readonly #changed: ChangedValues;

  private constructor(bytes: Uint8Array, value: unknown, changed: ChangedValues) {
    this.bytes = bytes;
    this.value = value;
    this.#changed = changed;
  }

  /** Parses a body. Its Content-Type is ignored: beacons send text/plain, and some clients label gzip as a
   * form.
   * @param turn awaited between the steps
   * @param mayBeAny whether it may be something else than an object
   * @param before the bytes as JSON, where they were parsed already */
  static async parse(
    bytes: Uint8Array,
    turn: Turn,
    { mayBeAny = false, parsed: before }: { mayBeAny?: boolean; parsed?: ParsedObject | undefined } = {},
  ): Promise<SourceBody | Invalid> {
    const json = before ?? (await parseInTurns(bytes, turn));
    const parsed = mayBeAny ? json : asObject(json);
    if (isInvalid(parsed)) return parsed;
    const { value, text } = parsed;
    const mayBeLost = mayLoseValues(text);
    const isWalked = mayBeLost || mayBeAny;
    const refused = whyTooMany(value) ?? (isWalked ? whyTooDeep(value) : undefined);
    if (refused !== undefined) return refused;
    const changed = new Map<number | null, readonly KeptValue[]>();
    if (!mayBeLost) return new SourceBody(bytes, value, changed);
    await turn();
    const lost = NumberTexts.lost(text);
    await turn();
    if (!isJsonObject(value) || !Array.isArray(value.batch)) {
      const kept = keptValue(value, lost);
      return new SourceBody(bytes, kept.value, changed.set(null, kept.changed));
    }
    const { batch, ...envelope } = value;
    const kept = keptValue(envelope, lost);
    changed.set(null, kept.changed);
    const messages: unknown[] = [];
    for (const slice of slicesOf<unknown>(batch, bytes.byteLength)) {
      for (const message of slice) {
        const index = messages.length;
        // It will be refused. To walk its values would take 40 ms.
        const isRefused = isTooLarge(message, bytes);
        const whole = isRefused
          ? { value: message, changed: [] }
          : keptValue(message, lost.below("batch", index));
        messages.push(whole.value);
        if (whole.changed.length > 0) changed.set(index, whole.changed);
      }
      await turn();
    }
    return new SourceBody(bytes, { ...objectOf(kept.value), batch: messages }, changed);
  }

  /** What was changed of a message so that it can be kept, as far as its translation has it.
   * @param index of the message in the body's `batch` */
  changedIn(translated: Translated, index: number): readonly KeptValue[] {
    const changed = [index, null].flatMap((of) => this.#changed.get(of) ?? []).slice(0, maxLookedFor);
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
    if (isTooLarge(message, this.bytes)) {
      return { invalid: `message is larger than ${limits.bodyBytes} bytes: send less.` };
    }
    return whyUnstorable(message, () => undefined);
  }
}

type ChangedValues = ReadonlyMap<number | null, readonly KeptValue[]>;

/** Whether a message is refused for its size, which comes first: to look at 260,000 values takes 40 ms. */
function isTooLarge(message: unknown, body: Uint8Array): boolean {
  return (
    body.byteLength > limits.bodyBytes && isJsonObject(message) && isLargerThan(limits.bodyBytes, message)
  );
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
