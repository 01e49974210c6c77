/** Kinds and limits of segments. Pages import it, so it imports no schema. */

export const segmentLimits = {
  perOrganization: 200,
  nameCharacters: 80,
  /** Segments in the filter of a segment, of which those have segments in their filters, and so on. */
  levels: 3,
  /** Users or accounts of a fixed segment. */
  fixedIds: 20_000,
  /** Of a request that makes or changes a segment. */
  bodyBytes: 8 * 1024 * 1024,
  /** Of each filter: conditions on traits, on events and on segments. */
  traits: 8,
  events: 8,
  segments: 8,
} as const;

/** The entities of a segment. */
export const segmentKinds = ["users", "accounts"] as const;
export type SegmentKind = (typeof segmentKinds)[number];
