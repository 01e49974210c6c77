/**
 * A query in parts. Each part has its text and the values of its placeholders, because the warehouse refuses missing
 * and unused values.
 */
import type { Parameter, Warehouse } from "../../warehouse/warehouse.ts";

export interface Query {
  readonly sql: string;
  readonly parameters: Record<string, Parameter>;
}

/**
 * `WITH name AS (…), … select`, and the values of all. An earlier part may be read by a later one.
 * The engine computes a part anew for each time that it is read: read it once.
 */
export function withParts(parts: Readonly<Record<string, Query>>, select: Query): Query {
  const names = Object.entries(parts).map(([name, { sql }]) => `${name} AS (${sql})`);
  return {
    sql: `WITH ${names.join(",\n")}\n${select.sql}`,
    parameters: Object.assign({}, ...Object.values(parts).map(parametersOf), select.parameters),
  };
}

/** All of an organization's history is read: seconds, and minutes on a busy machine. */
export const scoringLimits = { maxSeconds: 600 };

/** Runs a query of scoring. */
export function read<Row>(warehouse: Warehouse, { sql, parameters }: Query): Promise<Row[]> {
  return warehouse.rows<Row>(sql, parameters, scoringLimits);
}

function parametersOf({ parameters }: Query): Query["parameters"] {
  return parameters;
}
