/** The body of a connected source's request, as their clients label and mislabel it. */

import { isJsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import {
  type Invalid,
  isInvalid,
  mayRoundIntegers,
  NumberTexts,
  type ParsedObject,
  parseJson,
  parseObject,
  whyTooDeep,
  whyUnstorable,
} from "../../intake/intake.ts";
import type { Translated, TranslatedItem } from "../../sources/sources.ts";
import { inflate } from "../port/inflate.ts";

/** A body that is JSON. */
export class SourceBody {
  readonly bytes: Uint8Array;
  readonly value: unknown;
  /** Undefined where no integer can have been rounded. */
  readonly #numbers: NumberTexts | undefined;

  private constructor(bytes: Uint8Array, value: unknown, numbers: NumberTexts | undefined) {
    this.bytes = bytes;
    this.value = value;
    this.#numbers = numbers;
  }

  /** Parses a body. Its Content-Type is ignored: beacons send text/plain, and some clients label gzip as a form.
   * @param mayBeAny whether it may be something else than an object
   * @param before the bytes as JSON, where they were parsed already */
  static parse(
    bytes: Uint8Array,
    { mayBeAny = false, parsed: before }: { mayBeAny?: boolean; parsed?: ParsedObject | undefined } = {},
  ): SourceBody | Invalid {
    const parsed = before ?? (mayBeAny ? parseJson(bytes) : parseObject(bytes));
    if (isInvalid(parsed)) return parsed;
    const mayBeRounded = mayRoundIntegers(parsed.text);
    const isWalked = mayBeRounded || mayBeAny;
    const refused = whyTooMany(parsed.value) ?? (isWalked ? whyTooDeep(parsed.value) : undefined);
    if (refused !== undefined) return refused;
    return new SourceBody(bytes, parsed.value, mayBeRounded ? NumberTexts.of(parsed.text) : undefined);
  }

  /**
   * Why a message cannot be stored; undefined when it can.
   * @param message the whole body, or the item of its `batch` with this index
   */
  whyUnstorable(message: unknown, index: number): Invalid | undefined {
    if (!isJsonObject(message)) return undefined;
    const numbers = () =>
      message === this.value ? this.#numbers : this.#numbers?.below("batch", String(index));
    // A message that is too deep cannot be made into a text again.
    const problem = whyUnstorable(message, numbers);
    const mayBeTooLarge = problem === undefined && this.bytes.byteLength > limits.bodyBytes;
    if (mayBeTooLarge && Buffer.byteLength(JSON.stringify(message)) > limits.bodyBytes) {
      return { invalid: `message is larger than ${limits.bodyBytes} bytes: send less.` };
    }
    return problem;
  }
}

/** Why a body has more messages than a request may have, which is looked at before anything is done with each. */
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

/** Why what a mapping takes out of a body cannot be kept as a whole: a path may lead from every item to the same large object. */
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

/** Why the translation of a message cannot be stored: it has a whole number that may have been rounded. Undefined when it can. */
export function whyRounded(translated: Translated): Invalid | undefined {
  const items = "items" in translated ? translated.items : [];
  const isRounded = items.some(
    (item) =>
      (item.type === "track" && hasRounded(item.properties)) ||
      (item.type === "identify" && hasRounded(item.traits)),
  );
  return isRounded
    ? { invalid: "A whole number has too many digits to be kept: send it as a string." }
    : undefined;
}

/** Senders write numbers from here on with an exponent, so the exact digits do not matter. */
const leastExponential = 1e21;

function hasRounded(value: unknown): boolean {
  if (typeof value === "number") {
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < leastExponential;
  }
  return typeof value === "object" && value !== null && Object.values(value).some(hasRounded);
}

/** The bytes of a body, inflated also where they are gzip that no header tells of. */
export function unwrapGzip(_request: Request, bytes: Uint8Array, maxBytes: number): Uint8Array | Invalid {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? inflate(bytes, "gzip", maxBytes) : bytes;
}
