/**
 * The time at which each field of a user or an account was set. Pure. Two rules, for each field by itself:
 *
 * - A request without a timestamp always wins. Its time is its arrival, or the stored field's time if that is
 *   later. The reason: clocks of nodes differ, and a clock may step back.
 * - A request with a timestamp wins over a field with the same time or an earlier one.
 * - A request of a server wins over a field that a page said (page-marks.ts).
 */

import type { FieldTimestamps } from "../../ledger/entities.ts";
import { fieldMark, isMark } from "./page-marks.ts";

/** The time of a request's values, and its arrival, in Unix milliseconds. */
export interface RequestTimes {
  readonly timestampMs: number;
  readonly receivedAtMs: number;
}

/** The time of a default value. It is older than the time of any value that was sent. */
const defaultTimestampMs = 0;

/** Whether a request has no timestamp, or one that is not in the past. */
export function hasNoPastTimestamp({ timestampMs, receivedAtMs }: RequestTimes): boolean {
  return timestampMs >= receivedAtMs;
}

/** Whether a field has a default value, because none was ever sent. */
export function hasDefaultValue({ fieldTimestampsMs }: FieldTimestamps, field: string): boolean {
  return Object.hasOwn(fieldTimestampsMs, field) && fieldTimestampsMs[field] === defaultTimestampMs;
}

export class FieldTimes {
  readonly #timestampMs: number;
  readonly #atMs: number;
  readonly #isNow: boolean;
  readonly #isPages: (field: string) => boolean;
  readonly #listed: Record<string, number>;
  /** Whether the time of a field changed. */
  retimed = false;

  /** @param isPages whether the request says this field for a page */
  constructor(
    before: FieldTimestamps | undefined,
    request: RequestTimes,
    isPages: (field: string) => boolean = () => false,
  ) {
    this.#isPages = isPages;
    this.#timestampMs = before?.timestampMs ?? request.timestampMs;
    this.#atMs = request.timestampMs;
    this.#isNow = hasNoPastTimestamp(request);
    this.#listed = { ...before?.fieldTimestampsMs };
  }

  /** Sets the time of a field that was sent, if the sent value wins.
   * @param known whether a value is stored. @param empty whether the sent value makes the field empty
   * @returns whether the sent value wins */
  accepts(field: string, known: boolean, empty = false): boolean {
    const timestampMs = this.timeOf(field);
    const atMs = known && this.#isNow ? Math.max(this.#atMs, timestampMs) : this.#atMs;
    if (known && timestampMs > atMs) return false;
    this.#markField(field);
    // Only the list shows that a field is empty.
    if (timestampMs === atMs && (!empty || this.#isListed(field))) return true;
    this.#listed[field] = atMs;
    this.retimed = true;
    return true;
  }

  /** The value of a field that may be empty: the sent one if it wins, else the stored one.
   * @param none the value of an empty field */
  value<Value>(field: string, sent: Value | undefined, stored: Value | undefined, none: Value): Value {
    if (sent === undefined) return stored ?? none;
    const known = stored !== undefined && (stored !== none || this.#isListed(field));
    return this.accepts(field, known, sent === none) ? sent : (stored ?? none);
  }

  /** Notes under whose id a page made the user or the account known. */
  mark(key: string, atMs: number): void {
    this.#listed[key] = atMs;
    this.retimed = true;
  }

  #markField(field: string): void {
    const key = fieldMark(field);
    if (this.#isPages(field) === this.#isListed(key)) return;
    if (this.#isListed(key)) delete this.#listed[key];
    else this.#listed[key] = 1;
    this.retimed = true;
  }

  /** Marks the value of a field as a default. Any value that is sent wins over it. */
  setDefault(field: string): void {
    this.#listed[field] = defaultTimestampMs;
  }

  /** The time of a field's sent value, after `accepts` has compared it. */
  sentAtMs(field: string): number {
    return this.#isNow ? this.timeOf(field) : this.#atMs;
  }

  /** The time of a field's newest value. A page's is older than any that a server says. */
  timeOf(field: string): number {
    if (this.#isListed(fieldMark(field)) && !this.#isPages(field)) return defaultTimestampMs;
    return this.#listed[field] ?? this.#timestampMs;
  }

  /** The times to be stored. If all fields have the same time, only empty ones are listed.
   * @param held fields that have a value. @param empty fields without one, including fields that were
   * emptied */
  times(held: readonly string[], empty: readonly string[]): FieldTimestamps {
    const emptied = empty.filter((field) => this.#isListed(field));
    if ([...held, ...emptied].some((field) => this.timeOf(field) !== this.#atMs)) {
      return { timestampMs: this.#timestampMs, fieldTimestampsMs: this.#listed };
    }
    const marks = Object.entries(this.#listed).filter(([key]) => isMark(key));
    return {
      timestampMs: this.#atMs,
      fieldTimestampsMs: Object.fromEntries([
        ...emptied.map((field) => [field, this.#atMs] as const),
        ...marks,
      ]),
    };
  }

  #isListed(field: string): boolean {
    return Object.hasOwn(this.#listed, field);
  }
}
