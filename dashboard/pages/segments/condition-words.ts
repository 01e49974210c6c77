/** Conditions on events and segments in words. */
import { counted } from "../../text/format.ts";
import type { EventCondition, SegmentCondition } from "./conditions.ts";

/** E.g. “export at least 3 times in 28 days”, or “no export in 28 days”. */
export function eventWords({ event, match, times = 1, days }: EventCondition): string {
  const within = `in ${counted(days, "day")}`;
  if (match !== "fewerThan")
    return times === 1 ? `${event} ${within}` : `${event} at least ${times} times ${within}`;
  return times === 1 ? `No ${event} ${within}` : `${event} fewer than ${times} times ${within}`;
}

/** E.g. “In Pilots”. @param names of the organization's segments, by id */
export function segmentWords(
  { segment, match }: SegmentCondition,
  names: ReadonlyMap<number, string>,
): string {
  return `${match === "isNotIn" ? "Not in" : "In"} ${names.get(segment) ?? `segment ${segment}`}`;
}
