/**
 * The time at which each field of a user or an account was set. Pure. Two rules, for each field by itself:
 *
 * - A request without a timestamp always wins. Its time is its arrival, or the stored field's time if that is later.
 *   The reason: clocks of nodes differ, and a clock may step back.
 * - A request with a timestamp wins over a field with the same time or an earlier one.
 */

import type { SaidTimes } from "../../ledger/ledger.ts";

/** The time of a request's values, and its arrival, in Unix milliseconds. */
export interface Said {
  readonly saidAtMs: number;
  readonly receivedAtMs: number;
}

/** The time of a default value. It is older than the time of any value that was sent. */
const neverSaidMs = 0;

/** Whether a request has no timestamp, or one that is not in the past. */
export function isSaidNow({ saidAtMs, receivedAtMs }: Said): boolean {
  return saidAtMs >= receivedAtMs;
}

/** Whether a field has a default value, because none was ever sent. */
export function isMadeUp({ fieldsSaidAtMs }: SaidTimes, field: string): boolean {
  return Object.hasOwn(fieldsSaidAtMs, field) && fieldsSaidAtMs[field] === neverSaidMs;
}

export class FieldTimes {
  readonly #saidAtMs: number;
  readonly #atMs: number;
  readonly #isNow: boolean;
  readonly #listed: Record<string, number>;
  /** Whether the time of a field changed. */
  retimed = false;

  constructor(before: SaidTimes | undefined, request: Said) {
    this.#saidAtMs = before?.saidAtMs ?? request.saidAtMs;
    this.#atMs = request.saidAtMs;
    this.#isNow = isSaidNow(request);
    this.#listed = { ...before?.fieldsSaidAtMs };
  }

  /** Sets the time of a field that was sent, if the sent value wins.
   * @param known whether a value is stored. @param empty whether the sent value makes the field empty
   * @returns whether the sent value wins */
  said(field: string, known: boolean, empty = false): boolean {
    const saidAtMs = this.timeOf(field);
    const atMs = known && this.#isNow ? Math.max(this.#atMs, saidAtMs) : this.#atMs;
    if (known && saidAtMs > atMs) return false;
    // Only the list shows that a field is empty.
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

  /** Marks the value of a field as a default. Any value that is sent wins over it. */
  madeUp(field: string): void {
    this.#listed[field] = neverSaidMs;
  }

  /** The time of a field's sent value, after `said` has compared it. */
  sentAtMs(field: string): number {
    return this.#isNow ? this.timeOf(field) : this.#atMs;
  }

  /** The time of a field's newest value. */
  timeOf(field: string): number {
    return this.#listed[field] ?? this.#saidAtMs;
  }

  /** The times to be stored. If all fields have the same time, only empty ones are listed.
   * @param held fields that have a value. @param empty fields without one, including fields that were emptied */
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
