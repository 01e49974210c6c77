/** Chance that a seed repeats. */

/** Numbers in [0, 1) from a seed: a counter, mixed by the finalizer of MurmurHash3 (Appleby 2011). */
export function uniformFrom(seed: number): () => number {
  let counter = seed;
  return () => {
    counter = (counter + 0x9e3779b9) | 0;
    let mixed = Math.imul(counter ^ (counter >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}
