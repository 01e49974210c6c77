/**
 * The entries of a change of rejected events in the audit log. The change takes several commits. The first
 * commit with rows of an organization adds the organization's entry, and each later one updates it. After a
 * crash the entry has the number of rows that were changed.
 */
import { counted } from "../../../contract/counted.ts";
import type { Actor, AuditNote } from "../audit.ts";
import type { RejectedEventSelection } from "./rejected-event-facts.ts";

/** An entry lists at most this many ids. */
const maxIdsListed = 100;

type Change = "retry" | "drop";

/** An organization's entry after a step. */
export interface RejectedEventEntry {
  readonly organization: number;
  /** Undefined before the first commit with rows of the organization. */
  readonly id: number | undefined;
  /** The number of rows in all steps so far. */
  readonly rows: number;
  readonly note: AuditNote;
}

export class RejectedEventEntries {
  readonly by: Actor;
  readonly atMs: number;
  readonly #change: Change;
  /** Only a change of one organization lists its ids. Otherwise an organization would see ids of another. */
  readonly #ids: readonly number[] | undefined;
  readonly #committed = new Map<number, RejectedEventEntry>();

  constructor(change: Change, { organization, ids }: RejectedEventSelection, by: Actor, atMs: number) {
    this.#change = change;
    this.#ids = organization === undefined ? undefined : ids;
    this.by = by;
    this.atMs = atMs;
  }

  /** The entries that are written with a step, by organization. A row without a readable organization has
   * none. */
  after(events: readonly { readonly organization: number }[]): readonly RejectedEventEntry[] {
    const byOrganization = [...Map.groupBy(events, ({ organization }) => organization)];
    return byOrganization
      .toSorted(([one], [other]) => one - other)
      .map(([organization, { length }]) => {
        const { id, rows: before } = this.#committed.get(organization) ?? { id: undefined, rows: 0 };
        const rows = before + length;
        return { organization, id, rows, note: rejectedEventsNote(this.#change, rows, this.#ids) };
      })
      .filter(({ organization }) => organization > 0);
  }

  /** Called after the step was committed with these entries. */
  committed(entries: readonly RejectedEventEntry[]): void {
    for (const entry of entries) this.#committed.set(entry.organization, entry);
  }
}

function rejectedEventsNote(change: Change, rows: number, ids: readonly number[] | undefined): AuditNote {
  return {
    action: change === "retry" ? "rejected_events.retried" : "rejected_events.dropped",
    summary: `${change === "retry" ? "Sent again" : "Dropped"}: ${counted(rows, "rejected event")}`,
    detail: { rows, ...(ids !== undefined && { ids: ids.slice(0, maxIdsListed) }) },
  };
}
