/** The days on which another model began to serve: a history of scores is read with these marks. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { Rung } from "../churn/churn-model.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import { recordsOf } from "./records.ts";

export interface ModelChange {
  /** The first scored day on which it serves. */
  readonly day: number;
  /** Rungs; null when no model was good enough. */
  readonly from: Rung | null;
  readonly to: Rung | null;
  /** The run's reason for this model. */
  readonly why: string;
}

/** The changes of an organization, the oldest first. */
export async function modelChanges(
  warehouse: Warehouse,
  question: { readonly organization: number; readonly kind: EntityKind },
): Promise<ModelChange[]> {
  const changes = await warehouse.rows<Omit<ModelChange, "why">>(
    `SELECT toInt32(day) AS day, before AS \`from\`, rung AS \`to\`
     FROM (
       SELECT day, rung, row_number() OVER byDay AS number, lagInFrame(rung) OVER byDay AS before
       FROM (
         SELECT day, rung FROM score_records FINAL
         WHERE organization = {organization:UInt32} AND kind = {kind:String} AND what = 'run')
       WINDOW byDay AS (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
     WHERE number > 1 AND ifNull(rung, -1) != ifNull(before, -1)
     ORDER BY day`,
    { ...question },
  );
  const days = changes.map(({ day }) => day);
  const runs = await recordsOf(warehouse, { ...question, what: "run" }, days);
  return changes.map((change) => ({ ...change, why: runs.get(change.day)?.body.choice.why ?? "" }));
}
