/**
 * What is parked, links between ids and names of events, in SQLite.
 *
 * Invariant: an organization of which memory does not know that it has something parked or linked has nothing: it is told
 * before the commit, so that it may only know too many.
 */
import type { Database } from "bun:sqlite";
import { limits } from "../../../contract/limits.ts";
import { msPerDay } from "../../calendar/zone.ts";
import type {
  EventLabel,
  ParkedCounts,
  ParkedPerson,
  ParkingStore,
  ParkingWrites,
  PersonKey,
} from "../parking.ts";
import { ByOrganization } from "./by-organization.ts";
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
  readonly #maxBytes: number;

  /** @param maxBytes of an organization: the oldest beyond are dropped */
  constructor(db: Database, maxBytes: number) {
    this.#maxBytes = maxBytes;
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
    const parkedAt = new ByOrganization<PersonKey>();
    for (const item of parked) {
      this.items.park(item);
      parkedAt.set(item.organization, item.id, item);
    }
    for (const { organization, id } of parkedAt.values()) {
      const dropped = this.items.dropOldestOf(organization, id, mostOfPerson);
      this.#warn(organization, "full", dropped, nowMs);
    }
    for (const { organization, message } of refused) this.#warn(organization, "refused", 1, nowMs, message);
    const linkedTo = new ByOrganization<PersonKey>();
    for (const { organization, id, link } of links) {
      this.links.write({ organization, id }, link);
      if (link !== null) linkedTo.set(organization, link.userId, { organization, id: link.userId });
    }
    for (const { organization, id } of linkedTo.values()) {
      this.links.keepNewest(organization, id, limits.linksOfUser);
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
        const drop = () => this.items.dropBefore(organization, expiredMs, droppedInAStep);
        await inSmallSteps(() => this.#step(organization, "expired", nowMs, drop));
      }
      if (bytes > this.#maxBytes) {
        const drop = () => this.items.dropOldest(organization, this.#maxBytes, droppedInAStep);
        await inSmallSteps(() => this.#step(organization, "full", nowMs, drop));
      }
    }
  }

  /** Drops once; true when there may be more. */
  #step(organization: number, why: Dropped, nowMs: number, drop: () => number): boolean {
    return inTransaction(this.#db, () => {
      const dropped = drop();
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
