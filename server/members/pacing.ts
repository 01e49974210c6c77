/**
 * How often passwords are compared, right or wrong: each comparison takes 30 ms of a core. A person's own
 * attempts are bounded by refusing them. Those of an address are bounded by delaying them: other people may
 * have the same address, and what one of them uses up must not lock out the others. A browser that is known
 * is not delayed.
 */
import { setNewest } from "../process/set-newest.ts";
import type { AttemptSource } from "./guessing.ts";

/** So many at once, and then one in so many milliseconds. */
interface Pace {
  readonly burst: number;
  readonly everyMs: number;
}

const paces = {
  pair: { burst: 20, everyMs: 5_000 },
  address: { burst: 100, everyMs: 500 },
  person: { burst: 30, everyMs: 5_000 },
} as const satisfies Record<string, Pace>;

/** An address's attempts wait so long at most; that is twenty of them. */
const maxDelayMs = 10_000;

/** Kept at most, some 100 bytes each; the oldest go first. */
const maxKeys = 50_000;

export class Pacing {
  /** When each would have all its burst again. */
  readonly #fullAtMs = new Map<string, number>();

  /** Counts an attempt and says for how many milliseconds to delay it, or refuses it and says how many whole
   * seconds have to pass first. A refused attempt is not counted.
   * @param monotonicMs the time, of a clock that never jumps */
  attempt(
    email: string,
    source: AttemptSource,
    monotonicMs: number,
  ): { readonly delayMs: number } | { readonly waitSeconds: number } {
    const pair = `pair ${email} ${source.kind} ${source.id}`;
    const address = source.kind === "address" ? `address ${source.id}` : undefined;
    const delayMs = address === undefined ? 0 : this.#waitMs(address, paces.address, monotonicMs);
    const waitMs = Math.max(
      this.#waitMs(pair, paces.pair, monotonicMs),
      this.#waitMs(personKey(email), paces.person, monotonicMs),
      delayMs - maxDelayMs,
    );
    if (waitMs > 0) return { waitSeconds: Math.ceil(waitMs / 1_000) };
    this.#count(pair, paces.pair, monotonicMs);
    if (address !== undefined) this.#count(address, paces.address, monotonicMs);
    return { delayMs: Math.max(0, delayMs) };
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
    setNewest(this.#fullAtMs, key, fullAtMs, maxKeys);
  }
}

function personKey(email: string): string {
  return `person ${email}`;
}
