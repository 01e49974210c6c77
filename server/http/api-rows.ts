/** Rows of several answers of the JSON API: users in lists, events on timelines. */
import type { TimelineEvent, TimelinePosition } from "../analytics/timeline.ts";
import type { UserListRow } from "../analytics/user-list.ts";
import { formatDay } from "../calendar/days.ts";
import { isJsonObject } from "../ledger/ledger.ts";

/** A user of a list. */
export function listedUser({ firstIdentifiedAtMs, firstDay, lastDay, ...row }: UserListRow) {
  const traits = objectIn(row.traits);
  return {
    ...row,
    name: typeof traits.name === "string" ? traits.name : null,
    firstIdentifiedAt: instant(firstIdentifiedAtMs),
    firstSeenDay: dayOrNull(firstDay),
    lastSeenDay: dayOrNull(lastDay),
    traits,
  };
}

/** An event of a timeline. */
export function timelineEvent({ id, event, timeMs, receivedAtMs, properties }: TimelineEvent) {
  return {
    id,
    event,
    timestamp: instant(timeMs),
    receivedAt: instant(receivedAtMs),
    properties: objectIn(properties),
  };
}

/** Where a timeline reads on after this page; null when nothing is left. */
export function nextPosition(events: readonly TimelineEvent[], limit: number): string | null {
  const last = events.at(-1);
  return last === undefined || events.length < limit ? null : `${last.timeMs}.${last.id}`;
}

/** The position that `next` said; undefined where nothing was sent. */
export function positionOf(text: string | undefined): TimelinePosition | undefined {
  if (text === undefined) return undefined;
  const [timeMs = "", id = ""] = text.split(".");
  return { timeMs: Number(timeMs), id };
}

/** The day as a date. */
export function dayOrNull(day: number | null): string | null {
  return day === null ? null : formatDay(day);
}

/** The time as a date-time in UTC. */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

function objectIn(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? { ...value } : {};
}
