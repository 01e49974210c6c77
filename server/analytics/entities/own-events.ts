/** Which events one user did, or were done in one account: how often, by how many, and when first and last. */

import { dayParameter, type Warehouse } from "../../warehouse/warehouse.ts";
import { inAccount } from "./own-activity.ts";

interface Question {
  readonly organization: number;
  /** Nothing after this day counts, in days since 1970-01-01. */
  readonly toDay: number;
  /** At most this many, those done most often. */
  readonly limit: number;
}

export interface OwnEvent {
  readonly event: string;
  readonly count: number;
  readonly users: number;
  /** Days since 1970-01-01. */
  readonly firstDay: number;
  readonly lastDay: number;
}

/** Names of the events of a user, by the user's number; the one done most often first. */
export function userEvents(
  warehouse: Warehouse,
  question: Question & { readonly user: number },
): Promise<OwnEvent[]> {
  return warehouse.rows<OwnEvent>(eventsOf("user = {user:UInt32}"), { ...question });
}

/** The same for all included users, in the account with this number. */
export function accountEvents(
  warehouse: Warehouse,
  question: Question & { readonly account: number },
): Promise<OwnEvent[]> {
  return warehouse.rows<OwnEvent>(eventsOf(inAccount), { ...question });
}

const eventsOf = (whose: string) => `
  SELECT event, sum(user_event_days.count) AS count, uniqExact(user) AS users,
    toInt32(min(day)) AS firstDay, toInt32(max(day)) AS lastDay
  FROM user_event_days
  WHERE organization = {organization:UInt32} AND ${whose} AND day <= ${dayParameter("toDay")}
  GROUP BY event ORDER BY count DESC, event LIMIT {limit:UInt32}`;
