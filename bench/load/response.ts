/** As much of HTTP/1.1 as the answers of a JSON API need: a status and a body of known length. */

export interface Response {
  readonly status: number;
  /** Length of head and body. */
  readonly bytes: number;
  /** The server will not answer another request on this connection. */
  readonly closes: boolean;
}

/** Reads the response at the start of the bytes; "incomplete" when more have to arrive. @throws when it is
 * not HTTP/1.1 or has no length */
export function parseResponse(bytes: Buffer): Response | "incomplete" {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return "incomplete";
  const head = bytes.toString("latin1", 0, headEnd);
  const status = Number(head.slice(9, 12));
  if (!head.startsWith("HTTP/1.1 ") || !(status >= 200 && status <= 599)) {
    throw new Error(`this is no answer to a request: ${JSON.stringify(head.slice(0, 80))}`);
  }
  const length = contentLength(head, status);
  const total = headEnd + 4 + length;
  if (bytes.length < total) return "incomplete";
  return { status, bytes: total, closes: /\r\nconnection: *close\b/i.test(head) };
}

function contentLength(head: string, status: number): number {
  if (status === 204 || status === 304) return 0;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`the answer does not say its Content-Length:\n${head}`);
  return Number(length);
}
