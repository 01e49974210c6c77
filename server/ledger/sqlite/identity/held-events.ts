/**
 * Held events, links between ids and names of events, in SQLite.
 *
 * Invariant: an organization that is not in memory has no held events and no links. It is added before the commit, so
 * memory may only have too many.
 */
import type { Database } from "bun:sqlite";
import { limits } from "../../../../contract/limits.ts";
import { msPerDay } from "../../../calendar/calendar.ts";
import {
  addressId,
  type EventLabel,
  type HeldEventCounts,
  type HeldEventStore,
  type HeldEventWarningKind,
  type HeldEventWrites,
  heldEventWarning,
  maxPeopleWithHeldEvents,
  noHeldEvents,
  type PersonId,
  type PersonKey,
  type PersonWithHeldEvents,
} from "../../ports/held-events.ts";
import { personText } from "../../rules/person-text.ts";
import { addWarnings } from "../../stores/warnings.ts";
import { ByOrganization } from "../engine/by-organization.ts";
import { inSmallSteps } from "../engine/small-steps.ts";
import type { SqliteEngine } from "../engine/store-engine.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import { EventLabels } from "./event-labels.ts";
import { HeldEventRows } from "./held-event-rows.ts";
import { PersonLinks } from "./person-links.ts";

/** To delete these takes about 2 ms. */
const droppedInAStep = 100;
const mostOfPerson = { items: limits.heldEvents, bytes: limits.heldEventBytes };

/** Limits of an organization. */
export interface HeldEventLimits {
  /** Above this size the oldest items are dropped. */
  readonly maxBytes: number;
  /** The most links to users who are not identified. */
  readonly maxLinks: number;
}

interface Due {
  readonly organization: number;
  readonly hasExpired: number;
  readonly isFull: number;
  readonly hasStale: number;
}

/** Finds organizations with rows that have to be deleted. One statement checks all that hold events, each second. */
function prepareDue(db: Database) {
  return db.prepare<Due, [number, number]>(
    `SELECT * FROM (
       SELECT organization, bytes > ?1 AS isFull,
         EXISTS (SELECT 1 FROM held_events AS old
           WHERE old.organization = totals.organization AND received_at_ms < ?2) AS hasExpired,
         EXISTS (SELECT 1 FROM identity_links AS old
           WHERE old.organization = totals.organization AND waits AND written_at_ms < ?2) AS hasStale
       FROM held_event_totals AS totals WHERE items > 0 OR links > 0)
     WHERE isFull OR hasExpired OR hasStale`,
  );
}

export class SqliteHeldEvents implements HeldEventStore {
  readonly items: HeldEventRows;
  readonly links: PersonLinks;
  readonly eventLabels: EventLabels;
  readonly #db: Database;
  readonly #engine: SqliteEngine;
  readonly #organizations: Set<number>;
  readonly #maxBytes: number;
  readonly #due: ReturnType<typeof prepareDue>;

  constructor(db: Database, engine: SqliteEngine, { maxBytes, maxLinks }: HeldEventLimits) {
    this.#maxBytes = maxBytes;
    this.#db = db;
    this.#due = prepareDue(db);
    this.items = new HeldEventRows(db);
    this.links = new PersonLinks(db, maxLinks);
    this.eventLabels = new EventLabels(db);
    this.#engine = engine;
    this.#organizations = new Set(this.items.organizations());
  }

  /** Whether the organization may have held items or links. */
  has(organization: number): boolean {
    return this.#organizations.has(organization);
  }

