/** Segments: named filters over users or accounts, and fixed lists of them. */

import { Refusal } from "../../../contract/refusal.ts";
import type { Filter } from "../../../contract/segments/filters.ts";
import { segmentLimits } from "../../../contract/segments/segments.ts";
import type { AuditNote } from "../../ledger/audit.ts";
import type { Segment } from "../../ledger/rules/segment-rules.ts";

/** The members of a segment: by a filter, by userIds or accountIds, or by the numbers of users or
 * accounts. */
export type SegmentContent =
  | { readonly filter: Filter }
  | { readonly ids: readonly string[] }
  | { readonly numbers: readonly number[] };

export type NewSegment = Pick<Segment, "kind" | "name"> & { readonly content: SegmentContent };

export interface SegmentChange {
  readonly name?: string | undefined;
  readonly content?: SegmentContent | undefined;
}

export interface SavedSegment {
  readonly segment: Segment;
  /** Ids that were given and mean no user, or no account. Numbers without one are left out silently. */
  readonly unknownIds: readonly string[];
}

/** The entry of a segment that was saved. Entries have no filter and no id, because an erasure does not reach
 * the log. */
export function segmentSavedNote({ id, kind, name }: Segment): AuditNote {
  return {
    action: "segment.created",
    summary: `Saved the segment ${name} of ${kind}`,
    detail: { id, kind, name },
  };
}

/** The entry of a segment that was changed. */
export function segmentChangedNote(before: Segment, after: Segment): AuditNote {
  const { id, kind } = before;
  const isRenamed = after.name !== before.name;
  return {
    action: "segment.changed",
    summary: isRenamed
      ? `The segment ${before.name} of ${kind} is called ${after.name} now`
      : `Changed the segment ${after.name} of ${kind}`,
    detail: {
      id,
      kind,
      from: before.name,
      to: after.name,
      content: after.contentAtMs !== before.contentAtMs,
    },
  };
}

/** The entry of a segment that was deleted. */
export function segmentDeletedNote({ id, kind, name }: Segment): AuditNote {
  return {
    action: "segment.deleted",
    summary: `Deleted the segment ${name} of ${kind}`,
    detail: { id, kind, name },
  };
}

/** The error when another segment has the name. */
export function segmentNameTaken(name: string): Refusal {
  return new Refusal(`name is taken: there is a segment called ${name} already.`);
}

/** @param segments the number of the organization's segments @throws Refusal when the limit is reached */
export function refuseTooManySegments(segments: number): void {
  const { perOrganization: most } = segmentLimits;
  if (segments < most) return;
  throw new Refusal(`There are ${most} segments already: delete one before you save another.`);
}
