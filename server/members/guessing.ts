/**
 * Slows down guesses of a password. Failures are counted by e-mail and sender together, and by e-mail over
 * all addresses. After a few that are free each failure doubles the wait, up to half a minute: an address may
 * be shared with the person whose password is guessed. Nothing is counted by address alone: behind a proxy
 * that is not trusted, everybody has the same address.
 */

import { setNewest } from "../process/set-newest.ts";

/** Failures that are free, and the longest wait that the others lead to. */
interface Rule {
  readonly free: number;
  readonly maxWaitSeconds: number;
}

const rules = {
  pair: { free: 5, maxWaitSeconds: 30 },
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

/** The source of an attempt. */
export interface AttemptSource {
  readonly kind: "address" | "browser" | "session";
  /** The address, or the random name of a browser or the id of a session that is known to be the person's
   * own. */
  readonly id: string;
}

/** An attempt that counts as failed until it is said to have succeeded. */
export interface Attempt {
  /** Failures in a row, with this one. */
  readonly failures: number;
  /** Whether the next attempt has to wait if this one fails. */
  readonly isLast: boolean;
  /** It was the right password. */
  succeeded(): void;
  /** It was not looked at. */
  withdrawn(): void;
}

export class Guessing {
  readonly #counts = new Map<string, Count>();

  /** Begins an attempt, or says how many whole seconds have to pass first; an attempt that has to wait is not
   * counted.
   * @param monotonicMs the time, of a clock that never jumps */
  begin(
    email: string,
    source: AttemptSource,
    monotonicMs: number,
  ): Attempt | { readonly waitSeconds: number } {
    const pair = pairKey(email, source);
    const keys: (readonly [string, Rule])[] = [[pair, rules.pair]];
    if (source.kind === "address") keys.push([`email ${email}`, rules.email]);
    const waitMs = Math.max(...keys.map(([key]) => this.#waitMs(key, monotonicMs)));
    if (waitMs > 0) return { waitSeconds: Math.ceil(waitMs / 1_000) };
    const counts = keys.map(([key, rule]) => this.#fail(key, rule, monotonicMs));
    const takeBack = () => {
      for (const [key] of keys) this.#takeBack(key);
    };
    return {
      failures: Math.max(...counts.map(({ failures }) => failures)),
      isLast: counts.some(({ openAtMs }) => openAtMs > monotonicMs),
      withdrawn: takeBack,
      succeeded: () => {
        takeBack();
        this.#counts.delete(pair);
      },
    };
  }

  #waitMs(key: string, nowMs: number): number {
    const count = this.#counts.get(key);
    if (count === undefined) return 0;
    if (nowMs - count.lastAtMs > forgottenAfterMs) this.#counts.delete(key);
    return count.openAtMs - nowMs;
  }

  #fail(key: string, { free, maxWaitSeconds }: Rule, nowMs: number): Count {
    const failures = (this.#counts.get(key)?.failures ?? 0) + 1;
    const waitSeconds = failures < free ? 0 : Math.min(maxWaitSeconds, 2 ** (failures - free));
    const count = { failures, openAtMs: nowMs + waitSeconds * 1_000, lastAtMs: nowMs };
    setNewest(this.#counts, key, count, maxCounts);
    return count;
  }

  #takeBack(key: string): void {
    const count = this.#counts.get(key);
    if (count === undefined) return;
    count.failures -= 1;
    count.openAtMs = 0;
  }
}

function pairKey(email: string, { kind, id }: AttemptSource): string {
  return `pair ${email} ${kind} ${id}`;
}
