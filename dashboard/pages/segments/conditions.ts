/** Conditions of lists on events and on segments, in the address under the names of the API. */
import { segmentLimits } from "../../../contract/segments/segments.ts";
import type { Reads } from "../../api/paths.ts";
import { objectsFilter, optionalNumberFilter, type Values } from "../../parts/list/filters.ts";

type Query = Reads["/api/users"]["query"];
/** How often an event was done within days that end today. */
export type EventCondition = NonNullable<Query["events"]>[number];
/** In a segment, or not in it. */
export type SegmentCondition = NonNullable<Query["segments"]>[number];

const largestId = Number.MAX_SAFE_INTEGER;

export const conditionFilters = {
  events: objectsFilter<EventCondition>(({ event, match, times, days }) => {
    if (typeof event !== "string" || !isPositive(days)) return [];
    return [
      {
        event,
        days,
        ...(match === "fewerThan" && { match }),
        ...(isPositive(times) && times > 1 && { times }),
      },
    ];
  }, segmentLimits.events),
  segments: objectsFilter<SegmentCondition>(
    ({ segment, match }) => (isPositive(segment) ? [{ segment, ...(match === "isNotIn" && { match }) }] : []),
    segmentLimits.segments,
  ),
  /** One segment by its id, as figures have it, too. */
  segment: optionalNumberFilter(largestId),
};
export type ConditionValues = Values<typeof conditionFilters>;

function isPositive(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}
