/**
 * Slows down who guesses passwords. Failures are counted by e-mail and address together, by address, and by e-mail;
 * after a few that are free each failure doubles the wait. The wait by e-mail alone is short, and who came in from an
 * address before is held up there by their own failures only, so that nobody can lock somebody else out.
 */

/** Failures that are free, and the longest wait that the others lead to. */
interface Rule {
  readonly free: number;
  readonly maxWaitSeconds: number;
}

const rules = {
  pair: { free: 5, maxWaitSeconds: 900 },
  // Many people may share an address.
  address: { free: 30, maxWaitSeconds: 900 },
  email: { free: 20, maxWaitSeconds: 30 },
} as const satisfies Record<string, Rule>;

interface Count {
  failures: number;
  openAtMs: number;
  lastAtMs: number;
}

/** After this long without an attempt a count begins again. */
const forgottenAfterMs = 3_600_000;
/** Counts kept at most, some 100 bytes each; the oldest go first. */
const maxCounts = 50_000;
const maxKnownAddresses = 10_000;

/** An attempt that counts as failed until it is said to have succeeded. */
export interface Attempt {
  /** It was the right password. */
  succeeded(): void;
  /** It was not looked at. */
  withdrawn(): void;
}

export class Guessing {
  readonly #counts = new Map<string, Count>();
  /** E-mails with an address from which they signed in. */
  readonly #known = new Set<string>();

  /** Whether somebody came in with this e-mail from this address before. */
  isKnown(email: string, address: string): boolean {
    return this.#known.has(pairKey(email, address));
  }

  /** Begins an attempt, or says how many whole seconds have to pass first; who does not wait is not counted again.
   * @param monotonicMs the time, of a clock that never jumps */
  begin(email: string, address: string, monotonicMs: number): Attempt | { readonly waitSeconds: number } {
    const pair = pairKey(email, address);
    const keys: (readonly [string, Rule])[] = [[pair, rules.pair]];
    if (!this.#known.has(pair)) {
      keys.push([`address ${address}`, rules.address], [`email ${email}`, rules.email]);
    }
    const waitMs = Math.max(...keys.map(([key]) => this.#waitMs(key, monotonicMs)));
    if (waitMs > 0) return { waitSeconds: Math.ceil(waitMs / 1_000) };
    for (const [key, rule] of keys) this.#fail(key, rule, monotonicMs);
    const takeBack = () => {
      for (const [key] of keys) this.#takeBack(key);
    };
    return {
      withdrawn: takeBack,
      succeeded: () => {
        takeBack();
        this.#counts.delete(pair);
        this.#remember(pair);
      },
    };
  }

  #waitMs(key: string, nowMs: number): number {
    const count = this.#counts.get(key);
    if (count === undefined) return 0;
    if (nowMs - count.lastAtMs > forgottenAfterMs) this.#counts.delete(key);
    return count.openAtMs - nowMs;
  }

  #fail(key: string, { free, maxWaitSeconds }: Rule, nowMs: number): void {
    const failures = (this.#counts.get(key)?.failures ?? 0) + 1;
    const waitSeconds = failures < free ? 0 : Math.min(maxWaitSeconds, 2 ** (failures - free));
    // Put at the end: a map keeps the order in which keys came.
    this.#counts.delete(key);
    this.#counts.set(key, { failures, openAtMs: nowMs + waitSeconds * 1_000, lastAtMs: nowMs });
    for (const oldest of this.#counts.keys()) {
      if (this.#counts.size <= maxCounts) break;
      this.#counts.delete(oldest);
    }
  }

  #takeBack(key: string): void {
    const count = this.#counts.get(key);
    if (count === undefined) return;
    count.failures -= 1;
    count.openAtMs = 0;
  }

  #remember(pair: string): void {
    if (this.#known.size >= maxKnownAddresses) this.#known.clear();
    this.#known.add(pair);
  }
}

function pairKey(email: string, address: string): string {
  return `pair ${email} ${address}`;
}
