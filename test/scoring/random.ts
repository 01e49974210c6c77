/** Repeatable chance for simulated users. */

/** Numbers in [0, 1) from a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A draw from Beta(a, b) (Jöhnk 1964), for shapes that are not much above one. */
export function randomBeta(random: () => number, a: number, b: number): number {
  for (;;) {
    const [x, y] = [random() ** (1 / a), random() ** (1 / b)];
    if (x + y > 0 && x + y <= 1) return x / (x + y);
  }
}
