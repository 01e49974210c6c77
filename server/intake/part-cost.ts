/**
 * The cost to decide and write entries. It limits how long a commit blocks the thread, to 20 ms. The unit is
 * about 18 µs of processor time. Measured on SQLite in commits of 100: an event of a known user 19 µs, a held
 * event 44, an identify 143, an identify with a visitor's id 150-200, an alias 180. Each KiB of traits adds
 * 26 µs, each KiB of an event's properties 7.
 */

import type { SourcedItem } from "./admission/sourced.ts";
import type { Decidable } from "./decide/requests.ts";

/** The cost of a part of a large request: 9 ms for 50 aliases. */
export const costOfPart = 500;

const kibibyte = 1024;

/** The cost of an entry. Each request of the write API costs as much as an event: a commit takes up to 500 of
 * them. */
export function costOf(entry: Decidable): number {
  if (entry.kind === "track" || entry.kind === "identify") return 2;
  if (entry.kind === "alias") return 10;
  if (entry.kind === "account") return 5;
  if (entry.content.kind === "track") return 2 + costOfBytes(entry.bytes);
  const hasVisitor = entry.anonymousId !== undefined || entry.previousId !== undefined;
  return (hasVisitor ? 15 : 10) + (2 * entry.bytes) / kibibyte;
}

/** The cost of an event's bytes, beside that of the event. */
export function costOfBytes(bytes: number): number {
  return bytes / (2 * kibibyte);
}

/** An item that is not admitted costs as much as an event of the same size, because all of it was read. */
export function costOfInvalid(item: SourcedItem): number {
  return 2 + costOfBytes(JSON.stringify(item).length);
}
