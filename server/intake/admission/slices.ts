/** Slices of a large request's items. Between two of them other requests have the processor. */

/** A slice takes about 10 ms: JSON of numbers takes longest. */
const sliceBytes = 512 * 1024;

/** The items in their order, in slices of about the same number. @param bytes of all of them together */
export function* slicesOf<Item>(items: readonly Item[], bytes: number): Generator<readonly Item[]> {
  const slices = Math.max(1, Math.ceil(bytes / sliceBytes));
  const length = Math.max(1, Math.ceil(items.length / slices));
  for (let first = 0; first < items.length; first += length) yield items.slice(first, first + length);
}
