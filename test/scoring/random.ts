/** Repeatable chance for simulated users. */
import { Random } from "../../simulation/random.ts";

/** Numbers in [0, 1) from a seed. */
export function randomFrom(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next();
}

/** A draw from Beta(a, b) (Jöhnk 1964), for shapes that are not much above one. */
export function randomBeta(random: () => number, a: number, b: number): number {
  for (;;) {
    const [x, y] = [random() ** (1 / a), random() ** (1 / b)];
    if (x + y > 0 && x + y <= 1) return x / (x + y);
  }
}
