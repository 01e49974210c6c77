/** The organization whose snapshots a process writes until it is killed. */
import { Zone } from "../../server/calendar/zone.ts";
import type { EntityKind, Population } from "../../server/scoring/queries/engagement-events.ts";

const zone = new Zone("UTC");

/** Users or accounts, with a weight of their events. */
export function weightedBy(kind: EntityKind, weight: number): Population {
  return { organization: 1, kind, zone, settings: { weights: new Map([["opened", weight]]) } };
}
