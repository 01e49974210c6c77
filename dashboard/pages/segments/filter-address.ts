/** The address of a list from the filter of a segment. */
import { traitOf } from "../../parts/list/trait-filter.tsx";
import type { SegmentFilter } from "./segments.ts";

/** The parameters of the list's address that has a filter. */
export function addressOfFilter({
  seenWithinDays,
  notSeenForDays,
  ...filter
}: SegmentFilter): Record<string, string> {
  const texts = Object.entries(filter).map(([name, value]) => [
    name,
    typeof value === "object" ? JSON.stringify(value) : String(value),
  ]);
  return {
    ...Object.fromEntries(texts),
    ...(seenWithinDays !== undefined && { seen: `within-${seenWithinDays}` }),
    ...(notSeenForDays !== undefined && { seen: `not-${notSeenForDays}` }),
  };
}

/** Whether a list can show all conditions of a filter. The API takes more than its address holds. */
export function fitsList({ seenWithinDays, notSeenForDays, traits = [] }: SegmentFilter): boolean {
  return (
    (seenWithinDays === undefined || notSeenForDays === undefined) &&
    traits.every(({ trait, match = "is", value = "" }) => traitOf(trait, match, value).length === 1)
  );
}
