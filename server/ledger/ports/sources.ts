/**
 * What each source of an organization sends, by the hour: from it follow a source's rhythm and its silence. Nothing that
 * was acknowledged depends on these counts: those of the last seconds may be lost when a process is killed.
 */
import type { SenderName } from "../../../contract/sources.ts";
import type { StoredOutcome } from "../rules/stored-names.ts";
import type { Actor, AuditNote } from "./audit.ts";

/** Items by what became of them. */
export type SourceItems = Readonly<Record<StoredOutcome, number>>;

/** What came from a source within an hour. */
export interface SourceHour extends SourceItems {
  readonly source: SenderName;
  /** Hours since 1970-01-01, UTC. */
  readonly utcHour: number;
}

/** What is added to the counts: one hour's, or a part of it. */
export interface CountedHour extends SourceHour {
  readonly organization: number;
  /** Of any items. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Of items that were not rejected; null when all were. */
  readonly firstHeardMs: number | null;
  readonly lastHeardMs: number | null;
}

/** What is known of a source since it sent first. */
export interface SourceTotals extends SourceItems {
  readonly source: SenderName;
  readonly firstMs: number;
  readonly lastMs: number;
  /** Of items that were not rejected: a source of which nothing can be taken is as good as silent. */
  readonly firstHeardMs: number | null;
  readonly lastHeardMs: number | null;
  /** Since when it is said to be removed; its next item that is taken undoes it. */
  readonly retiredAtMs: number | null;
}

export interface SourceStore {
  /** Adds counts in several commits. @param written told after each commit how many more lines are in it, in their order */
  add(counted: readonly CountedHour[], written?: (lines: number) => void): Promise<void>;
  /** Of every source that ever sent, in the order of their names. */
  totals(organization: number): Promise<readonly SourceTotals[]>;
  /** Of all sources, from this hour on, oldest first; hours in which nothing came are left out. Kept for 8 weeks. */
  hours(organization: number, fromUtcHour: number): Promise<readonly SourceHour[]>;
  /** Says of a source that it was removed, unless it was said already. This and its entry in the audit log are one commit.
   * @returns since when; undefined when it never sent */
  retire(organization: number, source: SenderName, by: Actor, nowMs: number): Promise<number | undefined>;
}

/** The entry of a source that was said to be removed. */
export function sourceRetiredNote(source: SenderName): AuditNote {
  return {
    action: "source.retired",
    summary: `Retired the source ${source}: nobody waits for it until it sends again`,
    detail: { source },
  };
}
