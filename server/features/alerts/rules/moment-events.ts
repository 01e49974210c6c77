/** Events that fire once each: those of a chosen name, and of billing. */
import type { EventCondition } from "../../../../contract/alerts/rules.ts";
import { contactEvent } from "../../../../contract/api/contacts.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { tieBreak } from "../../../warehouse/schema/billing-tables.ts";
import { cardMoments, type EndingCard } from "./card-moments.ts";

/** Conditions about an event that is stored as it was sent. */
type StoredEventCondition = Exclude<EventCondition, { kind: "cardExpires" }>;

/** Billing events are kept in a table of their own when raw events are deleted. */
function sourceOf(condition: StoredEventCondition) {
  const billing = { table: "billing_events", id: "tie_break" };
  if (condition.kind === "event") return { table: "events", id: tieBreak, event: condition.event };
  return condition.kind === "paymentFailed"
    ? { ...billing, event: "payment_failed" }
    : { ...billing, event: "cancellation_scheduled" };
}

export interface MomentEvent {
  readonly entity: number;
  readonly timeMs: number;
  /** The id of the event: given by the source, else by Rekindle. */
  readonly id: string;
  /** Of a card that ends before the renewal. */
  readonly card?: EndingCard;
}

/** An event of a user. */
export interface UserMomentEvent extends MomentEvent {
  readonly ofUser: number;
}

export interface MomentsQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly condition: EventCondition;
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
}

/** Events of a span. A rule about something that happens more often would make more alerts than anybody can
 * look at: then the newest count. */
const mostEvents = 5_000;

/** The events of users, or of accounts, in a span of time, by time. A replayed event comes once. @throws
 * WarehouseError */
export async function momentEvents(
  warehouse: Warehouse,
  { organization, kind, condition, fromMs, toMs }: MomentsQuestion,
): Promise<UserMomentEvent[]> {
  if (condition.kind === "cardExpires") {
    const moments = await cardMoments(warehouse, { organization, kind, fromMs, toMs }, mostEvents);
    return moments.map(({ entity, timeMs, id, ofUser, ...card }) => ({ entity, timeMs, id, ofUser, card }));
  }
  const { table, id, event } = sourceOf(condition);
  // A contact that was imported from another tool is no news to whoever made it.
  const isNews = event === contactEvent ? "AND NOT JSONExtractBool(properties, 'imported')" : "";
  return warehouse.rows<UserMomentEvent>(
    `SELECT entity, timeMs, eventId AS id, ofUser
     FROM (
       SELECT ifNull(${kind}, 0) AS entity, min(toUnixTimestamp64Milli(time)) AS timeMs, ${id} AS eventId,
         any(user) AS ofUser
       FROM ${table}
       WHERE organization = {organization:UInt32} AND event = {event:String} AND entity != 0 ${isNews}
         AND time >= fromUnixTimestamp64Milli({fromMs:Int64}) AND time < fromUnixTimestamp64Milli({toMs:Int64})
       GROUP BY entity, eventId ORDER BY timeMs DESC, eventId LIMIT {most:UInt32})
     ORDER BY timeMs, id`,
    { organization, event, fromMs, toMs, most: mostEvents },
  );
}

/** An event that is received later than this is history, and fires no alert. An import of yesterday's events,
 * or a webhook that is sent again, is received earlier. */
const lateMs = 3 * 86_400_000;

/** The ids of the events that were received more than three days after they happened. @throws
 * WarehouseError */
export async function receivedLate(
  warehouse: Warehouse,
  { organization, condition }: Pick<MomentsQuestion, "organization" | "condition">,
  events: readonly UserMomentEvent[],
): Promise<ReadonlySet<string>> {
  // What is known of a card follows from several events.
  if (events.length === 0 || condition.kind === "cardExpires") return new Set();
  const times = events.map(({ timeMs }) => timeMs);
  const rows = await warehouse.rows<{ eventId: string }>(
    `SELECT ${tieBreak} AS eventId FROM events
     WHERE organization = {organization:UInt32} AND user IN {users:Array(UInt32)} AND event = {event:String}
       AND time >= fromUnixTimestamp64Milli({fromMs:Int64}) AND time <= fromUnixTimestamp64Milli({uptoMs:Int64})
       AND eventId IN {ids:Array(String)}
     GROUP BY eventId HAVING min(toUnixTimestamp64Milli(received_at) - toUnixTimestamp64Milli(time)) > {lateMs:Int64}`,
    {
      organization,
      event: sourceOf(condition).event,
      lateMs,
      ids: events.map(({ id }) => id),
      users: [...new Set(events.map(({ ofUser }) => ofUser))],
      fromMs: Math.min(...times),
      uptoMs: Math.max(...times),
    },
  );
  return new Set(rows.map(({ eventId }) => eventId));
}
