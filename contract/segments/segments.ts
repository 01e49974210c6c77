/** Kinds and limits of segments. Pages import it, so it imports no schema. */

export const segmentLimits = {
  perOrganization: 200,
  nameCharacters: 80,
  /** How deep filters may use segments whose filters use segments. */
  levels: 3,
  /** Ids that a request sends for a fixed segment. */
  fixedIds: 20_000,
  /** Users of a fixed segment of a retention cell. */
  cellUsers: 100_000,
  /** Of a request that makes or changes a segment. */
  bodyBytes: 8 * 1024 * 1024,
  /** Of each filter: conditions on traits, on events and on segments. */
  traits: 8,
  events: 8,
  segments: 8,
  /** Of a filter and of all segments that it leads to, together: each takes 10 ms of 2,000 users, and 60 ms
   * in a preview. */
  conditions: 50,
} as const;

/**
 * Why users or accounts entered or left. `change`: their own data, or the time that passed. `edit`: the
 * segment, or one below it, was edited. `scores`: another model, other bands or other settings of scores.
 * `bulk`: an import, exclusions, settings, another owner, an erasure of others, or days without data.
 * `first`: members of the first evaluation. Only changes of `change` may start anything.
 */
export const segmentCauses = ["change", "edit", "scores", "bulk", "first"] as const;
export type SegmentCause = (typeof segmentCauses)[number];

/** Limits of what is read about members in the past. */
export const segmentHistoryLimits = { days: 365, changes: 100 } as const;

/** The entities of a segment. */
export const segmentKinds = ["users", "accounts"] as const;
export type SegmentKind = (typeof segmentKinds)[number];

/** Days from the comparison date to the newest scores, in conditions. A segment means the same on
 * each day. */
export const comparedDays = [7, 28] as const;
