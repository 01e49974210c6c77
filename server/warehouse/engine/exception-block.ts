/**
 * An answer that fails after its first bytes were sent has the status 200. Since 25.11 ClickHouse announces a
 * random tag in a header of every answer and, when a query fails, ends the body with
 *
 *   \r\n__exception__\r\n<tag>\r\n<message>\n<length> <tag>\r\n__exception__\r\n
 *
 * and cuts the connection. The tag is random and 16 letters long, so no data can pass for it.
 */

/** An error that was found in an answer's body. */
export class ExceptionInBody extends Error {
  override readonly name = "ExceptionInBody";
}

/**
 * Yields the bytes of an answer up to its exception.
 * @param tag of the answer's `X-ClickHouse-Exception-Tag`
 * @throws ExceptionInBody with the server's message, and any error of the body when it is cut off
 */
export async function* untilException(
  body: AsyncIterable<Uint8Array>,
  tag: string,
): AsyncIterable<Uint8Array> {
  const begin = Buffer.from(`\r\n__exception__\r\n${tag}\r\n`);
  let held: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of body) {
      held = held.length === 0 ? asBuffer(chunk) : Buffer.concat([held, chunk]);
      // Once it has begun nothing but the message follows.
      if (held.includes(begin)) continue;
      // The possible beginning of the mark is held back.
      const certain = held.length - begin.length + 1;
      if (certain <= 0) continue;
      yield held.subarray(0, certain);
      held = held.subarray(certain);
    }
  } catch (error) {
    throwException(held, begin, tag, error);
    throw error;
  }
  throwException(held, begin, tag);
  if (held.length > 0) yield held;
}

function throwException(held: Buffer, begin: Buffer, tag: string, cause?: unknown): void {
  const start = held.indexOf(begin);
  if (start === -1) return;
  const message = held.subarray(start + begin.length).toString();
  const end = message.lastIndexOf(` ${tag}\r\n`);
  const whole = end === -1 ? message : message.slice(0, message.lastIndexOf("\n", end));
  throw new ExceptionInBody(whole, { cause });
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
