/**
 * POST /batch: several identifies and tracks in one request. Each item is admitted alone, so that a bad one
 * costs nothing but itself; the good ones are stored in their order, in one commit.
 */

import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import { BatchBody, BatchIdentify } from "../../../contract/write-api.ts";
import type { Admitted } from "../decide/requests.ts";
import { admitIdentify } from "../identify.ts";
import { admitTrack } from "../track.ts";
import { type Arrival, wrong } from "./admit-event.ts";
import {
  type Invalid,
  isInvalid,
  type ParsedBody,
  type ParsedObject,
  whyTooDeep,
  whyUnstorable,
} from "./json.ts";
import { mayRoundIntegers, NumberTexts } from "./number-texts.ts";
import { parseEventTime } from "./time.ts";

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

/** Admits each item of a batch, or says what is wrong with it. An Idempotency-Key counts as key:index. */
export function admitBatch({ items, text }: ParsedBatch, arrival: Arrival): (Admitted | Invalid)[] {
  const batch = new BatchText(text);
  const key = arrival.idempotencyKey;
  return items.map((item, index) => {
    if (!isJsonObject(item)) return { invalid: "item is not a JSON object: send a JSON object." };
    const unstorable = batch.whyUnstorable(item, index);
    if (unstorable !== undefined) return unstorable;
    const body: ParsedBody = { value: item, unusualDigits: (path) => batch.numbersOf(index).at(path) };
    return admitItem(body, key ? { ...arrival, idempotencyKey: `${key}:${index}` } : arrival);
  });
}

/** Admits one item, `{"type": "identify" | "track", …}`, or says what is wrong with it. */
export function admitItem(body: ParsedBody, arrival: Arrival): Admitted | Invalid {
  const { type } = body.value;
  if (type === "track") return admitTrack(body, arrival);
  if (type === "identify") return admitTimedIdentify(body, arrival);
  const problem = type === undefined || type === null ? "is missing" : "is not valid";
  return wrong(BatchIdentify, ["type"], problem);
}

/** An identify that may say when it was true. A time to come would win over all that is really said until
 * then, so it counts as now. */
function admitTimedIdentify(body: ParsedBody, arrival: Arrival): Admitted | Invalid {
  const { timestamp } = body.value;
  const admitted = admitIdentify(body, arrival);
  if (isInvalid(admitted) || timestamp === undefined || timestamp === null) return admitted;
  if (typeof timestamp !== "string") return wrong(BatchIdentify, ["timestamp"], "is not valid");
  const saidAtMs = parseEventTime(timestamp, arrival.zone);
  if (saidAtMs === undefined) return wrong(BatchIdentify, ["timestamp"], "is not a time that can be read");
  return { ...admitted, saidAtMs: Math.min(saidAtMs, arrival.receivedAtMs) };
}

/** The text of a batch, and what only it can tell of an item. */
class BatchText {
  readonly #text: string;
  readonly #mayRoundIntegers: boolean;
  readonly #mayBeTooLarge: boolean;
  #numbers: NumberTexts | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#mayRoundIntegers = mayRoundIntegers(text);
    this.#mayBeTooLarge = Buffer.byteLength(text) > limits.bodyBytes;
  }

  /** The digits of an item's numbers; the first call scans the text. */
  numbersOf(index: number): NumberTexts {
    this.#numbers ??= NumberTexts.of(this.#text).below("batch");
    return this.#numbers.below(String(index));
  }

  whyUnstorable(item: JsonObject, index: number): Invalid | undefined {
    // What is too deep cannot be made into a text again.
    const problem = whyUnstorable(item, () => (this.#mayRoundIntegers ? this.numbersOf(index) : undefined));
    const mayBeTooLarge = problem === undefined && this.#mayBeTooLarge;
    if (mayBeTooLarge && Buffer.byteLength(JSON.stringify(item)) > limits.bodyBytes) {
      return { invalid: `item is larger than ${limits.bodyBytes} bytes: send less.` };
    }
    return problem;
  }
}
