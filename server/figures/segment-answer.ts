/** A segment as the API answers it. */

import { instant } from "../calendar/instant.ts";
import { type Segment, segmentsWith } from "../ledger/rules/segment-rules.ts";

/** The answer about a segment. @param segments those of the organization, of which some may have it in their
 * filters */
export function segmentAnswer(
  { createdAtMs, updatedAtMs, contentAtMs: _, ...segment }: Segment,
  segments: readonly Segment[],
) {
  return {
    ...segment,
    usedBy: segmentsWith(segments, segment.id).map(({ id, name }) => ({ id, name })),
    createdAt: instant(createdAtMs),
    updatedAt: instant(updatedAtMs),
  };
}
