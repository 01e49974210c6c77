/** The churn risks that accounts take of their members. */
import { priorParameters } from "../churn/bgbb.ts";
import { cellLogOdds, cellRisks } from "../queries/cell-table.ts";
import type { CellLogOdds } from "../queries/lists/member-query.ts";
import type { RunBody } from "./record-bodies.ts";

/** Those of members by BG/BB, as training takes them, whatever rung the users of this run have. */
export function memberRisksOf(users: Pick<RunBody, "bgbb" | "counts">, horizonDays: number): CellLogOdds {
  const parameters = users.counts.entities === 0 ? priorParameters : users.bgbb.parameters;
  return cellLogOdds(cellRisks(parameters, horizonDays));
}
