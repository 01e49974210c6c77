/** The body of a connected source's request, as their clients label and mislabel it. */

import { limits } from "../../contract/limits.ts";
import {
  type Invalid,
  isInvalid,
  mayRoundIntegers,
  parseJson,
  parseObject,
  whyTooDeep,
  whyUnstorable,
} from "../intake/json.ts";
import { NumberTexts } from "../intake/number-texts.ts";
import { isJsonObject } from "../ledger/ledger.ts";
import type { Translated, TranslatedItem } from "../sources/sources.ts";
import { readBody } from "./body.ts";
import { inflate } from "./inflate.ts";

/** A body that is JSON. */
export class SourceBody {
  readonly bytes: Uint8Array;
  readonly value: unknown;
  /** Where an integer may have been rounded. */
  readonly #texts: NumberTexts | undefined;

  private constructor(bytes: Uint8Array, value: unknown, texts: NumberTexts | undefined) {
    this.bytes = bytes;
    this.value = value;
    this.#texts = texts;
  }

  /** Parses a body, whatever its Content-Type says: a beacon's is text/plain, and gzip comes labelled as a form.
   * @param mayBeAny whether it may be something else than an object */
  static parse(bytes: Uint8Array, mayBeAny = false): SourceBody | Invalid {
    const parsed = mayBeAny ? parseJson(bytes) : parseObject(bytes);
    if (isInvalid(parsed)) return parsed;
    const isReadAgain = mayRoundIntegers(parsed.text);
    const isWalked = isReadAgain || mayBeAny;
    const refused = whyTooMany(parsed.value) ?? (isWalked ? whyTooDeep(parsed.value) : undefined);
    if (refused !== undefined) return refused;
    if (!isReadAgain) return new SourceBody(bytes, parsed.value, undefined);
    const texts = NumberTexts.of(parsed.text);
    return new SourceBody(bytes, texts.value, texts);
  }

  /** Why a message, an object in this body, cannot be stored whatever it says; undefined when it can. */
  whyUnstorable(message: unknown): Invalid | undefined {
    if (!isJsonObject(message)) return undefined;
    // What is too deep cannot be made into a text again.
    const problem = whyUnstorable(message, this.#texts?.around(message));
    const mayBeTooLarge = problem === undefined && this.bytes.byteLength > limits.bodyBytes;
    if (mayBeTooLarge && Buffer.byteLength(JSON.stringify(message)) > limits.bodyBytes) {
      return { invalid: `message is larger than ${limits.bodyBytes} bytes: send less.` };
    }
    return problem;
  }
}

/** Why a body has more messages than a request may have. Looked at before anything is done with each: to read the numbers of
 * some millions again took 8 s. */
function whyTooMany(value: unknown): Invalid | undefined {
  const lists = [value, ...Object.values(value ?? {})];
  if (!lists.some((list) => Array.isArray(list) && list.length > limits.sourceItems)) return undefined;
  return tooManyMessages;
}

const tooManyMessages: Invalid = {
  invalid: `body has more than ${limits.sourceItems} messages: send fewer.`,
  isTooLarge: true,
};

/** Why what a mapping takes out of a body cannot be kept as a whole: a path may lead from every item to the same large object. */
export function whyTooMuch(translated: readonly TranslatedItem[]): Invalid | undefined {
  if (translated.length > limits.sourceItems) return tooManyMessages;
  let bytes = 0;
  for (const { translated: said } of translated) {
    bytes += "items" in said ? Buffer.byteLength(JSON.stringify(said.items)) : 0;
    if (bytes > 2 * limits.batchBytes) {
      return {
        invalid: "The mapping takes more out of this body than the body holds: take less of each item.",
      };
    }
  }
  return undefined;
}

/** Why what was taken out of a message cannot be kept, whatever else is in it: a whole number that may have been rounded,
 * because in which digits it was sent is not known any more. Undefined when it can. */
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

/** Numbers from here on are written with an exponent, and whoever wrote so did not mean each digit. */
const leastExponential = 1e21;

function hasRounded(value: unknown): boolean {
  if (typeof value === "number") {
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < leastExponential;
  }
  return typeof value === "object" && value !== null && Object.values(value).some(hasRounded);
}

/** Reads a body and inflates it, also when it is gzip that no header tells of. */
export async function readSourceBytes(request: Request, maxBytes: number): Promise<Uint8Array | Invalid> {
  const bytes = await readBody(request, maxBytes);
  if (isInvalid(bytes) || bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  return inflate(bytes, "gzip", maxBytes);
}
