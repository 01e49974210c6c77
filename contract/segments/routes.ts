/** The routes about segments. Intake keeps them, and analysis says who is in them. */
import { RetentionCellParameters } from "../api/retention.ts";
import { analysisRoute, figure, keyRoute } from "../api/route.ts";
import * as schemas from "./schemas.ts";
import { segmentLimits } from "./segments.ts";

const maxBodyBytes = segmentLimits.bodyBytes;

/** Answered by intake. */
export const segmentRoutes = {
  "GET /api/segments": keyRoute.read({
    summary: "Segments: saved filters and fixed lists of users or accounts",
    answer: schemas.SegmentsAnswer,
  }),
  "POST /api/segments": keyRoute.manage({
    summary: "Save a segment with a filter, or with the ids of its users or accounts",
    body: schemas.SegmentCreateBody,
    maxBodyBytes,
    status: 201,
    answer: schemas.SegmentSavedAnswer,
  }),
  "PATCH /api/segments/:id": keyRoute.manage({
    summary: "Rename a segment, or change its filter or its ids",
    body: schemas.SegmentChangeBody,
    maxBodyBytes,
    answer: schemas.SegmentSavedAnswer,
  }),
  "DELETE /api/segments/:id": keyRoute.manage({
    summary: "Delete a segment that no other segment and no alert rule uses",
    status: 204,
    conflict:
      "Another segment or an alert rule uses the segment: in a filter, a scope, a condition or exemptions. The message names it.",
  }),
} as const;

/** Answered by analysis. */
export const segmentFigures = {
  "GET /api/segment-sizes": figure({
    summary:
      "How many users or accounts are in each segment, as last recorded; the parameter `segment` of lists shows the members",
    command: "segment sizes",
    answer: schemas.SegmentSizesAnswer,
    table: "segments",
  }),
  "GET /api/segments/:id/history": figure({
    summary: "How many users or accounts were in a segment on each day, and how many entered and left",
    query: schemas.SegmentHistoryParameters,
    answer: schemas.SegmentHistoryAnswer,
    table: "days",
  }),
  "GET /api/segments/:id/changes": figure({
    summary: "Users or accounts that entered and left a segment, when and why",
    query: schemas.SegmentChangesParameters,
    answer: schemas.SegmentChangesAnswer,
    table: "changes",
  }),
  "POST /api/segments/preview": analysisRoute.manage({
    summary: "How many users or accounts match a filter. Nothing is saved",
    body: schemas.SegmentPreviewBody,
    answer: schemas.SegmentPreviewAnswer,
  }),
  "POST /api/retention/segment": analysisRoute.manage({
    summary: `Save the users of a retention cell as a fixed segment: users who were active, or users who were not. At most ${segmentLimits.cellUsers} users`,
    query: RetentionCellParameters,
    body: schemas.SegmentOfCellBody,
    status: 201,
    answer: schemas.SegmentAnswer,
  }),
} as const;
