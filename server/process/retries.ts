/**
 * Work that fails for one of many: when it is tried again, and when its failure is logged again. It rests for
 * longer after each failure in a row. It is kept in memory: after a start everything is tried at once.
 */

interface Rests {
  readonly firstMs: number;
  /** Each rest is twice as long as the one before, up to this. */
  readonly longestMs: number;
}

interface Failing {
  readonly of: string | number;
  readonly sinceMs: number;
  readonly attempts: number;
  /** Of the monotonic clock. */
  readonly restsUntilMs: number;
  readonly loggedAtMs: number;
}

/** The first failure is logged at once. */
const logEveryMs = 3_600_000;

export class Retries<Key> {
  readonly #rests: Rests;
  readonly #nowMs: () => number;
  readonly #failing = new Map<Key, Failing>();

  /** @param nowMs the wall clock, for `failingSinceMs` */
  constructor(rests: Rests, nowMs: () => number) {
    this.#rests = rests;
    this.#nowMs = nowMs;
  }

  /** Whether it is too early to try again.
   * @param of the version that the work depends on: there is no rest for another version */
  isResting(key: Key, of: string | number = ""): boolean {
    const failing = this.#failing.get(key);
    return failing !== undefined && failing.of === of && performance.now() < failing.restsUntilMs;
  }

  /** Records a failure. @returns whether to log it: the first at once, then one an hour */
  failed(key: Key, of: string | number = ""): boolean {
    const nowMs = performance.now();
    const before = this.#failing.get(key);
    const attempts = before?.of === of ? before.attempts + 1 : 1;
    const isLogged = before === undefined || nowMs - before.loggedAtMs >= logEveryMs;
    const { firstMs, longestMs } = this.#rests;
    this.#failing.set(key, {
      of,
      attempts,
      sinceMs: before?.sinceMs ?? this.#nowMs(),
      restsUntilMs: nowMs + Math.min(longestMs, firstMs * 2 ** (attempts - 1)),
      loggedAtMs: isLogged ? nowMs : before.loggedAtMs,
    });
    return isLogged;
  }

  /** Records a success. */
  succeeded(key: Key): void {
    this.#failing.delete(key);
  }

  /** Since when it fails; null when it does not. */
  failingSinceMs(key: Key): number | null {
    return this.#failing.get(key)?.sinceMs ?? null;
  }

  /** The keys whose work fails. */
  get keys(): readonly Key[] {
    return [...this.#failing.keys()];
  }
}
