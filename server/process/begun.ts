/** Streams whose failure before the first chunk is an error, and not an empty success. */

/** Resolves with the same chunks when the first one is there. @throws what the stream throws before it */
export async function begun<Chunk>(chunks: AsyncIterable<Chunk>): Promise<AsyncGenerator<Chunk>> {
  const iterator = chunks[Symbol.asyncIterator]();
  return followed(await iterator.next(), iterator);
}

/** A first chunk that was read, and those that follow. */
export async function* followed<Chunk>(
  first: IteratorResult<Chunk>,
  iterator: AsyncIterator<Chunk>,
): AsyncGenerator<Chunk> {
  try {
    for (let at = first; at.done !== true; at = await iterator.next()) yield at.value;
  } finally {
    await iterator.return?.();
  }
}
