/** Reads a request's body up to a limit; a longer one is refused without being read to its end. */

/** The body's bytes, or undefined when there are more than `maxBytes`. */
export function readBody(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  const declared = request.headers.get("content-length");
  if (declared === null) return readChunks(request, maxBytes);
  return Number(declared) > maxBytes ? Promise.resolve(undefined) : request.bytes();
}

async function readChunks(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
