/** Chance that a seed repeats. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1), by the generator "mulberry32": 2 ns, and 2^32 numbers before they repeat. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** A number in [least, most). */
  within(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A normal variate (Box and Muller 1958). */
  normal(mean: number, deviation: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return mean + deviation * radius * Math.cos(2 * Math.PI * this.next());
  }

  /** An exponential variate. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.between(0, values.length - 1)];
    if (value === undefined) throw new RangeError("there is nothing to pick from");
    return value;
  }

  /** A value by its weight. */
  weighted<Value extends { readonly weight: number }>(values: readonly Value[]): Value {
    let left = this.next() * values.reduce((sum, { weight }) => sum + weight, 0);
    for (const value of values) {
      left -= value.weight;
      if (left < 0) return value;
    }
    return this.pick(values);
  }
}

/**
 * One of many independent sequences of a seed, for an account or a person that must not depend on the others.
 * The generator is "sfc32" (Doty-Humphrey, PractRand): its 128 bits keep sequences apart, where those of
 * `Random` overlap.
 */
export class Stream extends Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, number: number, purpose: number) {
    super(seed);
    [this.#a, this.#b, this.#c] = [seed | 0, number | 0, purpose | 0];
    for (let round = 0; round < 16; round += 1) this.next();
  }

  override next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }
}
