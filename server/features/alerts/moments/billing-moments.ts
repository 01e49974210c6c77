/** Moments of billing: events that fire once each. */
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { tieBreak } from "../../../warehouse/schema/billing-tables.ts";

/** The moments that are billing events. */
export type BillingMoment = "paymentFailed" | "cancellationScheduled";

const eventOf: Readonly<Record<BillingMoment, string>> = {
  paymentFailed: "payment_failed",
  cancellationScheduled: "cancellation_scheduled",
};

export interface MomentEvent {
  readonly entity: number;
  readonly timeMs: number;
  /** The id of the event: given by the source, else by Rekindle. */
  readonly id: string;
}

/** A billing event. */
export interface BillingMomentEvent extends MomentEvent {
  readonly ofUser: number;
}

export interface MomentsQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly moment: BillingMoment;
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
}

/** The events of users, or of accounts, in a span of time, by time. A replayed event comes once. @throws
 * WarehouseError */
export function momentEvents(
  warehouse: Warehouse,
  { organization, kind, moment, fromMs, toMs }: MomentsQuestion,
): Promise<BillingMomentEvent[]> {
  return warehouse.rows<BillingMomentEvent>(
    `SELECT ${kind} AS entity, min(toUnixTimestamp64Milli(time)) AS timeMs, tie_break AS id, any(user) AS ofUser
     FROM billing_events
     WHERE organization = {organization:UInt32} AND event = {event:String} AND ${kind} != 0
       AND time >= fromUnixTimestamp64Milli({fromMs:Int64}) AND time < fromUnixTimestamp64Milli({toMs:Int64})
     GROUP BY entity, id ORDER BY timeMs, id`,
    { organization, event: eventOf[moment], fromMs, toMs },
  );
}

/** An event that is received later than this is history, and fires no alert. An import of yesterday's events,
 * or a webhook that is sent again, is received earlier. */
const lateMs = 3 * 86_400_000;

/** The ids of the events that were received more than three days after they happened. @throws
 * WarehouseError */
export async function receivedLate(
  warehouse: Warehouse,
  { organization, moment }: Pick<MomentsQuestion, "organization" | "moment">,
  events: readonly BillingMomentEvent[],
): Promise<ReadonlySet<string>> {
  if (events.length === 0) return new Set();
  const times = events.map(({ timeMs }) => timeMs);
  const rows = await warehouse.rows<{ eventId: string }>(
    `SELECT ${tieBreak} AS eventId FROM events
     WHERE organization = {organization:UInt32} AND user IN {users:Array(UInt32)} AND event = {event:String}
       AND time >= fromUnixTimestamp64Milli({fromMs:Int64}) AND time <= fromUnixTimestamp64Milli({uptoMs:Int64})
       AND eventId IN {ids:Array(String)}
     GROUP BY eventId HAVING min(toUnixTimestamp64Milli(received_at) - toUnixTimestamp64Milli(time)) > {lateMs:Int64}`,
    {
      organization,
      event: eventOf[moment],
      lateMs,
      ids: events.map(({ id }) => id),
      users: [...new Set(events.map(({ ofUser }) => ofUser))],
      fromMs: Math.min(...times),
      uptoMs: Math.max(...times),
    },
  );
  return new Set(rows.map(({ eventId }) => eventId));
}
