/** Positions in the order by activity, in SQL. */
import type { ActivityOrder } from "../../churn/activity-order.ts";
import { cellNumberSql } from "../cell-table.ts";
import type { Query } from "../query.ts";

/** The condition of rows with a position. */
export const isOrdered = "state != 'churned' AND n >= 0";

/** A row's position, an expression over columns of the kind's table. @param order undefined where a model
 * serves */
export function activityPosition(order: ActivityOrder | undefined): Query {
  if (order === undefined) return { sql: "CAST(NULL AS Nullable(UInt32))", parameters: {} };
  return {
    sql: `if(${isOrdered}, nullIf(transform(${cellNumberSql}, {activityCells:Array(Int32)},
      {activityPositions:Array(UInt32)}, toUInt32(0)), 0), NULL)`,
    parameters: { activityCells: order.cells, activityPositions: order.positions },
  };
}
