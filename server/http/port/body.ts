/** Reads a request's body up to a limit and inflates it; a longer one is refused without being read, or
 * inflated, to its end. */
import { type Invalid, isInvalid } from "../../intake/admission/json.ts";
import type { BodyBudget } from "./body-budget.ts";
import { type Coding, inflate, mostInflated, readCodings } from "./inflate.ts";

/**
 * The body's bytes as they were before Content-Encoding, or why they are not taken. `maxBytes` bounds them
 * inflated. Rejects when the connection ends before the body does.
 * @param budget counts them until it is told that the request was answered
 * @throws ApiError when the budget has no room
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  budget: BodyBudget,
): Promise<Uint8Array | Invalid> {
  const sent = await readSentBody(request, maxBytes, budget);
  const body = isInvalid(sent) ? sent : inflateBody(request, sent, maxBytes, budget);
  await budget.turn(request);
  return body;
}

/** The first half of `readBody`, which waits for the sender: the bytes as they were sent. */
export function readSentBody(
  request: Request,
  maxBytes: number,
  budget: BodyBudget,
): Promise<Uint8Array | Invalid> {
  const codings = codingsOf(request);
  if (isInvalid(codings)) return Promise.resolve(codings);
  return readSent(request, budget, codings.length === 0 ? maxBytes : maxSentBytes(maxBytes), maxBytes);
}

/** The second half of `readBody`, which takes processor time: the bytes before Content-Encoding. */
export function inflateBody(
  request: Request,
  sent: Uint8Array,
  maxBytes: number,
  budget: BodyBudget,
): Uint8Array | Invalid {
  const codings = codingsOf(request);
  if (isInvalid(codings) || codings.length === 0) return isInvalid(codings) ? codings : sent;
  const most = mostInflated(sent.byteLength, maxBytes);
  let body: Uint8Array | Invalid = sent;
  for (const [index, coding] of codings.toReversed().entries()) {
    if (isInvalid(body)) return body;
    const isLast = index === codings.length - 1;
    body = inflate(body, coding, isLast ? most : maxSentBytes(most));
  }
  if (!isInvalid(body)) budget.reserve(request, body.byteLength);
  return body;
}

const noCodings: readonly Coding[] = [];

function codingsOf({ headers }: Request): readonly Coding[] | Invalid {
  const encoding = headers.get("content-encoding");
  return encoding === null ? noCodings : readCodings(encoding);
}

/** Incompressible bytes grow a little: by 5 bytes for each 16 KiB or more, and by a header. */
const maxSentBytes = (inflatedBytes: number) => inflatedBytes + Math.ceil(inflatedBytes / 64) + 1024;

/** The bytes as they were sent; `statedLimitBytes` is the limit that the sender is told of. */
async function readSent(
  request: Request,
  budget: BodyBudget,
  maxBytes: number,
  statedLimitBytes: number,
): Promise<Uint8Array | Invalid> {
  const declared = request.headers.get("content-length");
  const bytes = declared === null ? undefined : Number(declared);
  if (bytes === undefined) return readChunks(request, budget, maxBytes, statedLimitBytes);
  if (bytes > maxBytes) return tooLarge(statedLimitBytes);
  if (bytes > atOnceBytes) return readChunks(request, budget, maxBytes, statedLimitBytes);
  budget.reserve(request, bytes);
  return request.bytes();
}

/** A small body is counted before it is there, and read at once. Of a larger one only those bytes are counted
 * that came, or a few silent connections could use the budget up. */
const atOnceBytes = 16 * 1024;

/** Chunks of one byte would take 150 bytes each if they were kept: the sink copies them together. */
async function readChunks(
  request: Request,
  budget: BodyBudget,
  maxBytes: number,
  statedLimitBytes: number,
): Promise<Uint8Array | Invalid> {
  const sink = new Bun.ArrayBufferSink();
  sink.start();
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return tooLarge(statedLimitBytes);
    budget.reserve(request, chunk.byteLength);
    sink.write(chunk);
  }
  return new Uint8Array(sink.end());
}

function tooLarge(maxBytes: number): Invalid {
  return { invalid: `body is larger than ${maxBytes} bytes: send less.`, isTooLarge: true };
}
