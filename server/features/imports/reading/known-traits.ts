/**
 * Leaves out traits that repeat. Some tools write all traits of a user beside each event, and most of them
 * say nothing new. The result is the same as with all of them, for rows in any order of their times. Across
 * files it is the same for rows that are a day apart.
 */
import { msPerDay } from "../../../calendar/zone.ts";
import type { SourcedIdentify, SourcedItem } from "../../../intake/admission/sourced.ts";

/** Users whose last traits are kept in memory, about 1 kB each. */
const capacity = 20_000;

/** Unchanged traits are sent again after this time, because a later file may have older traits. */
const sentAgainAfterMs = msPerDay;

interface Known {
  readonly text: string;
  readonly item: SourcedIdentify;
  /** When the traits were sent first, and until when they were seen unchanged. */
  sentAtMs: number;
  seenAtMs: number;
}

export class KnownTraits {
  readonly #known = new Map<string, Known>();

  /** The items that have to be sent of a row's. Traits without an event beside them are always sent. */
  needed(items: readonly SourcedItem[]): readonly SourcedItem[] {
    if (items.length < 2) return items;
    return items.flatMap((item) =>
      item.type === "identify" && item.messageId === null && item.userId !== undefined
        ? this.#needed(item, item.userId)
        : [item],
    );
  }

  #needed(item: SourcedIdentify, userId: string): readonly SourcedItem[] {
    const { atMs, ...others } = item;
    const text = JSON.stringify(others);
    const known = this.#known.get(userId);
    if (known?.text === text && atMs >= known.sentAtMs && atMs < known.sentAtMs + sentAgainAfterMs) {
      known.seenAtMs = Math.max(known.seenAtMs, atMs);
      return [];
    }
    const earlier = known === undefined || known.text === text ? [] : unsent(known);
    if (known !== undefined && known.text !== text && atMs < known.seenAtMs) {
      known.sentAtMs = known.seenAtMs;
      return [...earlier, item];
    }
    this.#known.delete(userId);
    this.#known.set(userId, {
      text,
      item,
      sentAtMs: atMs,
      seenAtMs: Math.max(atMs, known?.seenAtMs ?? atMs),
    });
    return [...earlier, ...this.#dropped(), item];
  }

  /** Makes room. @returns the traits of the user who is forgotten, if they were seen after they were sent */
  #dropped(): readonly SourcedItem[] {
    const [oldest] = this.#known;
    if (this.#known.size <= capacity || oldest === undefined) return [];
    const [userId, known] = oldest;
    this.#known.delete(userId);
    return unsent(known);
  }
}

/** Traits as of the time at which they were seen last, unless they were sent as of then. */
function unsent({ item, sentAtMs, seenAtMs }: Known): readonly SourcedItem[] {
  return sentAtMs === seenAtMs ? [] : [{ ...item, atMs: seenAtMs }];
}
