/** The earliest day of the events that were loaded, by organization: by it, new events of days before today are noticed. */
import type { FrozenBatch } from "../../ledger/ledger.ts";

/** The organization and the day of an event's row: its first and sixth value. The fourth is a text. */
export const organizationAndDay = /^\[(\d+),\d+,\d+,"(?:[^"\\]|\\.)*",-?\d+,(-?\d+),/gm;

export class LoadedDays {
  readonly #earliest = new Map<number, number>();

  /** Called with every batch that is in the warehouse now. */
  batchLoaded({ table }: Pick<FrozenBatch, "table">, body: Buffer): void {
    if (table !== "events") return;
    for (const [, id, text] of body.toString("latin1").matchAll(organizationAndDay)) {
      const [organization, day] = [Number(id), Number(text)];
      if (day < (this.#earliest.get(organization) ?? Number.POSITIVE_INFINITY)) {
        this.#earliest.set(organization, day);
      }
    }
  }

  /** The earliest day, in the organization's timezone, of its events that were loaded since this was last asked; undefined
   * when there were none. */
  take(organization: number): number | undefined {
    const day = this.#earliest.get(organization);
    this.#earliest.delete(organization);
    return day;
  }
}
