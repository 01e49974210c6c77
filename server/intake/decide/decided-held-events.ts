/** Links between ids and the items held under them: as they are stored, and as the earlier requests have left
 * them. */

import type {
  EventLabel,
  HeldEvent,
  HeldEventWrites,
  PersonId,
  PersonKey,
  PersonLink,
} from "../../ledger/rules/held-events.ts";
import type { Stored, Writes } from "../../ledger/transact.ts";
import { keyOf } from "./decided-people.ts";

interface HeldOfPerson {
  readonly person: PersonKey;
  /** Whether the stored items were removed. */
  isTaken: boolean;
  /** New items. */
  items: HeldEvent[];
}

export class DecidedHeldEvents {
  readonly #stored: Stored;
  readonly #links = new Map<string, PersonKey & { readonly link: PersonLink | null }>();
  /** Ids that were linked in this group, by user. */
  readonly #linkedTo = new Map<string, Map<string, PersonId>>();
  /** Users from whom all links were moved. Their stored links are not valid any more. */
  readonly #movedFrom = new Set<string>();
  readonly #held = new Map<string, HeldOfPerson>();
  readonly #labels = new Map<string, EventLabel>();
  readonly #refused: HeldEventWrites["refused"][number][] = [];

  constructor(stored: Stored) {
    this.#stored = stored;
  }

  /** Whether the organization may have held items or links. */
  concerns(organization: number): boolean {
    return this.#links.size + this.#held.size > 0 || this.#stored.hasHeldEvents(organization);
  }

  link(person: PersonKey): PersonLink | undefined {
    const changed = this.#links.get(personKeyOf(person));
    if (changed !== undefined) return changed.link ?? undefined;
    return this.#stored.hasHeldEvents(person.organization) ? this.#stored.link(person) : undefined;
  }

  /** Links an id. Null removes the link. */
  setLink({ organization, kind, id }: PersonKey, link: PersonLink | null): void {
    const key = personKeyOf({ organization, kind, id });
    this.#links.set(key, { organization, kind, id, link });
    if (link === null) return;
    const to = keyOf(organization, link.userId);
    const linked = this.#linkedTo.get(to) ?? new Map<string, PersonId>();
    this.#linkedTo.set(to, linked.set(key, { kind, id }));
  }

  /** The ids that are linked to this user. */
  linksTo(organization: number, userId: string): readonly PersonId[] {
    const to = keyOf(organization, userId);
    const isStored = !this.#movedFrom.has(to) && this.#stored.hasHeldEvents(organization);
    const all = new Map(this.#linkedTo.get(to));
    for (const person of isStored ? this.#stored.linksTo(organization, userId) : []) {
      all.set(personKeyOf({ organization, ...person }), person);
    }
    return [...all.values()].filter((person) => this.link({ organization, ...person })?.userId === userId);
  }

  /** Links to the user all ids that are linked to `from`. @returns the number of ids */
  moveLinks(organization: number, from: string, userId: string): number {
    const people = this.linksTo(organization, from);
    for (const each of people) {
      const person = { organization, ...each };
      this.setLink(person, { userId, atMs: this.link(person)?.atMs ?? 0 });
    }
    this.#linkedTo.delete(keyOf(organization, from));
    this.#movedFrom.add(keyOf(organization, from));
    return people.length;
  }

  hold(person: PersonKey, item: HeldEvent): void {
    this.#of(person).items.push(item);
  }

  /** Removes and returns the items held under the id. */
  take(person: PersonKey): readonly HeldEvent[] {
    const known = this.#held.get(personKeyOf(person));
    const isStored = known?.isTaken !== true && this.#stored.hasHeldEvents(person.organization);
    const stored = isStored ? this.#stored.heldEvents(person) : [];
    const items = [...stored, ...(known?.items ?? [])];
    if (items.length === 0) return items;
    const held = this.#of(person);
    held.isTaken ||= stored.length > 0;
    held.items = [];
    return items;
  }

  /** Records the name that an event was sent under, the first time. */
  label(organization: number, event: string, label: string): void {
    const key = keyOf(organization, event);
    if (this.#labels.has(key) || this.#stored.label(organization, event) !== undefined) return;
    this.#labels.set(key, { organization, event, label });
  }

  /** Records that a held item could not be attached to its user. */
  refuse(organization: number, message: string): void {
    this.#refused.push({ organization, message });
  }

  writes(): Pick<Writes, "heldEvents"> {
    if (this.#links.size + this.#held.size + this.#labels.size === 0) return {};
    const people = [...this.#held.values()];
    return {
      heldEvents: {
        taken: people.filter(({ isTaken }) => isTaken).map(({ person }) => person),
        held: people.flatMap(({ person, items }) => items.map((item) => ({ ...person, ...item }))),
        refused: this.#refused,
        links: [...this.#links.values()],
        labels: [...this.#labels.values()],
      },
    };
  }

  #of({ organization, kind, id }: PersonKey): HeldOfPerson {
    const person = { organization, kind, id };
    const key = personKeyOf(person);
    const known = this.#held.get(key);
    if (known !== undefined) return known;
    const held: HeldOfPerson = { person, isTaken: false, items: [] };
    this.#held.set(key, held);
    return held;
  }
}

/** An organization and an id of a person as one text. */
function personKeyOf({ organization, kind, id }: PersonKey): string {
  return `${organization} ${kind} ${id}`;
}
