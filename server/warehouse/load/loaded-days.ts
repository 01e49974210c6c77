/** Loaded rows, by organization: the earliest day of events, by which new events of days before today are
 * noticed, and how many batches, also of users alone. */
import type { FrozenBatch } from "../../ledger/inbox.ts";

/** The organization and the day of an event's row: its first and sixth value. The fourth is a text. */
export const organizationAndDay = /^\[(\d+),\d+,\d+,"(?:[^"\\]|\\.)*",-?\d+,(-?\d+),/gm;

export class LoadedDays {
  readonly #earliest = new Map<number, number>();
  readonly #batches = new Map<number, number>();
  readonly #userBatches = new Map<number, number>();
  #listener: () => void = () => undefined;

  /** Called with every batch that is in the warehouse now. */
  batchLoaded({ table }: Pick<FrozenBatch, "table">, body: Buffer): void {
    for (const organization of organizationsOf(body)) {
      this.#batches.set(organization, this.batches(organization) + 1);
      if (table === "users") this.#userBatches.set(organization, this.userBatches(organization) + 1);
    }
    this.#listener();
    if (table !== "events") return;
    for (const [, id, text] of body.toString("latin1").matchAll(organizationAndDay)) {
      const [organization, day] = [Number(id), Number(text)];
      if (day < (this.#earliest.get(organization) ?? Number.POSITIVE_INFINITY)) {
        this.#earliest.set(organization, day);
      }
    }
  }

  /** The earliest day, in the organization's timezone, of its events that were loaded since this was last
   * asked; undefined when there were none. */
  take(organization: number): number | undefined {
    const day = this.#earliest.get(organization);
    this.#earliest.delete(organization);
    return day;
  }

  /** Calls back after each batch, from now on. */
  follow(listener: () => void): void {
    this.#listener = listener;
  }

  /** How many batches with rows of an organization were loaded since the start. */
  batches(organization: number): number {
    return this.#batches.get(organization) ?? 0;
  }

  /** How many batches of users' rows were loaded since the start. */
  userBatches(organization: number): number {
    return this.#userBatches.get(organization) ?? 0;
  }
}

/** The organizations that rows are of: the first number of each line. */
export function organizationsOf(body: Buffer): Set<number> {
  const organizations = new Set<number>();
  for (let start = 0; start < body.length; ) {
    const comma = body.indexOf(commaCode, start);
    const end = body.indexOf(newlineCode, start);
    organizations.add(Number(body.toString("latin1", start + 1, comma)));
    start = end === -1 ? body.length : end + 1;
  }
  return organizations;
}

const commaCode = ",".charCodeAt(0);
const newlineCode = "\n".charCodeAt(0);
