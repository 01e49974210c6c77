/** The churn risks that accounts take of their members. */
import { priorParameters } from "../churn/bgbb.ts";
import { type CellRisks, cellRisks } from "../queries/cell-table.ts";
import type { RunBody } from "./record-bodies.ts";

/** The members' risks by BG/BB, as in training, independently of the users' model of this run. */
export function memberRisksOf(users: Pick<RunBody, "bgbb" | "counts">, horizonDays: number): CellRisks {
  const parameters = users.counts.entities === 0 ? priorParameters : users.bgbb.parameters;
  return cellRisks(parameters, horizonDays);
}
