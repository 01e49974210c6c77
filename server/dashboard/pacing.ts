/**
 * How often passwords are compared, right or wrong: each comparison takes 30 ms of a core. Attempts are counted by e-mail
 * with address and by address; right ones also by person, which nobody else's attempts can use up. Who came in from an
 * address before is not held up there by others.
 */

/** So many at once, and then one in so many milliseconds. */
interface Pace {
  readonly burst: number;
  readonly everyMs: number;
}

const paces = {
  pair: { burst: 20, everyMs: 5_000 },
  // Many people may share an address.
  address: { burst: 100, everyMs: 500 },
  person: { burst: 30, everyMs: 5_000 },
} as const satisfies Record<string, Pace>;

/** Kept at most, some 100 bytes each; the oldest go first. */
const maxKeys = 50_000;

export class Pacing {
  /** When each would have all its burst again. */
  readonly #fullAtMs = new Map<string, number>();

  /** Counts an attempt, or says how many whole seconds have to pass first; who waits is not counted.
   * @param isKnown whether the person came in from this address before
   * @param monotonicMs the time, of a clock that never jumps */
  attempt(email: string, address: string, isKnown: boolean, monotonicMs: number): number {
    const counted: (readonly [string, Pace])[] = [[`pair ${email} ${address}`, paces.pair]];
    if (!isKnown) counted.push([`address ${address}`, paces.address]);
    const looked = [...counted, [personKey(email), paces.person] as const];
    const waitMs = Math.max(...looked.map(([key, pace]) => this.#waitMs(key, pace, monotonicMs)));
    if (waitMs > 0) return Math.ceil(waitMs / 1_000);
    for (const [key, pace] of counted) this.#count(key, pace, monotonicMs);
    return 0;
  }

  /** It was the right password. */
  succeeded(email: string, monotonicMs: number): void {
    this.#count(personKey(email), paces.person, monotonicMs);
  }

  #waitMs(key: string, { burst, everyMs }: Pace, nowMs: number): number {
    return (this.#fullAtMs.get(key) ?? nowMs) - nowMs - (burst - 1) * everyMs;
  }

  #count(key: string, { everyMs }: Pace, nowMs: number): void {
    const fullAtMs = Math.max(nowMs, this.#fullAtMs.get(key) ?? nowMs) + everyMs;
    // Put at the end: a map keeps the order in which keys came.
    this.#fullAtMs.delete(key);
    this.#fullAtMs.set(key, fullAtMs);
    for (const oldest of this.#fullAtMs.keys()) {
      if (this.#fullAtMs.size <= maxKeys) break;
      this.#fullAtMs.delete(oldest);
    }
  }
}

function personKey(email: string): string {
  return `person ${email}`;
}
