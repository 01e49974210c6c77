/** The days on which another model began to serve: a history of scores is read with these marks. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { Rung } from "../churn/churn-model.ts";
import type { EntityKind } from "../queries/engagement-events.ts";

export interface ModelChange {
  /** The first scored day on which it serves. */
  readonly day: number;
  /** Rungs; null when no model was good enough. */
  readonly from: Rung | null;
  readonly to: Rung | null;
  /** The run's reason for this model. */
  readonly why: string;
}

const ofRuns = "organization = {organization:UInt32} AND kind = {kind:String} AND what = 'run'";

/** The changes of an organization, the oldest first. */
export function modelChanges(
  warehouse: Warehouse,
  question: { readonly organization: number; readonly kind: EntityKind },
): Promise<ModelChange[]> {
  return warehouse.rows<ModelChange>(
    `WITH
       changes AS (
         SELECT day, before, rung
         FROM (
           SELECT day, rung, row_number() OVER byDay AS number, lagInFrame(rung) OVER byDay AS before
           FROM (SELECT day, rung FROM score_records FINAL WHERE ${ofRuns})
           WINDOW byDay AS (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
         WHERE number > 1 AND ifNull(rung, -1) != ifNull(before, -1))
     SELECT toInt32(changes.day) AS day, before AS \`from\`, rung AS \`to\`, why
     FROM changes
     INNER JOIN (
       SELECT day, JSONExtractString(body, 'choice', 'why') AS why FROM score_records FINAL
       WHERE ${ofRuns} AND day IN (SELECT day FROM changes)) AS reasons ON reasons.day = changes.day
     ORDER BY day`,
    { ...question },
  );
}
