/** Pieces of longer queries. Each has the values of the placeholders in its text. */
import type { OffsetTransition } from "../calendar/zone.ts";
import type { Parameter, Warehouse } from "../warehouse/engine/warehouse.ts";
import { engagementParameters, type PassiveEvents } from "../warehouse/schema/engagement.ts";

export interface Sql {
  readonly text: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
}

/** The common part of questions about an organization's users. */
export interface UsersQuestion {
  readonly organization: number;
  /** The last day of the question, in days since 1970-01-01: nothing after it counts. */
  readonly toDay: number;
  /** Names of events that are no engagement. */
  readonly passiveEvents: PassiveEvents;
}

/** The rows of a query about engagement.
 * @param sql its text, by the passive events
 * @param question the passive events, and the values that the query binds */
export function engagementRows<Row>(
  warehouse: Warehouse,
  sql: (passive: PassiveEvents) => string,
  {
    passiveEvents,
    ...bound
  }: Readonly<Record<string, Parameter>> & { readonly passiveEvents: PassiveEvents },
): Promise<Row[]> {
  return warehouse.rows<Row>(sql(passiveEvents), { ...engagementParameters(passiveEvents), ...bound });
}

/**
 * The day of an instant in an organization's timezone, in days since 1970-01-01. The engine's own timezone
 * data must not decide: it is older than the runtime's, by which intake computes the days of events.
 * @param seconds an expression, unix seconds
 */
export function localDay(seconds: string): string {
  const offset = `transform(roundDown(${seconds}, {zoneFrom:Array(Int64)}),
    {zoneFrom:Array(Int64)}, {zoneOffsets:Array(Int64)}, toInt64(0))`;
  return `toInt32(floor((${seconds} + ${offset}) / 86400))`;
}

/** The values for `localDay`. */
export function zoneParameters(transitions: readonly OffsetTransition[]) {
  return {
    zoneFrom: transitions.map(({ fromMs }) => Math.floor(fromMs / 1_000)),
    zoneOffsets: transitions.map(({ offsetSeconds }) => offsetSeconds),
  };
}
