/**
 * The days whose events are loaded while something reads them. An insert fills the events and their rollups
 * one after another, so a comparison of these tables is exact only for the other days.
 */
import type { FrozenBatch } from "../../ledger/inbox.ts";
import { organizationAndDay } from "./loaded-days.ts";

type Batch = Pick<FrozenBatch, "table">;

/** Collects the days of one organization from its making on. */
export interface LoadingWatch {
  /** Ends the watch. @returns the days, since 1970-01-01, in the organization's timezone */
  end(): ReadonlySet<number>;
}

export class LoadingDays {
  #inHand: { readonly batch: Batch; readonly body: Buffer } | undefined;
  /** By watch: the organization and its days. */
  readonly #watches = new Map<LoadingWatch, { readonly organization: number; readonly days: Set<number> }>();

  /** Called with every batch before its first row is in the warehouse. */
  batchBegun(batch: Batch, body: Buffer): void {
    this.#inHand = { batch, body };
    this.#note(batch, body);
  }

  /** Called when the batch in hand is in the warehouse as a whole. */
  batchLoaded(): void {
    this.#inHand = undefined;
  }

  /** Starts to collect days. Those of the batch in hand are among them. */
  watch(organization: number): LoadingWatch {
    const days = new Set<number>();
    const watch: LoadingWatch = {
      end: () => {
        this.#watches.delete(watch);
        return days;
      },
    };
    this.#watches.set(watch, { organization, days });
    if (this.#inHand !== undefined) this.#note(this.#inHand.batch, this.#inHand.body);
    return watch;
  }

  #note({ table }: Batch, body: Buffer): void {
    if (table !== "events" || this.#watches.size === 0) return;
    const watches = [...this.#watches.values()];
    for (const [, organization, day] of body.toString("latin1").matchAll(organizationAndDay)) {
      for (const { organization: watched, days } of watches) {
        if (watched === Number(organization)) days.add(Number(day));
      }
    }
  }
}
