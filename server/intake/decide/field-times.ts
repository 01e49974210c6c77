/**
 * When each field of a user or an account was said. Pure. Two rules, for each field by itself:
 *
 * - A request without a timestamp always wins. Its time is its arrival, or the stored field's time when that is later:
 *   clocks of nodes differ, and a clock may step back.
 * - A request with a timestamp wins over a field that was said at the same time or earlier.
 */

import type { SaidTimes } from "../../ledger/ledger.ts";

/** When something was said, in Unix milliseconds. */
export interface Said {
  readonly saidAtMs: number;
  readonly receivedAtMs: number;
}

/** The time of a value that was made up because none was said: older than all that can be said. */
const neverSaidMs = 0;

/** Whether a request speaks of now: it has no timestamp, or one that is not in the past. */
export function isSaidNow({ saidAtMs, receivedAtMs }: Said): boolean {
  return saidAtMs >= receivedAtMs;
}

/** Whether the value of a field was made up because none was ever said. */
export function isMadeUp({ fieldsSaidAtMs }: SaidTimes, field: string): boolean {
  return Object.hasOwn(fieldsSaidAtMs, field) && fieldsSaidAtMs[field] === neverSaidMs;
}

export class FieldTimes {
  readonly #saidAtMs: number;
  readonly #atMs: number;
  readonly #isNow: boolean;
  readonly #listed: Record<string, number>;
  /** Whether a field has another time than before. */
  retimed = false;

  constructor(before: SaidTimes | undefined, request: Said) {
    this.#saidAtMs = before?.saidAtMs ?? request.saidAtMs;
    this.#atMs = request.saidAtMs;
    this.#isNow = isSaidNow(request);
    this.#listed = { ...before?.fieldsSaidAtMs };
  }

  /** Sets the time of a field that was sent, if the sent value wins.
   * @param known whether a value is stored. @param empty whether the sent value is that there is none
   * @returns whether the sent value wins */
  said(field: string, known: boolean, empty = false): boolean {
    const saidAtMs = this.timeOf(field);
    const atMs = known && this.#isNow ? Math.max(this.#atMs, saidAtMs) : this.#atMs;
    if (known && saidAtMs > atMs) return false;
    // An empty field is known only from the list.
    if (saidAtMs === atMs && (!empty || this.#isListed(field))) return true;
    this.#listed[field] = atMs;
    this.retimed = true;
    return true;
  }

  /** The value of a field that may be empty: the sent one if it wins, else the stored one.
   * @param none the value of an empty field */
  value<Value>(field: string, sent: Value | undefined, stored: Value | undefined, none: Value): Value {
    if (sent === undefined) return stored ?? none;
    const known = stored !== undefined && (stored !== none || this.#isListed(field));
    return this.said(field, known, sent === none) ? sent : (stored ?? none);
  }

  /** Says that the value of a field was made up: any value that is said wins over it. */
  madeUp(field: string): void {
    this.#listed[field] = neverSaidMs;
  }

  /** When the sent value of a field was said, after `said` has compared it. */
  sentAtMs(field: string): number {
    return this.#isNow ? this.timeOf(field) : this.#atMs;
  }

  /** When a field was said last. */
  timeOf(field: string): number {
    return this.#listed[field] ?? this.#saidAtMs;
  }

  /** The times to be stored. If all fields have the same time, only empty ones are listed.
   * @param held fields that have a value. @param empty fields that have none, though one may have been said */
  times(held: readonly string[], empty: readonly string[]): SaidTimes {
    const emptied = empty.filter((field) => this.#isListed(field));
    if ([...held, ...emptied].some((field) => this.timeOf(field) !== this.#atMs)) {
      return { saidAtMs: this.#saidAtMs, fieldsSaidAtMs: this.#listed };
    }
    return {
      saidAtMs: this.#atMs,
      fieldsSaidAtMs: Object.fromEntries(emptied.map((field) => [field, this.#atMs])),
    };
  }

  #isListed(field: string): boolean {
    return Object.hasOwn(this.#listed, field);
  }
}
