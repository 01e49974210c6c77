/** The organization's segments, for choices and names. */
import { useMemo } from "react";
import { type Reads, useRead } from "../../api/query.ts";
import type { Choice } from "../../parts/form/field.tsx";

/** A segment as the API answers it. */
export type Segment = Reads["/api/segments"]["answer"]["segments"][number];
/** A filter as a segment keeps it. */
export type SegmentFilter = NonNullable<Segment["filter"]>;
/** The entities of a segment. */
export type SegmentKind = Segment["kind"];

const none: readonly Segment[] = [];

/** All segments, by name. Empty until they are known. */
export function useSegments(): readonly Segment[] {
  return useRead("/api/segments").data?.segments ?? none;
}

/** Their names, by id. */
export function useSegmentNames(): ReadonlyMap<number, string> {
  const segments = useSegments();
  return useMemo(() => new Map(segments.map(({ id, name }) => [id, name])), [segments]);
}

/** The choices of one segment. Accounts are in segments of accounts only. */
export function segmentChoices(segments: readonly Segment[], kind: SegmentKind): Choice[] {
  return segments
    .filter((segment) => kind === "users" || segment.kind === "accounts")
    .map(({ id, name, kind: of }) => ({
      value: String(id),
      label: name,
      ...(kind === "users" && { group: of === "users" ? "Segments of users" : "Segments of accounts" }),
    }));
}