  /** Writes the decision's changes, inside the caller's transaction. @returns labels for memory after the commit */
  write({ taken, held, refused, links, labels }: HeldEventWrites, nowMs: number): readonly EventLabel[] {
    const organizations = new Set([...held, ...links].map(({ organization }) => organization));
    for (const organization of organizations) {
      this.items.begin(organization);
      this.#organizations.add(organization);
    }
    for (const person of taken) this.items.take(person);
    const heldAt = new ByOrganization<PersonKey>();
    for (const item of held) {
      this.items.hold(item);
      heldAt.set(item.organization, personText(item), item);
    }
    for (const person of heldAt.values()) {
      const dropped = this.items.dropOldestOf(person, mostOfPerson);
      this.#warn(person.organization, "held_full", dropped, nowMs);
    }
    for (const { organization, message } of refused) {
      this.#warn(organization, "held_refused", 1, nowMs, message);
    }
    for (const each of links) if (each.link === null) this.links.delete(each);
    const kept = links.flatMap(({ link, ...person }) => (link === null ? [] : [{ ...person, link }]));
    for (const [organization, count] of this.links.write(kept, nowMs)) {
      this.#warn(organization, "links_full", count, nowMs);
    }
    return this.eventLabels.write(labels);
  }

  /** Links to a new user, or to a user's new e-mail address, do not wait any more. */
  identified(organization: number, userId: string, email: string | null): void {
    if (!this.has(organization)) return;
    this.links.identified(organization, userId);
    const address = email === null ? undefined : addressId(email);
    if (address !== undefined) this.links.identified(organization, address);
  }

  /** Deletes the held events under these ids and every link from them, inside the caller's transaction.
   * @returns the ids that had held events or links */
  forget(organization: number, people: readonly PersonId[]): readonly PersonId[] {
    if (!this.has(organization)) return [];
    return people.filter((person) => {
      const key = { organization, ...person };
      const isLinked = this.links.find(key) !== undefined;
      this.links.delete(key);
      return this.items.take(key) > 0 || isLinked;
    });
  }

  async counts(organization: number): Promise<HeldEventCounts> {
    return this.items.counts(organization) ?? noHeldEvents;
  }

  async people(organization: number, limit: number): Promise<readonly PersonWithHeldEvents[]> {
    return this.items.people(organization, Math.min(limit, maxPeopleWithHeldEvents));
  }

  async labels(organization: number, events: readonly string[]): Promise<Record<string, string>> {
    const found = events.flatMap((event) => {
      const label = this.eventLabels.find(organization, event);
      return label === undefined ? [] : [[event, label] as const];
    });
    return Object.fromEntries(found);
  }

  /** Drops events that were held for 30 days, and the oldest ones of an organization with too many. Deletes links to users
   * that were neither identified nor named for 30 days. */
  async tidy(nowMs: number): Promise<void> {
    const expiredMs = nowMs - limits.heldEventDays * msPerDay;
    for (const { organization, hasExpired, isFull, hasStale } of this.#due.all(this.#maxBytes, expiredMs)) {
      if (hasExpired) {
        const drop = () => this.items.dropBefore(organization, expiredMs, droppedInAStep);
        await inSmallSteps(() => this.#step(organization, "held_expired", nowMs, drop));
      }
      if (isFull) {
        const drop = () => this.items.dropOldest(organization, this.#maxBytes, droppedInAStep);
        await inSmallSteps(() => this.#step(organization, "held_full", nowMs, drop));
      }
      if (hasStale) {
        const expire = () => this.links.expire(organization, nowMs, droppedInAStep);
        await inSmallSteps(() => inTransaction(this.#db, expire) === droppedInAStep);
      }
    }
  }

  /** Runs `drop` once. @returns whether there may be more */
  #step(organization: number, why: HeldEventWarningKind, nowMs: number, drop: () => number): boolean {
    return inTransaction(this.#db, () => {
      const dropped = drop();
      this.#warn(organization, why, dropped, nowMs);
      return dropped === droppedInAStep;
    });
  }

  #warn(
    organization: number,
    why: HeldEventWarningKind,
    count: number,
    nowMs: number,
    message: string | null = null,
  ): void {
    if (count === 0) return;
    this.#engine.now(addWarnings([heldEventWarning(organization, why, count, nowMs, message)]));
  }
}
