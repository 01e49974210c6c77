/** Why subscriptions were canceled, as billing tools said it: the comment of the customer, else the feedback, else the reason. */
import type { EntityKind } from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { jsonSettings } from "../sql/json-text.ts";

interface Row {
  readonly entity: number;
  readonly reason: string;
}

/** Longer reasons are cut off. */
const maxReasonCharacters = 200;

/** The latest reason of these accounts, or of users who pay without one, by their numbers. Those without any are left out. */
export async function cancellationReasons(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  entities: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (entities.length === 0) return new Map();
  const text = (name: string) => `JSONExtractString(properties, '${name}')`;
  const rows = await warehouse.rows<Row>(
    `SELECT ${kind} AS entity, substringUTF8(argMax(said, time), 1, ${maxReasonCharacters}) AS reason
     FROM (
       SELECT ${kind}, time,
         multiIf(${text("comment")} != '', ${text("comment")}, ${text("feedback")} != '', ${text("feedback")},
           ${text("reason")}) AS said
       FROM billing_events FINAL
       WHERE organization = {organization:UInt32} AND event IN ('subscription_canceled', 'cancellation_scheduled')
         AND ${kind} IN {entities:Array(UInt32)} ${kind === "user" ? "AND account = 0" : ""})
     WHERE said != ''
     GROUP BY entity ${jsonSettings}`,
    { organization, entities },
  );
  return new Map(rows.map(({ entity, reason }) => [entity, reason]));
}
