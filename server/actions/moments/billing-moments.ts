/** Moments of billing: events that fire once each. */
import type { EntityKind } from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";

/** Moments with events. */
export type BillingMoment = "paymentFailed" | "cancellationScheduled";

const eventOf: Readonly<Record<BillingMoment, string>> = {
  paymentFailed: "payment_failed",
  cancellationScheduled: "cancellation_scheduled",
};

export interface MomentEvent {
  readonly entity: number;
  readonly timeMs: number;
  /** By the source, else by us. */
  readonly id: string;
}

export interface MomentsQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly moment: BillingMoment;
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
}

/** Events of a span of time, in its order. Those of an account carry it, and those of a user are the user's. A replayed event
 * comes once. @throws WarehouseError */
export function momentEvents(
  warehouse: Warehouse,
  { organization, kind, moment, fromMs, toMs }: MomentsQuestion,
): Promise<MomentEvent[]> {
  return warehouse.rows<MomentEvent>(
    `SELECT ${kind} AS entity, min(toUnixTimestamp64Milli(time)) AS timeMs, tie_break AS id
     FROM billing_events
     WHERE organization = {organization:UInt32} AND event = {event:String} AND ${kind} != 0
       AND time >= fromUnixTimestamp64Milli({fromMs:Int64}) AND time < fromUnixTimestamp64Milli({toMs:Int64})
     GROUP BY entity, id ORDER BY timeMs, id`,
    { organization, event: eventOf[moment], fromMs, toMs },
  );
}
