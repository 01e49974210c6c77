/** Token buckets: of one sender, and of many by a key. */

import { setNewest } from "../../process/set-newest.ts";

/** Times are not exact in binary, and a sender that waited as it was told would find 0.999999 places. */
const rounding = 1e-6;

/**
 * A token bucket: as many requests as the limit at once, refilled at the limit a second. Its clock is the
 * monotonic one, so that a jump of the wall clock neither locks a sender out nor lets it through.
 *
 * Where several nodes take requests each has an equal share of the limit: its bucket is smaller, and refilled
 * more slowly. The limit for a burst stays the same on every node.
 */
export class TokenBucket {
  #perSecond: number;
  #nodes: number;
  #available: number;
  #refilledAtMs: number;

  constructor(perSecond: number, monotonicMs: number, nodes = 1) {
    this.#perSecond = perSecond;
    this.#nodes = nodes;
    this.#available = this.#share;
    this.#refilledAtMs = monotonicMs;
  }

  /** The limit, of all nodes together. */
  get perSecond(): number {
    return this.#perSecond;
  }

  /** A new limit holds from now on; what was used stays used. */
  set perSecond(perSecond: number) {
    this.#perSecond = perSecond;
    this.#available = Math.min(this.#available, this.#share);
  }

  /** Over how many nodes the limit is shared out from now on; what was used stays used. */
  set nodes(nodes: number) {
    this.#nodes = nodes;
    this.#available = Math.min(this.#available, this.#share);
  }

  /** Takes the place of one request, or of several items, of all or of none. Returns 0, or the seconds to
   * wait, whole and at least 1. More than the limit at once never pass. */
  take(monotonicMs: number, places = 1): number {
    // More than this node's share, but not than the limit: what is beyond the share has to flow in before the
    // next. Half of the share is enough for those, as other requests would hardly ever leave all of it.
    const half = Math.min(places, this.#share) / (places > this.#share ? 2 : 1);
    const needed = places <= this.#perSecond ? half : places;
    return this.#take(monotonicMs, places, needed);
  }

  /** Takes places for a sender that cannot send less at once: more items than the limit pass when the bucket
   * is full, and the places beyond the limit have to flow in before the next request. Returns 0, or the
   * seconds to wait, whole and at least 1. */
  takeInAdvance(monotonicMs: number, places: number): number {
    return this.#take(monotonicMs, places, Math.min(places, this.#share));
  }

  /** The seconds to wait until a place is free, whole and at least 1; 0 when one is. */
  waitSeconds(monotonicMs: number): number {
    this.#refill(monotonicMs);
    return this.#secondsTo(1);
  }

  /** Takes places that were used already, whether they are there or not: those beyond have to flow in before
   * the next. */
  charge(monotonicMs: number, places: number): void {
    this.#refill(monotonicMs);
    this.#available -= places;
  }

  /** At least one a second, or a node would let nothing pass. */
  get #share(): number {
    return this.#nodes === 1 ? this.#perSecond : Math.max(1, this.#perSecond / this.#nodes);
  }

  #take(monotonicMs: number, places: number, needed: number): number {
    this.#refill(monotonicMs);
    const waitSeconds = this.#secondsTo(needed);
    if (waitSeconds === 0) this.#available -= places;
    return waitSeconds;
  }

  #refill(monotonicMs: number): void {
    const elapsedMs = Math.max(0, monotonicMs - this.#refilledAtMs);
    this.#available = Math.min(this.#share, this.#available + (elapsedMs * this.#share) / 1_000);
    this.#refilledAtMs = monotonicMs;
  }

  #secondsTo(needed: number): number {
    if (this.#available >= needed - rounding) return 0;
    return Math.max(1, Math.ceil((needed - this.#available) / this.#share));
  }
}

/** Buckets of all keys together. Past this bound the oldest begin again, full. */
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
      setNewest(this.#buckets, key, bucket, maxBuckets);
    }
    return bucket;
  }
}
