/**
 * Held events, links between ids and names of events, in SQLite.
 *
 * Invariant: an organization that is not in memory has no held events and no links. It is added before the
 * commit, so memory may only have too many.
 */
import type { Database } from "bun:sqlite";
import { limits } from "../../../../contract/limits.ts";
import { addressId, type EventLabel, type HeldEventWrites, type PersonKey } from "../../rules/held-events.ts";
import { personText } from "../../rules/person-text.ts";
import { forgetIdsOfDropped } from "../../stores/lasting-ids.ts";
import { addWarnings, type HeldEventWarningKind, heldEventWarning } from "../../stores/warnings.ts";
import { ByOrganization } from "../by-organization.ts";
import type { SqliteEngine } from "../store-engine.ts";
import { EventLabels } from "./event-labels.ts";
import { HeldEventRows } from "./held-event-statements.ts";
import { PersonLinks } from "./person-links.ts";

const mostOfPerson = { items: limits.heldEvents, bytes: limits.heldEventBytes };

export class SqliteHeldEvents {
  readonly items: HeldEventRows;
  readonly links: PersonLinks;
  readonly eventLabels: EventLabels;
  readonly #engine: SqliteEngine;
  readonly #organizations: Set<number>;

  /** @param maxLinks the most links of an organization to users who are not identified */
  constructor(db: Database, engine: SqliteEngine, maxLinks: number) {
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

  /** Writes the decision's changes, inside the caller's transaction. It forgets the ids of items that it
   * drops, so the transaction's own ids are written before. @returns labels for memory after the commit */
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
      this.#engine.now(forgetIdsOfDropped(person.organization, dropped));
      this.#warn(person.organization, "held_full", dropped.length, nowMs);
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
