/**
 * The latest events of a user (8 ms, because events are stored by user and time), or those that carry an
 * account, the newest first. Events with a future time are included: a timeline shows everything that was
 * sent.
 */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { jsonSettings, traitName } from "../json-text.ts";

/** Where to read on: behind this event. */
export interface TimelinePosition {
  readonly timeMs: number;
  /** The event's id: others may have the same time. */
  readonly id: string;
}

interface Page {
  readonly organization: number;
  /** At most this many events, up to 1,000. */
  readonly limit: number;
  /** Only events with exactly this name; empty for all. */
  readonly event?: string;
  /** Only events older than this one; the newest without it. */
  readonly before?: TimelinePosition | undefined;
}

export interface TimelineQuestion extends Page {
  /** The user's number within the organization. */
  readonly user: number;
}

export interface AccountTimelineQuestion extends Page {
  /** The account's number within the organization. */
  readonly account: number;
}

export interface TimelineEvent {
  /** 32 hexadecimal digits with hyphens. */
  readonly id: string;
  readonly event: string;
  readonly timeMs: number;
  readonly receivedAtMs: number;
  /** JSON text, as it was sent. */
  readonly properties: string;
  /** Whether it counts in figures. */
  readonly isActivity: boolean;
}

export interface AccountTimelineEvent extends TimelineEvent {
  /** The user's own id, as the company sent it. */
  readonly userId: string;
  /** Their name, else e-mail address, else id. */
  readonly userLabel: string;
}

/** The user's latest events. */
export function timeline(
  warehouse: Warehouse,
  { user, ...page }: TimelineQuestion,
): Promise<TimelineEvent[]> {
  return warehouse.rows<TimelineEvent>(ofUser, { user, ...pageParameters(page) });
}

/** The latest events that users did while they belonged to the account, and billing events that name it as
 * the payer. */
export function accountTimeline(
  warehouse: Warehouse,
  { account, ...page }: AccountTimelineQuestion,
): Promise<AccountTimelineEvent[]> {
  return warehouse.rows<AccountTimelineEvent>(ofAccount, { account, ...pageParameters(page) });
}

const maxEvents = 5_000;
const endOfTime: TimelinePosition = {
  timeMs: Date.UTC(2300, 0, 1) - 1,
  id: "ffffffff-ffff-ffff-ffff-ffffffffffff",
};

function pageParameters({ organization, limit, event = "", before = endOfTime }: Page) {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxEvents) {
    throw new RangeError(`limit must be a whole number from 1 to ${maxEvents}`);
  }
  return { organization, limit, event, beforeMs: before.timeMs, beforeId: before.id };
}

/** The columns of a `TimelineEvent`, for a SELECT from events. */
export const eventColumns = `
  toString(id) AS id, event, toUnixTimestamp64Milli(time) AS timeMs,
  toUnixTimestamp64Milli(received_at) AS receivedAtMs, properties, is_activity AS isActivity`;

const asked = `
  ({event:String} = '' OR event = {event:String})
  AND (time < fromUnixTimestamp64Milli({beforeMs:Int64}, 'UTC')
    OR time = fromUnixTimestamp64Milli({beforeMs:Int64}, 'UTC') AND events.id < {beforeId:UUID})`;

const ofUser = `
  SELECT ${eventColumns}
  FROM events
  WHERE organization = {organization:UInt32} AND user = {user:UInt32} AND ${asked}
  ORDER BY time DESC, events.id DESC
  LIMIT {limit:UInt32}`;

/** A subquery of the users who ever belonged to an account, or whose events of a connected source or of
 * billing carry it. Only their events are read, not the whole organization's. Queries bind `organization` and
 * `account`. */
export const everMembers = `(
  SELECT user FROM user_versions WHERE organization = {organization:UInt32} AND account = {account:UInt32}
  UNION DISTINCT
  SELECT user FROM user_event_days WHERE organization = {organization:UInt32} AND account = {account:UInt32}
  UNION DISTINCT
  SELECT user FROM billing_events WHERE organization = {organization:UInt32} AND account = {account:UInt32}
  UNION DISTINCT
  SELECT user FROM users WHERE organization = {organization:UInt32} AND account = {account:UInt32})`;

/** A subquery (user, user_id, label) of users: their name, else their e-mail address, else their id. Queries
 * bind `organization` and need `jsonSettings`. @param which a condition on `user` */
export function userNames(which: string): string {
  const name = traitName("traits");
  return `
    SELECT user, user_id, multiIf(${name} != '', ${name}, email != '', email, user_id) AS label
    FROM users FINAL WHERE organization = {organization:UInt32} AND ${which}`;
}

const ofAccount = `
  WITH members AS ${everMembers}
  SELECT names.user_id AS userId, names.label AS userLabel, ${eventColumns}
  FROM (
    SELECT user, id, event, time, received_at, properties, is_activity
    FROM events
    WHERE organization = {organization:UInt32} AND account = {account:UInt32} AND user IN (members) AND ${asked}
    ORDER BY time DESC, events.id DESC
    LIMIT {limit:UInt32}) AS events
  LEFT JOIN (${userNames("user IN (members)")}) AS names USING user
  ORDER BY time DESC, events.id DESC ${jsonSettings}`;
