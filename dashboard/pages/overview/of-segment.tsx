/** The segment of active users, the lifecycle and the week, which share it. */
import type { ReactElement } from "react";
import { useFilters } from "../../parts/list/filters.ts";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { type SegmentKind, useSegments } from "../segments/segments.ts";
import { filters } from "./filters.ts";

/** Its choice, for the heading of a panel. */
export function OfSegment(): ReactElement {
  const [{ segment }, change] = useFilters(filters);
  return <SegmentPick value={segment} onChoose={(chosen) => change({ segment: chosen })} />;
}

/** The parameter of figures for the segment that is chosen, if one is. */
export function useSegment(): { readonly segment?: number } {
  const [{ segment }] = useFilters(filters);
  return segment === undefined ? {} : { segment };
}

const usersOf: Readonly<Record<SegmentKind, string>> = {
  users: "its current users",
  accounts: "users whose account is in it now",
};

/** The sentence above active users that says which users they are. Drawn only while a segment is chosen. */
export function SegmentLine(): ReactElement | null {
  const { segment: chosen } = useSegment();
  const segment = useSegments().find(({ id }) => id === chosen);
  if (segment === undefined) return null;
  return (
    <p className="text-sm text-pretty text-soft [overflow-wrap:anywhere]">
      Active users of the segment “{segment.name}”: {usersOf[segment.kind]}, on all days.
    </p>
  );
}
