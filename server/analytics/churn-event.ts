/** The account member who sent an account's churn event. */

import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { isIncluded } from "../warehouse/schema/included.ts";
import { dayParameter } from "../warehouse/upkeep/keep-events.ts";
import { jsonSettings, traitName } from "./json-text.ts";

export interface ChurnEventSender {
  /** The company's own id. */
  readonly userId: string;
  /** The name, else the e-mail address, else the id. */
  readonly label: string;
}

/** The user who sent the last such event of a day in an account; undefined after an erasure. */
export async function churnEventSender(
  warehouse: Warehouse,
  question: {
    readonly organization: number;
    /** The account's number within the organization. */
    readonly account: number;
    readonly event: string;
    readonly day: number;
  },
): Promise<ChurnEventSender | undefined> {
  const [row] = await warehouse.rows<ChurnEventSender>(sql, question);
  return row;
}

const ofDay = `organization = {organization:UInt32} AND account = {account:UInt32} AND event = {event:String}
  AND day = ${dayParameter("day")}`;
const name = traitName("traits");

// Raw events have the time of day, so they give the last sender. Once they are deleted, the rollup still has
// a sender of an event that is activity.
const sql = `
  WITH senders AS (
    SELECT user FROM user_event_days WHERE ${ofDay} AND ${isIncluded("user")}
    UNION DISTINCT SELECT user FROM events WHERE ${ofDay} AND ${isIncluded("user")})
  SELECT user_id AS userId, multiIf(${name} != '', ${name}, email != '', email, user_id) AS label
  FROM (
    SELECT user, user_id, email, traits FROM users FINAL
    WHERE organization = {organization:UInt32} AND user IN (senders)) AS named
  LEFT JOIN (
    SELECT user, max(time) AS sentAt FROM events WHERE user IN (senders) AND ${ofDay} GROUP BY user) AS sent
  USING user
  ORDER BY sentAt DESC, userId LIMIT 1 ${jsonSettings}`;
