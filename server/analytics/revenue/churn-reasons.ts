/**
 * Reasons of churn. Billing tools say why subscriptions were canceled: the comment of the customer, else the
 * feedback, else the reason. Team members and applications say it as a trait.
 */
import { churnReasonTrait } from "../../../contract/notes-and-tasks.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { jsonKey, jsonSettings, jsonText } from "../json-text.ts";

/** The latest reason of billing. Times are 0 for none. */
export interface CancellationReason {
  readonly reason: string;
  readonly saidAtMs: number;
  /** When a subscription last began or went on: reasons of before are of an earlier departure. */
  readonly returnedAtMs: number;
}

/** Longer reasons are cut off. */
const maxReasonCharacters = 200;
const departures = "event IN ('subscription_canceled', 'cancellation_scheduled')";
const returns = "event IN ('subscription_started', 'subscription_resumed', 'cancellation_withdrawn')";

/** The latest reason of these accounts, or of users who pay without one, by their numbers. Those without
 * billing events are left out. */
export async function cancellationReasons(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  entities: readonly number[],
): Promise<ReadonlyMap<number, CancellationReason>> {
  if (entities.length === 0) return new Map();
  const text = (name: string) => `JSONExtractString(properties, '${name}')`;
  const rows = await warehouse.rows<CancellationReason & { readonly entity: number }>(
    `SELECT ${kind} AS entity, substringUTF8(argMaxIf(said, time, said != ''), 1, ${maxReasonCharacters}) AS reason,
       toUnixTimestamp64Milli(maxIf(time, said != '')) AS saidAtMs,
       toUnixTimestamp64Milli(maxIf(time, is_return)) AS returnedAtMs
     FROM (
       SELECT ${kind}, time, ${returns} AS is_return,
         multiIf(is_return, '', ${text("comment")} != '', ${text("comment")}, ${text("feedback")} != '', ${text("feedback")},
           ${text("reason")}) AS said
       FROM billing_events FINAL
       WHERE organization = {organization:UInt32} AND (${departures} OR ${returns})
         AND ${kind} IN {entities:Array(UInt32)} ${kind === "user" ? "AND account = 0" : ""})
     GROUP BY entity ${jsonSettings}`,
    { organization, entities },
  );
  return new Map(rows.map(({ entity, ...said }) => [entity, said]));
}

/** When the trait or attribute `churnReason` of these users or accounts got its value, in ms, by their
 * numbers. */
export async function churnReasonTimes(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  entities: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (entities.length === 0) return new Map();
  const rows = await warehouse.rows<{ readonly entity: number; readonly atMs: number }>(
    `SELECT ${kind} AS entity, toUnixTimestamp64Milli(max(at)) AS atMs FROM ${kind}_versions
     WHERE organization = {organization:UInt32} AND ${kind} IN {entities:Array(UInt32)}
       AND isNotNull(${jsonText("traits")})
     GROUP BY entity ${jsonSettings}`,
    { organization, entities, ...jsonKey(churnReasonTrait) },
  );
  return new Map(rows.map(({ entity, atMs }) => [entity, atMs]));
}
