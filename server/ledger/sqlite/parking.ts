/**
 * What is parked, links between ids and names of events, in SQLite.
 *
 * Invariant: an organization of which memory does not know that it has something parked or linked has nothing: it is told
 * before the commit, so that it may only know too many.
 */
import type { Database } from "bun:sqlite";
import { limits } from "../../../contract/limits.ts";
import { msPerDay } from "../../calendar/zone.ts";
import type { EventLabel, ParkedCounts, ParkedPerson, ParkingStore, ParkingWrites } from "../parking.ts";
import { EventLabels } from "./event-labels.ts";
import { type Dropped, ParkedItems } from "./parked-items.ts";
import { PersonLinks } from "./person-links.ts";
import { inSmallSteps } from "./small-steps.ts";
import { inTransaction } from "./transaction.ts";
import { SqliteWarnings } from "./warnings.ts";

/** About 2 ms of deleting. */
const droppedInAStep = 100;
const mostOfPerson = { items: limits.parkedItems, bytes: limits.parkedBytes };
const maxPeople = 1_000;
const nothing: ParkedCounts = {
  ...{ people: 0, items: 0, bytes: 0, oldestAtMs: null, droppedFull: 0, droppedExpired: 0 },
};

export class Parking implements ParkingStore {
  readonly items: ParkedItems;
  readonly links: PersonLinks;
  readonly eventLabels: EventLabels;
  readonly #db: Database;
  readonly #warnings: SqliteWarnings;
  readonly #organizations: Set<number>;

  constructor(db: Database) {
    this.#db = db;
    this.items = new ParkedItems(db);
    this.links = new PersonLinks(db);
    this.eventLabels = new EventLabels(db);
    this.#warnings = new SqliteWarnings(db);
    this.#organizations = new Set(this.items.organizations());
  }

  /** Whether anything may be parked or linked in the organization. */
  has(organization: number): boolean {
    return this.#organizations.has(organization);
  }

  /** Writes what was decided, inside the caller's transaction. @returns the labels to be remembered after it */
  write({ taken, parked, refused, links, labels }: ParkingWrites, nowMs: number): readonly EventLabel[] {
    const organizations = new Set([...parked, ...links].map(({ organization }) => organization));
    for (const organization of organizations) {
      this.items.begin(organization);
      this.#organizations.add(organization);
    }
    for (const { organization, id } of taken) this.items.take(organization, id);
    const parkedAt = new Map<string, { organization: number; id: string }>();
    for (const item of parked) {
      this.items.park(item);
      parkedAt.set(`${item.organization} ${item.id}`, item);
    }
    for (const { organization, id } of parkedAt.values()) {
      const dropped = this.items.dropOldestOf(organization, id, mostOfPerson);
      this.#warn(organization, "full", dropped, nowMs);
    }
    for (const { organization, message } of refused) this.#warn(organization, "refused", 1, nowMs, message);
    for (const { link, ...key } of links) {
      this.links.write(key, link);
      if (link !== null) this.links.keepNewest(key.organization, link.userId, limits.linksOfUser);
    }
    return this.eventLabels.write(labels);
  }

  /** Deletes what is parked under the id, and every link to it and from it, inside the caller's transaction. */
  forget(organization: number, id: string): void {
    if (!this.has(organization)) return;
    this.items.take(organization, id);
    this.links.forget(organization, id);
  }

  async counts(organization: number): Promise<ParkedCounts> {
    return this.items.counts(organization) ?? nothing;
  }

  async people(organization: number, limit: number): Promise<readonly ParkedPerson[]> {
    return this.items.people(organization, Math.min(limit, maxPeople));
  }

  async labels(organization: number, events: readonly string[]): Promise<Record<string, string>> {
    const found = events.flatMap((event) => {
      const label = this.eventLabels.find(organization, event);
      return label === undefined ? [] : [[event, label] as const];
    });
    return Object.fromEntries(found);
  }

  /** Drops what waited for 30 days, and the oldest of an organization that has too much. */
  async tidy(nowMs: number): Promise<void> {
    const expiredMs = nowMs - limits.parkedDays * msPerDay;
    for (const organization of this.#organizations) {
      const { oldestAtMs, bytes } = await this.counts(organization);
      if (oldestAtMs !== null && oldestAtMs < expiredMs) {
        await inSmallSteps(() => this.#drop(organization, expiredMs, "expired", nowMs));
      }
      if (bytes <= limits.parkedBytesOfOrganization) continue;
      await inSmallSteps(
        () =>
          (this.items.counts(organization)?.bytes ?? 0) > limits.parkedBytesOfOrganization &&
          this.#drop(organization, Number.MAX_SAFE_INTEGER, "full", nowMs),
      );
    }
  }

  /** One step; true when there may be more. */
  #drop(organization: number, beforeMs: number, why: Dropped, nowMs: number): boolean {
    return inTransaction(this.#db, () => {
      const dropped = this.items.dropBefore(organization, beforeMs, droppedInAStep, why);
      this.#warn(organization, why, dropped, nowMs);
      return dropped === droppedInAStep;
    });
  }

  #warn(
    organization: number,
    why: Dropped | "refused",
    count: number,
    nowMs: number,
    message: string | null = null,
  ): void {
    if (count === 0) return;
    this.#warnings.count({
      ...{ organization, count, utcDay: Math.floor(nowMs / msPerDay), firstSeenMs: nowMs, lastSeenMs: nowMs },
      ...{ kind: `parked_${why}`, endpoint: "sources", detail: message, message, userId: null },
    });
  }
}
