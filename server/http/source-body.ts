/** The body of a connected source's request, as their clients label and mislabel it. */

import { limits } from "../../contract/limits.ts";
import { type Invalid, isInvalid, mayRoundIntegers, parseObject, whyUnstorable } from "../intake/json.ts";
import { NumberTexts } from "../intake/number-texts.ts";
import { isJsonObject } from "../ledger/ledger.ts";
import { readBody } from "./body.ts";
import { inflate } from "./inflate.ts";

/** A body that is a JSON object. */
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

  /** Parses a body, whatever its Content-Type says: a beacon's is text/plain, and gzip comes labelled as a form. */
  static parse(bytes: Uint8Array): SourceBody | Invalid {
    const parsed = parseObject(bytes);
    if (isInvalid(parsed)) return parsed;
    if (!mayRoundIntegers(parsed.text)) return new SourceBody(bytes, parsed.value, undefined);
    const texts = NumberTexts.of(parsed.text);
    return new SourceBody(bytes, texts.value, texts);
  }

  /** Why a message, an object in this body, cannot be stored whatever it says; undefined when it can. */
  whyUnstorable(message: unknown): Invalid | undefined {
    if (!isJsonObject(message)) return undefined;
    const mayBeTooLarge = this.bytes.byteLength > limits.bodyBytes;
    if (mayBeTooLarge && Buffer.byteLength(JSON.stringify(message)) > limits.bodyBytes) {
      return { invalid: `message is larger than ${limits.bodyBytes} bytes: send less.` };
    }
    return whyUnstorable(message, this.#texts?.around(message));
  }
}

/** Reads a body and inflates it, also when it is gzip that no header tells of. */
export async function readSourceBytes(request: Request, maxBytes: number): Promise<Uint8Array | Invalid> {
  const bytes = await readBody(request, maxBytes);
  if (isInvalid(bytes) || bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  return inflate(bytes, "gzip", maxBytes);
}
