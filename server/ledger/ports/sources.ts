/**
 * Counts of the items of each source of an organization, by hour. They show a source's rhythm and its
 * silence. No acknowledged data depends on these counts: a killed process may lose those of the last seconds.
 */
import type { SenderName, SourceOutcome } from "../../../contract/sources.ts";
import type { Actor, AuditNote } from "./audit.ts";

/** Numbers of items by outcome. */
export type SourceItems = Readonly<Record<SourceOutcome, number>>;

/** The items of a source in one hour. */
export interface SourceHour extends SourceItems {
  readonly source: SenderName;
  /** Hours since 1970-01-01, UTC. */
  readonly utcHour: number;
}

/** An addition to the counts: those of one hour, or of a part of it. */
export interface CountedHour extends SourceHour {
  readonly organization: number;
  /** The arrival of the first item. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** The arrival of the first item that was not rejected. Null if all were rejected. */
  readonly firstHeardMs: number | null;
  readonly lastHeardMs: number | null;
}

/** The totals of a source since its first item. */
export interface SourceTotals extends SourceItems {
  readonly source: SenderName;
  readonly firstMs: number;
  readonly lastMs: number;
  /** The arrival of the first item that was not rejected. A source with only rejected items counts as
   * silent. */
  readonly firstHeardMs: number | null;
  readonly lastHeardMs: number | null;
  /** The time at which a member marked it as removed. Its next accepted item clears this. */
  readonly retiredAtMs: number | null;
}

export interface SourceStore {
  /** Adds counts in several commits. @param written gets the number of lines in each commit, in their
   * order */
  add(counted: readonly CountedHour[], written?: (lines: number) => void): Promise<void>;
  /** The totals of every source, in the order of their names. */
  totals(organization: number): Promise<readonly SourceTotals[]>;
  /** The hours of all sources from this hour on, oldest first. Hours without items are left out. Kept for 8
   * weeks. */
  hours(organization: number, fromUtcHour: number): Promise<readonly SourceHour[]>;
  /** Marks a source as removed, if it is not marked yet. The mark and its entry in the audit log are one
   * commit.
   * @returns the time of the mark. Undefined if the source never sent an item */
  retire(organization: number, source: SenderName, by: Actor, nowMs: number): Promise<number | undefined>;
}

/** The entry of a source that was marked as removed. */
export function sourceRetiredNote(source: SenderName): AuditNote {
  return {
    action: "source.retired",
    summary: `Retired the source ${source}: nobody waits for it until it sends again`,
    detail: { source },
  };
}
