/** Segments: named filters over users or accounts, and fixed lists of them. */

import { Refusal } from "../../../contract/refusal.ts";
import type { Filter } from "../../../contract/segments/filters.ts";
import { type SegmentKind, segmentLimits } from "../../../contract/segments/segments.ts";
import type { Actor, AuditNote } from "../../ledger/audit.ts";

export interface Segment {
  readonly id: number;
  readonly kind: SegmentKind;
  readonly name: string;
  /** Null for a fixed segment. */
  readonly filter: Filter | null;
  /** Users or accounts of a fixed segment; null for one with a filter. */
  readonly fixed: number | null;
  /** The name of its author. Null if the person does not exist any more, or was none. */
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** When its filter or its ids were changed last. */
  readonly contentAtMs: number;
}

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

/** Every change and its entry in the audit log are one commit. An erasure takes the user or the account out
 * of fixed segments. */
export interface SegmentStore {
  /** The ids of organizations with segments, ascending. */
  organizations(): Promise<readonly number[]>;
  /** Sorted by name. */
  list(organization: number): Promise<readonly Segment[]>;
  /** The numbers of the users or accounts of a fixed segment, ascending; none of any other segment. */
  numbers(organization: number, id: number): Promise<readonly number[]>;
  /** Fixed segments that have the user with this number, by name. */
  ofUser(organization: number, user: number): Promise<readonly Pick<Segment, "id" | "name">[]>;
  /** @throws Refusal when another segment has the name, there are too many, the filter is not valid, no id is
   * known, or the organization or the person does not exist. */
  add(organization: number, segment: NewSegment, by: Actor, nowMs: number): Promise<SavedSegment>;
  /** Changes the given fields. A fixed segment stays one. @returns undefined when the organization has no
   * such segment.
   * @throws Refusal as `add` */
  change(
    organization: number,
    id: number,
    change: SegmentChange,
    by: Actor,
    nowMs: number,
  ): Promise<SavedSegment | undefined>;
  /** @returns false when the organization has no such segment.
   * @throws ApiError (conflict) when another segment has it in its filter, or an alert rule uses it */
  remove(organization: number, id: number, by: Actor, nowMs: number): Promise<boolean>;
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
