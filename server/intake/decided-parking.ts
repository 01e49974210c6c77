/** Links between ids and what is parked under them: as it is stored, and as the requests before have left it. */
import type { EventLabel, ParkedItem, ParkingWrites, PersonKey, PersonLink } from "../ledger/parking.ts";
import type { Stored, Writes } from "../ledger/transaction.ts";
import { keyOf } from "./decided-people.ts";

interface Parked extends PersonKey {
  /** Whether what was stored is taken away. */
  isTaken: boolean;
  /** New ones. */
  items: ParkedItem[];
}

export class DecidedParking {
  readonly #stored: Stored;
  readonly #links = new Map<string, PersonKey & { readonly link: PersonLink | null }>();
  /** By the id to which others were linked in this group. */
  readonly #linkedTo = new Map<string, Set<string>>();
  /** Ids from which all links were moved: what is stored of them is of no use any more. */
  readonly #movedFrom = new Set<string>();
  readonly #parked = new Map<string, Parked>();
  readonly #labels = new Map<string, EventLabel>();
  readonly #refused: ParkingWrites["refused"][number][] = [];

  constructor(stored: Stored) {
    this.#stored = stored;
  }

  /** Whether anything may be parked or linked in the organization. */
  concerns(organization: number): boolean {
    return this.#links.size + this.#parked.size > 0 || this.#stored.hasParked(organization);
  }

  link(organization: number, id: string): PersonLink | undefined {
    const changed = this.#links.get(keyOf(organization, id));
    if (changed !== undefined) return changed.link ?? undefined;
    return this.#stored.hasParked(organization) ? this.#stored.link(organization, id) : undefined;
  }

  /** Links an id, or, with null, no longer. */
  setLink(organization: number, id: string, link: PersonLink | null): void {
    this.#links.set(keyOf(organization, id), { organization, id, link });
    if (link === null) return;
    const key = keyOf(organization, link.userId);
    const linked = this.#linkedTo.get(key) ?? new Set();
    this.#linkedTo.set(key, linked.add(id));
  }

  /** The ids that are linked to this one. */
  linksTo(organization: number, id: string): readonly string[] {
    const key = keyOf(organization, id);
    const isStored = !this.#movedFrom.has(key) && this.#stored.hasParked(organization);
    const stored = isStored ? this.#stored.linksTo(organization, id) : [];
    const all = new Set([...stored, ...(this.#linkedTo.get(key) ?? [])]);
    return [...all].filter((each) => this.link(organization, each)?.userId === id);
  }

  /** Links to the user whatever is linked to the id. @returns how many ids these are */
  moveLinks(organization: number, id: string, userId: string): number {
    const ids = this.linksTo(organization, id);
    for (const each of ids) {
      const atMs = this.link(organization, each)?.atMs ?? 0;
      this.setLink(organization, each, { userId, atMs });
    }
    this.#linkedTo.delete(keyOf(organization, id));
    this.#movedFrom.add(keyOf(organization, id));
    return ids.length;
  }

  park(organization: number, id: string, item: ParkedItem): void {
    this.#of(organization, id).items.push(item);
  }

  /** What is parked under the id, which is nothing afterwards. */
  take(organization: number, id: string): readonly ParkedItem[] {
    const known = this.#parked.get(keyOf(organization, id));
    const isStored = known?.isTaken !== true && this.#stored.hasParked(organization);
    const stored = isStored ? this.#stored.parked(organization, id) : [];
    const items = [...stored, ...(known?.items ?? [])];
    if (items.length === 0) return items;
    const parked = this.#of(organization, id);
    parked.isTaken ||= stored.length > 0;
    parked.items = [];
    return items;
  }

  /** Notes the name that an event was sent under, if it is the first time. */
  label(organization: number, event: string, label: string): void {
    const key = keyOf(organization, event);
    if (this.#labels.has(key) || this.#stored.label(organization, event) !== undefined) return;
    this.#labels.set(key, { organization, event, label });
  }

  /** Notes that something parked could not become its user's. */
  refuse(organization: number, message: string): void {
    this.#refused.push({ organization, message });
  }

  writes(): Pick<Writes, "parking"> {
    if (this.#links.size + this.#parked.size + this.#labels.size === 0) return {};
    const people = [...this.#parked.values()];
    return {
      parking: {
        taken: people.filter(({ isTaken }) => isTaken).map(({ organization, id }) => ({ organization, id })),
        parked: people.flatMap(({ organization, id, items }) =>
          items.map((item) => ({ organization, id, ...item })),
        ),
        refused: this.#refused,
        links: [...this.#links.values()],
        labels: [...this.#labels.values()],
      },
    };
  }

  #of(organization: number, id: string): Parked {
    const key = keyOf(organization, id);
    const known = this.#parked.get(key);
    if (known !== undefined) return known;
    const parked: Parked = { organization, id, isTaken: false, items: [] };
    this.#parked.set(key, parked);
    return parked;
  }
}
