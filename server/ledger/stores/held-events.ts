/**
 * Held items of connected sources (`held` in names and tables). Their people are not identified yet. An item
 * is held under the id that was sent, until an identify or an alias names the person. Then the item is
 * attached to the user, and the id is linked to the user. Later items are the user's at once.
 *
 * A user's id and a visitor's id with the same text are two ids. The reason: a user's id can be guessed. A
 * sender that uses it as a visitor's id must not get the items held under it. An identified user is not
 * linked. The target of a link is a user, identified or not, and is not linked itself. Items are held only
 * under ids that are neither identified nor linked.
 */

import { limits } from "../../../contract/limits.ts";
import { msPerDay } from "../../calendar/zone.ts";
import { byIndex, forUpdate, texts } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import {
  type HeldEventCounts,
  maxPeopleWithHeldEvents,
  noHeldEvents,
  type PersonId,
} from "../rules/held-events.ts";
import { personOf } from "../rules/person-text.ts";
import { flag, integer, nullable, part, perEngine, RowOf, select, sqlText, text, type Work } from "../sql.ts";
import { dropOldest, dropReceivedBefore, expireLinks } from "./held-event-rows.ts";
import { addWarnings, heldEventWarning } from "./warnings.ts";

export interface PersonWithHeldEvents extends PersonId {
  readonly items: number;
  readonly oldestAtMs: number;
  readonly newestAtMs: number;
}

/** A link that was not written for this time may be deleted. */
const keptMs = limits.heldEventDays * msPerDay;
/** The longest time for one kind of deletion of an organization. The next call, a second later, does the
 * rest. */
const longestMs = 250;

const countsRow = new RowOf<HeldEventCounts>({
  people: integer(),
  items: integer(),
  bytes: integer(),
  oldestAtMs: nullable(
    integer(
      "(SELECT min(received_at_ms) FROM held_events AS oldest WHERE oldest.organization = totals.organization)",
    ),
  ),
  droppedFull: integer(),
  droppedExpired: integer(),
  links: integer(),
});
/** PostgreSQL has no total of people, so that one statement changes the totals. */
const people = perEngine({
  sqlite: "people",
  postgres: `(SELECT count(*) FROM held_event_people AS own WHERE own.organization = stored.organization)`,
});

const received = (which: "min" | "max") =>
  integer(`(SELECT ${which}(received_at_ms) FROM held_events AS own
    WHERE own.organization = most.organization AND own.person = most.person)`);
const personRow = new RowOf<Omit<PersonWithHeldEvents, "kind" | "id"> & { readonly person: string }>({
  person: text(),
  items: integer(),
  oldestAtMs: received("min"),
  newestAtMs: received("max"),
});
const labelRow = new RowOf<{ readonly event: string; readonly label: string }>({
  event: text(),
  label: text(),
});

interface Due {
  readonly organization: number;
  readonly hasExpired: boolean;
  readonly isFull: boolean;
  readonly hasStale: boolean;
}
const dueRow = new RowOf<Due>({
  organization: integer(),
  hasExpired: flag(),
  isFull: flag(),
  hasStale: flag(),
});
const lockedRow = new RowOf<{ readonly organization: number }>({ organization: integer() });

/** The store of held events. */
export function heldEventStore(engine: Engine) {
  return {
    counts: async (organization: number) => {
      const [counts] = await engine.alone(
        select(countsRow)`FROM (
          SELECT organization, items, bytes, dropped_full, dropped_expired, links, ${people} AS people
          FROM held_event_totals AS stored WHERE organization = ${organization}) AS totals`,
      );
      return counts ?? noHeldEvents;
    },

    /** Sorted by their number of items, highest first. @param limit at most 1,000 */
    people: async (organization: number, limit: number) => {
      const found = await engine.alone(
        select(personRow)`FROM held_event_people AS most WHERE organization = ${organization}
          ORDER BY items DESC, person LIMIT ${Math.min(limit, maxPeopleWithHeldEvents)}`,
      );
      return found.map(({ person, ...held }) => ({ ...personOf(person), ...held }));
    },

    /** For each of these events that was sent under another name: that name. */
    labels: async (organization: number, events: readonly string[]) => {
      const found = await engine.alone(
        select(labelRow)`
          FROM event_labels WHERE organization = ${organization} AND event IN (SELECT text FROM ${texts(events)})`,
      );
      return Object.fromEntries(found.map(({ event, label }) => [event, label]));
    },
  };
}

export type HeldEventStore = ReturnType<typeof heldEventStore>;

/** Drops events that were held for 30 days, and the oldest ones of an organization with more than `maxBytes`.
 * Deletes links to users that were neither identified nor named for 30 days. */
export async function tidyHeldEvents(engine: Engine, maxBytes: number, nowMs: number): Promise<void> {
  const expiredMs = nowMs - keptMs;
  const isOld = (time: string) =>
    part`WHERE old.organization = totals.organization AND ${sqlText(time)} < ${expiredMs}`;
  // One statement checks all organizations, each second.
  const due = await engine.alone(
    select(dueRow)`FROM (
      SELECT organization, bytes > ${maxBytes} AS is_full,
        EXISTS (SELECT 1 FROM held_events AS old ${isOld("received_at_ms")}) AS has_expired,
        EXISTS (SELECT 1 FROM identity_links AS old ${isOld("written_at_ms")} AND old.waits) AS has_stale
      FROM held_event_totals AS totals WHERE items > 0 OR links > 0) AS due
      WHERE is_full OR has_expired OR has_stale`,
  );
  for (const { organization, hasExpired, isFull, hasStale } of due) {
    const inSteps = (step: (most: number) => Work<number>) => deleteInSteps(engine, organization, step);
    if (hasExpired) {
      await inSteps(function* (most) {
        return yield* warned(yield* dropReceivedBefore(organization, expiredMs, most), "held_expired");
      });
    }
    if (isFull) {
      await inSteps(function* (most) {
        return yield* warned(yield* dropOldest(organization, maxBytes, most), "held_full");
      });
    }
    if (hasStale) await inSteps((most) => expireLinks(organization, expiredMs, most));

    function* warned(dropped: number, kind: "held_expired" | "held_full"): Work<number> {
      if (dropped > 0) yield* addWarnings([heldEventWarning(organization, kind, dropped, nowMs)]);
      return dropped;
    }
  }
}

/** Runs a step in one transaction after another, until it deletes fewer rows than it may.
 * @param step deletes at most `most` rows, and returns their number */
async function deleteInSteps(
  engine: Engine,
  organization: number,
  step: (most: number) => Work<number>,
): Promise<void> {
  const most = engine.partRows.held;
  const endMs = performance.now() + longestMs;
  let deleted = most;
  while (deleted === most && performance.now() < endMs) {
    deleted = await engine.transaction(function* () {
      yield* byIndex();
      yield* select(lockedRow)`FROM populations WHERE organization = ${organization} ${forUpdate}`;
      return yield* step(most);
    });
    await engine.nextTurn();
  }
}
