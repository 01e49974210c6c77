/** Token buckets by a key, no more of them than memory allows. */
import { TokenBucket } from "./rate-limit.ts";

const maxBuckets = 20_000;

export class Buckets {
  readonly #perSecond: number;
  #nodes = 1;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** Over how many nodes the limit is shared out from now on. */
  shareOver(nodes: number): void {
    this.#nodes = nodes;
    for (const bucket of this.#buckets.values()) bucket.nodes = nodes;
  }

  /** Takes a place: 0, or the whole seconds to wait. Past the bound the oldest begin again, full. */
  take(key: string, monotonicMs: number): number {
    return this.#bucket(key, monotonicMs).take(monotonicMs);
  }

  /** Whether a place is free: 0, or the whole seconds to wait. */
  waitSeconds(key: string, monotonicMs: number): number {
    return this.#buckets.get(key)?.waitSeconds(monotonicMs) ?? 0;
  }

  /** Takes places that were used already. */
  charge(key: string, monotonicMs: number, places: number): void {
    this.#bucket(key, monotonicMs).charge(monotonicMs, places);
  }

  #bucket(key: string, monotonicMs: number): TokenBucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = new TokenBucket(this.#perSecond, monotonicMs, this.#nodes);
      for (const oldest of this.#buckets.keys()) {
        if (this.#buckets.size < maxBuckets) break;
        this.#buckets.delete(oldest);
      }
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }
}
