/**
 * POST /batch: several identifies and tracks in one request. Each item is admitted alone, so that an invalid
 * item affects no other. The valid items are stored in their order, in one commit.
 */

import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import { BatchBody, BatchIdentify } from "../../../contract/write-api.ts";
import { parseEventTime } from "../../calendar/event-time.ts";
import type { Admitted } from "../decide/requests.ts";
import { admitIdentify } from "../identify.ts";
import { admitTrack } from "../track.ts";
import { type Arrival, wrong } from "./admit-event.ts";
import {
  type Invalid,
  isInvalid,
  isLargerThan,
  type ParsedBody,
  type ParsedObject,
  whyTooDeep,
  whyUnstorable,
} from "./json.ts";
import { mayRoundIntegers, NumberTexts } from "./number-texts.ts";
import { slicesOf } from "./slices.ts";

/** A batch with a valid envelope. Its items are not checked yet. */
export interface ParsedBatch {
  readonly items: readonly unknown[];
  readonly text: string;
}

/** Reads the envelope of a batch. */
export function readBatch(parsed: ParsedObject): ParsedBatch | Invalid {
  const items = parsed.value.batch;
  if (items === undefined || items === null) return wrong(BatchBody, ["batch"], "is missing");
  if (!Array.isArray(items)) return wrong(BatchBody, ["batch"], "is not valid");
  if (items.length === 0) return wrong(BatchBody, ["batch"], "is empty");
  if (items.length > limits.batchItems) return wrong(BatchBody, ["batch"], "is too long");
  const tooDeep = mayRoundIntegers(parsed.text) ? whyTooDeep(items) : undefined;
  if (tooDeep !== undefined) return tooDeep;
  return { items, text: parsed.text };
}

/** Admits each item of a batch, or returns its problem. An Idempotency-Key counts as key:index. A large batch
 * has its items in slices, of which the first may be empty: then the text was read for its numbers. */
export function* admitBatch(
  { items, text }: ParsedBatch,
  arrival: Arrival,
): Generator<(Admitted | Invalid)[]> {
  const batch = new BatchText(text);
  if (batch.readLost()) yield [];
  let index = -1;
  for (const slice of slicesOf(items, text.length)) {
    yield slice.map((item) => {
      index += 1;
      return admitItemOf(batch, item, index, arrival);
    });
  }
}

function admitItemOf(batch: BatchText, item: unknown, index: number, arrival: Arrival): Admitted | Invalid {
  if (!isJsonObject(item)) return { invalid: "item is not a JSON object: send a JSON object." };
  const unstorable = batch.whyUnstorable(item, index);
  if (unstorable !== undefined) return unstorable;
  const body: ParsedBody = { value: item, unusualDigits: (path) => batch.digitsAt(index, path) };
  const { idempotencyKey: key } = arrival;
  return admitItem(body, key ? { ...arrival, idempotencyKey: `${key}:${index}` } : arrival);
}

/** Admits one item, `{"type": "identify" | "track", …}`, or returns its problem. */
export function admitItem(body: ParsedBody, arrival: Arrival): Admitted | Invalid {
  const { type } = body.value;
  if (type === "track") return admitTrack(body, arrival);
  if (type === "identify") return admitTimedIdentify(body, arrival);
  const problem = type === undefined || type === null ? "is missing" : "is not valid";
  return wrong(BatchIdentify, ["type"], problem);
}

/** Admits an identify that may have a timestamp. A future time counts as now: until then it would override
 * all newer identifies. */
function admitTimedIdentify(body: ParsedBody, arrival: Arrival): Admitted | Invalid {
  const { timestamp } = body.value;
  const admitted = admitIdentify(body, arrival);
  if (isInvalid(admitted) || timestamp === undefined || timestamp === null) return admitted;
  if (typeof timestamp !== "string") return wrong(BatchIdentify, ["timestamp"], "is not valid");
  const timestampMs = parseEventTime(timestamp, arrival.zone);
  if (timestampMs === undefined) return wrong(BatchIdentify, ["timestamp"], "is not a time that can be read");
  return { ...admitted, timestampMs: Math.min(timestampMs, arrival.receivedAtMs) };
}

/** The text of a batch. It has the digits of numbers and the size of the body. */
class BatchText {
  readonly #text: string;
  readonly #mayBeTooLarge: boolean;
  #numbers: NumberTexts | undefined;
  #lost: NumberTexts | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#mayBeTooLarge = Buffer.byteLength(text) > limits.bodyBytes;
  }

  /** The digits of the number in a field of an item. The first call scans the text. */
  digitsAt(index: number, path: readonly string[]): string | undefined {
    const inBatch = ["batch", index] as const;
    this.#numbers ??= NumberTexts.of(this.#text, inBatch.length + 1);
    return this.#numbers.below(...inBatch).at(path);
  }

  /** Reads the lost numbers, if there may be any. @returns whether there may be */
  readLost(): boolean {
    if (!mayRoundIntegers(this.#text)) return false;
    this.#lost = NumberTexts.lost(this.#text).below("batch");
    return true;
  }

  whyUnstorable(item: JsonObject, index: number): Invalid | undefined {
    // Its size first, as looking at many values takes longer.
    if (this.#mayBeTooLarge && isLargerThan(limits.bodyBytes, item)) {
      return { invalid: `item is larger than ${limits.bodyBytes} bytes: send less.` };
    }
    return whyUnstorable(item, () => this.#lost?.below(index));
  }
}
