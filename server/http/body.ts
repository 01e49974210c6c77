/** Reads a request's body up to a limit and inflates it; a longer one is refused without being read, or
 * inflated, to its end. */
import { type Invalid, isInvalid } from "../intake/json.ts";
import { type Coding, inflate, readCodings } from "./inflate.ts";

/**
 * The body's bytes as they were before Content-Encoding, or why they are not taken. `maxBytes` bounds them
 * inflated. Rejects when the connection ends before the body does.
 */
export function readBody(request: Request, maxBytes: number): Promise<Uint8Array | Invalid> {
  const encoding = request.headers.get("content-encoding");
  if (encoding === null) return readSent(request, maxBytes);
  const codings = readCodings(encoding);
  return isInvalid(codings) ? Promise.resolve(codings) : readInflated(request, codings, maxBytes);
}

/** What cannot be compressed grows a little: by 5 bytes for each 16 KiB or more, and by a header. */
const maxSentBytes = (inflatedBytes: number) => inflatedBytes + Math.ceil(inflatedBytes / 64) + 1024;

async function readInflated(
  request: Request,
  codings: readonly Coding[],
  maxBytes: number,
): Promise<Uint8Array | Invalid> {
  if (codings.length === 0) return readSent(request, maxBytes);
  let body = await readSent(request, maxSentBytes(maxBytes), maxBytes);
  for (const [index, coding] of codings.toReversed().entries()) {
    if (isInvalid(body)) return body;
    const isLast = index === codings.length - 1;
    body = inflate(body, coding, isLast ? maxBytes : maxSentBytes(maxBytes));
  }
  return body;
}

/** The bytes as they were sent; `saidBytes` is the limit that the sender is told of. */
function readSent(request: Request, maxBytes: number, saidBytes = maxBytes): Promise<Uint8Array | Invalid> {
  const declared = request.headers.get("content-length");
  if (declared === null) return readChunks(request, maxBytes, saidBytes);
  return Number(declared) > maxBytes ? Promise.resolve(tooLarge(saidBytes)) : request.bytes();
}

/** Chunks of one byte would take 150 bytes each if they were kept: the sink copies them together. */
async function readChunks(
  request: Request,
  maxBytes: number,
  saidBytes: number,
): Promise<Uint8Array | Invalid> {
  const sink = new Bun.ArrayBufferSink();
  sink.start();
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return tooLarge(saidBytes);
    sink.write(chunk);
  }
  return new Uint8Array(sink.end());
}

function tooLarge(maxBytes: number): Invalid {
  return { invalid: `body is larger than ${maxBytes} bytes: send less.`, isTooLarge: true };
}
