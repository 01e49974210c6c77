/** What a user did last: their events, the newest first. 8 ms, because events are stored by user and time. */
import type { Warehouse } from "../warehouse/warehouse.ts";

export interface TimelineQuestion {
  readonly organization: number;
  /** The user's number within the organization. */
  readonly user: number;
  /** At most this many events, up to 1,000. */
  readonly limit: number;
  /** Only events before this instant: the time of the last one seen, to read on. */
  readonly beforeMs?: number;
}

export interface TimelineEvent {
  /** 32 hexadecimal digits with hyphens. */
  readonly id: string;
  readonly event: string;
  readonly timeMs: number;
  readonly receivedAtMs: number;
  /** JSON text, as it was sent. */
  readonly properties: string;
}

/** The user's latest events. */
export function timeline(
  warehouse: Warehouse,
  { organization, user, limit, beforeMs = endOfTimeMs }: TimelineQuestion,
): Promise<TimelineEvent[]> {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxEvents) {
    throw new RangeError(`limit must be a whole number from 1 to ${maxEvents}`);
  }
  return warehouse.rows<TimelineEvent>(sql, { organization, user, limit, beforeMs });
}

const maxEvents = 1_000;
const endOfTimeMs = Date.UTC(2300, 0, 1) - 1;

const sql = `
  SELECT toString(id) AS id, event, toUnixTimestamp64Milli(time) AS timeMs,
    toUnixTimestamp64Milli(received_at) AS receivedAtMs, properties
  FROM events
  WHERE organization = {organization:UInt32} AND user = {user:UInt32}
    AND time < fromUnixTimestamp64Milli({beforeMs:Int64}, 'UTC')
  ORDER BY time DESC, events.id DESC
  LIMIT {limit:UInt32}`;
